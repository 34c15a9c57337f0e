"""Locks that an engine which was killed left in a file backend."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

from rackwright.errors import ExternalToolError


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
