"""PWR-013: sources carry the recharging of batteries after an outage."""

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
from rackwright.plan.missing import each_once
from rackwright.plan.records.power import SourceLoad
from rackwright.policy.helpers.power import (
    missing_of_charging,
    missing_of_facility,
    missing_of_racks,
    no_capacity,
)
from rackwright.policy.helpers.racks import BelowSources, is_over
from rackwright.policy.helpers.remediation import a_source, provide


@rule(
    "PWR-013",
    "Sources carry the recharging of batteries after an outage",
    Severity.HIGH,
    since="0.3",
    stage="design",
    profile=Profile.PILOT,
)
class BatteryRecharge(Policy):
    """After an outage each source above the UPSs carries its load and charges all batteries."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each source that feeds a UPS."""
        for site in plan.onprem:
            below = BelowSources(site)
            for row in site.power.sources:
                if row.batteries:
                    yield _source(site, row, below)


def _source(site: SitePlan, row: SourceLoad, below: BelowSources) -> Measure:
    survives = row.redundancy == "N-1"
    value = row.charging_worst_w if survives else row.charging_w
    lost = row.charging_lost if survives else None
    missing = [
        *missing_of_racks(site, row, below),
        *missing_of_facility(site, row, below),
        *missing_of_charging(site, row.batteries),
    ]
    if row.capacity_w is None:
        missing.append(no_capacity(site, row.source))
    over = is_over(value, row.capacity_w)
    return Measure(
        Subject(f"{site.name} source {row.source}", row.path),
        value=value,
        limit=row.capacity_w,
        unit="W",
        what="load while batteries are charged" + (f" after losing '{lost}'" if lost else ""),
        fix=f"{provide(value, 'W', a_source(row.kind))}, or let the UPSs charge more slowly"
        if over
        else None,
        missing=each_once(missing),
    )
