"""Processes, known by their id and their start: an id alone is given away again."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path


def started(pid: int) -> str | None:
    """Return a value that tells a process from a later one of the same id; None for a dead one."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return _started_by_ps(pid) if not Path("/proc/self/stat").exists() else None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


def _started_by_ps(pid: int) -> str | None:
    reply = subprocess.run(
        ["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return reply.stdout.strip() or None


_SET_DUMPABLE, _DROP_FROM_BOUNDING_SET, _SET_NO_NEW_PRIVILEGES = 4, 24, 38
"""Options of prctl(2)."""
_LOOKING = (19, 21, 38)
"""CAP_SYS_PTRACE, and CAP_SYS_ADMIN and CAP_PERFMON, by which newer kernels let processes look too."""
_CAPABILITIES_V3 = 0x20080522


def hide_process() -> None:
    """Keep other processes of this user from reading the environment and memory of this one.

    On Linux alone. Programs that are started later are not hidden.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def give_up_looking() -> None:
    """Give up, for this process and all that it starts, to look into processes that hide.

    On Linux alone. Root may by its capabilities, and others by a program like sudo.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    for capability in _LOOKING:
        libc.prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; the lower halves first
    if libc.capget(header, sets) == 0:
        for capability in _LOOKING:
            half, bit = divmod(capability, 32)
            for index in range(3 * half, 3 * half + 3):
                sets[index] &= ~(1 << bit)
        libc.capset(header, sets)
