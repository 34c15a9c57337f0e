"""PWR-026: sources without redundancy are not overloaded when another source is lost."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.policy.helpers.power import missing_of_facility, no_capacity
from rackwright.policy.helpers.racks import BelowSources, is_over
from rackwright.policy.helpers.remediation import a_source, provide


@rule(
    "PWR-026",
    "Sources without redundancy are not overloaded when another source is lost",
    Severity.HIGH,
    since="0.4",
    stage="design",
    profile=Profile.PRODUCTION,
)
class DeclaredRedundancy(Policy):
    """A source of redundancy N carries what falls to it after the loss of any other one."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each source of redundancy N that another one's load falls to."""
        for site in plan.onprem:
            below = BelowSources(site)
            for row in site.power.sources:
                unknown = row.facility_worst_w is None
                if row.redundancy != "N" or row.idle or (row.facility_lost is None and not unknown):
                    continue
                value, limit = row.facility_worst_w, row.capacity_w
                missing = list(missing_of_facility(site, row, below))
                if unknown and not missing:
                    missing += site.power.tree.missing or below.lacking(row.source)
                if limit is None:
                    missing.append(no_capacity(site, row.source))
                yield Measure(
                    Subject(f"{site.name} source {row.source}", row.path),
                    value=value,
                    limit=limit,
                    unit="W",
                    what=f"load of this source of redundancy N after losing '{row.facility_lost}'",
                    fix=f"{provide(value, 'W', a_source(row.kind))}, or plan with 'redundancy: N-1'"
                    if is_over(value, limit)
                    else None,
                    missing=tuple(missing),
                )
