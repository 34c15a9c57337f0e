"""Run a command and write what it cost: ``launch.py REPORT COMMAND…``; SIGTERM ends the command.

The kernel counts the memory of the process that starts a program as the program's own peak, so
the bench, which holds whole plans, has this small process start what it measures.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def main() -> None:
    report, *command = sys.argv[1:]
    started = time.perf_counter()
    process = subprocess.Popen(command)
    signal.signal(signal.SIGTERM, lambda *_: process.kill())
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    per_mib = 2**20 if sys.platform == "darwin" else 2**10
    cost = {
        "wall_s": took,
        "busy_s": usage.ru_utime + usage.ru_stime,
        "peak_mib": usage.ru_maxrss / per_mib,
        "code": process.returncode,
    }
    Path(report).write_text(json.dumps(cost))


if __name__ == "__main__":
    main()
