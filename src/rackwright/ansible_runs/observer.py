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
    """Is told what happens."""

    def take(self, event: Mapping[str, Any], line: str | None) -> None:
        """Take an event of ansible-runner, with the line that a ``Tally`` makes of it."""


@dataclass(frozen=True)
class Lines:
    """Says each line, and does not count."""

    say: Callable[[str], None]

    def take(self, event: Mapping[str, Any], line: str | None) -> None:
        """Say the line."""
        if line:
            self.say(plain(line))


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

    def take(self, event: Mapping[str, Any], line: str | None) -> None:
        """Count it; what the tally says is told from the event itself."""
        with self._lock:
            at = self.clock()
            self._show(self.live.take(event, at), at)

    def _show(self, lines: Collection[Line], at: float) -> None:
        for line in lines:
            self.screen.tell(line, at)
        self.screen.show(self.live.view, at)

    def _tick(self) -> None:
        """Keep the time right while nothing happens."""
        while not self._over.wait(LOOK_EVERY_S):
            with self._lock:
                self._show((), self.clock())
