"""NET-003: interface n of every node goes to leaf n of its unit, on the node's port."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Severity, rule
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.fabric.ports import misplaced, shared_rails
from rackwright.policy.helpers.fabrics import (
    FabricAt,
    fabrics_of,
    unattached,
    uncabled_hosts,
    unknown_ports,
)


@rule(
    "NET-003",
    "Every interface is on the leaf of its rail",
    Severity.HIGH,
    since="0.2",
    stage="design",
)
class Rails(Policy):
    """The rails of a rail-optimised fabric are kept apart, and every cable keeps to its rail."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure of cables off their rail, and one of rails that share a leaf."""
        for found in fabrics_of(plan):
            if found.layout is None:
                if found.fabric.rail_optimized:
                    yield unattached(found, "whether every interface is on its rail")
            elif any(hosts.rails or hosts.rails is None for hosts in found.layout.hosts):
                yield from _measures(found, found.layout)


def _measures(found: FabricAt, layout: Layout) -> Iterator[Measure]:
    missing = unknown_ports(layout, found.path)
    lost = missing or uncabled_hosts(layout, found.path)
    shared = None if missing else shared_rails(layout)
    most = max((hosts.interfaces or 0 for hosts in layout.hosts if hosts.rails), default=0)
    yield Measure(
        found.tier(0),
        value=shared if shared or not lost else None,
        limit=0,
        unit="interfaces",
        what="number of interfaces that share a leaf with another rail of their node",
        fix=f"provide {most} leaves in each unit, one a rail" if shared else None,
        missing=lost,
    )
    off = misplaced(layout)
    what, fix, at = (
        "number of interfaces off the leaf and port of their rail",
        None,
        found.at("patches"),
    )
    if off:
        first = off[0]
        here = f"{first.patch.switch} port {first.patch.port}"
        what += f" (interface {first.patch.interface} of {first.patch.node} is on {here})"
        fix = f"move its cable to {first.meant}"
        if len(off) > 1:
            fix += f", and {len(off) - 1} more that are listed in 'patches'"
        at = found.at("patches", first.index)
    yield Measure(
        at,
        value=len(off) if off or not lost else None,
        limit=0,
        unit="interfaces",
        what=what,
        fix=fix,
        missing=lost,
    )
