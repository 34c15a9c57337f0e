"""Output on a terminal, drawn by rich: tables, and a line that is redrawn in place.

Where nobody looks, text stays plain. Text of others is never markup, and all that is drawn goes
through ``rackwright.streams``, so that nothing in it is obeyed. Rich is loaded when it draws.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO, cast

from rackwright.harmless import DRAWING, harmless, visible
from rackwright.streams import show

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

DEFAULT_WIDTH = 80


def is_terminal(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return True if ``stream`` is a terminal that can do more than write lines."""
    return stream.isatty() and environment.get("TERM", "dumb") != "dumb"


def wants_colour(choice: str, stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return True if output on ``stream`` is coloured.

    Where ``choice`` is neither ``always`` nor ``never``, ``NO_COLOR`` forbids it
    (https://no-color.org), and ``FORCE_COLOR`` asks for it anywhere.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    return bool(environment.get("FORCE_COLOR")) or stream.isatty()


def own_text(words: object, style: str = "") -> Text:
    """Return ``words`` of any origin on one line: no markup, and escapes for what would steer."""
    from rich.text import Text

    return Text(visible(harmless(str(words))), style=style)


def cells(text: str) -> int:
    """Return the columns that ``text`` takes on a terminal."""
    from rich.cells import cell_len

    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, room: int) -> str:
    """Return ``text`` in at most ``room`` columns, with an ellipsis where something is missing."""
    from rich.text import Text

    made = Text(text)
    made.truncate(max(room, 0), overflow="ellipsis" if room > 0 else "crop")
    return made.plain


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]], plain: str) -> None:
    """Print ``rows`` on stdout: under ``head`` on a terminal, else each as a line.

    With ``NO_COLOR`` a terminal gets lines too.

    Args:
        head: names of the columns; the last one takes the room that the others leave, and goes on
            below itself.
        rows: a text or number for each column.
        plain: format of a line, with a field for each column.
    """
    if os.environ.get("NO_COLOR") or not is_terminal(sys.stdout, os.environ):
        for row in rows:
            sys.stdout.write(f"{plain.format(*row)}\n")
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in head[:-1]:
        table.add_column(own_text(name), no_wrap=True)
    table.add_column(own_text(head[-1]), overflow="fold")
    for row in rows:
        table.add_row(*(own_text(cell) for cell in row))
    console = _console(sys.stdout, colour=True)
    console.width = _width(sys.stdout)
    console.print(table)


class LiveLine:
    """One line at the bottom of a terminal, redrawn in place; what is said stays above it."""

    def __init__(self, stream: TextIO, *, colour: bool) -> None:
        from rich.live_render import LiveRender

        self._stream = stream
        self._console = _console(stream, colour=colour)
        self._line = LiveRender("")
        self._open = False

    @property
    def width(self) -> int:
        """Columns of the line: some terminals go to the next one when the last is written."""
        return _width(self._stream) - 1

    def draw(self, text: Text) -> None:
        """Draw ``text`` as the line."""
        self._console.width = self.width
        with self._console:
            if self._open:
                self._console.control(self._line.position_cursor())
            self._line.set_renderable(text)
            self._console.print(self._line, end="", no_wrap=True, overflow="ellipsis")
        self._open = True

    def say(self, text: Text) -> None:
        """Write ``text`` above the line, which is drawn when it is next asked for."""
        self.close()
        self._console.print(text, soft_wrap=True)

    def close(self) -> None:
        """Take the line away."""
        if self._open:
            self._console.control(self._line.position_cursor())
            self._open = False


def _console(stream: TextIO, *, colour: bool) -> Console:
    """Return the console of ``stream``; it reads no markup, and no names of emoji."""
    from rich.console import Console

    return Console(
        file=cast("TextIO", _Harmless(stream)),
        force_terminal=True,
        color_system="standard" if colour else None,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )


class _Harmless:
    """A stream in which only what draws is obeyed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding

    def write(self, text: str) -> int:
        show(text, DRAWING, self._stream)
        return len(text)

    def flush(self) -> None:
        self._stream.flush()


def _width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or DEFAULT_WIDTH
    except (OSError, ValueError):
        return DEFAULT_WIDTH
