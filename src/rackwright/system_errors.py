"""Errors of the system and damaged files of this machine, each in a sentence with a remedy."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

from rackwright.errors import StateError
from rackwright.files import state_folder

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FORBIDDEN = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_IN_THE_WAY = frozenset({errno.ENOTDIR, errno.EEXIST, errno.EISDIR})


def system_fault(error: OSError) -> StateError:
    """Return ``error`` as a sentence: which file, what the system says, what to do."""
    reason = (os.strerror(error.errno) if error.errno else str(error) or "it fails").lower()
    if error.filename is None:
        where = "a file" if error.errno in FULL else "the system refuses what is asked of it"
        verb = " cannot be written" if error.errno in FULL else ""
        return StateError(f"{where}{verb}: {reason}", hint=_hint(error.errno, None))
    path = Path(os.fsdecode(error.filename))
    verb = "cannot be written" if error.errno in FULL | {errno.EROFS} else "cannot be used"
    return StateError(f"'{path}' {verb}: {reason}", hint=_hint(error.errno, path))


def read_state(path: Path, *, remedy: str) -> Any:
    """Return the JSON in a file that Rackwright itself has written; None where there is no file.

    Raises:
        StateError: it is damaged.
        OSError: it cannot be read.
    """  # noqa: DOC501 - damaged() makes the StateError
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        raise damaged(path, remedy=remedy) from None


def damaged(path: Path, *, remedy: str) -> StateError:
    """Return the error for a file of Rackwright's own that it cannot make sense of."""
    return StateError(
        f"'{path}' is damaged, or a newer Rackwright has written it",
        hint=f"{remedy}; or use the Rackwright that wrote it",
    )


def _hint(number: int | None, path: Path | None) -> str | None:
    if number in FULL:
        return "make room there, then run the same command again"
    if path is None:
        return None
    elsewhere = "set RACKWRIGHT_STATE to a folder that you can write"
    ours = path.absolute().is_relative_to(state_folder().absolute())
    if number in _FORBIDDEN:
        return elsewhere if ours else "make it yours to write, or name another place"
    if number in _IN_THE_WAY:
        other = f", or {elsewhere}" if ours else ""
        return f"something else is there or above it; move that away{other}"
    return None
