"""Rows of the page with the headroom of every budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackwright.page.places import Place, Places
from rackwright.policy.engine import Result
from rackwright.report.overview.headroom import (
    BudgetHeadroom,
    budgets,
    left_text,
    share_text,
    value_text,
)
from rackwright.report.overview.summary import TIGHT
from rackwright.report.wording import printable

_GIVEN = frozenset({"W", "VA", "kg", "kg/m2", "L/min", "CFM"})
"""Units of the resources of a hall: power, cooling and weight. Ratings in A do not depend on the number of servers."""


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """Budget at the subject with the least headroom.

    Attributes:
        state: ``broken``, ``warns``, ``unknown``, ``tight``, ``exact`` or ``fine``.
        used: used share of the limit, in % of the bar.
        share: headroom as a share of the limit, in words.
        left: headroom in the unit of the limit, in words.
        value: value and limit, in words.
        policy: id of the rule.
        what: name of the measure.
        where: subject, with the number of further ones.
        place: place of the subject on the page.
        result: result of the rule.
    """

    state: str
    used: float
    share: str
    left: str
    value: str
    policy: str
    what: str
    where: str
    place: Place | None
    result: Result


def budget_rows(results: Sequence[Result], places: Places) -> Iterator[BudgetRow]:
    """Yield every budget: blocking ones first, and within equal rank the smallest headroom first."""
    for one in sorted(budgets(results), key=_weight):
        row, others = one.worst, len(one.rows) - 1
        name = printable(row.result.subject.name)
        used = 0.0 if row.share is None else 100 * min(1.0, max(0.0, 1 - row.share))
        yield BudgetRow(
            state=_state(one),
            used=round(used, 1),
            share=share_text(row),
            left=left_text(row),
            value=value_text(row),
            policy=one.policy,
            what=printable(one.what).rstrip(","),
            where=f"{name} and {others:,} more" if others else name,
            place=places.of(row.result.subject.path),
            result=row.result,
        )


def _weight(one: BudgetHeadroom) -> int:
    """Return the rank of a budget: blocking, resources of a hall, warnings, the rest."""
    row = one.worst
    if row.is_exact or row.left is None:
        return 4
    if row.left < 0:
        return 0 if row.result.blocks else 2
    return 1 if row.result.unit in _GIVEN else 3


def _state(one: BudgetHeadroom) -> str:
    row = one.worst
    if row.left is None:
        return "unknown"
    if row.left < 0:
        return "broken" if row.result.blocks else "warns"
    if row.is_exact:
        return "exact"
    return "tight" if row.share is not None and row.share < TIGHT else "fine"
