"""Start of the command line, also as ``python -m rackwright``.

An interrupt before any command has begun ends it without a traceback.
"""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Run the command line; its exit code."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing has begun that could go on
    from rackwright.cli import main as run

    signal.signal(signal.SIGINT, before)
    return run()


if __name__ == "__main__":
    sys.exit(main())
