"""Who is told what happens while hosts are configured."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, Self

from rackwright.ansible_runs.display import Screen
from rackwright.ansible_runs.state import Line, Live
from rackwright.ansible_runs.terminal_text import plain

LOOK_EVERY_S = 1.0


class Watcher(Protocol):
    """Is told what happens, by several threads at a time.

    A run has parts that work at the same time; the only part of a run has no name.
    """

    def expect(self, hosts: Collection[str]) -> None:
        """These are the hosts of the whole run."""

    def begin(self, part: str, hosts: Collection[str]) -> None:
        """A part begins to work on ``hosts``."""

    def take(self, part: str, event: Mapping[str, Any], line: str | None) -> None:
        """An event of ansible-runner, with what a ``Tally`` says to it."""

    def tell(self, part: str, line: str) -> None:
        """Something that is worth a line."""

    def end(self, part: str, failed: Collection[str]) -> None:
        """A part has ended; ``failed`` are the hosts of it that did not come to the end."""


@dataclass
class Lines:
    """Says each line, with the name of the part in front, and does not count."""

    say: Callable[[str], None]
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def expect(self, hosts: Collection[str]) -> None:
        """Hosts are not counted."""

    def begin(self, part: str, hosts: Collection[str]) -> None:
        """Its first role says so."""

    def take(self, part: str, event: Mapping[str, Any], line: str | None) -> None:
        """Say the line."""
        if line:
            self.tell(part, line)

    def tell(self, part: str, line: str) -> None:
        """Say the line."""
        text = plain(f"{part}: {line}" if part else line)
        with self._lock:
            self.say(text)

    def end(self, part: str, failed: Collection[str]) -> None:
        """Its hosts are in the result."""


@dataclass
class Watch:
    """Counts, and keeps what is shown up to date, for as long as it is entered.

    Attributes:
        live: where everything is counted.
        screen: where it is shown.
    """

    live: Live
    screen: Screen
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _over: threading.Event = field(default_factory=threading.Event)
    _ticker: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Begin to show."""
        self.live.began = self.clock()
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self._ticker.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take away what is shown."""
        self._over.set()
        if self._ticker is not None:
            self._ticker.join()
        with self._lock:
            self.screen.close()

    def expect(self, hosts: Collection[str]) -> None:
        """Count these hosts as those of the run."""
        with self._lock:
            self.live.hosts = frozenset(hosts)

    def begin(self, part: str, hosts: Collection[str]) -> None:
        """Count what the part does."""
        with self._lock:
            self.live.begin(part, hosts)

    def take(self, part: str, event: Mapping[str, Any], line: str | None) -> None:
        """Count it; what the tally says is told from the event itself."""
        with self._lock:
            at = self.clock()
            self._show(self.live.take(part, event, at), at)

    def tell(self, part: str, line: str) -> None:
        """Show it as what must not be missed."""
        with self._lock:
            text = plain(f"{part}: {line}" if part else line)
            self._show([Line(text, failure=True)], self.clock())

    def end(self, part: str, failed: Collection[str]) -> None:
        """Count the hosts that are lost."""
        with self._lock:
            at = self.clock()
            self._show(self.live.end(part, failed, at), at)

    def _show(self, lines: Collection[Line], at: float) -> None:
        for line in lines:
            self.screen.tell(line, at)
        self.screen.show(self.live.view, at)

    def _tick(self) -> None:
        """Keep the time right while nothing happens."""
        while not self._over.wait(LOOK_EVERY_S):
            with self._lock:
                self._show((), self.clock())
