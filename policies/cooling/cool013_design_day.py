"""COOL-013: heat rejection suffices on the design day with one unit lost."""

from __future__ import annotations

from collections.abc import Iterator

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
from rackwright.plan.racks.heat_unknowns import missing_of_stage
from rackwright.plan.records.cooling import CoolingStage, OutdoorUnits, UncooledWater
from rackwright.policy.helpers.racks import is_over
from rackwright.policy.helpers.remediation import provide


@rule(
    "COOL-013",
    "Heat rejection suffices on the design day with one unit lost",
    Severity.HIGH,
    since="0.3",
    stage="design",
    profile=Profile.PILOT,
)
class DesignDay(Policy):
    """Capacities hold at the design day's temperature, and carry the heat with one unit lost."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield measures of circuits of water, of what rejects heat outdoors, and of what no chiller cools."""
        for site in plan.onprem:
            for stage in site.cooling.stages:
                on_water = stage.kind in {"pumps", "heat rejection"}
                if on_water and (stage.heat_w != 0 or stage.missing):
                    yield _units(site, stage)
            for row in site.cooling.outdoors:
                yield _rating(site, row)
            for water in site.cooling.uncooled:
                yield _supply(site, water)


def _units(site: SitePlan, stage: CoolingStage) -> Measure:
    value, limit = stage.heat_w, stage.capacity_n1_w
    if stage.missing:
        limit = None
    return Measure(
        Subject(f"{site.name} {stage.kind} of {stage.of}", stage.path),
        value=value,
        limit=limit,
        unit="W",
        what=f"heat load of the {stage.kind}, the largest of {stage.units:,} units lost,",
        fix=f"{provide(value, 'W', 'units')} without the largest"
        if is_over(value, limit)
        else None,
        missing=missing_of_stage(site, stage),
    )


def _rating(site: SitePlan, row: OutdoorUnits) -> Measure:
    value, limit = row.design_c, row.rated_c
    fix = None
    if is_over(value, limit):
        fix = f"state the capacity at {value:g} °C ('outdoor_temperature'), or provide other units"
    return Measure(
        Subject(f"{site.name} {row.machine}", row.path),
        value=value,
        limit=limit,
        unit="°C",
        what=f"{row.bulb} of the design day, against the temperature of their rating,",
        fix=fix,
        missing=row.missing,
    )


def _supply(site: SitePlan, row: UncooledWater) -> Measure:
    value, limit = row.supply_c, row.design_c
    cold = is_over(limit, value)
    return Measure(
        Subject(f"{site.name} loop {row.loop}", row.path),
        value=value,
        limit=limit,
        unit="°C",
        what=f"facility water temperature, against the {row.bulb} of the design day,",
        sense="at_least",
        fix=f"plan with 'facility_temperature' above {limit:g} °C, or cool the water by chillers"
        if cold
        else None,
        missing=row.missing,
    )
