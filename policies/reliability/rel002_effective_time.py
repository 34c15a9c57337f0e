"""REL-002: large jobs lose little time to failures and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.model.quantities import format_quantity
from rackwright.model.reliability import JobProfile, Reliability
from rackwright.plan.missing import fields_of
from rackwright.plan.reliability.failures import DAY, best_interval, failures_a_day, reach
from rackwright.plan.storage.training import CheckpointWriting
from rackwright.plan.workload.run import effective_share


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
            yield _judge(at, job, failures_a_day(job, reliability), _writing(plan, job, at))
        if not reliability.jobs and any(group.compute for group in plan.groups):
            yield Finding(
                Subject(plan.name, ("reliability",) if plan.reliability else ()),
                ok=None,
                message="how much time the largest job loses to failures and checkpoints",
                missing=(Missing("'jobs' in 'reliability'", ("reliability", "jobs")),),
            )


def _writing(
    plan: Plan, job: JobProfile, at: Subject
) -> tuple[CheckpointWriting | None, tuple[str, ...]]:
    """Return the slowest writing of a checkpoint among the workloads of a job, and what is missing for it."""
    stall = job.checkpoint_stall
    if stall is not None and not job.async_save:
        return CheckpointWriting(stall), ()
    found = [one for one in plan.predictions if one.workload.job == job.name]
    known = [one.lost.writing for one in found if one.lost is not None]
    if found and len(known) == len(found):
        return max(known, key=lambda writing: writing.blocking + writing.background), ()
    if stall is not None:
        words = "a workload of the job, for the size of its checkpoints"
        return CheckpointWriting(stall, missing=(Missing(words, ("workloads",)),)), ()
    field = (*at.path, "checkpoint_stall")
    facts = [text for one in found for text in one.missing if field in fields_of(text)]
    if not facts and (not found or any(one.step is None for one in found)):
        facts = [Missing("'checkpoint_stall' of the job", field)]
    return None, tuple(facts)


def _judge(
    at: Subject,
    job: JobProfile,
    rate: float | None,
    checkpoints: tuple[CheckpointWriting | None, tuple[str, ...]],
) -> Measure:
    writing, facts = checkpoints
    missing: list[str] = [
        Missing(f"'{name}' of the job", (*at.path, name))
        for name in ("restart", "checkpoint_interval", "target")
        if getattr(job, name) is None
    ]
    missing += facts
    if rate is None:
        name = "node_failures_per_1000_days"
        missing.append(Missing(f"'{name}' in 'reliability'", ("reliability", name)))
    value, fix = None, None
    restart, interval = job.restart, job.checkpoint_interval
    if rate is not None and restart is not None and interval is not None and writing is not None:
        value = 100 * effective_share(writing, rate, restart, interval)
        if job.target is not None and value < job.target:
            fix = f"{_fix(job.target / 100, rate, restart, writing)} ({rate:,.3g} failures a day)"
        elif writing.missing:
            value, missing = None, [*missing, *writing.missing]
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


def _fix(target: float, rate: float, restart: float, writing: CheckpointWriting) -> str:
    """Return the best interval if that does it, else how fast a restart would have to be as well."""
    reached = reach(target, rate, restart, writing.blocking, writing.background)
    if reached is None:
        best = best_interval(writing.blocking, DAY / rate, writing.background)
        most = format_quantity(100 * effective_share(writing, rate, 0, best), "%")
        faster = "faster" if writing.background else "asynchronously"
        return (
            f"write checkpoints {faster}, or use fewer hosts: "
            f"at best {most} are left even with a restart in no time"
        )
    shorter, interval = reached
    text = f"write a checkpoint every {format_quantity(interval / 60, 'min')}"
    if shorter < restart:
        text += f" and restart within {format_quantity(shorter / 60, 'min')}"
    return text
