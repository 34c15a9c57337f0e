"""REL-002: large jobs lose little time to failures and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.model.quantities import format_quantity
from rackwright.model.reliability import JobProfile, Reliability
from rackwright.plan.reliability.failures import (
    DAY,
    daly_interval,
    effective_time,
    failures_a_day,
    reach,
)


@rule(
    "REL-002",
    "Large jobs lose little time to failures and checkpoints",
    Severity.HIGH,
    since="0.2",
    stage="design",
)
class EffectiveTime(Policy):
    """The expected effective training time ratio of each job reaches its target."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each job that is declared; unknown when there is none."""
        reliability = plan.reliability or Reliability()
        for index, job in enumerate(reliability.jobs):
            at = Subject(f"{plan.name} job {job.name}", ("reliability", "jobs", index))
            yield _judge(at, job, failures_a_day(job, reliability))
        if not reliability.jobs and any(group.compute for group in plan.groups):
            yield Finding(
                Subject(plan.name, ("reliability",) if plan.reliability else ()),
                ok=None,
                message="how much time the largest job loses to failures and checkpoints",
                missing=(Missing("'jobs' in 'reliability'", ("reliability", "jobs")),),
            )


def _judge(at: Subject, job: JobProfile, rate: float | None) -> Measure:
    missing = [
        Missing(f"'{name}' of the job", (*at.path, name))
        for name in ("restart", "checkpoint_interval", "checkpoint_stall", "target")
        if getattr(job, name) is None
    ]
    if rate is None:
        name = "node_failures_per_1000_days"
        missing.append(Missing(f"'{name}' in 'reliability'", ("reliability", name)))
    value, fix = None, None
    restart, interval, stall = job.restart, job.checkpoint_interval, job.checkpoint_stall
    if rate is not None and restart is not None and interval is not None and stall is not None:
        value = 100 * effective_time(rate, restart, interval, stall)
        if job.target is not None and value < job.target:
            fix = f"{_fix(job.target / 100, rate, restart, stall)} ({rate:,.3g} failures a day)"
    return Measure(
        at,
        value=value,
        limit=job.target,
        unit="%",
        what="effective share of the job's time",
        sense="at_least",
        fix=fix,
        missing=tuple(missing),
    )


def _fix(target: float, rate: float, restart: float, stall: float) -> str:
    """Return the best interval if that does it, else how fast a restart would have to be as well."""
    reached = reach(target, rate, restart, stall)
    if reached is None:
        best = daly_interval(stall, DAY / rate)
        most = format_quantity(100 * effective_time(rate, 0, best, stall), "%")
        return (
            "write checkpoints asynchronously, or use fewer hosts: "
            f"at best {most} are left even with a restart in no time"
        )
    faster, interval = reached
    text = f"write a checkpoint every {format_quantity(interval / 60, 'min')}"
    if faster < restart:
        text += f" and restart within {format_quantity(faster / 60, 'min')}"
    return text
