"""RACK-010: racks and floors carry racks with cables, manifolds and coolant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from rackwright.api import (
    Finding,
    HallLoad,
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
from rackwright.policy.helpers.missing import each_once, of_product
from rackwright.policy.helpers.racks import of_weight_limit, subject, unknowns, weight_limit
from rackwright.policy.helpers.remediation import provide

Place = Literal["rack", "caster", "area"]


@rule(
    "RACK-010",
    "Racks and floors carry racks with cables, manifolds and coolant",
    Severity.CRITICAL,
    since="0.3",
    profile=Profile.LAB,
    waivable=False,
)
class WeightInService(Policy):
    """A rack in service weighs no more than it and the floor carry."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Three measures for each class of racks: in the rack, on a caster, and over the footprint."""
        for site in plan.onprem:
            halls = {row.hall: row for row in site.halls}
            for row in site.rack_classes:
                for place in ("rack", "caster", "area"):
                    yield _place(site, row, halls[row.hall], place)


def _place(site: SitePlan, row: RackClass, hall: HallLoad, place: Place) -> Measure:
    missing = [*_unsaid(site, row)]
    value, unit = row.in_service_kg, "kg"
    limit = weight_limit(row, value)
    what, fix = "weight in the rack in service", provide(value, "kg", "a rack with a rating")
    if place == "rack" and limit is None:
        missing.append(of_weight_limit(row))
    if place != "rack":
        value = _with_rack(row)
        if value is None and row.in_service_kg is not None:
            missing.append(of_product(row.type, "weight", "published weight"))
    if place == "caster":
        value = None if value is None else value / row.casters
        limit, what = hall.floor_concentrated_kg, "weight on one caster in service"
        fix = provide(value, "kg", "plates under the casters, or a floor,")
        missing += _of_floor(row, limit, "concentrated")
    elif place == "area":
        if row.footprint_m2 is None:
            missing.append(Missing("'aisle_depth' of the racks", (*row.path, "aisle_depth")))
        value = None if value is None or row.footprint_m2 is None else value / row.footprint_m2
        limit, unit = hall.floor_uniform_kgm2, "kg/m2"
        what = "weight over the footprint and its share of the aisles in service"
        fix = provide(value, "kg/m2", "a floor")
        missing += _of_floor(row, limit, "uniform")
    return Measure(
        subject(site, row),
        value=value,
        limit=limit,
        unit=unit,
        what=what,
        fix=fix,
        missing=each_once(missing),
    )


def _with_rack(row: RackClass) -> float | None:
    """Weight in kg of the rack with all that is in it."""
    if row.in_service_kg is None or row.weight_kg is None or row.content_kg is None:
        return None
    return row.in_service_kg + row.weight_kg - row.content_kg


def _unsaid(site: SitePlan, row: RackClass) -> Iterator[str]:
    """What keeps the weight of a rack in service from being known."""
    yield from unknowns(site, "weight_kg", [row.rack_class])
    cooling = (*row.path, "cooling")
    if row.cables_kg is None:
        yield Missing("'cable_weight' of the racks", (*row.path, "cable_weight"))
    if row.coolant_kg is None:
        yield Missing("'coolant_weight' of the racks", (*cooling, "coolant_weight"))
    if not row.counts_manifolds:
        yield Missing("'manifolds' of the racks, 0 if included", (*cooling, "manifolds"))


def _of_floor(row: RackClass, limit: float | None, kind: str) -> Iterator[str]:
    if limit is None:
        place = (*row.path[:-4], "floor", kind)
        yield Missing(f"'{kind}' of the floor of '{row.hall}'", place)
