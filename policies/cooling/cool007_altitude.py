"""COOL-007: the inlet temperature suits the class at the site's altitude."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Enforcement,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.model.cooling import AirClass
from rackwright.model.onprem import ASHRAE_ALLOWABLE
from rackwright.model.units import Metres
from rackwright.plan.records.facility import HallLoad
from rackwright.policy.helpers.racks import is_over

METRES_PER_KELVIN: Mapping[AirClass, float] = {
    "A1": 300.0,
    "A2": 300.0,
    "A3": 175.0,
    "A4": 125.0,
    "H1": 300.0,
}
"""Climb that costs 1 K of the allowable maximum."""


@rule(
    "COOL-007",
    "Inlet temperature suits the altitude of the site",
    Severity.MEDIUM,
    since="0.1",
    stage="concept",
    enforcement=Enforcement.ADVISORY,
)
class Altitude(Policy):
    """Thin air cools less: the allowable inlet temperature falls with the altitude."""

    start: Annotated[Metres, Field(ge=0, le=5_000)] = 900.0
    """Altitude up to which the class holds unchanged."""
    metres_per_kelvin: dict[AirClass, Annotated[Metres, Field(ge=50, le=1_000)]] = {}
    """Climb that costs 1 K of the allowable maximum, where it differs from ASHRAE's."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each hall with air handlers."""
        for site in plan.onprem:
            for row in site.cooling.halls:
                if row.inlet_c is not None and row.ashrae_class is not None:
                    yield self._hall(site, row, row.inlet_c, row.ashrae_class)

    def _hall(self, site: SitePlan, row: HallLoad, value: float, ashrae: AirClass) -> Measure:
        altitude = site.altitude
        limit = None
        if altitude is not None:
            climb = {**METRES_PER_KELVIN, **self.metres_per_kelvin}[ashrae]
            limit = ASHRAE_ALLOWABLE[ashrae][1] - max(0.0, altitude - self.start) / climb
        fix = None
        if limit is not None and is_over(value, limit):
            fix = f"lower 'inlet_temperature' to {limit:.1f} °C"
        missing: tuple[str, ...] = ()
        if altitude is None:
            place = (*site.path, "altitude")
            missing = (Missing(f"'altitude' of the site '{site.name}'", place),)
        where = "this altitude" if altitude is None else f"{altitude:,.0f} m"
        return Measure(
            Subject(f"{site.name} hall {row.hall}", (*row.path, "air")),
            value=value,
            limit=limit,
            unit="°C",
            what=f"inlet temperature (allowable of {ashrae} at {where})",
            fix=fix,
            missing=missing,
        )
