"""RACK-004: the floor carries the racks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from rackwright.model.onprem import Floor
from rackwright.plan.contributors import contributors, subject, unknowns
from rackwright.plan.model import Contributor, Plan, SitePlan
from rackwright.policy.api import Finding, Measure, Policy, Profile, Severity
from rackwright.policy.fixes import either, place_fewer, provide
from rackwright.policy.racks import is_over

LOADS = (
    ("concentrated", "casters", "kg", "weight on one caster"),
    ("rolling", "casters", "kg", "weight on one caster when the rack is rolled"),
    ("uniform", "footprint_m2", "kg/m2", "weight over the footprint and its share of the aisles"),
)
"""Limit of the floor, what the weight is spread over, unit and words."""


class FloorLoad(Policy):
    """The weight of a rack stays inside what the hall's floor carries."""

    id: ClassVar[str] = "RACK-004"
    title: ClassVar[str] = "The floor carries the racks"
    severity: ClassVar[Severity] = Severity.CRITICAL
    since: ClassVar[str] = "0.1"
    family: ClassVar[str] = "rack"
    profile: ClassVar[Profile] = Profile.LAB
    waivable: ClassVar[bool] = False

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Three measures for each class of racks: on a caster, rolled, and over the footprint."""
        for site in plan.onprem:
            floors = {hall.name: hall.floor for hall in site.site.halls}
            for row in site.rack_classes:
                for load in LOADS:
                    yield _load(site, row, floors, *load)


def _load(
    site: SitePlan,
    row: Mapping[str, Any],
    floors: Mapping[str, Floor | None],
    kind: str,
    spread: str,
    unit: str,
    what: str,
) -> Measure:
    weight, share = row["weight_kg"], row[spread]
    floor = floors[row["hall"]]
    limit: float | None = getattr(floor, kind) if floor else None
    value = None if weight is None or share is None else weight / share
    shares: tuple[Contributor, ...] = ()
    fix = None
    if value is not None and limit is not None and is_over(value, limit):
        shares = _shares(site, row, share)
        if kind == "uniform" and limit == 0:
            other = None  # no footprint is wide enough
        elif kind == "uniform":
            other = provide(weight / limit, "m2", "a footprint with aisles")
        else:
            other = provide(value, "kg", "plates under the casters, or a floor,")
        fix = either(place_fewer(shares, value - limit), other)
    return Measure(
        subject(site, row),
        value=value,
        limit=limit,
        unit=unit,
        what=what,
        contributors=shares,
        fix=fix,
        missing=tuple(_missing(site, row, spread, kind, limit)),
    )


def _shares(site: SitePlan, row: Mapping[str, Any], share: float) -> tuple[Contributor, ...]:
    """What each device and the empty rack put on a caster or a square metre."""
    devices = contributors(site, "weight_kg", [row["rack_class"]], per_rack=True)
    found = tuple(replace(device, each=device.each / share) for device in devices)
    empty = row["weight_kg"] - row["content_kg"]
    return (*found, Contributor(row["type"], 1, empty / share)) if empty else found


def _missing(
    site: SitePlan, row: Mapping[str, Any], spread: str, kind: str, limit: float | None
) -> Iterator[str]:
    yield from unknowns(site, "weight_kg", [row["rack_class"]])
    if row["weight_kg"] is None and row["content_kg"] is not None:
        yield f"{row['type']}: published weight"
    if row[spread] is None:
        yield "'aisle_depth' of the racks"
    if limit is None:
        yield f"'{kind}' of the floor of '{row['hall']}'"
