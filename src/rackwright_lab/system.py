"""Commands and processes of the lab: run as argument lists, known by id and start time."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import ExternalToolError, UsageError
from rackwright.processes import started

PROGRAMS = {
    "debootstrap": "debootstrap",
    "systemd-nspawn": "systemd-container",
    "ip": "iproute2",
    "ssh-keygen": "openssh-client",
    "mount": "mount",
    "unshare": "util-linux",
    "apt-ftparchive": "apt-utils",
}
"""What the lab needs, and the Debian package that holds it."""


def check_machine() -> None:
    """Refuse to go on where the lab cannot work.

    Raises:
        UsageError: this is not root on Linux, or a program is missing.
    """
    if not Path("/proc/self/ns/net").exists() or os.geteuid() != 0:
        raise UsageError(
            "the lab needs root on Linux: it makes network namespaces and mounts",
            hint="run it as root, on a machine or in a virtual machine that you may use so",
        )
    missing = sorted({package for name, package in PROGRAMS.items() if shutil.which(name) is None})
    if missing:
        raise UsageError(
            f"the lab needs {', '.join(missing)}",
            hint=f"apt-get install --no-install-recommends {' '.join(missing)}",
        )


def run(
    *command: str | Path, check: bool = True, timeout_s: float = 120.0, cwd: Path | None = None
) -> str:
    """Return the standard output of ``command``.

    Raises:
        ExternalToolError: it fails (unless ``check`` is false) or takes too long.
    """
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            errors="replace",
            cwd=cwd,
        )
    except subprocess.TimeoutExpired:
        raise ExternalToolError(f"'{words[0]}' did not end within {timeout_s:.0f} s") from None
    if check and done.returncode != 0:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        reason = lines[-1].strip() if lines else f"exit code {done.returncode}"
        raise ExternalToolError(f"'{' '.join(words[:4])}' failed: {reason}")
    return done.stdout


@dataclass(frozen=True)
class Process:
    """A process that was started by the lab; a later one of the same id is not it."""

    pid: int
    started: str

    @classmethod
    def of(cls, pid: int) -> Process:
        """Return the live process ``pid``.

        Raises:
            ExternalToolError: it has ended already.
        """
        began = started(pid)
        if began is None:
            raise ExternalToolError(f"process {pid} ended at once")
        return cls(pid, began)

    @classmethod
    def read(cls, path: Path) -> Process | None:
        """Return the process that was written to ``path``, dead or alive."""
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            return cls(int(record["pid"]), str(record["started"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, path: Path) -> None:
        """Keep it for later commands."""
        path.write_text(json.dumps({"pid": self.pid, "started": self.started}), encoding="utf-8")

    @property
    def alive(self) -> bool:
        """True if the process still runs."""
        return started(self.pid) == self.started

    def end(self, *, timeout_s: float) -> None:
        """Ask it to end, and kill it with its group when it does not."""
        if self.alive:
            os.kill(self.pid, signal.SIGTERM)
        if not wait_for(lambda: not self.alive, timeout_s):
            os.killpg(self.pid, signal.SIGKILL)
            wait_for(lambda: not self.alive, 5.0)
        try:
            os.waitpid(self.pid, os.WNOHANG)  # reaps it where it is a child of ours
        except ChildProcessError:
            return


def start(command: Sequence[str], *, log: Path, environment: Mapping[str, str]) -> Process:
    """Start a process in a session of its own, which outlives this one."""
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    pid = os.posix_spawnp(
        command[0],
        list(command),
        dict(environment),
        setsid=True,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), append, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
    )
    return Process.of(pid)


def wait_for(condition: Callable[[], bool], timeout_s: float, step_s: float = 0.1) -> bool:
    """Return True if ``condition()`` became true within ``timeout_s``."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(step_s)
    return True
