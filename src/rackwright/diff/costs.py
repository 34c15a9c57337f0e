"""Cost of a change, by site and in total."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from rackwright.plan.model import Plan

if TYPE_CHECKING:
    from rackwright.plan.cost.lines import Amount

TOTAL = "all sites"


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars of one side; with something missing, at least so many."""

    per_hour: Decimal
    per_year: Decimal
    complete: bool


@dataclass(frozen=True, slots=True)
class CostChange:
    """Cost of one site, or of all, before and after; None where there is no such site."""

    site: str
    before: Cost | None
    after: Cost | None


def compare_costs(before: Plan | None, after: Plan | None) -> tuple[CostChange, ...]:
    """Return the sites whose cost changed, the total last; it is left out for a single site."""
    one, other = _costs(before), _costs(after)
    changes = [
        CostChange(site, one.get(site), other.get(site))
        for site in dict.fromkeys((*other, *one))
        if one.get(site) != other.get(site)
    ]
    sites = {site.split(",")[0] for site in (*one, *other)} - {TOTAL}
    kept = [change for change in changes if change.site != TOTAL or len(sites) > 1]
    return tuple(sorted(kept, key=lambda change: change.site == TOTAL))


def _costs(plan: Plan | None) -> dict[str, Cost]:
    if plan is None:
        return {}
    from rackwright.plan.cost.summary import summarise

    summary = summarise(plan)
    found = {site.name: _cost(site.amount) for site in summary.sites}
    found |= {
        f"{site.name}, elastic groups at their minimum": _cost(site.idle)
        for site in summary.sites
        if site.idle is not None
    }
    return found | {TOTAL: _cost(summary.total)}


def _cost(amount: Amount) -> Cost:
    return Cost(amount.at_least_per_hour, amount.at_least_per_year, not amount.missing)
