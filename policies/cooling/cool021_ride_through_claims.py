"""COOL-021: stated ride-through times are realistic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.model.units import Seconds


@rule(
    "COOL-021",
    "Stated ride-through times are realistic",
    Severity.HIGH,
    since="0.5",
    stage="design",
    profile=Profile.PILOT,
)
class RideThroughClaims(Policy):
    """A stated ride-through is one of flywheels and capacitors; batteries are a UPS among the sources."""

    longest: Annotated[Seconds, Field(ge=0, le=600)] = 30.0
    """Longest loss of power that a machine without batteries cools through."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each machine that states a ride-through."""
        for site in plan.onprem:
            stated = {one.machine: one for one in site.cooling.consumers if one.rides_through}
            for machine, row in stated.items():
                yield Measure(
                    Subject(f"{site.name} {machine}", row.path),
                    value=row.rides_through,
                    limit=self.longest,
                    unit="s",
                    what="stated ride-through time",
                    fix="name the UPS that feeds them in 'fed_by', or state a time of their data sheet",
                )
