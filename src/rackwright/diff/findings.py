"""Findings that the head adds, fixes, or makes worse."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rackwright.diff.results import Pair
from rackwright.policy.api import Enforcement, Outcome
from rackwright.policy.engine import Result
from rackwright.policy.excess import Mark, Trend, is_stricter, trend

BAD = frozenset({Outcome.FAIL, Outcome.UNKNOWN, Outcome.ERROR})
"""Outcomes that need attention."""

_GRAVITY = {Outcome.UNKNOWN: 0, Outcome.FAIL: 1, Outcome.ERROR: 2}


@dataclass(frozen=True, slots=True)
class Findings:
    """Pairs of results by what became of them.

    Attributes:
        new: bad now, and not before.
        regressions: bad before and worse now; or waived, and the limit became stricter, where the
            waiver does not name the limit that it was approved against.
        fixed: bad before, and not any more.
    """

    new: tuple[Pair, ...]
    regressions: tuple[Pair, ...]
    fixed: tuple[Pair, ...]

    @property
    def any(self) -> bool:
        """True if there are some."""
        return bool(self.new or self.regressions or self.fixed)

    @property
    def excused(self) -> tuple[Pair, ...]:
        """Mandatory findings that are new or worse, and would pass by the baseline or a waiver."""
        return tuple(
            pair
            for pair in (*self.new, *self.regressions)
            if pair.result.enforcement is Enforcement.MANDATORY and not pair.result.blocks
        )


def sort_findings(pairs: Iterable[Pair]) -> Findings:
    """Return the pairs that are new, worse or fixed; what blocks first."""
    new: list[Pair] = []
    worse: list[Pair] = []
    fixed: list[Pair] = []
    for pair in pairs:
        was_bad, is_bad = _is_bad(pair.before), _is_bad(pair.after)
        if pair.before and pair.after and _is_waived_anew(pair.before, pair.after):
            worse.append(pair)
        elif is_bad and not was_bad:
            new.append(pair)
        elif was_bad and not is_bad:
            fixed.append(pair)
        elif pair.before and pair.after and is_bad and _is_worse(pair.before, pair.after):
            worse.append(pair)
    return Findings(*(tuple(sorted(found, key=_order)) for found in (new, worse, fixed)))


def _is_bad(result: Result | None) -> bool:
    return result is not None and result.outcome in BAD and not result.later


def _is_worse(before: Result, after: Result) -> bool:
    if after.blocks and not before.blocks:
        return True
    if after.outcome is not before.outcome:
        return _GRAVITY[after.outcome] > _GRAVITY[before.outcome]
    if after.outcome is not Outcome.FAIL:
        return False
    old, new = _mark(before), _mark(after)
    if old is None or new is None:
        return old is not new
    # Numbers of two units, or above a limit and below one, cannot be shown to be no worse.
    if before.unit != after.unit or old.is_above is not new.is_above:
        return True
    return trend(old, new, at_most=new.is_above) is Trend.WORSE


def _is_waived_anew(before: Result, after: Result) -> bool:
    """Return True if a waiver without a limit covers a failure at a limit that became stricter."""
    old, new = _mark(before), _mark(after)
    if old is None or new is None or after.outcome is not Outcome.WAIVED:
        return False
    if after.waiver is not None and after.waiver.limit is not None:
        return False
    return before.unit != after.unit or is_stricter(old, new, at_most=new.is_above)


def _mark(result: Result) -> Mark | None:
    if result.value is None or result.limit is None:
        return None
    return Mark(result.value, result.limit)


def _order(pair: Pair) -> tuple[object, ...]:
    return not pair.result.blocks, pair.result.policy, pair.subject, pair.result.what
