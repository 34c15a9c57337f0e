"""Prediction of a whole run: failures, checkpoints, days, energy and money."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rackwright.model.reliability import JobProfile
from rackwright.model.workloads import TrainingWorkload
from rackwright.plan.base import Path
from rackwright.plan.missing import Missing
from rackwright.plan.reliability.failures import (
    DAY,
    best_interval,
    daily_rate,
    effective_time,
    failures_a_day,
    groups_of,
    waiting_time,
)
from rackwright.plan.storage.training import CheckpointWriting, checkpoint_writing

if TYPE_CHECKING:
    from rackwright.plan.expansion import Expansion

PROGRESS = 1e-3
"""Smallest effective share of the time; below it a job makes no progress."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """A number that is known within bounds."""

    low: float
    value: float
    high: float

    def scaled(self, factor: float) -> Bounds:
        """Return the range times a factor above 0."""
        return Bounds(self.low * factor, self.value * factor, self.high * factor)

    def limited(self, most: float) -> Bounds:
        """Return the range with no bound above ``most``."""
        return Bounds(min(self.low, most), min(self.value, most), min(self.high, most))

    def inverse(self, of: float) -> Bounds:
        """Return ``of`` divided by the range, which is above 0."""
        return Bounds(of / self.high, of / self.value, of / self.low)


def tokens_a_day(speed: Bounds, effective: float) -> Bounds:
    """Return the tokens of a day.

    Args:
        speed: tokens in a second of all accelerators, without failures.
        effective: share of the time that is spent on steps which are not repeated, from 0 to 1.
    """
    return speed.scaled(DAY * effective)


def energy_per_trillion(watts: float, a_day: Bounds) -> Bounds:
    """Return the kWh of 10¹² tokens, of a power and the tokens of a day."""
    return a_day.inverse(watts / 1000 * 24 * 1e12)


def cost_per_trillion(per_hour: float, a_day: Bounds) -> Bounds:
    """Return the dollars of 10¹² tokens, of dollars an hour and the tokens of a day."""
    return a_day.inverse(per_hour * 24 * 1e12)


@dataclass(frozen=True, slots=True)
class LostTime:
    """Shares of a job's time, from 0 to 1, that go to other than steps.

    Attributes:
        failures: restarts, and steps that are repeated.
        checkpoints: waiting until they are written.
        writing: of one checkpoint.
        repairs: waiting for hosts, where more are down than stand by; None where it is not known.
        interval: time from one checkpoint to the next, in s.
        best_interval: the one that loses least, by Daly (2006); None where nothing fails or stalls.
        gain: effective time with it over that with ``interval``, less 1. A job without progress gains this or more.
        profile: place of its job profile in the blueprint.
        async_gain: the same for checkpoints that are written in the background.
    """

    failures: float
    checkpoints: float
    writing: CheckpointWriting
    repairs: float | None = None
    interval: float = 0.0
    best_interval: float | None = None
    gain: float = 0.0
    profile: Path = ()
    async_gain: float = 0.0

    @property
    def effective(self) -> float:
        """Share of the time that is left for steps, from 0 to 1; 0 below ``PROGRESS``."""
        left = 1 - self.failures - self.checkpoints - (self.repairs or 0.0)
        return left if left >= PROGRESS else 0.0

    def by_cause(self) -> dict[str, float]:
        """Return the shares by their cause in words."""
        return {
            "restarts and repeated steps": self.failures,
            "writing of checkpoints": self.checkpoints,
            **({} if self.repairs is None else {"waiting for repairs": self.repairs}),
        }


def lost_time(
    plan: Expansion,
    workload: TrainingWorkload,
    hosts: int,
    parameters: float,
    copies: float | None = None,
) -> tuple[LostTime | None, tuple[str, ...]]:
    """Return the share of time that failures, repairs and checkpoints take, and what is missing for it.

    Args:
        plan: with the rates, profiles and file systems.
        workload: names its job profile.
        hosts: of the job.
        parameters: of its model.
        copies: B/s from all its accelerators to the memory of their hosts; None if unknown.
    """
    profile = _profile(plan, workload)
    if profile is None or plan.reliability is None:
        return None, ("'job', one of 'reliability.jobs' with its checkpoints",)
    field: Path = ("reliability", "jobs", plan.reliability.jobs.index(profile))
    failures = failures_a_day(replace_hosts(profile, workload, hosts), plan.reliability)
    restart, interval = profile.restart, profile.checkpoint_interval
    writing = checkpoint_writing(plan, workload, profile, hosts, parameters, copies)
    missing: list[str] = []
    if failures is None:
        name = "node_failures_per_1000_days"
        words = f"failures of its hosts ('reliability.{name}')"
        missing.append(Missing(words, ("reliability", name)))
    missing += [
        Missing(f"'{name}' of the job '{profile.name}'", (*field, name))
        for name in ("restart", "checkpoint_interval")
        if getattr(profile, name) is None
    ]
    if isinstance(writing, Missing):
        return None, (*missing, writing)
    if failures is None or restart is None or interval is None:
        return None, tuple(missing)
    effective = effective_share(writing, failures, restart, interval)
    stall = writing.stall(interval)
    saving = stall / (interval + stall)
    repairs = _waiting(plan, workload, hosts)
    best, gain, async_gain = None, 0.0, 0.0
    if failures and (writing.blocking or writing.background):
        best = best_interval(writing.blocking, DAY / failures, writing.background)
        better = effective_share(writing, failures, restart, best)
        gain = better / max(effective, PROGRESS) - 1
    if writing.asynchronous is not None:
        better = effective_share(writing.asynchronous, failures, restart, interval)
        async_gain = better / max(effective, PROGRESS) - 1
    return LostTime(
        failures=1 - saving - effective,
        checkpoints=saving,
        writing=writing,
        repairs=None if repairs is None else repairs * effective,
        interval=interval,
        best_interval=best,
        gain=gain,
        profile=field,
        async_gain=async_gain,
    ), ()


def effective_share(
    writing: CheckpointWriting, failures_a_day: float, restart: float, interval: float
) -> float:
    """Return the share of the time that goes to steps which are not repeated, from 0 to 1.

    Exact for failures without memory: a checkpoint in the background can be used later, so each failure costs ``delay`` as well,
    like a longer restart.
    """
    late = restart + writing.delay(interval)
    return effective_time(failures_a_day, late, interval, writing.stall(interval))


def _waiting(plan: Expansion, workload: TrainingWorkload, hosts: int) -> float | None:
    """Return the share of the time in which a job waits for hosts that are repaired; None without a time of repair.

    Hosts of the group that the job leaves idle stand by where no number of spares is stated.
    """
    if plan.reliability is None:
        return None
    known = plan.reliability.of_group(workload.site, workload.group)
    rate, repair = known.node_failures_per_1000_days, known.repair_time
    if rate is None or repair is None:
        return None
    place = (workload.site, workload.group)
    group = next(group for group in groups_of(plan) if (group.site, group.group) == place)
    spares = known.spares if known.spares is not None else group.hosts - hosts
    return waiting_time((hosts + spares) * daily_rate(rate) * repair / DAY, spares, hosts + spares)


def _profile(plan: Expansion, workload: TrainingWorkload) -> JobProfile | None:
    jobs: Sequence[JobProfile] = plan.reliability.jobs if plan.reliability else ()
    return next((job for job in jobs if job.name == workload.job), None)


def replace_hosts(profile: JobProfile, workload: TrainingWorkload, hosts: int) -> JobProfile:
    """Return the profile of a job on the hosts of the workload."""
    part = profile.parts[0].model_copy(
        update={"site": workload.site, "group": workload.group, "hosts": hosts}
    )
    return profile.model_copy(update={"parts": (part,)})
