"""Files that hold a secret: of one owner, whole or not there, and never overwritten by chance."""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import StateError, UsageError
from rackwright.files import named

_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""What a file system answers that has no hard links."""
_MISSING = "missing"
_LONGEST_PASSWORD = 1024


@dataclass(frozen=True)
class Secret:
    """Secret that a file holds.

    Attributes:
        what: its name in messages.
        least: bytes that it has at least when it is whole.
        remedy: what to do where it is not whole, and others rely on it.
    """

    what: str
    least: int
    remedy: str


def keep_secret(
    path: Path, make: Callable[[], bytes], secret: Secret, *, in_use: bool = True
) -> Path:
    """``path``, with the secret that it has, or with a new one that ``make`` returns.

    Who makes it at the same time uses the same: the first one stays.

    Args:
        path: where it is kept; its folder is made for the owner alone.
        make: makes a new one.
        secret: what it is.
        in_use: something may rely on the secret that is there, so that a damaged one is refused;
            otherwise it is made again.

    Raises:
        StateError: the secret that is there is not whole.
        OSError: it cannot be read or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if (fault := _fault(path, secret.least)) is None:
        path.chmod(0o600)
        return path
    if fault == _MISSING:  # decided once: another maker may be done by now
        with _draft(path, make()) as draft:
            _link(draft, path)
    elif in_use or not path.is_file():
        raise StateError(f"{secret.what} in '{path}' is {fault}", hint=secret.remedy)
    else:
        write_secret(path, make())
    return path


def write_secret(path: Path, content: bytes) -> None:
    """Let ``path`` hold ``content``, for its owner alone; a reader sees the former file or this one.

    Raises:
        OSError: it cannot be written; the former file is still there.
    """
    with _draft(path, content) as draft:
        draft.replace(path)
        _sync(path.parent)


def is_whole(path: Path, least: int) -> bool:
    """Return True if ``path`` is a file of ``least`` bytes or more."""
    return _fault(path, least) is None


def _fault(path: Path, least: int) -> str | None:
    """Return the fault of the file; None if it is sound."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return "no file"
        content = path.read_bytes()
    except FileNotFoundError:
        return _MISSING
    if not content.strip():
        return "blank" if content else "empty"
    return f"cut short: {len(content):,} bytes" if len(content) < least else None


@contextmanager
def _draft(path: Path, content: bytes) -> Iterator[Path]:
    """Yield a file beside ``path`` with ``content``, on the disk; a killed process leaves no more."""
    with named(path):
        descriptor, name = tempfile.mkstemp(
            prefix=f".{path.name}.", suffix=".part", dir=path.parent
        )
        draft = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            yield draft
        finally:
            draft.unlink(missing_ok=True)


def _link(draft: Path, path: Path) -> None:
    """Give ``draft`` the name ``path`` as well, unless another maker was first.

    Raises:
        OSError: ``draft`` cannot have that name, or the folder cannot be synced.
    """
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if not path.exists():  # who makes it in this very moment is overwritten
            draft.replace(path)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    """Let the names in ``folder`` be on the disk, where the file system can do that.

    Raises:
        OSError: the folder cannot be opened, or its file system can sync it and fails.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)


def read_password(path: Path) -> str:
    """Return the one line of a file that its owner alone can read.

    Raises:
        UsageError: it cannot be read, others can read it, or it is no single line.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8").removesuffix("\n")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise UsageError(f"the password in '{path}' cannot be read: {reason}") from None
    if stat.S_ISREG(mode) and mode & 0o077:
        raise UsageError(f"others can read '{path}'", hint=f"chmod 600 {path}")
    if not text or len(text) > _LONGEST_PASSWORD or re.search(r"[\x00-\x1f\x7f]", text):
        raise UsageError(f"'{path}' is no password of one line")
    return text
