"""SCH-005: jobs without a stated time limit have a default."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Plan, Policy, Severity, Subject, Suggestion, rule


@rule(
    "SCH-005",
    "Jobs without a stated time limit have a default",
    Severity.MEDIUM,
    since="0.4",
    stage="design",
)
class DefaultTimes(Policy):
    """A partition gives jobs that state no time a default, so that back-fill can plan with it."""

    def check(self, plan: Plan) -> Iterator[Finding]:
        """Yield a finding for each partition."""
        for entry in (entry for slurm in plan.clusters for entry in slurm.partitions):
            partition = entry.partition
            at = Subject(entry.label, (*entry.path, "default_time"))
            limited = partition.default_time is not None or partition.max_time != "UNLIMITED"
            yield Finding(
                at,
                ok=limited,
                message=f"a job without a time limit gets {partition.default_time or partition.max_time}"
                if limited
                else "a job without a time limit runs forever: backfill cannot plan around it",
                fix=None if limited else "set 'default_time', like 0-04:00:00",
                suggest=None if limited else Suggestion(at.path, "0-04:00:00"),
            )
