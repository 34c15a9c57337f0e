"""Cost of a plan per hour and per year, by site and by group.

Costs are in US dollars. A cost with a missing part is unknown: it has a lower bound and says what
is missing. ``money`` states the rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Literal

from rackwright.model.cost import Costs
from rackwright.model.prices import Price, Prices
from rackwright.plan.base import Path
from rackwright.plan.cost.aws import aws_lines
from rackwright.plan.cost.lines import Amount, CostLine, add_up
from rackwright.plan.cost.onprem import onprem_lines
from rackwright.plan.expansion import Expansion

NOT_COUNTED = {
    "aws": "traffic, requests, buckets, backups, support and taxes",
    "onprem": "cables, software, staff beyond 'opex', the building unless 'facility' is given, and taxes",
}
"""What no plan can know, by provider."""


@dataclass(frozen=True, slots=True)
class GroupCost:
    """Cost of a node group, a switch tier, a file system, the network, the racks and so on."""

    name: str
    count: int
    """Nodes or switches of the group, and 1 where it has none."""
    amount: Amount


@dataclass(frozen=True, slots=True)
class SiteCost:
    """Cost of one site."""

    name: str
    provider: Literal["aws", "onprem"]
    path: Path
    amount: Amount
    groups: tuple[GroupCost, ...]
    """In the order of the plan."""
    idle: Amount | None = None
    """Cost while every elastic group is at its minimum; None where no group is elastic."""


@dataclass(frozen=True)
class CostSummary:
    """Cost of a plan, line by line and in total."""

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
        """Facts that are missing for the total."""
        return self.total.missing

    @property
    def listed_prices(self) -> tuple[Price, ...]:
        """The prices of lists that were used, each once; the owner's own are not among them."""
        used = (line.price.listed for line in self.lines if line.price is not None)
        return tuple(dict.fromkeys(price for price in used if price is not None))


def summarise(plan: Expansion, prices: Prices | None = None) -> CostSummary:
    """Return the cost of ``plan``.

    Args:
        plan: the plan; ``costs`` of its blueprint hold the owner's prices, which win.
        prices: the price lists; absent, those of the plan's catalogue.
    """
    prices = plan.catalogue.prices if prices is None else prices
    costs = plan.blueprint.costs or Costs()
    lines: dict[str, tuple[CostLine, ...]] = {}
    sites: dict[str, SiteCost] = {}
    for aws in plan.aws:
        name = aws.spec.name
        lines[name] = tuple(aws_lines(aws, costs, prices))
        counts = {group.spec.name: group.spec.most for group in aws.groups}
        counts |= {servers.role: servers.server.count for servers in aws.servers}
        groups = _group_costs(lines[name], counts)
        idle = None
        if any(group.spec.is_elastic for group in aws.groups):
            idle = add_up(tuple(aws_lines(aws, costs, prices, idle=True)))
        sites[name] = SiteCost(name, "aws", aws.path, add_up(lines[name]), groups, idle)
    for owned in plan.onprem:
        name = owned.spec.name
        lines[name] = tuple(onprem_lines(owned, costs, prices))
        counts = {group.name: group.count for group in owned.spec.node_groups}
        for fabric in owned.spec.fabrics:
            counts |= {f"{fabric.name}/{tier.name}": tier.count for tier in fabric.tiers}
        groups = _group_costs(lines[name], counts)
        sites[name] = SiteCost(name, "onprem", owned.path, add_up(lines[name]), groups)
    ordered = [site.name for site in plan.blueprint.sites]
    return CostSummary(
        tuple(line for name in ordered for line in lines[name]),
        tuple(sites[name] for name in ordered),
    )


def _group_costs(lines: Sequence[CostLine], counts: Mapping[str, int]) -> tuple[GroupCost, ...]:
    found: dict[str, list[CostLine]] = {}
    for line in lines:
        found.setdefault(line.group, []).append(line)
    return tuple(GroupCost(name, counts.get(name, 1), add_up(own)) for name, own in found.items())
