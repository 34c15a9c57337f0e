"""Dollars that AWS has charged for a site in a month, against those of its plan."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from rackwright.model.cost import HOURS_PER_YEAR, Costs
from rackwright.plan.cost.summary import CostSummary, SiteCost


@dataclass(frozen=True, slots=True)
class Spend:
    """Dollars charged for one site, from the first day of a month on.

    Attributes:
        begin: first day.
        end: day after the last one.
        charged: dollars; None where ``why`` says what keeps them from being known.
    """

    site: str
    begin: dt.date
    end: dt.date
    charged: Decimal | None
    why: str | None = None

    @property
    def hours(self) -> int:
        """Hours of these days."""
        return 24 * (self.end - self.begin).days


@dataclass(frozen=True, slots=True)
class PlannedSpend:
    """Dollars of the plan for the days of a ``Spend``; None where a price is missing.

    Attributes:
        least: with each elastic group at its minimum.
        most: with each elastic group at its largest.
    """

    spend: Spend
    least: Decimal | None
    most: Decimal | None

    @property
    def above(self) -> Decimal | None:
        """Dollars charged above the most that was planned, 0 or less within it; None if unknown."""
        if self.spend.charged is None or self.most is None:
            return None
        return self.spend.charged - self.most


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """Dollars charged for all sites against a budget, for the same days.

    Attributes:
        field: the budget's field of ``costs``.
        budget: dollars of the budget for these days.
        charged: dollars charged for the sites whose charges are known.
        complete: True if they are known for every site on AWS.
    """

    field: str
    budget: Decimal
    charged: Decimal
    complete: bool

    @property
    def exceeded(self) -> bool:
        """True if the known charges alone are above the budget."""
        return self.charged > self.budget


def budget_uses(costs: Costs | None, spends: Sequence[Spend]) -> list[BudgetUse]:
    """Return the use of each budget that is set; that of a year is spread evenly over its hours."""
    if costs is None or not spends:
        return []
    hours = spends[0].hours
    charged = sum((one.charged for one in spends if one.charged is not None), Decimal(0))
    complete = all(one.charged is not None for one in spends)
    budgets = {
        "budget_per_hour": costs.budget_per_hour,
        "budget_per_year": costs.budget_per_year and costs.budget_per_year / HOURS_PER_YEAR,
    }
    return [
        BudgetUse(name, hourly * hours, charged, complete)
        for name, hourly in budgets.items()
        if hourly is not None
    ]


def month_to(day: dt.date) -> tuple[dt.date, dt.date]:
    """Return the first day of the month that ``day`` ends, and ``day``; on a first of a month the month before."""
    before = day - dt.timedelta(days=1)
    return before.replace(day=1), day


def planned(summary: CostSummary, spends: Sequence[Spend]) -> list[PlannedSpend]:
    """Return what the plan has for the same sites and days; what is paid once is spread over the year."""
    sites = {site.name: site for site in summary.sites}
    return [_planned(sites[spend.site], spend) for spend in spends]


def _planned(site: SiteCost, spend: Spend) -> PlannedSpend:
    most = site.amount.per_hour
    least = most if site.idle is None else site.idle.per_hour
    return PlannedSpend(
        spend,
        None if least is None else least * spend.hours,
        None if most is None else most * spend.hours,
    )
