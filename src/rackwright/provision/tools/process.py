"""Running a helper process in bounded time, with all of its children."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Finished:
    """Result of a process; ``code`` is None if it timed out."""

    code: int | None
    tail: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Its last line of output, or its exit code."""
        lines = [line for line in self.tail if line.strip()]
        return lines[-1].strip() if lines else f"exit code {self.code}"


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    on_line: Callable[[str], None] = lambda _line: None,
    timeout_s: float | None = None,
    keep: int = 20,
) -> Finished:
    """Run ``command``, and return its result with the last ``keep`` lines of output.

    The process and its children form a group of their own, which is killed when the time is up
    or when the caller is interrupted.

    Raises:
        OSError: the program cannot be started.
    """
    tail: deque[str] = deque(maxlen=keep)
    late = threading.Event()
    with subprocess.Popen(
        list(command),
        cwd=cwd,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:

        def expire() -> None:
            late.set()
            _kill_group(process.pid)

        timer = threading.Timer(timeout_s, expire) if timeout_s is not None else None
        try:
            if timer is not None:
                timer.start()
            for line in process.stdout or ():
                tail.append(line.rstrip("\n"))
                on_line(tail[-1])
            code = process.wait()
        except BaseException:
            _kill_group(process.pid)
            raise
        finally:
            if timer is not None:
                timer.cancel()
    return Finished(None if late.is_set() else code, tuple(tail))


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
