"""One process at a time, and no lock that outlives its holder."""

from __future__ import annotations

import fcntl
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
