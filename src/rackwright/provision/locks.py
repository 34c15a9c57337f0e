"""One update at a time, and no lock that outlives its holder."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.files import named


@contextmanager
def exclusive(path: Path, *, what: str) -> Iterator[None]:
    """Hold ``path`` as a lock that the kernel frees when this process ends, however it ends.

    Raises:
        ExternalToolError: another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise ExternalToolError(
                f"{what} is being changed by process {holder}",
                hint="wait until it has ended, then try again",
            ) from None
        with named(path):
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
        yield


@contextmanager
def turn(path: Path, *, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold ``path`` as such a lock, after whoever holds it; ``waiting`` is called before a wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def clear_dead_locks(backend: Path, project: str, stack: str) -> int:
    """How many locks of dead engines were removed from a file backend.

    The engine leaves its lock behind when it is killed. A lock is removed only when its process
    ran on this host and is gone.

    Raises:
        ExternalToolError: the holder is alive, or ran on another host.
    """
    folder = backend / ".pulumi" / "locks" / "organization" / project / stack
    removed = 0
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        try:
            lock = json.loads(path.read_text())
            pid, host = int(lock["pid"]), str(lock["hostname"])
        except (ValueError, KeyError, OSError) as error:
            raise ExternalToolError(
                f"the lock '{path}' of stack '{project}/{stack}' cannot be read",
                hint="make sure that no update runs, then delete the file",
            ) from error
        if host != socket.gethostname() or _is_alive(pid):
            raise ExternalToolError(
                f"stack '{project}/{stack}' is being updated by process {pid} on '{host}'",
                hint="wait until it has ended, then try again",
            )
        path.unlink(missing_ok=True)
        removed += 1
    return removed


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state == "Z"
