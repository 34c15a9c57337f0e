"""NVLink domains: the accelerators of one unit that several hosts share, like the 72 of an NVL72."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.catalog.loader import Catalogue
from rackwright.model.hardware import Node, fact_value
from rackwright.model.onprem import OnPremSite
from rackwright.plan.base import Path
from rackwright.plan.hosts import filled
from rackwright.plan.records.racks import NvlinkDomains


def nvlink_domains(site: OnPremSite, path: Path, catalogue: Catalogue) -> Iterator[NvlinkDomains]:
    """Yield the domains of each node group whose product joins the accelerators of several hosts."""
    for index, group in enumerate(site.node_groups):
        entry = catalogue.get(Node, group.type)
        if entry.hosts < 2 or entry.accelerators is None:
            continue
        count, most = entry.accelerators.count, fact_value(entry.accelerators.domain)
        each, uneven = divmod(count, entry.hosts)
        yield NvlinkDomains(
            group=group.name,
            entry=entry.id,
            path=(*path, "node_groups", index),
            domains=group.count,
            racks=sum(1 for _ in filled(group)),
            trays=entry.hosts,
            accelerators=count,
            most=most,
            left=None if uneven else count - each,
        )
