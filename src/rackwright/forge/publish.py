"""Bringing a comment to a forge, in spite of failures that pass."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from rackwright.forge.comments import CommentOutcome, decide, stamp
from rackwright.forge.forges import Forge
from rackwright.forge.retry import patiently


def publish(
    forge: Forge,
    body: str,
    valid_at: datetime,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> CommentOutcome:
    """Make the comment say ``body``, unless a newer run has spoken; what became of it.

    Each attempt looks again: a request without an answer may have been carried out, and must not
    become a second comment.

    Raises:
        UsageError: ``body`` has no marker.
        ForgeError: the forge refuses, or all attempts failed.
    """
    stamped = stamp(body, valid_at)
    return patiently(lambda: _attempt(forge, stamped), sleep)


def _attempt(forge: Forge, stamped: str) -> CommentOutcome:
    decision = decide(list(forge.comments()), stamped)
    if decision.outcome is CommentOutcome.CREATED:
        forge.create(stamped)
    elif decision.outcome is CommentOutcome.UPDATED and decision.id is not None:
        forge.update(decision.id, stamped)
    return decision.outcome
