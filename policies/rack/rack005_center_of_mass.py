"""RACK-005: the centre of mass of a rack is low."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Enforcement,
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
from rackwright.plan.racks.contributors import subject, unknowns
from rackwright.plan.racks.mechanical import center_of_mass_shares
from rackwright.policy.helpers.racks import excess


@rule(
    "RACK-005",
    "The centre of mass of a rack is low",
    Severity.MEDIUM,
    since="0.1",
    stage="design",
    enforcement=Enforcement.ADVISORY,
)
class CenterOfMass(Policy):
    """The centre of mass of a rack's content lies in its lower part."""

    share: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Highest centre of mass as a share of the rack's height."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each class of racks."""
        for site in plan.onprem:
            for rack in site.racks:
                if rack.kind.mode == "immersion":  # devices hang beside each other
                    continue
                value = rack.kind.center_of_mass_u
                limit = self.share * rack.kind.height_u
                over = excess(value, limit)
                missing = unknowns(site, "weight_kg", [rack])
                yield Measure(
                    subject(site, rack),
                    value=value,
                    limit=limit,
                    unit="U",
                    what="height of the centre of mass",
                    contributors=center_of_mass_shares(rack.kind.devices) if over else (),
                    fix=f"lower the devices by {over:.1f} U on average, the heaviest first"
                    if over
                    else None,
                    missing=missing or (_unplaced(site, rack) if value is None else ()),
                )


def _unplaced(site: SitePlan, rack: RackClass) -> tuple[str, ...]:
    """Return the reasons why a device of a rack has no place: its height, or lack of room."""
    homeless = [device for device in rack.kind.devices if not device.fits]
    named = {"node", "switch"}
    places = [
        (*rack.path_of(device), "per_rack") for device in homeless if device.kind in named
    ] or [(*rack.path, "type")]
    words = "a place for each device"
    return unknowns(site, "height_u", [rack]) or (Missing(words, places[0]),)
