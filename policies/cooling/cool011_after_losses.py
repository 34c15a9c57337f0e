"""COOL-011: what is left of the cooling after the loss of any power source carries the heat."""

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
from rackwright.plan.records.cooling import CoolingStage
from rackwright.policy.helpers.racks import is_over
from rackwright.policy.helpers.remediation import provide


@rule(
    "COOL-011",
    "Cooling carries the heat after the loss of any power source",
    Severity.CRITICAL,
    since="0.3",
    stage="design",
    profile=Profile.PILOT,
)
class CoolingAfterLosses(Policy):
    """The units that live on when a source is lost carry the heat of the racks that do."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each stage that carries heat, from the racks to the air outside."""
        for site in plan.onprem:
            for stage in site.cooling.stages:
                if stage.heat_w != 0:
                    yield _stage(site, stage)


def _stage(site: SitePlan, stage: CoolingStage) -> Measure:
    value, limit = stage.lost_heat_w, stage.lost_capacity_w
    what = f"heat load of the {stage.kind} after the loss of any one source"
    fix = provide(value, "W", stage.kind)
    if stage.lost is not None:
        taken = f"{stage.lost_units:,} of {stage.units:,} units"
        what = f"heat load of the {stage.kind} after losing '{stage.lost}', which takes {taken},"
        fix = (
            "feed units from different sources ('supplies'), give them a second source "
            f"('fed_by'), or {fix} after the loss"
        )
    return Measure(
        Subject(f"{site.name} {stage.kind} of {stage.of}", stage.path),
        value=value,
        limit=limit,
        unit="W",
        what=what,
        fix=fix if is_over(value, limit) else None,
        missing=missing_of_stage(site, stage),
    )
