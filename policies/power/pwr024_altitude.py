"""PWR-024: switchgear and devices are rated for the altitude of the site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    RackDevice,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.plan.missing import of_product
from rackwright.policy.helpers.racks import is_over

SWITCHGEAR = frozenset({"switchgear", "rpp", "panel", "busway", "sts", "ups"})
NORMAL_M = 2_000.0
"""Highest site that is a normal service condition of low-voltage gear and of IT equipment."""
HIGHEST_M = 3_050.0
"""Highest site of ASHRAE's classes A1 to A4."""


@rule(
    "PWR-024",
    "Switchgear and devices are rated for the altitude of the site",
    Severity.HIGH,
    since="0.4",
    stage="design",
    profile=Profile.PILOT,
)
class ProductAltitude(Policy):
    """Breakers, busways, UPSs, servers and switches are not above the altitude of their ratings."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each source with breakers, and for each product in the racks."""
        for site in plan.onprem:
            altitude = site.altitude
            missing: tuple[str, ...] = ()
            if altitude is None:
                place = (*site.path, "altitude")
                missing = (Missing(f"'altitude' of the site '{site.name}'", place),)
            for row in site.power.sources:
                source = site.power.tree.sources[row.source]
                if row.kind not in SWITCHGEAR or (row.kind == "ups" and source.product):
                    continue
                at = Subject(f"{site.name} source {row.source}", row.path)
                limit: float | None = source.max_altitude
                limit = NORMAL_M if limit is None else limit
                fix = "buy gear that its maker rates for the site and state its 'max_altitude'"
                yield _measure(
                    at, altitude, limit, f"the breakers of this {row.kind}", fix, missing
                )
            for entry, device in sorted(_products(site).items()):
                at = Subject(f"{site.name} {entry}", (*site.path, "altitude"))
                limit = _limit(device, altitude)
                unsaid = missing
                if limit is None and altitude is not None:
                    unsaid = (of_product(entry, "max_altitude", "published altitude of operation"),)
                yield _measure(
                    at, altitude, limit, entry, f"choose another product than {entry}", unsaid
                )


def _products(site: SitePlan) -> Mapping[str, RackDevice]:
    kinds = dict.fromkeys(rack.kind for rack in site.racks)
    devices = (device for kind in kinds for device in kind.devices)
    return {device.entry: device for device in devices if device.kind in {"node", "switch"}}


def _limit(device: RackDevice, altitude: float | None) -> float | None:
    """Return what the maker states, or the limit of standards where the site is surely inside or outside."""
    if device.max_altitude_m is not None or altitude is None:
        return device.max_altitude_m
    if altitude <= NORMAL_M:
        return NORMAL_M
    return HIGHEST_M if altitude > HIGHEST_M else None


def _measure(
    at: Subject,
    value: float | None,
    limit: float | None,
    what: str,
    fix: str,
    missing: tuple[str, ...],
) -> Measure:
    return Measure(
        at,
        value=value,
        limit=limit,
        unit="m",
        what=f"altitude of the site, against the rating of {what},",
        fix=fix if is_over(value, limit) else None,
        missing=missing,
    )
