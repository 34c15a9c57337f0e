"""RACK-011: racks fit through the delivery route to their hall."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    RackClass,
    Severity,
    SitePlan,
    rule,
)
from rackwright.plan.missing import each_once
from rackwright.plan.racks.contributors import subject, unknowns


@rule(
    "RACK-011",
    "Racks fit through the delivery route to their hall",
    Severity.HIGH,
    since="0.3",
    stage="build",
    profile=Profile.PILOT,
)
class Delivery(Policy):
    """Each rack passes the doors, lifts, ramps and floors on the way to its place."""

    most_slope: Annotated[float, Field(ge=0, le=100)] = 100 / 12
    """Steepest ramp in %: one in twelve."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield five measures for each class of racks."""
        for site in plan.onprem:
            for rack in site.racks:
                yield from self._rack(site, rack)

    def _rack(self, site: SitePlan, rack: RackClass) -> Iterator[Measure]:
        at, row = subject(site, rack), rack.kind.delivery
        shorter = "have the rack shipped without its crate, or in parts"
        lighter = "install devices after the rack stands, or choose another route"
        for value, limit, unit, what, fix, own, way in (
            (row.height_m, row.way_height_m, "m", "height on the delivery route", shorter, "height", "height"),
            (row.width_m, row.way_width_m, "m", "width on the delivery route", shorter, "width", "width"),
            (row.weight_kg, row.way_rating_kg, "kg", "weight on the delivery route", lighter, "weight", "rating"),
            (row.caster_kg, row.way_rolling_kg, "kg", "weight on a caster on the delivery route", lighter, "weight", "rolling"),
        ):  # fmt: skip
            missing = list(_unsaid_of_rack(site, rack, value, own))
            if limit is None:
                missing.append(_of_way(rack, way))
            yield Measure(
                at,
                value=value,
                limit=limit,
                unit=unit,
                what=what,
                fix=fix,
                missing=each_once(missing),
            )
        slope = row.way_slope_percent
        yield Measure(
            at,
            value=slope,
            limit=self.most_slope,
            unit="%",
            what="slope of the steepest ramp on the delivery route",
            fix="choose a route with a lift, or a longer ramp",
            missing=() if slope is not None else (_of_way(rack, "slope"),),
        )


def _unsaid_of_rack(
    site: SitePlan, rack: RackClass, value: float | None, name: str
) -> Iterator[str]:
    if value is not None:
        return
    if name == "weight" and rack.kind.weight_kg is None:
        yield from unknowns(site, "weight_kg", [rack])
    yield Missing(f"'shipping.{name}' of the racks", (*rack.path, "shipping", name))


def _of_way(rack: RackClass, name: str) -> Missing:
    words = f"'delivery.{name}' of the hall '{rack.hall}'"
    return Missing(words, (*rack.path[:-4], "delivery", name))
