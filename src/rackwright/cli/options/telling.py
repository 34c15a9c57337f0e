"""Notes beside an answer: progress of a run, and the next step. ``--quiet`` leaves them out.

Answers, warnings and errors are said in any case.
"""

from __future__ import annotations

import sys

_SAID = {"quiet": False}


def be_quiet(*, quiet: bool) -> None:
    """Say nothing beside answers from now on, or say it again."""
    _SAID["quiet"] = quiet


def is_quiet() -> bool:
    """Return True if answers come without notes."""
    return _SAID["quiet"]


def tell(text: str) -> None:
    """Write ``text`` to stderr at once, unless the run is quiet."""
    if not is_quiet():
        sys.stderr.write(text)
        sys.stderr.flush()


def say(line: str) -> None:
    """Write a line about what is done, or is not, to stderr at once, in any case."""
    sys.stderr.write(f"  {line}\n")
    sys.stderr.flush()


def tell_progress(line: str) -> None:
    """Print a line of progress, as ``say``."""
    tell(f"  {line}\n")
