"""Lists in messages: the first few by name, the others counted."""

from __future__ import annotations

from collections.abc import Sequence

from rackwright.plan.missing import Missing, fields_of

_NAMED = 3
"""Names that a sentence can hold and still be read. Judgement."""


def listed(names: Sequence[str]) -> str:
    """Return the first of ``names``, and how many more there are, like ``'a', 'b', 'c' and 4 more``."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def first_of(missing: Sequence[str], others: str) -> tuple[str, ...]:
    """Return the first of ``missing``; one more stands for all others, with the fields of the next.

    Args:
        missing: what is not known.
        others: the words for the others, with ``{}`` for their number.
    """
    rest = missing[_NAMED:]
    if not rest:
        return tuple(missing)
    words = others.format(f"{len(rest):,}")
    return (*missing[:_NAMED], Missing(words, *fields_of(rest[0])))
