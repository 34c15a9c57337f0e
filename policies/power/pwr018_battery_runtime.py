"""PWR-018: the batteries of UPSs last until generators carry the load."""

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
from rackwright.plan.missing import each_once
from rackwright.plan.records.power import Autonomy
from rackwright.policy.helpers.power import missing_of_facility, no_capacity
from rackwright.policy.helpers.racks import BelowSources
from rackwright.policy.helpers.remediation import provide


@rule(
    "PWR-018",
    "Batteries of UPSs last until generators carry the load",
    Severity.HIGH,
    since="0.3",
    stage="design",
    profile=Profile.PILOT,
)
class BatteryRuntime(Policy):
    """Each UPS of a site with generators runs on its batteries until those have started, and longer."""

    reserve_s: Annotated[float, Field(ge=0, le=86_400)] = 30
    """Seconds beyond that; 30 are one more attempt to start, after one that failed."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each UPS of a site with generators."""
        for site in plan.onprem:
            below = BelowSources(site)
            for row in site.power.autonomies:
                if row.kind == "ups":
                    yield self._ups(site, row, below)

    def _ups(self, site: SitePlan, row: Autonomy, below: BelowSources) -> Measure:
        acceptance = site.power.settings.generator_acceptance
        limit = None if acceptance is None else acceptance + self.reserve_s
        missing = list(_missing(site, row, below))
        if acceptance is None:
            place = (*site.path, "power", "generator_acceptance")
            missing.append(Missing("'generator_acceptance' of the site", place))
        return Measure(
            Subject(f"{site.name} source {row.source}", row.path),
            value=row.runtime_s,
            limit=limit,
            unit="s",
            what="battery runtime at this load",
            sense="at_least",
            fix=provide(limit, "s", "batteries for this load"),
            missing=each_once(missing),
        )


def _missing(site: SitePlan, row: Autonomy, below: BelowSources) -> Iterator[str]:
    """Yield the missing facts that make the runtime of a UPS unknown."""
    tree = site.power.tree
    (source,) = site.power.named([row.source])
    if tree.sources[row.source].backup is None:
        yield tree.unsaid(row.source, "backup")
    if source.capacity_w is None:
        yield no_capacity(site, row.source)
    if row.load_w is None:
        found = [*missing_of_facility(site, source, below)]
        yield from found or site.power.tree.missing or below.lacking(row.source)
