"""Processes, known by their id and their start: an id alone is given away again."""

from __future__ import annotations

import subprocess
from pathlib import Path


def started(pid: int) -> str | None:
    """What tells a process from a later one of the same id; None for a dead one."""
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
