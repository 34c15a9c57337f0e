"""NET-002: no switch takes more from below than it can pass upwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import FieldPath, Finding, Measure, Missing, Plan, Policy, Severity, rule
from rackwright.model.fabric import Fabric
from rackwright.plan.fabric.layout import Layout, port_rate
from rackwright.plan.fabric.ports import oversubscription, uplinks_for
from rackwright.policy.helpers.fabrics import (
    FabricAt,
    fabrics_of,
    unattached,
    uncabled_hosts,
    unknown_ports,
    unknown_uplinks,
)


@rule(
    "NET-002",
    "A fabric is not oversubscribed more than its role allows",
    Severity.HIGH,
    since="0.2",
    stage="concept",
)
class Oversubscription(Policy):
    """Downward over upward bandwidth of the busiest switch of each tier stays within a ratio."""

    compute: Annotated[float, Field(ge=1, le=16)] = 1.0
    """Largest ratio of a compute fabric; 1 is non-blocking."""
    compute_upper: Annotated[float, Field(ge=1, le=16)] | None = None
    """Largest ratio of a compute fabric's tiers above the leaves; absent, that of the leaves."""
    other: Annotated[float, Field(ge=1, le=64)] = 2.0
    """Largest ratio of a storage or management fabric."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each tier but the top."""
        for found in fabrics_of(plan):
            if found.layout is not None:
                for tier in range(len(found.layout.tiers) - 1):
                    yield _measure(found, found.layout, tier, self._limit(found.fabric, tier))
            elif len(found.fabric.tiers) > 1:
                yield unattached(found, "how far the fabric is oversubscribed")

    def _limit(self, fabric: Fabric, tier: int) -> float:
        """Return the largest ratio of a tier; what the blueprint sizes a tier for may be less."""
        limit = self.other
        if fabric.role == "compute":
            limit = self.compute
            if tier > 0 and self.compute_upper is not None:
                limit = self.compute_upper
        return min(limit, fabric.tiers[tier].oversubscription or limit)


def _measure(found: FabricAt, layout: Layout, tier: int, limit: float) -> Measure:
    value = oversubscription(layout, tier)
    fix = None
    if value is not None and value > limit:
        cables = uplinks_for(layout, tier, limit)
        fix = f"give each switch of '{layout.tiers[tier].name}' {cables} cables upwards"
    return Measure(
        found.tier(tier),
        value=value,
        limit=limit,
        unit="to 1",
        what="oversubscription of the busiest switch",
        fix=fix,
        missing=_missing(layout, found.path, tier),
    )


def _missing(layout: Layout, path: FieldPath, tier: int) -> tuple[str, ...]:
    missing = unknown_uplinks(layout, path, tier)
    if tier == 0:
        missing += unknown_ports(layout, path) or uncabled_hosts(layout, path)
        missing += tuple(
            Missing(f"rate of the ports of {hosts.group.type}", (*path, "attached", index, "rate"))
            for index, hosts in enumerate(layout.hosts)
            if port_rate(hosts) is None
        )
    elif layout.down_links(tier) is None:
        missing += unknown_uplinks(layout, path, tier - 1)
    return missing
