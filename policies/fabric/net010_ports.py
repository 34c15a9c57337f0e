"""NET-010: every port has one cable and every cable has two ends."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.plan.fabric.cables import host_wires
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.fabric.ports import collisions, racks_without_leaves, ratio_for_racks, tier_use
from rackwright.policy.helpers.fabrics import (
    FabricAt,
    fabrics_of,
    unattached,
    unknown_ports,
    unknown_uplinks,
)


@rule(
    "NET-010",
    "Every port has one cable and every cable has two ends",
    Severity.HIGH,
    since="0.2",
    stage="design",
)
class Ports(Policy):
    """Switches have the ports that are used, hosts find theirs, and nothing is plugged twice."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield measures for each tier and attachment, and a finding for each collision."""
        for found in fabrics_of(plan):
            if found.layout is None:
                yield unattached(found, "what the ports are used for")
                continue
            yield from _tiers(found, found.layout)
            yield from _hosts(found, found.layout)
            yield _patches(found, found.layout)


def _tiers(found: FabricAt, layout: Layout) -> Iterator[Measure | Finding]:
    last = len(layout.tiers) - 1
    for index, tier in enumerate(layout.tiers):
        use, at = tier_use(layout, index), found.tier(index)
        missing = unknown_ports(layout, found.path) if index == 0 else ()
        for below in {index, index - 1} & set(range(last)):
            missing += unknown_uplinks(layout, found.path, below)
        over = use.used is not None and use.used > use.radix
        yield Measure(
            at,
            value=None if missing else use.used,
            limit=use.radix,
            unit="ports",
            what=f"number of ports in use of the busiest {tier.type}",
            fix=f"remove {use.used - use.radix} cables from each, or split them over more switches"
            if over and use.used is not None
            else None,
            missing=missing,
        )
        if use.uplinks is not None and use.up:
            spare = use.uplinks - use.up
            yield Measure(
                at,
                value=use.up,
                limit=use.uplinks,
                unit="ports",
                what=f"number of uplink ports in use of the busiest {tier.type}",
                fix=f"remove {-spare} cables from each" if spare < 0 else None,
            )


def _hosts(found: FabricAt, layout: Layout) -> Iterator[Measure | Finding]:
    missing = unknown_ports(layout, found.path)
    for index, hosts in enumerate(layout.hosts):
        at, without = found.attached(index), layout.unplaced[index]
        placed = hosts.count - without
        yield Measure(
            at,
            value=None if missing else without,
            limit=0,
            unit="hosts",
            what=f"number of hosts without a port on tier '{layout.tiers[0].name}'",
            fix=_place_them(layout, index, placed) if without and not missing else None,
            missing=missing,
        )
        claimed = _claimed(found, index)
        ports = hosts.role_ports
        if claimed is not None and ports is not None:
            yield Measure(
                at,
                value=claimed,
                limit=ports,
                unit="ports",
                what=f"number of ports of each host that the fabrics of the site use ({_role(found, index)})",
                fix=f"set 'interfaces' so that they add up to {ports}" if claimed > ports else None,
            )
        yield from _counted(found, layout, index)


def _place_them(layout: Layout, index: int, placed: int) -> str:
    """Return the fix by which all hosts of an attachment find ports."""
    hosts = layout.hosts[index]
    if bare := racks_without_leaves(layout, index):
        others = f" and {len(bare) - 1:,} more" if len(bare) > 1 else ""
        return (
            f"place a switch of '{layout.tiers[0].name}' in the rack '{bare[0]}'{others}, or name it in "
            "'shared_racks' with a rack that has one"
        )
    if (ratio := ratio_for_racks(layout)) is not None:
        return (
            f"size the leaves for an 'oversubscription' of {ratio:g}, which has ports for all hosts of a "
            "rack, or place fewer hosts in each"
        )
    if layout.rack_sets is not None:
        return (
            f"place more switches of '{layout.tiers[0].name}' in the racks of '{hosts.group.name}', or "
            "fewer hosts in each"
        )
    return f"attach at most {placed:,} of {hosts.count:,}, or provide more switches"


def _role(found: FabricAt, index: int) -> str:
    return found.fabric.attached[index].ports or found.fabric.role


def _claimed(found: FabricAt, index: int) -> int | None:
    """Return the ports of one role that all fabrics of the site ask of a host; None where one is open.

    The parts of a port that is split are one port.
    """
    group, role = found.fabric.attached[index].group, _role(found, index)
    total = Fraction(0)
    for fabric in (one.fabric for one in found.site.fabrics):
        for attachment in fabric.attached:
            if attachment.group == group and (attachment.ports or fabric.role) == role:
                if attachment.interfaces is None:
                    return None
                total += Fraction(attachment.interfaces, attachment.split)
    return math.ceil(total)


def _counted(found: FabricAt, layout: Layout, index: int) -> Iterator[Finding]:
    """Check that counted cables are as many as there are ports to connect."""
    hosts = layout.hosts[index]
    kinds = [
        (number, link)
        for number, link in enumerate(layout.fabric.links)
        if link.lower == hosts.group.name
    ]
    at = found.attached(index)
    if any(link.same_rack is not None for _, link in kinds):
        yield _of_some_kind(at, layout, index)
        return
    if len(kinds) < 2 and all(link.count is None for _, link in kinds):
        return
    missing: tuple[str, ...] = tuple(
        Missing(f"'count' of '{link.name}'", found.at("links", number, "count").path)
        for number, link in kinds
        if link.count is None
    )
    if missing or hosts.endpoints is None:
        missing += () if hosts.endpoints is not None else unknown_ports(layout, found.path)
        yield Finding(at, ok=None, message="whether there are enough cables", missing=missing)
        return
    total = sum(link.count or 0 for _, link in kinds)
    yield Finding(
        at,
        ok=total == hosts.endpoints,
        message=f"{total:,} cables are listed for {hosts.endpoints:,} ports",
        fix=None
        if total == hosts.endpoints
        else f"list {abs(hosts.endpoints - total):,} cables "
        f"{'more' if total < hosts.endpoints else 'fewer'}",
    )


def _of_some_kind(at: Subject, layout: Layout, index: int) -> Finding:
    """Check that there is a kind for the cable of each port, where kinds are for some racks only."""
    kinds = Counter(wire.kind for wire in host_wires(layout, index))
    bare, total = kinds[""], kinds.total()
    return Finding(
        at,
        ok=not bare,
        message=f"{bare:,} of {total:,} cables match no kind in 'links'"
        if bare
        else f"each of {total:,} cables matches a kind in 'links'",
        fix="list cables for the other value of 'same_rack' too" if bare else None,
    )


def _patches(found: FabricAt, layout: Layout) -> Finding:
    wrong = collisions(layout)
    if not wrong:
        count = len(layout.fabric.patches)
        text = f"{count} patched cables have" if count else "cables follow the pattern and have"
        return Finding(found.at("patches"), ok=True, message=f"{text} ports of their own")
    first = wrong[0]
    more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    return Finding(
        found.at("patches", first.index),
        ok=False,
        message=f"{first.reason}{more}",
        fix=first.fix,
    )
