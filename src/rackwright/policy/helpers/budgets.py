"""Comparison of a cost with its budget."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from rackwright.plan.base import Contributor, Subject
from rackwright.plan.missing import Missing
from rackwright.plan.model import Plan
from rackwright.policy.api import Measure
from rackwright.policy.helpers.remediation import either, place_fewer, provide

if TYPE_CHECKING:
    from rackwright.plan.cost.comparison import RentComparison
    from rackwright.plan.cost.lines import Amount
    from rackwright.plan.cost.summary import CostSummary

Period = Literal["year", "hour"]


def judged_value(amount: Amount, limit: Decimal | None, period: Period) -> float | None:
    """Return the cost in USD to compare with ``limit``, or its lower bound if that is over already.

    A cost whose known part is beyond the limit fails whatever the missing part turns out to be. None if
    the missing part decides.
    """
    known = amount.at_least_per_year if period == "year" else amount.at_least_per_hour
    if amount.missing and (limit is None or known <= limit):
        return None
    return float(known)


def measure_budget(
    summary: CostSummary, limit: Decimal | None, at: Subject, period: Period
) -> Measure:
    """Return the measure of the cost of all sites against a budget, in USD/year or USD/h.

    Args:
        summary: what the plan costs.
        limit: the budget in USD for the period; None where the blueprint has none, which is unknown.
        at: the subject of the measure.
        period: of the budget.
    """
    value = judged_value(summary.total, limit, period)
    unit = f"USD/{'year' if period == 'year' else 'h'}"
    shares = tuple(_contributors(summary, period))
    fix = None
    if value is not None and limit is not None and value > limit:
        fewer = place_fewer(shares, value - float(limit))
        fix = either(fewer, provide(value, unit, "a budget"))
    missing = summary.missing
    if limit is None:
        name = f"budget_per_{period}"
        missing += (Missing(f"'{name}' of the costs", ("costs", name)),)
    part = "known part of the cost" if summary.missing and value is not None else "cost"
    return Measure(
        at,
        value=value,
        limit=None if limit is None else float(limit),
        unit=unit,
        what=f"{part} of all sites",
        contributors=shares,
        fix=fix,
        missing=missing,
    )


def compare_with_rent(plan: Plan) -> tuple[RentComparison, ...]:
    """Return each bare-metal site with accelerators against the same ones on AWS, in USD of a year."""
    from rackwright.plan.cost.comparison import compare

    return compare(plan, summary=plan.cost)


def _contributors(summary: CostSummary, period: Period) -> Iterable[Contributor]:
    """Return the groups by what one of their units costs, the largest sum first."""
    found = []
    for site in summary.sites:
        for group in site.groups:
            amount = group.amount
            known = amount.at_least_per_year if period == "year" else amount.at_least_per_hour
            if known and group.count:
                name = f"{site.name} {group.name}"
                found.append(Contributor(name, group.count, float(known) / group.count))
    return sorted(found, key=lambda c: (-c.total, c.name))
