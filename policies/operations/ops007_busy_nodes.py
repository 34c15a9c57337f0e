"""OPS-007: health checks also run on busy nodes."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Plan, Policy, Severity, Subject, rule

_BUSY = frozenset({"ALLOC", "MIXED"})


@rule(
    "OPS-007",
    "Health checks also run on busy nodes",
    Severity.MEDIUM,
    since="0.5",
    stage="design",
)
class BusyNodes(Policy):
    """The scheduler runs its health check on nodes with jobs as well as on idle ones."""

    def check(self, plan: Plan) -> Iterator[Finding]:
        """Yield a finding about the scheduler, where it has a health check."""
        health = plan.scheduler.health_check if plan.scheduler else None
        if health is None:
            return
        lacking = set() if "ANY" in health.states else _BUSY - set(health.states)
        path = ("scheduler", "health_check", "states")
        yield Finding(
            Subject(f"{plan.name} scheduler", path),
            ok=not lacking,
            message=f"nodes in state {' and '.join(sorted(lacking))} are not checked: "
            "on a busy cluster a broken node goes on taking jobs"
            if lacking
            else "nodes with jobs are checked as well",
            fix="set 'states: [ANY]'" if lacking else None,
        )
