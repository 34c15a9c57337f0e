"""Which catalogue entries a plan uses, and where the blueprint asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rackwright.model.hardware import (
    AirHandler,
    Cdu,
    Entry,
    Node,
    Pdu,
    PowerShelf,
    RackType,
    Switch,
)
from rackwright.plan.base import Path
from rackwright.plan.model import Plan


@dataclass(frozen=True, slots=True)
class Use:
    """One entry that one site uses, at the first place that names it."""

    site: str
    entry: Entry
    path: Path
    allow_estimates: bool


def used_entries(plan: Plan) -> Iterator[Use]:
    """Every entry that a site uses, once for each site."""
    for site in plan.onprem:
        seen: set[tuple[type[Entry], str]] = set()
        for kind, entry_id, path in _named(site.site, site.path):
            if (kind, entry_id) not in seen:
                seen.add((kind, entry_id))
                entry = plan.catalogue.get(kind, entry_id)
                yield Use(site.site.name, entry, path, site.site.allow_estimates)
    for aws in plan.aws:
        found: dict[str, tuple[Entry, Path]] = {}
        for group in aws.groups:
            found.setdefault(group.instance.id, (group.instance, (*group.path, "type")))
        for servers in aws.servers:
            if servers.instance is not None:
                found.setdefault(servers.instance.id, (servers.instance, (*servers.path, "type")))
        for entry, path in found.values():
            yield Use(aws.site.name, entry, path, allow_estimates=False)


def _named(site: object, path: Path) -> Iterator[tuple[type[Entry], str, Path]]:
    """Every product that a bare-metal site names."""
    from rackwright.model.onprem import OnPremSite

    assert isinstance(site, OnPremSite)  # noqa: S101 - plans hold nothing else
    for n, group in enumerate(site.node_groups):
        yield Node, group.type, (*path, "node_groups", n, "type")
    for f, fabric in enumerate(site.fabrics):
        for t, tier in enumerate(fabric.tiers):
            yield Switch, tier.type, (*path, "fabrics", f, "tiers", t, "type")
    for index, loop in enumerate(site.loops):
        yield Cdu, loop.cdu, (*path, "loops", index, "cdu")
    for h, hall in enumerate(site.halls):
        if hall.air is not None:
            yield AirHandler, hall.air.type, (*path, "halls", h, "air", "type")
        for r, row in enumerate(hall.rows):
            for g, racks in enumerate(row.rack_groups):
                here = (*path, "halls", h, "rows", r, "rack_groups", g)
                yield RackType, racks.type, (*here, "type")
                if racks.shelves is not None:
                    yield PowerShelf, racks.shelves.type, (*here, "shelves", "type")
                for i, feed in enumerate(racks.feeds):
                    if feed.pdu is not None:
                        yield Pdu, feed.pdu, (*here, "feeds", i, "pdu")
