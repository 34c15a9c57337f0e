"""Headroom of every budget that the policies measure, the worst first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rackwright.model.quantities import format_quantity
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Result


def headroom(result: Result) -> float | None:
    """Return the difference between the value and its limit, negative if it is broken."""
    if result.value is None or result.limit is None:
        return None
    gap = abs(result.limit - result.value)
    return -gap if result.outcome in {Outcome.FAIL, Outcome.WAIVED} else gap


@dataclass(frozen=True, slots=True)
class Headroom:
    """Headroom of one budget.

    Attributes:
        result: the measure of the policy.
        left: between value and limit, in the unit of both, negative when it is broken; None when unknown.
        share: of the limit that is left, as a fraction; None when unknown, or where the limit is zero.
    """

    result: Result
    left: float | None
    share: float | None

    @property
    def is_exact(self) -> bool:
        """It is kept with nothing left, as a count that has to be met is; or the limit is zero."""
        return self.left is not None and self.left >= 0 and (self.left == 0 or self.share is None)


def headroom_of(result: Result) -> Headroom | None:
    """Return the headroom of a measure; None for what is no measure, or judges nothing."""
    if not result.is_measure or result.outcome in {Outcome.NOT_APPLICABLE, Outcome.ERROR}:
        return None
    left = headroom(result)
    if left is None and result.outcome is not Outcome.UNKNOWN:
        return None
    share = None if left is None or not result.limit else left / abs(result.limit)
    return Headroom(result, left, share)


@dataclass(frozen=True)
class BudgetHeadroom:
    """One thing that a policy measures, at every subject where it does.

    Attributes:
        policy: id of the policy.
        what: what is measured.
        rows: the headroom at each subject, the worst first; never empty.
    """

    policy: str
    what: str
    rows: Sequence[Headroom]

    @property
    def worst(self) -> Headroom:
        """Subject with the least headroom."""
        return self.rows[0]


def budgets(results: Iterable[Result]) -> list[BudgetHeadroom]:
    """Return every budget, the worst first: broken ones, then unknown ones, then by what is left of the limit."""
    found: dict[tuple[str, str], list[Headroom]] = {}
    for result in results:
        row = headroom_of(result)
        if row is not None:
            found.setdefault((result.policy, result.what), []).append(row)
    made = [
        BudgetHeadroom(policy, what, sorted(rows, key=_badness))
        for (policy, what), rows in found.items()
    ]
    return sorted(made, key=lambda one: (_badness(one.worst), one.policy, one.what))


def _badness(row: Headroom) -> tuple[int, float, str]:
    name = row.result.subject.name
    if row.left is None:
        return 1, 0.0, name
    share = row.share if row.share is not None else (float("-inf") if row.left < 0 else 1.0)
    return (0 if row.left < 0 else 2), share, name


def share_text(row: Headroom) -> str:
    """Return the headroom as a share of the limit, like ``12.1 %``, or the reason why it is unknown."""
    if row.left is None:
        return "unknown"
    if row.share is None:
        return "none" if row.left == 0 else "broken" if row.left < 0 else "all"
    return f"{100 * row.share:.1f} %"


def value_text(row: Headroom) -> str:
    """Return value and limit, like ``176.3 kW of 200 kW``, or ``8 of 16 switches``."""
    result = row.result
    most = "?" if result.limit is None else format_quantity(result.limit, result.unit)
    own = "?" if result.value is None else format_quantity(result.value, result.unit)
    number, _, unit = own.partition(" ")
    if unit and unit == most.partition(" ")[2]:
        own = number
    return f"{own} of {most}" if is_upper(row) else f"{own}, least {most}"


def left_text(row: Headroom) -> str:
    """Return the headroom in its unit, like ``23.7 kW``."""
    return "" if row.left is None else format_quantity(row.left, row.result.unit)


def is_upper(row: Headroom) -> bool:
    """Return True if the limit is a maximum: the headroom is added to the value to reach it."""
    value, limit, left = row.result.value, row.result.limit, row.left
    if value is None or limit is None or left is None:
        return True
    return (value <= limit) == (left >= 0)
