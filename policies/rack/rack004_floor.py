"""RACK-004: the floor carries the racks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rackwright.api import (
    Contributor,
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
from rackwright.plan.missing import of_product
from rackwright.plan.racks.contributors import contributors, subject, unknowns
from rackwright.plan.records.facility import HallLoad
from rackwright.policy.helpers.racks import excess
from rackwright.policy.helpers.remediation import either, place_fewer, provide

LOADS = (
    ("concentrated", "kg", "weight on one caster"),
    ("rolling", "kg", "weight on one caster when the rack is rolled"),
    ("uniform", "kg/m2", "weight over the footprint and its share of the aisles"),
)
"""Limit of the floor, unit and words."""


@rule(
    "RACK-004",
    "The floor carries the racks",
    Severity.CRITICAL,
    since="0.1",
    stage="concept",
    profile=Profile.LAB,
    waivable=False,
)
class FloorLoad(Policy):
    """The weight of a rack stays inside what the hall's floor carries."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield three measures for each class of racks: on a caster, rolled, and over the footprint."""
        for site in plan.onprem:
            halls = {row.hall: row for row in site.cooling.halls}
            for rack in site.racks:
                for load in LOADS:
                    yield _load(site, rack, halls[rack.hall], *load)


def _load(
    site: SitePlan,
    rack: RackClass,
    hall: HallLoad,
    kind: str,
    unit: str,
    what: str,
) -> Measure:
    weight = rack.kind.weight_kg
    share = rack.kind.footprint_m2 if kind == "uniform" else rack.kind.casters
    limit = {
        "concentrated": hall.floor_concentrated_kg,
        "rolling": hall.floor_rolling_kg,
        "uniform": hall.floor_uniform_kgm2,
    }[kind]
    value = None if weight is None or share is None else weight / share
    shares: tuple[Contributor, ...] = ()
    fix = None
    over = excess(value, limit)
    if over and weight is not None and share is not None:
        shares = _shares(site, rack, weight, share)
        if kind == "uniform":  # without a limit no footprint is wide enough
            other = provide(weight / limit, "m2", "a footprint with aisles") if limit else None
        else:
            other = provide(value, "kg", "plates under the casters, or a floor,")
        fix = either(place_fewer(shares, over), other)
    return Measure(
        subject(site, rack),
        value=value,
        limit=limit,
        unit=unit,
        what=what,
        contributors=shares,
        fix=fix,
        missing=tuple(_missing(site, rack, share, kind, limit)),
    )


def _shares(
    site: SitePlan, rack: RackClass, weight: float, share: float
) -> tuple[Contributor, ...]:
    """Return the share of each device and of the empty rack in a caster or a square metre."""
    devices = contributors(site, "weight_kg", [rack], per_rack=True)
    found = tuple(replace(device, each=device.each / share) for device in devices)
    empty = weight - (rack.kind.content_kg or 0.0)
    return (*found, Contributor(rack.kind.type, 1, empty / share)) if empty else found


def _missing(
    site: SitePlan, rack: RackClass, share: float | None, kind: str, limit: float | None
) -> Iterator[str]:
    yield from unknowns(site, "weight_kg", [rack])
    if rack.kind.weight_kg is None and rack.kind.content_kg is not None:
        yield of_product(rack.kind.type, "weight", "published weight")
    if share is None:
        yield Missing("'aisle_depth' of the racks", (*rack.path, "aisle_depth"))
    if limit is None:
        hall = rack.path[:-4]
        yield Missing(f"'{kind}' of the floor of '{rack.hall}'", (*hall, "floor", kind))
