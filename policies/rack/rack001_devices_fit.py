"""RACK-001: every device has a place in its rack."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    FieldPath,
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    RackClass,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.plan.racks.contributors import contributors, subject, unknowns
from rackwright.policy.helpers.racks import excess
from rackwright.policy.helpers.remediation import place_fewer


@rule(
    "RACK-001",
    "Every device has a place in its rack",
    Severity.HIGH,
    since="0.1",
    stage="concept",
    profile=Profile.LAB,
)
class DevicesFit(Policy):
    """The devices of a rack fit into its units without overlap."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each class of racks, and a finding for products without a place."""
        for site in plan.onprem:
            for rack in site.racks:
                yield _height(site, rack)
                yield from _homeless(site, rack)


def _height(site: SitePlan, rack: RackClass) -> Measure:
    value, limit = rack.kind.used_u, rack.kind.height_u
    over = excess(value, limit)
    shares = contributors(site, "height_u", [rack], per_rack=True) if over else ()
    return Measure(
        subject(site, rack),
        value=value,
        limit=limit,
        unit="U",
        what="height of all devices",
        contributors=shares,
        fix=place_fewer(shares, over) if over else None,
        missing=unknowns(site, "height_u", [rack]),
    )


def _homeless(site: SitePlan, rack: RackClass) -> Iterator[Finding]:
    """Yield the devices without a free place, by product; unknown heights are left to the measure."""
    found: dict[tuple[str, FieldPath], list[float]] = {}
    for device in rack.kind.devices:
        if not device.fits and device.height_u:
            found.setdefault((device.entry, rack.path_of(device)), []).append(device.height_u)
    at = subject(site, rack)
    for (entry, path), heights in found.items():
        yield Finding(
            Subject(f"{at.name} {entry}", path),
            ok=False,
            message=f"{len(heights)} × {entry} of {heights[0]:g} U have no contiguous free place",
            fix=f"place {len(heights)} fewer {entry} in a rack, or change 'start_unit'",
        )
