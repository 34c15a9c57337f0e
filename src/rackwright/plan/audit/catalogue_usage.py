"""Catalogue entries that a plan uses, and the places of the blueprint that ask for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rackwright.catalog.loader import NOUNS
from rackwright.model.hardware import Entry, Node, Pdu, PowerShelf, Switch
from rackwright.model.names import hostlist_size
from rackwright.model.plant import AirHandler, Cdu, RearDoor
from rackwright.model.racks import RackType
from rackwright.plan.base import Path
from rackwright.plan.cooling.products import COOLING, named_plants
from rackwright.plan.cooling.rear_door import named_doors
from rackwright.plan.expansion import Expansion, SitePlan
from rackwright.plan.power.products import RATED, named_products


@dataclass(frozen=True, slots=True)
class Use:
    """One entry that one site uses, at the first place that names it."""

    site: str
    entry: Entry
    path: Path
    allow_estimates: bool
    allow_common: bool


def used_entries(plan: Expansion) -> Iterator[Use]:
    """Yield every entry that a site uses, once for each site."""
    for site in plan.onprem:
        seen: set[tuple[type[Entry], str]] = set()
        for kind, entry_id, path in _named(site):
            if (kind, entry_id) not in seen:
                seen.add((kind, entry_id))
                entry = plan.catalogue.get(kind, entry_id)
                yield Use(site.name, entry, path, site.spec.allow_estimates, site.spec.allow_common)
    for aws in plan.aws:
        found: dict[str, tuple[Entry, Path]] = {}
        for group in aws.groups:
            found.setdefault(group.instance.id, (group.instance, (*group.path, "type")))
        for servers in aws.servers:
            if servers.instance is not None:
                found.setdefault(servers.instance.id, (servers.instance, (*servers.path, "type")))
        for entry, path in found.values():
            yield Use(aws.spec.name, entry, path, allow_estimates=False, allow_common=True)


def _named(planned: SitePlan) -> Iterator[tuple[type[Entry], str, Path]]:
    """Yield every product that a bare-metal site names."""
    site, path = planned.spec, planned.path
    for n, group in enumerate(site.node_groups):
        yield Node, group.type, (*path, "node_groups", n, "type")
    for f, fabric in enumerate(site.fabrics):
        for t, tier in enumerate(fabric.tiers):
            yield Switch, tier.type, (*path, "fabrics", f, "tiers", t, "type")
    for index, loop in enumerate(site.loops):
        yield Cdu, loop.cdu, (*path, "loops", index, "cdu")
    yield from named_products(site, path)
    yield from named_plants(site, path)
    for h, hall in enumerate(site.halls):
        if hall.air is not None:
            yield AirHandler, hall.air.type, (*path, "halls", h, "air", "type")
        for r, row in enumerate(hall.rows):
            for g, racks in enumerate(row.rack_groups):
                here = (*path, "halls", h, "rows", r, "rack_groups", g)
                yield RackType, racks.type, (*here, "type")
                yield from named_doors(((racks, here),))
                if racks.shelves is not None:
                    yield PowerShelf, racks.shelves.type, (*here, "shelves", "type")
                for i, feed in enumerate(racks.feeds):
                    if feed.pdu is not None:
                        yield Pdu, feed.pdu, (*here, "feeds", i, "pdu")


def product_counts(plan: Expansion) -> Counter[tuple[str, str, str]]:
    """Return the units of each product, by site, kind in words and catalogue id."""
    found: Counter[tuple[str, str, str]] = Counter()
    for site in plan.onprem:
        for kind, product, count in _counted(site):
            found[site.name, kind, product] += count
    for aws in plan.aws:
        for group in aws.groups:
            found[aws.spec.name, "instance", group.spec.type] += group.spec.most
        for server in aws.servers:
            found[aws.spec.name, "instance", server.server.type] += server.server.count
    return found


def _counted(planned: SitePlan) -> Iterator[tuple[str, str, int]]:
    site = planned.spec
    for group in site.node_groups:
        yield "node", group.type, group.count
    for fabric in site.fabrics:
        for tier in fabric.tiers:
            yield "switch", tier.type, tier.count
    for loop in site.loops:
        on = (racks.count for racks in planned.racks if racks.kind.loop == loop.name)
        yield "CDU", loop.cdu, loop.count * (sum(on) if loop.in_rack else 1)
    for source in site.power.sources:
        if source.product is not None:
            yield (
                NOUNS[RATED[source.kind]],
                source.product,
                source.modules.count if source.modules else 1,
            )
    for plant in site.plant or ():
        if plant.product is not None:
            yield NOUNS[COOLING[plant.kind]], plant.product, plant.count
    for hall in site.halls:
        if hall.air is not None:
            yield "air handler", hall.air.type, hall.air.count
        for racks in (racks for row in hall.rows for racks in row.rack_groups):
            count = hostlist_size(racks.racks)
            yield "rack", racks.type, count
            if racks.cooling.rear_door is not None:
                yield NOUNS[RearDoor], racks.cooling.rear_door, count
            if racks.shelves is not None:
                yield "power shelf", racks.shelves.type, count * racks.shelves.count
            for feed in racks.feeds:
                if feed.pdu is not None:
                    yield "PDU", feed.pdu, count * feed.pdus
