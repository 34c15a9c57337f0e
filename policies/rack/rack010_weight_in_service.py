"""RACK-010: racks and floors carry the weight in service, with cables, manifolds and coolant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

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
from rackwright.plan.missing import each_once, of_product
from rackwright.plan.racks.contributors import subject, unknowns
from rackwright.plan.records.facility import HallLoad
from rackwright.policy.helpers.racks import of_weight_limit, weight_limit
from rackwright.policy.helpers.remediation import provide

Place = Literal["rack", "caster", "area"]


@rule(
    "RACK-010",
    "Racks and floors carry the weight in service, with cables, manifolds and coolant",
    Severity.CRITICAL,
    since="0.3",
    stage="design",
    profile=Profile.LAB,
    waivable=False,
)
class WeightInService(Policy):
    """A rack in service weighs no more than it and the floor carry."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield three measures for each class of racks: in the rack, on a caster, and over the footprint."""
        for site in plan.onprem:
            halls = {row.hall: row for row in site.cooling.halls}
            for rack in site.racks:
                for place in ("rack", "caster", "area"):
                    yield _place(site, rack, halls[rack.hall], place)


def _place(site: SitePlan, rack: RackClass, hall: HallLoad, place: Place) -> Measure:
    missing = [*_unsaid(site, rack)]
    value, unit = rack.kind.in_service_kg, "kg"
    limit = weight_limit(rack.kind, value)
    what, fix = "weight in the rack in service", provide(value, "kg", "a rack with a rating")
    if place == "rack" and limit is None:
        missing.append(of_weight_limit(rack.kind))
    if place != "rack":
        value = _with_rack(rack)
        if value is None and rack.kind.in_service_kg is not None:
            missing.append(of_product(rack.kind.type, "weight", "published weight"))
    if place == "caster":
        value = None if value is None else value / rack.kind.casters
        limit, what = hall.floor_concentrated_kg, "weight on one caster in service"
        fix = provide(value, "kg", "plates under the casters, or a floor,")
        missing += _of_floor(rack, limit, "concentrated")
    elif place == "area":
        if rack.kind.footprint_m2 is None:
            missing.append(Missing("'aisle_depth' of the racks", (*rack.path, "aisle_depth")))
        value = (
            None
            if value is None or rack.kind.footprint_m2 is None
            else value / rack.kind.footprint_m2
        )
        limit, unit = hall.floor_uniform_kgm2, "kg/m2"
        what = "weight over the footprint and its share of the aisles in service"
        fix = provide(value, "kg/m2", "a floor")
        missing += _of_floor(rack, limit, "uniform")
    return Measure(
        subject(site, rack),
        value=value,
        limit=limit,
        unit=unit,
        what=what,
        fix=fix,
        missing=each_once(missing),
    )


def _with_rack(rack: RackClass) -> float | None:
    """Return the weight in kg of the rack with all that is in it."""
    if (
        rack.kind.in_service_kg is None
        or rack.kind.weight_kg is None
        or rack.kind.content_kg is None
    ):
        return None
    return rack.kind.in_service_kg + rack.kind.weight_kg - rack.kind.content_kg


def _unsaid(site: SitePlan, rack: RackClass) -> Iterator[str]:
    """Yield the missing facts that make the weight of a rack in service unknown."""
    yield from unknowns(site, "weight_kg", [rack])
    cooling = (*rack.path, "cooling")
    if rack.kind.cables_kg is None:
        yield Missing("'cable_weight' of the racks", (*rack.path, "cable_weight"))
    if rack.kind.coolant_kg is None:
        yield Missing("'coolant_weight' of the racks", (*cooling, "coolant_weight"))
    if not rack.kind.counts_manifolds:
        yield Missing("'manifolds' of the racks, 0 if included", (*cooling, "manifolds"))


def _of_floor(rack: RackClass, limit: float | None, kind: str) -> Iterator[str]:
    if limit is None:
        place = (*rack.path[:-4], "floor", kind)
        yield Missing(f"'{kind}' of the floor of '{rack.hall}'", place)
