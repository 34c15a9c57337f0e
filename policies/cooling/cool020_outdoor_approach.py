"""COOL-020: dry coolers and towers have a realistic approach temperature."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.model.units import Kelvin


@rule(
    "COOL-020",
    "Dry coolers and towers have a realistic approach temperature",
    Severity.HIGH,
    since="0.5",
    stage="design",
    profile=Profile.PILOT,
)
class OutdoorApproach(Policy):
    """Facility water without chillers is warmer than the outdoor air by what units on the market need."""

    least: Annotated[Kelvin, Field(ge=0, le=20)] = 2.8
    """Least difference between the water and the dry bulb, or the wet bulb behind towers, in K."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for the facility water of each loop that no chiller cools."""
        for site in plan.onprem:
            for row in site.cooling.uncooled:
                water, air = row.supply_c, row.design_c
                yield Measure(
                    Subject(f"{site.name} loop {row.loop}", row.path),
                    value=None if water is None or air is None else water - air,
                    limit=self.least,
                    unit="K",
                    what=f"difference between the facility water and the {row.bulb} of the design day",
                    sense="at_least",
                    fix="plan warmer facility water, or add chillers to the circuit",
                    missing=row.missing,
                )
