"""PWR-031: cables and PDUs are rated for the air around them."""

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
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.model.units import Celsius
from rackwright.plan.records.facility import HallLoad


@rule(
    "PWR-031",
    "Cables and PDUs are rated for the air around them",
    Severity.HIGH,
    since="0.5",
    stage="design",
    profile=Profile.PILOT,
)
class AirAroundGear(Policy):
    """Cables are sized for air as warm as the hall's, and the air behind racks spares plugs and PDUs."""

    hottest: Annotated[Celsius, Field(ge=30, le=80)] = 60.0
    """Warmest air behind racks with PDUs, cords and power shelves, by their makers."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for the air behind the racks of each hall, and one for the cables in it."""
        for site in plan.onprem:
            for hall in site.cooling.halls:
                if hall.inlet_c is not None:
                    yield from self._hall(site, hall, hall.inlet_c)

    def _hall(self, site: SitePlan, hall: HallLoad, inlet: float) -> Iterator[Measure]:
        at = Subject(f"{site.name} hall {hall.hall}", (*hall.path, "air"))
        rise = Missing(
            f"'temperature_rise' of the air of '{hall.hall}'",
            (*hall.path, "air", "temperature_rise"),
        )
        yield Measure(
            at,
            value=hall.exhaust_c,
            limit=self.hottest,
            unit="°C",
            what="air behind the racks, around PDUs, plugs and power shelves,",
            fix="move more air, or supply colder air",
            missing=() if hall.exhaust_c is not None else (rise,),
        )
        cabling = site.power.settings.cabling
        if cabling is not None:
            yield Measure(
                at,
                value=cabling.ambient,
                limit=inlet,
                unit="°C",
                what="ambient temperature that the cables are sized for, against the air of the hall,",
                sense="at_least",
                fix=f"size the cables for an 'ambient' of {inlet:g} °C, or that of the hot aisle",
            )
