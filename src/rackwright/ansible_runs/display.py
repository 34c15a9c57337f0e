"""Display of a run: one line that is redrawn on a terminal, lines now and then in a log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TextIO

from rackwright.ansible_runs.state import Line, View
from rackwright.ansible_runs.terminal_text import plain
from rackwright.terminal import LiveLine, cells, cut, is_terminal, own_text

if TYPE_CHECKING:
    from rich.text import Text

REDRAW_AFTER_S = 0.1
LOG_AFTER_S, HOLD_S = 30.0, 2.0
RED = "red"
_LEAST_NAMES, _LEAST_TASK = 3, 10
"""Columns that are worth being used for names of hosts, and for that of a task."""


class Screen(Protocol):
    """Display of a run."""

    def tell(self, line: Line, at: float) -> None:
        """Show that something happened."""

    def show(self, view: Callable[[float], View], at: float) -> None:
        """Show how things stand, where enough time has gone by: only then ``view`` is asked."""

    def close(self) -> None:
        """Leave nothing behind that is true no more."""


class Terminal:
    """One line at the bottom, redrawn in place; failures stay above it.

    Attributes:
        colour: whether failures may be red.
    """

    def __init__(self, stream: TextIO, *, colour: bool) -> None:
        self.colour = colour
        self._line = LiveLine(stream, colour=colour)
        self._encoding = stream.encoding
        self._drawn = float("-inf")

    def tell(self, line: Line, at: float) -> None:
        """Show a failure above the line; steps are shown in it."""
        if line.failure:
            self._line.say(own_text(f"  {line.text}", RED))
            self._drawn = float("-inf")

    def show(self, view: Callable[[float], View], at: float) -> None:
        """Draw the line again."""
        if at - self._drawn >= REDRAW_AFTER_S:
            self._drawn = at
            self._line.draw(draw(view(at), self._line.width, encoding=self._encoding))

    def close(self) -> None:
        """Take the line away."""
        self._line.close()


@dataclass
class Log:
    """A line for whatever happened, and one for how things stand where nothing has for a while.

    A step that is over at once has one line: many are for hosts of another kind.
    """

    stream: TextIO
    _said: float | None = None
    _held: Line | None = None
    _held_at: float = 0.0

    def tell(self, line: Line, at: float) -> None:
        """Write it; that a step begins is held back for a moment."""
        if self._held is not None and self._held.begins == line.ends:
            self._held = None
        self._let_go(at)
        if line.begins:
            self._held, self._held_at = line, at
        else:
            self._write(line.text, at)

    def show(self, view: Callable[[float], View], at: float) -> None:
        """Write how things stand, unless something was written lately."""
        if at - self._held_at >= HOLD_S:
            self._let_go(at)
        if self._said is None:
            self._said = at  # what begins now is told by its own line
        elif at - self._said >= LOG_AFTER_S:
            self._write(describe(view(at)), at)

    def close(self) -> None:
        """Write what was held back; what is written stays."""
        self._let_go(self._held_at)

    def _let_go(self, at: float) -> None:
        if self._held is not None:
            self._write(self._held.text, at)
            self._held = None

    def _write(self, text: str, at: float) -> None:
        self._said = at
        self.stream.write(f"  {text}\n")
        self.stream.flush()


def screen_for(stream: TextIO, environment: Mapping[str, str]) -> Screen:
    """Return the display for ``stream``: redrawn in place on a terminal that can.

    With ``NO_COLOR`` in the environment there are no colours (https://no-color.org).
    """
    if not is_terminal(stream, environment):
        return Log(stream)
    return Terminal(stream, colour=not environment.get("NO_COLOR"))


def describe(view: View) -> str:
    """Return the state of a run in words, for a log."""
    step, counts, ended, failed, time = _parts(view)
    names = f": {listed(view.names, view.failed, 60)}" if view.failed else ""
    task = f" ({view.task})" if view.task else ""
    parts = [f"{step}: {counts}{task}" if step else "", ended, f"{failed}{names}", time]
    return ", ".join(part for part in parts if part)


def draw(view: View, width: int, *, encoding: str | None = None) -> Text:
    """Return the state of a run in at most ``width`` columns; the least important parts are left out first.

    Args:
        view: how things stand.
        width: of the terminal.
        encoding: of the terminal; escapes stand for signs that it lacks.
    """
    known = encoding or "utf-8"
    step, counts, ended, failed, time = _parts(view)
    step = _as_shown(step, known)

    def line(*parts: str) -> str:
        return ", ".join(part for part in parts if part)

    head = f"{step}: {counts}" if step else ""
    text = line(head, ended, failed, time)
    if cells(text) > width:
        ended = ""
        text = line(head, failed, time)
    if step and cells(text) > width:
        head = f"{cut(step, width - cells(line(f': {counts}', failed, time)))}: {counts}"
        text = line(head, failed, time)
    if cells(text) > width:
        text = cut(line(failed, counts if step else "", time), width)
        return _stress(text, failed)
    room = width - cells(text)
    trouble = failed
    if failed and room >= _LEAST_NAMES + 2:
        shown = [_as_shown(name, known) for name in view.names]
        if names := listed(shown, view.failed, room - 2):
            trouble = f"{failed}: {names}"
            text = line(head, ended, trouble, time)
    room = width - cells(text)
    if view.task and room >= _LEAST_TASK + 3:
        text += f" ({cut(_as_shown(view.task, known), room - 3)})"
    return _stress(text, trouble)


def listed(names: Sequence[str], number: int, room: int) -> str:
    """Return the first of ``number`` names in at most ``room`` columns, with how many more there are."""
    best = ""
    for shown in range(1, len(names) + 1):
        more = f" +{number - shown}" if number > shown else ""
        text = f"{', '.join(names[:shown])}{more}"
        if cells(text) <= room:
            best = text
        elif cells(text) - cells(more) > room:
            break
    return best


def duration(seconds: float) -> str:
    """Return minutes and seconds, with hours where there are some."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _parts(view: View) -> tuple[str, str, str, str, str]:
    return (
        view.step,
        f"{view.done} of {view.total}",
        f"{view.finished} of {view.hosts} hosts done",
        f"{view.failed} failed" if view.failed else "",
        duration(view.seconds),
    )


def _as_shown(text: str, encoding: str) -> str:
    """Return ``text`` as a stream of ``encoding`` shows it that writes escapes for what it has no signs for."""
    return plain(text).encode(encoding, "backslashreplace").decode(encoding)


def _stress(text: str, part: str) -> Text:
    """Return ``text`` with the last ``part`` of it in red."""
    made = own_text(text)
    start = text.rfind(part) if part else -1
    if start >= 0:
        made.stylize(RED, start, start + len(part))
    return made
