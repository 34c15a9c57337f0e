"""Lists in messages: the first few by name, the others counted."""

from __future__ import annotations

from collections.abc import Sequence

_NAMED = 3


def listed(names: Sequence[str]) -> str:
    """The first of ``names``, and how many more there are, like ``'a', 'b', 'c' and 4 more``."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
