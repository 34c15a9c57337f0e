"""Excess of a failure over its limit, and comparison of two failures.

A value alone does not tell: 46 kW is 1 kW over a limit of 45 kW and 41 kW over one of 5 kW. So the
baseline, the waivers and the comparison of two revisions all ask ``trend``, which looks at three
measures, each larger when it is worse:

- the value itself, counted the other way where the limit is a minimum;
- the excess, in the unit of the rule: value - limit, or limit - value below a minimum;
- the share: excess / |limit|. Any excess over a limit of zero is an infinite share.

One failure is worse than another when one of the three is. It is no worse only when none is, so
neither a value that grows nor a limit that moves goes unseen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from rackwright.model.quantities import format_quantity
from rackwright.policy.api import TOLERANCE


@dataclass(frozen=True, slots=True)
class Mark:
    """A value and its limit, both in the canonical unit of one rule."""

    value: float
    limit: float

    @property
    def is_above(self) -> bool:
        """True if the value is above the limit, which is an upper one then."""
        return self.value > self.limit


class Trend(StrEnum):
    """Comparison of a failure with an older one of the same rule and subject."""

    BETTER = "better"
    """No measure is worse, and one is better."""
    SAME = "same"
    WORSE = "worse"
    """One measure is worse, whatever the others are."""


def trend(then: Mark, now: Mark, *, at_most: bool) -> Trend:
    """Compare ``now`` with ``then``; differences of rounding do not count.

    Args:
        then: what is recorded or permitted, or was found before.
        now: what is found.
        at_most: whether the limit is the most that is allowed; else it is the least.
    """
    if then == now:
        return Trend.SAME
    steps = list(_steps(then, now, 1 if at_most else -1))
    if not all(step <= slack for step, slack in steps):  # what is no number is worse, too
        return Trend.WORSE
    return Trend.BETTER if any(step < -slack for step, slack in steps) else Trend.SAME


def is_stricter(then: Mark, now: Mark, *, at_most: bool) -> bool:
    """Return True if the limit moved towards the side where more fails."""
    step = then.limit - now.limit if at_most else now.limit - then.limit
    return not step <= _slack(then.limit, now.limit)


def gravity(mark: Mark, *, at_most: bool) -> tuple[float, float]:
    """Return the key by which marks are sorted, worst last: by value, and equal ones by excess."""
    sign = 1 if at_most else -1
    return sign * mark.value, _excess(mark, sign)


def beyond(mark: Mark, unit: str) -> str:
    """Return the excess of a failure over its limit, like ``4.7 kW (11 %) over``, or ``short``."""
    gap = abs(mark.value - mark.limit)
    side = "over" if mark.is_above else "short"
    if unit == "%":  # a share of a share says nothing
        return f"{format_quantity(gap, '')} points {side}"
    share = f" ({100 * gap / abs(mark.limit):.0f} %)" if mark.limit else ""
    return f"{format_quantity(gap, unit)}{share} {side}"


def moved(then: float, now: float, unit: str, *, at_most: bool) -> str:
    """Return the words about a limit that moved, with both numbers; empty if it did not.

    Returns:
        Words like ``the limit moved from 45 kW to 5 kW``.
    """
    if abs(then - now) <= _slack(then, now):
        return ""
    texts = [format_quantity(number, unit) for number in (then, now)]
    if texts[0] == texts[1]:
        texts = [f"{number!r} {unit}".rstrip() for number in (then, now)]
    return f"the {'limit' if at_most else 'minimum'} moved from {texts[0]} to {texts[1]}"


def _steps(then: Mark, now: Mark, sign: int) -> Iterator[tuple[float, float]]:
    """Yield the increase of each measure, and the part of it that may be rounding."""
    yield sign * (now.value - then.value), _slack(now.value, then.value)
    old, new = _excess(then, sign), _excess(now, sign)
    yield new - old, _slack(then.value, then.limit, now.value, now.limit)
    before, after = _share(old, then.limit), _share(new, now.limit)
    if before != after:  # both may be infinite
        finite = [share for share in (before, after) if math.isfinite(share)]
        yield after - before, _slack(1.0, *(1 + abs(share) for share in finite))


def _excess(mark: Mark, sign: int) -> float:
    return sign * (mark.value - mark.limit)


def _share(excess: float, limit: float) -> float:
    if limit:
        return excess / abs(limit)
    return math.copysign(math.inf, excess) if excess else 0.0


def _slack(*numbers: float) -> float:
    return TOLERANCE * max(map(abs, numbers))
