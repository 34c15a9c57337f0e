"""Owned against rented: what the accelerators of a bare-metal site would cost on AWS.

The owned side is everything the site costs. The rented side is instances alone on all hours of the
year, on demand and by what else has a price: storage, volumes and traffic would come on top.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from rackwright.catalog.loader import Catalogue
from rackwright.model.cost import Costs
from rackwright.model.hardware import Accelerators, Node, fact_value
from rackwright.model.instances import Instance
from rackwright.model.prices import Offer, Prices
from rackwright.plan.base import Path
from rackwright.plan.cost import money
from rackwright.plan.cost.aws import TERMS, AwsPricing
from rackwright.plan.cost.lines import Amount, CostLine, UsedPrice, add_up
from rackwright.plan.cost.summary import CostSummary, summarise
from rackwright.plan.expansion import Expansion, SitePlan
from rackwright.plan.missing import Missing

_Market = tuple[Catalogue, Costs, Prices, str | None]
"""What there is to rent: the catalogue, the owner's terms, the price lists and the region."""

_FORMS = frozenset({"SXM", "SXM4", "SXM5", "OAM", "PCIE", "NVL"})
"""Words after a chip's name that say how it is mounted, not what it is."""


@dataclass(frozen=True, slots=True)
class Match:
    """A node group and the instances that have as many of the same accelerators.

    Attributes:
        chip: like ``H100``.
        instance: the nearest EC2 type; None where AWS has none with this chip.
        instances: as many as hold all accelerators.
    """

    group: str
    chip: str
    accelerators: int
    instance: str | None
    instances: int | None
    line: CostLine

    def __str__(self) -> str:
        if self.instance is None:
            return f"{self.accelerators:,} × {self.chip} of '{self.group}': no EC2 type has them"
        return (
            f"{self.accelerators:,} × {self.chip} of '{self.group}' as "
            f"{self.instances:,} × {self.instance}"
        )


@dataclass(frozen=True, slots=True)
class RentComparison:
    """One bare-metal site against the same accelerators on AWS."""

    site: str
    path: Path
    region: str | None
    """AWS region of the rented side; None where nothing names one."""
    owned: Amount
    rented: Amount
    """On demand."""
    matches: tuple[Match, ...]
    otherwise: tuple[tuple[Offer, Amount], ...] = ()
    """Rented under other terms, those under which every instance has a price."""
    prices: tuple[UsedPrice, ...] = ()
    """Prices of all instances under all terms."""


def compare(
    plan: Expansion,
    *,
    summary: CostSummary | None = None,
    region: str | None = None,
) -> tuple[RentComparison, ...]:
    """Return a comparison for each bare-metal site that has accelerators.

    Args:
        plan: the plan.
        summary: the cost of ``plan``, if it is known already.
        region: AWS region to rent in; absent, ``rental_region`` of the costs, or the region of
            the first AWS site.
    """
    summary = summarise(plan) if summary is None else summary
    costs = plan.blueprint.costs or Costs()
    region = region or costs.rental_region or next((a.spec.region for a in plan.aws), None)
    owned = {site.name: site.amount for site in summary.sites}
    found = []
    for site in plan.onprem:
        market = (plan.catalogue, costs, plan.catalogue.prices, region)
        matches = _matches(site, market)
        if matches:
            name = site.spec.name
            lines = [match.line for match in matches]
            rented = add_up(lines)
            other = []
            for offer, under in _otherwise(matches, market):
                lines += under
                other.append((offer, add_up(under)))
            used = tuple(line.price for line in lines if line.price is not None)
            found.append(
                RentComparison(
                    name, site.path, region, owned[name], rented, matches, tuple(other), used
                )
            )
    return tuple(found)


def _otherwise(matches: Sequence[Match], market: _Market) -> Iterator[tuple[Offer, list[CostLine]]]:
    """Yield the lines of the same instances under other terms than on demand, if all have a price."""
    for offer in (Offer.CAPACITY_BLOCK, Offer.RESERVED):
        lines = [_rented(match, market, offer) for match in matches]
        if not any(line.missing for line in lines):
            yield offer, lines


def nearest_instance(
    wanted: Accelerators, catalogue: Catalogue, prices: Prices, region: str
) -> Instance | None:
    """Return the EC2 type with the same chip: nearest in count, then in memory, then one with a price."""

    def distance(entry: Instance) -> tuple[float, float, bool, str]:
        own = entry.accelerators
        assert own is not None  # noqa: S101 - only types with accelerators are compared
        here, there = fact_value(wanted.memory), fact_value(own.memory)
        memory = float("inf") if here is None or there is None else abs(here - there)
        unpriced = prices.find(Offer.ON_DEMAND, region, entry.instance_type) is None
        return abs(own.count - wanted.count), memory, unpriced, entry.id

    entries = (catalogue.get(Instance, name) for name in catalogue.ids(Instance))
    same = [
        entry
        for entry in entries
        if entry.accelerators is not None and chip(entry.accelerators.model) == chip(wanted.model)
    ]
    return min(same, key=distance, default=None)


def chip(model: str) -> str:
    """Return the chip of an accelerator model: ``H100 SXM`` and ``H100`` are the same one."""
    words = model.upper().split()
    return " ".join(word for word in words if word not in _FORMS)


def _rented(match: Match, market: _Market, offer: Offer) -> CostLine:
    """Return the instances of ``match`` under the terms of ``offer``; its own line where none are known."""
    _, costs, prices, region = market
    if match.instance is None or match.instances is None or region is None:
        return match.line
    price, missing = AwsPricing(prices, costs, region).instance(match.instance, offer)
    micros = None
    if price is not None:
        micros = money.recurring(Decimal(match.instances), price.amount, money.HOURS_PER_YEAR)
    what = f"{match.instances:,} × {match.instance} {TERMS[offer]}"
    return replace(match.line, what=what, micros=micros, price=price, missing=missing)


def _matches(site: SitePlan, market: _Market) -> tuple[Match, ...]:
    catalogue, *_ = market
    found = []
    for index, group in enumerate(site.spec.node_groups):
        wanted = catalogue.get(Node, group.type).accelerators
        if wanted is not None:
            path = (*site.path, "node_groups", index)
            total = wanted.count * group.count
            found.append(_match(site, group.name, (wanted, total), path, market))
    return tuple(found)


def _match(
    site: SitePlan,
    group: str,
    demand: tuple[Accelerators, int],
    path: Path,
    market: _Market,
) -> Match:
    wanted, total = demand
    catalogue, _, prices, region = market
    name = chip(wanted.model)
    instance = nearest_instance(wanted, catalogue, prices, region or "")
    if instance is None or instance.accelerators is None:
        missing = Missing(f"EC2 type with '{name}'", (*path, "type"))
        line = _line(site, group, f"{total:,} × {name}", path, missing)
        return Match(group, name, total, None, None, line)
    count = -(-total // instance.accelerators.count)
    what = f"{count:,} × {instance.instance_type} on demand"
    missing = Missing("'rental_region' of the costs", ("costs", "rental_region"))
    line = _line(site, group, what, path, missing)
    match = Match(group, name, total, instance.instance_type, count, line)
    return replace(match, line=_rented(match, market, Offer.ON_DEMAND))


def _line(site: SitePlan, group: str, what: str, path: Path, missing: Missing) -> CostLine:
    return CostLine(site.spec.name, group, "instances", what, None, None, (missing,), path)
