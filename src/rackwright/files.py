"""Files that are generated, written as a whole and only where something changes; folders of a user."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

AnyPath = str | os.PathLike[str]
"""Path of a file as programs have it."""


def write_changed(path: Path, content: str | bytes, mode: int = 0o644) -> bool:
    """Write ``content`` with ``mode`` into ``path`` unless it holds them already; True if it was written.

    It is replaced at once, so that a reader sees the former file or the new one. A link is replaced,
    and what it leads to stays as it is.

    Raises:
        OSError: it cannot be written; the former file is still there.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    if _is(path, data, mode):
        return False
    with named(path):
        _write(path, data, mode)
    return True


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Let an error of the system say that it is about ``path``, not about a draft or about nothing.

    The system does not say which file a write was for.

    Raises:
        OSError: what runs inside raises it; it then names ``path``.
    """
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


@contextmanager
def undone(new: list[Path], folders: Sequence[Path] = ()) -> Iterator[None]:
    """Remove what is new after an error or an interrupt.

    Args:
        new: files and folders of this process; more may be added meanwhile.
        folders: folders that go where they are empty then, as another process may have files there.
    """
    try:
        yield
    except BaseException:
        for path in reversed(new):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        for folder in reversed(folders):
            with suppress(OSError):
                folder.rmdir()
        raise


def missing(*paths: Path) -> list[Path]:
    """Return those of ``paths``, and of the folders around them, that are not there, outermost first."""
    around = {one for path in paths for one in (path, *path.parents)}
    return sorted((one for one in around if not os.path.lexists(one)), key=lambda one: one.parts)


@contextmanager
def draft(path: Path) -> Iterator[Path]:
    """Yield a file beside ``path`` to be written, which takes its place at the end; after an error it goes.

    Raises:
        IsADirectoryError: ``path`` is a folder without a name.
    """
    if not path.name:  # '.' and '/'
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _write(path: Path, data: bytes, mode: int) -> None:
    with draft(path) as partial:
        partial.unlink(missing_ok=True)
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)  # whatever the mask of the process is
            os.fsync(file.fileno())


def _is(path: Path, data: bytes, mode: int) -> bool:
    try:
        found = path.lstat()
        return (
            stat.S_ISREG(found.st_mode)
            and stat.S_IMODE(found.st_mode) == mode
            and found.st_size == len(data)
            and path.read_bytes() == data
        )
    except OSError:
        return False


def state_folder() -> Path:
    """Return the folder of state to keep: ``$RACKWRIGHT_STATE``, else as the XDG Base Directory Specification says."""
    chosen = os.environ.get("RACKWRIGHT_STATE")
    return Path(chosen) if chosen else _base("XDG_STATE_HOME", ".local/state") / "rackwright"


def cache_folder(name: str) -> Path:
    """Return a folder that can be made again: ``rackwright/NAME`` in the user's cache folder."""
    return _base("XDG_CACHE_HOME", ".cache") / "rackwright" / name


def _base(variable: str, otherwise: str) -> Path:
    """Return the folder that ``variable`` names; a relative one is to be ignored."""
    base = Path(os.environ.get(variable, ""))
    return base if base.is_absolute() else Path.home() / otherwise
