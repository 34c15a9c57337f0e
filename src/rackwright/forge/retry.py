"""Trying again what failed in a way that may pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rackwright.forge.http import TransientError

ATTEMPTS = 5
LONGEST_WAIT = 60.0
"""Seconds between two attempts at most, whatever the forge asks for."""
T = TypeVar("T")


def patiently(action: Callable[[], T], sleep: Callable[[float], None]) -> T:
    """Return the result of ``action``, repeated while it fails in a way that may pass.

    Raises:
        TransientError: all attempts failed.
        ForgeError: the forge refuses.
    """  # noqa: DOC501 - the last attempt returns or raises
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return action()
        except TransientError as error:
            if attempt == ATTEMPTS:
                raise
            wait = 2.0 ** (attempt - 1) if error.wait is None else error.wait
            sleep(min(wait, LONGEST_WAIT))
    raise AssertionError(ATTEMPTS)  # the last attempt returns or raises
