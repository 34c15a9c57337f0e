"""SCH-010: job ids stay within the range of a federation."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Severity, Subject, rule
from rackwright.plan.federation.checks import LARGEST_LOCAL, job_ids


@rule(
    "SCH-010",
    "Job ids stay within the range of a federation",
    Severity.HIGH,
    since="0.4",
    stage="design",
)
class FederatedJobIds(Policy):
    """Job ids of a cluster fit into the 26 bits that a federation reserves for them."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield one measure, if the blueprint federates clusters."""
        scheduler = plan.scheduler
        if not plan.is_federated or scheduler is None:
            return
        ids = job_ids(scheduler.extra)
        at = Subject(f"{plan.name} job ids", ("scheduler", "extra"))
        yield Measure(
            at,
            value=ids.last,
            limit=LARGEST_LOCAL,
            unit="",
            what="largest id of a job (MaxJobId)",
            fix=None
            if ids.last <= LARGEST_LOCAL
            else f"lower 'MaxJobId' in 'scheduler.extra' to {LARGEST_LOCAL}, or remove it",
        )
        if ids.first >= ids.last:
            yield Finding(
                at,
                ok=False,
                message=f"the first job id {ids.first} is not below the last one, {ids.last}",
                fix="lower 'FirstJobId' in 'scheduler.extra'",
            )
