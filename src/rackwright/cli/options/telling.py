"""What is said beside an answer: how far a run is, and what to do next. ``--quiet`` leaves it out.

Answers, warnings and errors are said in any case.
"""

from __future__ import annotations

import sys

_SAID = {"quiet": False}


def be_quiet(*, quiet: bool) -> None:
    """Say nothing beside answers from now on, or say it again."""
    _SAID["quiet"] = quiet


def is_quiet() -> bool:
    """Whether nothing is said beside answers."""
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
    """The same with a line of progress."""
    tell(f"  {line}\n")
