"""PWR-028: generators and the utility accept the swing of synchronous jobs."""

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
from rackwright.model.units import Watts
from rackwright.plan.power.swing import largest_swing
from rackwright.plan.records.power import SourceLoad
from rackwright.policy.helpers.power import missing_of_facility
from rackwright.policy.helpers.racks import BelowSources, is_over
from rackwright.policy.helpers.remediation import provide


@rule(
    "PWR-028",
    "Generators and the utility accept the swing of synchronous jobs",
    Severity.HIGH,
    since="0.4",
    stage="design",
    profile=Profile.PRODUCTION,
)
class Swing(Policy):
    """The change of power within each step of a job is inside what its sources accept."""

    utility_from: Annotated[Watts, Field(ge=0, le=1e9)] = 10e6
    """Swing up to which a utility without a stated limit is not asked."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each generator, utility and UPS that states a limit or needs one."""
        settings = plan.reliability
        jobs = () if settings is None else settings.jobs
        for site in plan.onprem:
            swing = largest_swing(site.name, site.groups, jobs)
            if swing is None:
                continue
            what = (
                "swing of all accelerators"
                if swing.job is None
                else f"swing of the job '{swing.job}'"
            )
            below = BelowSources(site)
            for row in site.power.sources:
                yield from self._source(site, row, swing.watts, swing.missing, what, below)

    def _source(
        self,
        site: SitePlan,
        row: SourceLoad,
        swing: float | None,
        lacks: tuple[str, ...],
        what: str,
        below: BelowSources,
    ) -> Iterator[Measure]:
        stated = site.power.tree.sources[row.source].swing_limit
        carried = row.facility_worst_w if row.redundancy == "N-1" else row.facility_w
        if row.idle or carried == 0 or not site.racks_below(row.source):
            return
        if stated is None and row.kind not in {"generator", "utility"}:
            return
        value = None if swing is None or carried is None else min(swing, carried)
        if (
            stated is None
            and row.kind == "utility"
            and value is not None
            and value <= self.utility_from
        ):
            return
        always = row.kind == "generator" and row.facility_w != 0
        limit = stated
        if limit is None and row.kind == "generator":
            limit = row.step_limit_w
        if always and stated is None and not is_over(value, limit):
            limit = None  # a step that it takes once is no swing that it takes for ever
        missing = [*lacks, *missing_of_facility(site, row, below)]
        if limit is None:
            missing.append(site.power.tree.unsaid(row.source, "swing_limit"))
        yield Measure(
            Subject(f"{site.name} source {row.source}", row.path),
            value=value,
            limit=limit,
            unit="W",
            what=f"{what} in each step",
            fix=f"{provide(value, 'W', 'batteries or load banks that take the swing')} and state the "
            "'swing_limit' with them, or hold the power of nodes up ('power_floor')"
            if is_over(value, limit)
            else None,
            missing=tuple(missing) if value is None or limit is None else (),
        )
