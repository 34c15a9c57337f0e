"""RACK-009: devices can be lifted out of their tanks."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    RackClass,
    Severity,
    SitePlan,
    rule,
)
from rackwright.plan.missing import of_product
from rackwright.plan.racks.contributors import subject, unknowns
from rackwright.policy.helpers.racks import is_over
from rackwright.policy.helpers.remediation import provide


@rule(
    "RACK-009",
    "Devices can be lifted out of their tanks",
    Severity.HIGH,
    since="0.3",
    stage="design",
)
class ServiceHeight(Policy):
    """The hall is high enough above a tank for its longest device to be lifted out."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each class of immersion tanks that holds something."""
        for site in plan.onprem:
            heights = {row.hall: row.clear_height_m for row in site.cooling.halls}
            for rack in site.racks:
                if rack.kind.mode == "immersion" and rack.kind.service_height_m != 0:
                    yield _lift(site, rack, heights[rack.hall])


def _lift(site: SitePlan, rack: RackClass, limit: float | None) -> Measure:
    value = rack.kind.service_height_m
    missing: list[str] = []
    if value is None:
        if rack.kind.tank_edge_m is None:
            missing.append(
                of_product(rack.kind.type, "immersion.top", "published height of its edge")
            )
        missing += unknowns(site, "depth_m", [rack])
        if rack.kind.lift_allowance_m is None:
            place = (*rack.path, "cooling", "lift_allowance")
            missing.append(Missing("'lift_allowance' of the tanks", place))
    if limit is None:
        place = (*rack.path[:-4], "clear_height")
        missing.append(Missing(f"'clear_height' of the hall '{rack.hall}'", place))
    return Measure(
        subject(site, rack),
        value=value,
        limit=limit,
        unit="m",
        what="height to lift the longest device out of the tank",
        fix=provide(value, "m", "a clear height") if is_over(value, limit) else None,
        missing=tuple(missing),
    )
