"""What the head breaks anew, mends, or makes worse."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rackwright.diff.budgets import headroom
from rackwright.diff.results import Pair
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Result

BAD = frozenset({Outcome.FAIL, Outcome.UNKNOWN, Outcome.ERROR})
"""Outcomes that somebody has to look at."""

_GRAVITY = {Outcome.UNKNOWN: 0, Outcome.FAIL: 1, Outcome.ERROR: 2}


@dataclass(frozen=True, slots=True)
class Findings:
    """Pairs of results by what became of them.

    Attributes:
        new: bad now, and not before.
        regressions: bad before and worse now.
        fixed: bad before, and not any more.
    """

    new: tuple[Pair, ...]
    regressions: tuple[Pair, ...]
    fixed: tuple[Pair, ...]

    @property
    def any(self) -> bool:
        """Whether there are some."""
        return bool(self.new or self.regressions or self.fixed)


def sort_findings(pairs: Iterable[Pair]) -> Findings:
    """The pairs that are new, worse or fixed; what blocks first."""
    new: list[Pair] = []
    worse: list[Pair] = []
    fixed: list[Pair] = []
    for pair in pairs:
        was_bad, is_bad = _is_bad(pair.before), _is_bad(pair.after)
        if is_bad and not was_bad:
            new.append(pair)
        elif was_bad and not is_bad:
            fixed.append(pair)
        elif pair.before and pair.after and is_bad and _is_worse(pair.before, pair.after):
            worse.append(pair)
    return Findings(*(tuple(sorted(found, key=_order)) for found in (new, worse, fixed)))


def _is_bad(result: Result | None) -> bool:
    return result is not None and result.outcome in BAD


def _is_worse(before: Result, after: Result) -> bool:
    if after.blocks != before.blocks:
        return after.blocks
    if after.outcome is not before.outcome:
        return _GRAVITY[after.outcome] > _GRAVITY[before.outcome]
    old, new = headroom(before), headroom(after)
    return old is not None and new is not None and new < old


def _order(pair: Pair) -> tuple[object, ...]:
    return not pair.result.blocks, pair.result.policy, pair.subject, pair.result.what
