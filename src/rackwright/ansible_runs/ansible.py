"""Runs of Ansible that Ctrl-C ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

KEEPALIVE = "-o ServerAliveInterval=15 -o ServerAliveCountMax=3"
"""Options of ssh with which a host that loses its power in the middle of a task is unreachable within
a minute; without them ssh waits for its answer for hours."""


def start(**arguments: Any) -> Any:
    """Return the result of ``ansible_runner.run`` for ``arguments``.

    Raises:
        KeyboardInterrupt: this process was interrupted; Ansible has ended by then.
    """
    import ansible_runner

    with _handlers_kept():
        done = ansible_runner.run(**arguments)
    if done.status == "canceled":
        raise KeyboardInterrupt
    return done


@contextmanager
def _handlers_kept() -> Iterator[None]:
    """Put back the signal handlers that ansible-runner replaces by its own for good."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread has handlers to replace
        return
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)
