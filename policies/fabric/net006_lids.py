"""NET-006: an InfiniBand subnet has a LID for every port and switch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import Finding, Measure, Plan, Policy, Severity, rule
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.fabric.ports import lids
from rackwright.plan.fabric.sizing import LARGEST_UNICAST_LID, ceil_div
from rackwright.policy.helpers.fabrics import FabricAt, fabrics_of, unattached, unknown_ports


@rule("NET-006", "An InfiniBand subnet has enough LIDs", Severity.HIGH, since="0.2", stage="design")
class Lids(Policy):
    """The ports of nodes and the switches of a subnet are no more than there are unicast LIDs."""

    warn_percent: Annotated[float, Field(gt=0, le=100)] = 80
    """Share of the LIDs above which a subnet is close to its end."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each InfiniBand fabric, and one that only warns."""
        for found in fabrics_of(plan):
            if found.technology == "ethernet":
                continue
            if found.layout is None:
                yield unattached(found, "how many LIDs a subnet needs")
            else:
                yield _measure(found, found.layout, LARGEST_UNICAST_LID)
                warn = int(LARGEST_UNICAST_LID * self.warn_percent / 100)
                yield _measure(found, found.layout, warn, advisory=True)


def _measure(found: FabricAt, layout: Layout, limit: int, *, advisory: bool = False) -> Measure:
    unknown = unknown_ports(layout, found.path) if layout.endpoints is None else ()
    if layout.technology is None:
        unknown += (found.lacks("technology"),)
    value = None if unknown else lids(layout)
    fix = None
    if value is not None and value > limit:
        subnets = ceil_div(value * layout.fabric.subnets, limit)
        fix = f"cut the fabric into {subnets} subnets, rails or planes, and set 'subnets'"
    return Measure(
        found.at(),
        value=value,
        limit=limit,
        unit="LIDs",
        what="number of LIDs of a subnet, with room to grow"
        if advisory
        else "number of LIDs of a subnet",
        fix=fix,
        missing=unknown,
        advisory=advisory,
    )
