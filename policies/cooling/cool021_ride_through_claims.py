"""COOL-021: stated times without power and freezing points are realistic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.model.units import Celsius, Seconds
from rackwright.plan.cooling.outdoors import FREEZES

_FLUIDS = {"water": "plain water", "pg25": "a quarter of propylene glycol"}


@rule(
    "COOL-021",
    "Stated times without power and freezing points are realistic",
    Severity.HIGH,
    since="0.5",
    stage="design",
    profile=Profile.PILOT,
)
class RideThroughClaims(Policy):
    """Stated times are those of flywheels and transfer switches, stated freezing points those of water and glycol."""

    longest: Annotated[Seconds, Field(ge=0, le=600)] = 30.0
    """Longest loss of power that a machine without batteries cools through."""
    shortest_transfer: Annotated[Seconds, Field(ge=0, le=1)] = 0.004
    """Shortest time without power while another source takes over: a static switch needs a quarter of a cycle."""
    coldest_fluid: Annotated[Celsius, Field(ge=-60, le=0)] = -51.2
    """Lowest freezing point of a circuit without ``fluid``: 60 % of its mass is ethylene glycol."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each stated ride-through, transfer time and freezing point."""
        for site in plan.onprem:
            machines = {one.machine: one for one in site.cooling.consumers}
            for machine, row in machines.items():
                at = Subject(f"{site.name} {machine}", row.path)
                if row.rides_through:
                    yield Measure(
                        at,
                        value=row.rides_through,
                        limit=self.longest,
                        unit="s",
                        what="stated ride-through time",
                        fix="name the UPS that feeds them in 'fed_by', or state a time of their data sheet",
                    )
                if row.transfer is not None and len(row.fed_by) > 1:
                    yield Measure(
                        at,
                        value=row.transfer,
                        limit=self.shortest_transfer,
                        unit="s",
                        what="stated time without power while another source takes over",
                        sense="at_least",
                        fix="state the time of the transfer switch, and in 'rides_through' what the units bridge",
                    )
            yield from self._fluids(site)

    def _fluids(self, site: SitePlan) -> Iterator[Measure]:
        from rackwright.plan.racks.capacity import facility_water

        for water, path in facility_water(site):
            if water.freezing_point is None:
                continue
            fluid, limit = "the fluid", self.coldest_fluid
            fix = "state the freezing point of the mixture's data sheet"
            if water.fluid is not None:
                fluid, limit = _FLUIDS[water.fluid], FREEZES[water.fluid]
                fix = f"omit 'freezing_point' ({limit:g} °C applies), or, for another mixture, omit 'fluid'"
            yield Measure(
                Subject(
                    f"{site.name} facility water {water.name}",
                    (*path, "freezing_point"),
                ),
                value=water.freezing_point,
                limit=limit,
                unit="°C",
                what=f"stated freezing point of {fluid}",
                sense="at_least",
                fix=fix,
            )
