"""NET-012: switches have two feeds and nodes have two switches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from rackwright.api import Enforcement, Finding, Measure, Plan, Policy, Severity, rule
from rackwright.model.fabric import Role
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.fabric.ports import fewest_leaves_of_a_host
from rackwright.plan.missing import of_product
from rackwright.policy.helpers.fabrics import (
    FabricAt,
    attachments_of,
    fabrics_of,
    unattached,
    uncabled_hosts,
    unknown_ports,
)


@rule(
    "NET-012",
    "Switches have two feeds and nodes have two switches",
    Severity.MEDIUM,
    since="0.2",
    stage="design",
    enforcement=Enforcement.ADVISORY,
)
class RedundantPaths(Policy):
    """Switches are fed twice, and nodes are on more than one switch."""

    feeds: Annotated[int, Field(ge=1, le=4)] = 2
    """Fewest feeds that the power supplies of a switch are spread over."""
    switches: Annotated[int, Field(ge=1, le=16)] = 2
    """Fewest switches that a node is connected to."""
    roles: Annotated[frozenset[Role], Field(min_length=1)] = frozenset({"compute", "storage"})
    """Roles of the fabrics whose nodes need several switches."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each tier's feeds and each attachment's switches."""
        every = list(fabrics_of(plan))
        for found in every:
            for index in range(len(found.fabric.tiers)):
                yield self._fed(found, index)
            if found.fabric.role not in self.roles:
                continue
            if found.layout is None:
                yield unattached(found, "how many switches a node is on")
                continue
            for index, hosts in enumerate(found.layout.hosts):
                together = attachments_of(found, hosts.group.name, every)
                yield self._reached(found, index, together)

    def _fed(self, found: FabricAt, tier: int) -> Measure:
        feeds = _feeds(found, tier)
        entry = found.fabric.tiers[tier].type
        short = feeds is not None and feeds < self.feeds
        return Measure(
            found.tier(tier),
            value=feeds,
            limit=self.feeds,
            unit="feeds",
            what=f"number of feeds of the worst-fed {entry}",
            sense="at_least",
            fix=f"feed each {entry} from {self.feeds} feeds of its rack" if short else None,
            missing=()
            if feeds is not None
            else (of_product(entry, "power_supplies.count", "number of power supplies"),),
        )

    def _reached(
        self, found: FabricAt, index: int, together: Sequence[tuple[Layout, int]]
    ) -> Measure:
        counts = [fewest_leaves_of_a_host(layout, number) for layout, number in together]
        leaves = None if None in counts else sum(count for count in counts if count is not None)
        missing: tuple[str, ...] = ()
        for layout, _ in together:
            path = found.path_of(layout)
            missing += unknown_ports(layout, path) or uncabled_hosts(layout, path)
        short = leaves is not None and leaves < self.switches
        return Measure(
            found.attached(index),
            value=None if missing else leaves,
            limit=self.switches,
            unit="switches",
            what="number of switches of the worst-connected node",
            sense="at_least",
            fix=f"connect each node to {self.switches} switches: 'rails: true' and as many "
            "'interfaces' and switches"
            if short
            else None,
            missing=missing,
        )


def _feeds(found: FabricAt, tier: int) -> int | None:
    """Return the feeds with a power supply of the switch that has the fewest; None where it is not known."""
    path = (*found.path, "tiers", tier)
    counts = [
        sum(1 for supplies in device.psus if supplies) if device.psus else None
        for racks in found.site.racks
        for device in racks.kind.devices
        if device.kind == "switch" and device.path == path
    ]
    return None if not counts or None in counts else min(c for c in counts if c is not None)
