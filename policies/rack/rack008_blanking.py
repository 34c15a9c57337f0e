"""RACK-008: dense racks have blanking panels and a contained aisle."""

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
    Profile,
    RackClass,
    Severity,
    SitePlan,
    rule,
)
from rackwright.model.quantities import format_quantity
from rackwright.model.units import Watts
from rackwright.plan.racks.contributors import subject, unknowns


@rule(
    "RACK-008",
    "Dense racks have blanking panels and a contained aisle",
    Severity.MEDIUM,
    since="0.1",
    stage="design",
    enforcement=Enforcement.ADVISORY,
    mandatory_since="0.4",
    profile=Profile.PRODUCTION,
)
class Blanking(Policy):
    """Exhaust air finds no way back to the inlets of a dense rack."""

    density: Annotated[Watts, Field(ge=0, le=1e6)] = 15_000.0
    """Power of a rack above which both are needed."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield two findings for each class of racks: panels and containment."""
        for site in plan.onprem:
            containments = {hall.hall: hall.containment for hall in site.cooling.halls}
            for rack in site.racks:
                if rack.kind.mode == "immersion":  # no air passes a tank
                    continue
                containment = containments[rack.hall]
                contained = None if containment is None else containment != "none"
                said = Missing("'blanking' of the racks", (*rack.path, "blanking"))
                yield self._judge(site, rack, *_PANELS, said, present=rack.kind.blanking)
                said = Missing("'air' of the hall", (*rack.path[:-4], "air"))
                yield self._judge(site, rack, *_CONTAINMENT, said, present=contained)

    def _judge(
        self,
        site: SitePlan,
        rack: RackClass,
        noun: str,
        fix: str,
        option: Missing,
        *,
        present: bool | None,
    ) -> Finding:
        at, power = subject(site, rack), rack.kind.power_w
        if present:
            return Finding(at, ok=True, message=f"there are {noun}", what=noun)
        if power is None:
            missing = unknowns(site, "power_w", [rack])
            return Finding(at, ok=None, message=f"{noun} may be needed", missing=missing, what=noun)
        threshold = format_quantity(self.density, "W")
        if power <= self.density:
            message = f"the rack needs no {noun} up to {threshold}"
            return Finding(at, ok=True, message=message, what=noun)
        message = f"the rack draws {format_quantity(power, 'W')}, above {threshold} it needs {noun}"
        if present is None:
            missing = (option,)
            return Finding(at, ok=None, message=message, missing=missing, what=noun)
        return Finding(at, ok=False, message=message, fix=fix, what=noun)


_PANELS = (
    "blanking panels",
    "close empty units and set 'blanking: true'",
)
_CONTAINMENT = (
    "contained aisles",
    "contain the hot or the cold aisle and set 'containment'",
)
