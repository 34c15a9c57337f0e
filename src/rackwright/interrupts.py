"""Interrupts of the keyboard that Python would drop."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_LATER_S = 0.05
"""Seconds until an interrupt comes again, when the callback that it met has ended."""


def keep_interrupts() -> None:
    """Repeat an interrupt that arrives in a destructor or in the callback of a weak reference.

    Python prints the exceptions of those and goes on, so that a user who interrupts a change would see it continue.
    """

    def repeat(lost: UnraisableHookArgs) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(lost)
            return
        from signal import SIGINT, pthread_kill
        from threading import Timer, main_thread

        # A signal to the thread itself ends what it waits for, too.
        timer = Timer(_LATER_S, pthread_kill, (main_thread().ident, SIGINT))
        timer.daemon = True
        timer.start()

    sys.unraisablehook = repeat
