"""One process at a time, and no lock that outlives its holder."""

from __future__ import annotations

import os
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
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        held = FileLock(path).acquire(blocking=False)
    except Timeout:
        holder = path.read_text("utf-8").strip() or "unknown"
        raise ExternalToolError(
            f"{what} is being changed by process {holder}",
            hint="wait until it has ended, then try again",
        ) from None
    with held:
        with named(path):
            path.write_text(str(os.getpid()), "utf-8")
        yield


@contextmanager
def turn(path: Path, *, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold ``path`` as such a lock, after its holder; ``waiting`` is called before a wait."""
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        held = lock.acquire(blocking=False)
    except Timeout:
        waiting()
        held = lock.acquire()
    with held:
        yield
