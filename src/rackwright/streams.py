"""stdout and stderr as people and runners read them: all that is written goes through one place."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TextIO, cast

from rackwright.harmless import OpenLine, harmless

if TYPE_CHECKING:
    from collections.abc import Callable

_LOCK = threading.RLock()
"""Held while something is written, by which ever thread."""
_PIECE = 1 << 20
"""Characters that are encoded at once: a report may have a hundred million."""
_TOGETHER = OpenLine()
"""The line of both streams, where they go to one file."""


class Guarded:
    """A stream of text in which nothing of others is obeyed."""

    def __init__(self, stream: TextIO, before: Callable[[], object] | None = None) -> None:
        self._stream = stream
        self._before = before
        self._line = OpenLine()

    def write(self, text: str) -> int:
        """Write ``text``; nothing in it is obeyed."""
        return self.write_own(text, None)

    def write_own(
        self, text: str, keep: re.Pattern[str] | None, *, is_harmless: bool = False
    ) -> int:
        """Write ``text``; what ``keep`` matches in it is our own, and obeyed.

        Args:
            text: any.
            keep: what is our own in it.
            is_harmless: it was made harmless as a whole, so that only its first line, which may go
                on with another, is looked at once more.

        Raises:
            TypeError: it is no text.
        """
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        given = len(text)
        with _LOCK:
            if self._before:
                self._before()
            # It is harmless after what this stream has written, and after what the other has.
            if is_harmless and text.endswith("\n"):
                begin = text.find("\n") + 1
                head = harmless(text[:begin], keep, self._line)
            else:
                text = harmless(text, keep, self._line)
                begin = text.find("\n") + 1
                head = text[:begin] if begin else text
            self._stream.write(harmless(head, keep, _TOGETHER))
            if begin:
                _TOGETHER.go_on(self._line)
                for start in range(begin, len(text), _PIECE):
                    self._stream.write(text[start : start + _PIECE])
        return given

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of ``lines``."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Let go of what was written."""
        with _LOCK:
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def show(
    text: str,
    keep: re.Pattern[str] | None = None,
    stream: TextIO | None = None,
    *,
    is_harmless: bool = False,
) -> None:
    """Write ``text``, in which what ``keep`` matches is our own, on ``stream``, else on stdout.

    ``is_harmless`` says that it was made harmless as a whole.
    """
    out = sys.stdout if stream is None else stream
    if isinstance(out, Guarded):
        out.write_own(text, keep, is_harmless=is_harmless)
    else:
        out.write(harmless(text, keep))


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Guard stdout and stderr meanwhile."""
    before = sys.stdout, sys.stderr
    guard()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def guard() -> None:
    r"""Guard stdout and stderr from now on; what is guarded already stays as it is.

    What their encoding lacks is written as an escape, like ``\u2026``.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")
    out = sys.stdout
    if not isinstance(out, Guarded):
        sys.stdout = cast("TextIO", Guarded(out))
    if not isinstance(sys.stderr, Guarded):
        sys.stderr = cast("TextIO", Guarded(sys.stderr, before=lambda: _let_go(out)))


def _let_go(stream: TextIO) -> None:
    """Flush ``stream``, so that lines stay whole where both streams go to one file.

    What cannot be written is kept, and said where it is flushed by its own writer.
    """
    with contextlib.suppress(OSError, ValueError):
        stream.flush()
