"""What a plan costs in an hour and in a year, by site and by group.

Costs are in US dollars. A cost with a missing part is unknown: it has a lower bound and says what
is missing. ``money`` states the rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Literal

from rackwright.catalog.prices import builtin_prices
from rackwright.model.cost import Costs
from rackwright.model.prices import Price, Prices
from rackwright.plan.cost_aws import aws_lines
from rackwright.plan.cost_lines import Amount, CostLine, add_up
from rackwright.plan.cost_onprem import onprem_lines
from rackwright.plan.model import Path, Plan

NOT_COUNTED = {
    "aws": "traffic, requests, buckets, backups, support and taxes",
    "onprem": "cables, software, staff beyond 'opex', the building unless 'facility' is given, and taxes",
}
"""What no plan can know, by provider."""


@dataclass(frozen=True, slots=True)
class SiteCost:
    """What one site costs."""

    name: str
    provider: Literal["aws", "onprem"]
    path: Path
    amount: Amount
    groups: tuple[tuple[str, Amount], ...]
    """Costs of node groups, file systems, networks, racks, ... in the order of the plan."""


@dataclass(frozen=True)
class CostSummary:
    """What a plan costs, line by line and in total."""

    lines: tuple[CostLine, ...]
    sites: tuple[SiteCost, ...]

    @cached_property
    def total(self) -> Amount:
        """The cost of all sites."""
        return add_up(self.lines)

    @property
    def per_hour(self) -> Decimal | None:
        """Dollars an hour of all sites, None when something is missing."""
        return self.total.per_hour

    @property
    def per_year(self) -> Decimal | None:
        """Dollars a year of all sites, None when something is missing."""
        return self.total.per_year

    @property
    def missing(self) -> tuple[str, ...]:
        """What would have to be known for the total."""
        return self.total.missing

    @property
    def listed_prices(self) -> tuple[Price, ...]:
        """The prices of lists that were used, each once; the owner's own are not among them."""
        used = (line.price.listed for line in self.lines if line.price is not None)
        return tuple(dict.fromkeys(price for price in used if price is not None))


def summarise(plan: Plan, prices: Prices | None = None) -> CostSummary:
    """The cost of ``plan``.

    Args:
        plan: the plan; ``costs`` of its blueprint hold the owner's prices, which win.
        prices: the price lists; absent, the built-in ones.
    """
    prices = builtin_prices() if prices is None else prices
    costs = plan.blueprint.costs or Costs()
    found: dict[str, tuple[Literal["aws", "onprem"], Path, tuple[CostLine, ...]]] = {}
    for aws in plan.aws:
        found[aws.site.name] = "aws", aws.path, tuple(aws_lines(aws, costs, prices))
    for owned in plan.onprem:
        lines = tuple(onprem_lines(owned, costs, prices, plan.catalogue))
        found[owned.site.name] = "onprem", owned.path, lines
    ordered = [site.name for site in plan.blueprint.sites]
    return CostSummary(
        tuple(line for name in ordered for line in found[name][2]),
        tuple(_site_cost(name, *found[name]) for name in ordered),
    )


def _site_cost(
    name: str, provider: Literal["aws", "onprem"], path: Path, lines: tuple[CostLine, ...]
) -> SiteCost:
    groups = dict.fromkeys(line.group for line in lines)
    amounts = tuple((g, add_up(line for line in lines if line.group == g)) for g in groups)
    return SiteCost(name, provider, path, add_up(lines), amounts)
