"""Cost of a site on AWS: every instance on all hours of the year, storage and network by the hour.

A reservation is billed for every instance that it reserves, and a capacity block once, up front, whole.
Cost = instances × price + volumes + file systems + NAT gateways + addresses + endpoints. Traffic,
requests, buckets, backups, snapshots and taxes depend on use and are not part of it.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Literal

from rackwright.model.aws_instances import CapacityBlock, Reservation, Spot
from rackwright.model.cost import Costs
from rackwright.model.prices import UNITS, Offer, Prices
from rackwright.plan.aws.file_systems.fsx import made_size
from rackwright.plan.aws.site import AwsSitePlan, GroupPlan
from rackwright.plan.base import Path
from rackwright.plan.cost import money
from rackwright.plan.cost.lines import CostLine, Kind, UsedPrice
from rackwright.plan.missing import Missing

TERMS = {
    Offer.ON_DEMAND: "on demand",
    Offer.CAPACITY_BLOCK: "in a capacity block",
    Offer.RESERVED: "reserved for a year",
}


_OWN = {
    Offer.ON_DEMAND: "instances",
    Offer.CAPACITY_BLOCK: "instances",
    Offer.RESERVED: "instances",
    Offer.STORAGE: "storage",
    Offer.NETWORK: "network",
}
"""The field of ``costs`` that holds the owner's prices of each offer."""


class AwsPricing:
    """Prices in one region, the owner's first."""

    def __init__(self, prices: Prices, costs: Costs, region: str) -> None:
        self._prices = prices
        self._costs = costs
        self._region = region
        self._own: Mapping[Offer, Mapping[str, Decimal]] = {
            Offer.ON_DEMAND: costs.instances,
            Offer.CAPACITY_BLOCK: costs.instances,
            Offer.RESERVED: costs.instances,
            Offer.STORAGE: dict(costs.storage.items()),
            Offer.NETWORK: dict(costs.network.items()),
        }

    def offer(self, name: str) -> Offer:
        """Return the offer by which instances of a type outside capacity blocks are bought."""
        return Offer.RESERVED if name in self._costs.reserved else Offer.ON_DEMAND

    def instance(self, name: str, offer: Offer) -> tuple[UsedPrice | None, tuple[str, ...]]:
        """Return the price of an instance hour, or what is missing."""
        return self.find(offer, name, f"price of '{name}' {TERMS[offer]} in {self._region}")

    def find(
        self, offer: Offer, item: str, missing: str | None = None
    ) -> tuple[UsedPrice | None, tuple[str, ...]]:
        """Return the owner's price of ``item``, else the list's with the discount, or what is missing."""
        own = self._own[offer].get(item)
        if own is not None:
            return UsedPrice(item, own, UNITS[offer], None), ()
        found = self._prices.find(offer, self._region, item)
        if found is None:
            what = missing or f"price of '{item}' in {self._region}"
            return None, (Missing(what, ("costs", _OWN[offer], item)),)
        amount = found.amount
        # What a block costs is settled by its offer: no agreement takes anything off it.
        if self._costs.discount is not None and offer is not Offer.CAPACITY_BLOCK:
            amount = money.discounted(amount, self._costs.discount)
        return UsedPrice(item, amount, UNITS[offer], found), ()


def aws_lines(
    site: AwsSitePlan, costs: Costs, prices: Prices, *, idle: bool = False
) -> Iterator[CostLine]:
    """Yield the lines of a site with its elastic groups at their largest, or ``idle`` at their minimum."""
    pricing = AwsPricing(prices, costs, site.spec.region)
    charged: set[str] = set()
    for plan in site.groups:
        group, capacity = plan.spec, plan.spec.capacity
        count = group.least if idle else group.most
        if isinstance(capacity, CapacityBlock):
            if capacity.id not in charged:
                yield _block(site, pricing, plan, capacity)
            yield _volumes(site, pricing, group.name, count, group.root_volume, plan.path)
        elif isinstance(capacity, Spot):
            # AWS's price moves by the hour, and the limit is what the team is ready to pay.
            price = UsedPrice(group.type, capacity.max_price, UNITS[Offer.ON_DEMAND], None)
            what = f"{count:,} × {group.type} spot, at the limit"
            yield _line(
                site,
                group.name,
                "instances",
                what,
                Decimal(count),
                (price, ()),
                "hour",
                (*plan.path, "capacity", "max_price"),
            )
            yield _volumes(site, pricing, group.name, count, group.root_volume, plan.path)
        else:
            yield from _computers(
                site,
                pricing,
                group.name,
                (group.type, count, group.root_volume),
                pricing.offer(group.type),
                plan.path,
            )
            if isinstance(capacity, Reservation) and capacity.id not in charged:
                yield from _unused(site, pricing, plan, capacity, idle=idle)
        if isinstance(capacity, (Reservation, CapacityBlock)):
            charged.add(capacity.id)
    for servers in site.servers:
        server = servers.server
        yield from _computers(
            site,
            pricing,
            servers.role,
            (server.type, server.count, server.root_volume),
            pricing.offer(server.type),
            servers.path,
        )
    yield from _data_volumes(site, pricing)
    yield from _file_systems(site, pricing)
    yield from _efs(site, pricing)
    yield from _network(site, pricing)


def _computers(
    site: AwsSitePlan,
    pricing: AwsPricing,
    group: str,
    order: tuple[str, int, float],
    offer: Offer,
    path: Path,
) -> Iterator[CostLine]:
    name, count, volume = order
    what = f"{count:,} × {name} {TERMS[offer]}"
    found = pricing.instance(name, offer)
    yield _line(site, group, "instances", what, Decimal(count), found, "hour", path)
    yield _volumes(site, pricing, group, count, volume, path)


def _volumes(
    site: AwsSitePlan, pricing: AwsPricing, group: str, count: int, volume: float, path: Path
) -> CostLine:
    size = math.ceil(volume)  # a volume has whole GiB, as in the launch template
    what = f"{count:,} × {size:,} GiB gp3"
    found = pricing.find(Offer.STORAGE, "ebs-gp3")
    return _line(site, group, "volumes", what, Decimal(count * size), found, "month", path)


def _block(
    site: AwsSitePlan, pricing: AwsPricing, plan: GroupPlan, block: CapacityBlock
) -> CostLine:
    """Return the price of a whole capacity block, which is paid once and up front, launched or not.

    EC2 User Guide, "Capacity Blocks pricing and billing".
    """
    name, path = plan.spec.type, (*plan.path, "capacity")
    price, missing = pricing.instance(name, Offer.CAPACITY_BLOCK)
    for field, value in (("instances", block.instances), ("starts", block.starts)):
        if value is None:
            missing = (*missing, Missing(f"'{field}' of '{block.id}'", (*path, field)))
    if block.instances is None or block.starts is None or price is None:
        what = f"'{block.id}' of {name}, paid up front"
        return CostLine(site.name, plan.spec.name, "instances", what, None, price, missing, path)
    hours = Decimal((block.ends - block.starts) // dt.timedelta(seconds=1)) / 3600
    what = (
        f"{block.instances:,} × {name} {TERMS[Offer.CAPACITY_BLOCK]}, {hours:,.0f} h paid up front"
    )
    micros = money.recurring(Decimal(block.instances), price.amount, hours)
    return CostLine(site.name, plan.spec.name, "instances", what, micros, price, (), path)


def _unused(
    site: AwsSitePlan,
    pricing: AwsPricing,
    plan: GroupPlan,
    reservation: Reservation,
    *,
    idle: bool,
) -> Iterator[CostLine]:
    """Yield the instances of a reservation that no group launches: they are billed as if they ran.

    EC2 User Guide, "Capacity Reservation pricing and billing".
    """
    name, path = plan.spec.type, (*plan.path, "capacity", "instances")
    if reservation.instances is None:
        missing = (Missing(f"'instances' of '{reservation.id}'", path),)
        what = f"instances of '{reservation.id}' that are not launched"
        yield CostLine(site.name, plan.spec.name, "instances", what, None, None, missing, path)
        return
    groups = site.reserved_groups[reservation.id]
    launched = sum(one.spec.least if idle else one.spec.most for one in groups)
    unused = max(0, reservation.instances - launched)
    if unused:
        what = f"{unused:,} × {name} reserved in '{reservation.id}' and not launched"
        found = pricing.instance(name, pricing.offer(name))
        yield _line(site, plan.spec.name, "instances", what, Decimal(unused), found, "hour", path)


def _data_volumes(site: AwsSitePlan, pricing: AwsPricing) -> Iterator[CostLine]:
    """Size alone: rates above those of every gp3 volume, and snapshots, have no price here."""
    volume, count = site.data_volume, len(site.data_hosts)
    if volume is not None:
        size = math.ceil(volume.size)
        what = f"{count:,} × {size:,} GiB gp3 for data"
        found = pricing.find(Offer.STORAGE, "ebs-gp3")
        path = (*site.path, "head", "data_volume")
        yield _line(site, "head", "volumes", what, Decimal(count * size), found, "month", path)


def _file_systems(site: AwsSitePlan, pricing: AwsPricing) -> Iterator[CostLine]:
    """Yield those that are made: an existing one is paid for by its owner."""
    for index, system in enumerate(site.spec.file_systems):
        if system.existing is not None or system.deployment is None:
            continue
        capacity, throughput = made_size(system)
        path = (*site.path, "file_systems", index)
        tier = f"{system.deployment.lower().replace('_', '-')}-{throughput:g}"
        found = pricing.find(Offer.STORAGE, f"fsx-lustre-{tier}")
        what = f"{capacity:,.0f} GiB FSx for Lustre at {throughput:g} MB/s/TiB"
        size = money.exact(capacity)
        yield _line(site, system.name, "file-systems", what, size, found, "month", path)


def _efs(site: AwsSitePlan, pricing: AwsPricing) -> Iterator[CostLine]:
    """Yield those that are made, by the data expected, all of it in Standard; what is moved has no price here."""
    for index, system in enumerate(site.efs):
        if system.existing is not None:
            continue
        path = (*site.path, "efs", index)
        price, missing = pricing.find(Offer.STORAGE, "efs-standard")
        size = Decimal(0)
        if system.data is None:
            price = None
            missing = (
                Missing(f"'data' of the file system '{system.name}'", (*path, "data")),
                *missing,
            )
            what = "EFS, of an unknown size"
            yield CostLine(site.name, system.name, "file-systems", what, None, price, missing, path)
            continue
        size = money.exact(system.data)
        what = f"{system.data:,.0f} GiB of EFS in Standard"
        found = (price, missing)
        yield _line(site, system.name, "file-systems", what, size, found, "month", path)


def _network(site: AwsSitePlan, pricing: AwsPricing) -> Iterator[CostLine]:
    network = site.spec.network
    zones = len(network.availability_zones)
    gateways = {"none": 0, "single": 1, "per-zone": zones}[network.nat]
    public = sum(plan.server.count for plan in site.servers if plan.public)
    # Every service but S3 is reached by an interface in each zone; S3's gateway is free.
    balanced = int(site.login_address == "load-balancer")
    endpoints = sum(name != "s3" for name in network.endpoints) * zones
    orders: tuple[tuple[Kind, str, str, int], ...] = (
        ("nat-gateways", "nat-gateway", "NAT gateway", gateways),
        ("addresses", "public-address", "public address", gateways + public + balanced),
        ("load-balancers", "network-load-balancer", "Network Load Balancer", balanced),
        ("endpoints", "interface-endpoint", "interface endpoint in a zone", endpoints),
    )
    path = (*site.path, "network")
    for kind, item, noun, count in orders:
        if count:
            found = pricing.find(Offer.NETWORK, item)
            what = f"{count:,} × {noun}"
            yield _line(site, "network", kind, what, Decimal(count), found, "hour", path)


def _line(
    site: AwsSitePlan,
    group: str,
    kind: Kind,
    what: str,
    quantity: Decimal,
    found: tuple[UsedPrice | None, tuple[str, ...]],
    period: Literal["hour", "month"],
    path: Path,
) -> CostLine:
    price, missing = found
    if not quantity:  # nothing costs nothing, whatever its price
        return CostLine(site.spec.name, group, kind, what, 0, price, (), path)
    periods = money.HOURS_PER_YEAR if period == "hour" else money.MONTHS_PER_YEAR
    micros = None if price is None else money.recurring(quantity, price.amount, periods)
    return CostLine(site.spec.name, group, kind, what, micros, price, missing, path)
