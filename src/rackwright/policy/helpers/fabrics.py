"""Fabrics of a plan, and subjects of findings for their parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackwright.model.fabric import Cables, Fabric
from rackwright.plan.base import Path, Subject
from rackwright.plan.expansion import SitePlan
from rackwright.plan.fabric.cables import (
    routed_length,
)
from rackwright.plan.fabric.fabrics import FabricPlan
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.fabric.lengths import CableLength
from rackwright.plan.missing import Missing, each_once
from rackwright.plan.model import Plan
from rackwright.policy.api import Finding


@dataclass(frozen=True)
class FabricAt:
    """A fabric of a site."""

    site: SitePlan
    planned: FabricPlan

    @property
    def fabric(self) -> Fabric:
        """As the blueprint declares it."""
        return self.planned.fabric

    @property
    def layout(self) -> Layout | None:
        """Its switches and hosts, cabled; None while the blueprint attaches nothing to it."""
        return self.planned.layout

    @property
    def technology(self) -> str | None:
        """As declared, else that of the switches; None where they differ."""
        return self.planned.technology

    @property
    def path(self) -> Path:
        """Its place in the blueprint."""
        return self.planned.path

    def at(self, *path: str | int) -> Subject:
        """Return the fabric, and the place in it that a policy is about."""
        return Subject(f"{self.site.name} fabric {self.fabric.name}", (*self.path, *path))

    def tier(self, index: int) -> Subject:
        """Return a tier of the fabric."""
        name = f"{self.at().name} tier {self.fabric.tiers[index].name}"
        return Subject(name, (*self.path, "tiers", index))

    def attached(self, index: int) -> Subject:
        """Return the nodes of an attachment."""
        name = f"{self.at().name} nodes {self.fabric.attached[index].group}"
        return Subject(name, (*self.path, "attached", index))

    def path_of(self, layout: Layout) -> Path:
        """Return the place of a fabric of the same site."""
        return next(one.path for one in self.site.fabrics if one.layout is layout)

    def length(self, link: Cables, path: Path) -> CableLength:
        """Return the longest cable of the kind at ``path``: as declared, or by where its racks stand."""
        routes = self.site.cable_routes(self.planned)
        return CableLength(routed_length(link)) if routes is None else routes.longest(link, path)

    def lacks(self, name: str, words: str = "") -> Missing:
        """Return an unset field of the fabric."""
        return Missing(f"'{name}'{words}", (*self.path, name))

    def links(self) -> Iterator[tuple[Subject, Cables]]:
        """Yield the kinds of cables."""
        for index, link in enumerate(self.fabric.links):
            name = f"{self.at().name} cables {link.name}"
            yield Subject(name, (*self.path, "links", index)), link


def fabrics_of(plan: Plan) -> Iterator[FabricAt]:
    """Yield the fabrics of all bare-metal sites in the order of the blueprint."""
    for site in plan.onprem:
        for planned in site.fabrics:
            yield FabricAt(site, planned)


def attachments_of(
    found: FabricAt, group: str, every: Sequence[FabricAt]
) -> list[tuple[Layout, int]]:
    """Return the attachments of ``group`` to fabrics of the site that have the role of ``found``.

    A rail may be a fabric of its own: what goes with one switch is to be seen among all of them.

    Returns:
        Layouts, each with the number of the attachment in it.
    """
    return [
        (other.layout, index)
        for other in every
        if other.layout is not None
        and other.path[:-1] == found.path[:-1]
        and other.fabric.role == found.fabric.role
        for index, hosts in enumerate(other.layout.hosts)
        if hosts.group.name == group
    ]


def unknown_cables(layout: Layout, path: Path) -> tuple[str, ...]:
    """Return the missing facts about the cables of the fabric at ``path`` and their ends."""
    tiers = range(len(layout.tiers) - 1)
    found = [*unknown_ports(layout, path), *uncabled(layout, path), *uncabled_hosts(layout, path)]
    found += [missing for tier in tiers for missing in unknown_uplinks(layout, path, tier)]
    return each_once(found)


def unattached(found: FabricAt, message: str) -> Finding:
    """Return the unknown finding that ``message`` cannot be checked without the members of the fabric."""
    missing = (found.lacks("attached", ": which nodes are on the fabric"),)
    return Finding(found.at(), ok=None, message=message, missing=missing)


def uncabled(layout: Layout, path: Path) -> tuple[str, ...]:
    """Return the missing cables of the fabric at ``path``: of attached groups, and of tiers below the top."""
    lowers = {link.lower for link in layout.fabric.links}
    wanted = [hosts.group.name for hosts in layout.hosts]
    wanted += [tier.name for tier in layout.tiers[:-1]]
    return tuple(_no_links(name, path) for name in wanted if name not in lowers)


def _no_links(name: str, path: Path) -> Missing:
    return Missing(f"'links' from '{name}'", (*path, "links"))


def unknown_ports(layout: Layout, path: Path) -> tuple[str, ...]:
    """Return the missing facts about the use of ports of the fabric at ``path``."""
    found = [
        Missing(
            f"ports of {hosts.group.type} for this fabric, or 'interfaces'",
            (*path, "attached", index, "interfaces"),
        )
        for index, hosts in enumerate(layout.hosts)
        if hosts.interfaces is None
    ]
    open_ = [index for index, hosts in enumerate(layout.hosts) if hosts.rails is None]
    if layout.tiers[0].switches > 1 and open_:
        rails = (*path, "attached", open_[0], "rails")
        words = "'rail_optimized', or 'rails' of the nodes"
        found.append(Missing(words, (*path, "rail_optimized"), rails))
    return tuple(found)


def uncabled_hosts(layout: Layout, path: Path) -> tuple[str, ...]:
    """Return the missing cables of hosts that find no port, by attachment."""
    place = (*path, "tiers", 0, "count")
    return tuple(
        Missing(
            f"where {count:,} hosts of '{hosts.group.name}' are cabled: they find no port", place
        )
        for hosts, count in zip(layout.hosts, layout.unplaced, strict=True)
        if count
    )


def unknown_uplinks(layout: Layout, path: Path, tier: int) -> tuple[str, ...]:
    """Return the missing facts about the cables above a tier of the fabric at ``path``."""
    above = [link for link in layout.links if link.lower == tier]
    if not above:
        return (_no_links(layout.tiers[tier].name, path),)
    names = [link.name for link in layout.fabric.links]
    return tuple(
        Missing(
            f"'parallel' of '{k.cables.name}'",
            (*path, "links", names.index(k.cables.name), "parallel"),
        )
        for k in above
        if k.parallel is None
    )


def missing_run(found: FabricAt, now: str) -> tuple[str, ...]:
    """Return the missing routing run of the fabric with the digest ``now``; empty if the record fits."""
    run = found.fabric.routing_run
    if run is None:
        words = ": route the fabric in a simulator and record what came of it"
        return (found.lacks("routing_run", words),)
    if run.fabric != now:
        words = f"a routing run of this fabric ({now}): the recorded one is of another"
        return (Missing(words, (*found.path, "routing_run")),)
    return ()
