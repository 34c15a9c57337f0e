"""Reasons that say something, and who answers for them."""

from __future__ import annotations

LEAST = 4
"""Different letters and digits of a reason; what has fewer is no word of any language."""


def says_something(reason: str | None) -> bool:
    """Whether a reason is more than marks to fill a field."""
    return len({sign for sign in (reason or "").casefold() if sign.isalnum()}) >= LEAST


def explained(reason: str | None, owner: str | None) -> str:
    """What follows ``in this change``: why, and who says so; empty where nobody says anything."""
    why = f", because '{reason}'" if says_something(reason) else ""
    who = f", for which '{owner}' answers" if owner else ""
    return why + who
