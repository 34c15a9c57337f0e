"""Prediction of a whole run: failures, checkpoints, days, energy and money."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rackwright.model.reliability import JobProfile
from rackwright.model.workloads import TrainingWorkload
from rackwright.plan.base import Path
from rackwright.plan.reliability.failures import (
    DAY,
    daily_rate,
    daly_interval,
    effective_time,
    failures_a_day,
    groups_of,
    waiting_time,
)
from rackwright.plan.storage.training import (
    CheckpointWriting,
    checkpoint_writing,
    missing_stall,
)

if TYPE_CHECKING:
    from rackwright.plan.expansion import Expansion

PROGRESS = 1e-3
"""Least share of the time that goes to steps of a job that is said to advance."""


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
        repairs: waiting for hosts, where more are down than stand by; None where it is not known.
        interval: time from one checkpoint to the next, in s.
        best_interval: the one that loses least, by Daly (2006); None where nothing fails or stalls.
        gain: effective time with it over that with ``interval``, less 1.
        profile: place of its job profile in the blueprint.
        writing: of one checkpoint.
        async_gain: effective time with checkpoints that are written in the background over that without, less 1.
    """

    failures: float
    checkpoints: float
    repairs: float | None = None
    interval: float = 0.0
    best_interval: float | None = None
    gain: float = 0.0
    profile: Path = ()
    writing: CheckpointWriting | None = None
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
    asked = replace_hosts(profile, workload, hosts)
    failures = failures_a_day(asked, plan.reliability)
    interval = profile.checkpoint_interval or DAY
    writing = checkpoint_writing(plan, workload, profile, parameters, copies)
    stall = None if writing is None else writing.stall(interval)
    wanted = {
        "failures of its hosts ('reliability.node_failures_per_1000_days')": failures,
        f"'restart' of the job '{profile.name}'": profile.restart,
        f"'checkpoint_interval' of the job '{profile.name}'": profile.checkpoint_interval,
        missing_stall(workload, profile, copies): stall,
    }
    missing = tuple(name for name, value in wanted.items() if value is None)
    if missing:
        return None, missing
    kept = effective_time(failures or 0.0, profile.restart or 0.0, interval, stall or 0.0)
    saving = (stall or 0.0) / (interval + (stall or 0.0))
    repairs = _waiting(plan, workload, hosts)
    waited = None if repairs is None else repairs * kept
    best = None
    if writing is not None and writing.blocking and failures:
        best = max(daly_interval(writing.blocking, DAY / failures), writing.background)
    gain = 0.0
    if best is not None and writing is not None and kept >= PROGRESS:
        better = effective_time(failures or 0.0, profile.restart or 0.0, best, writing.stall(best))
        gain = better / kept - 1
    behind, async_gain = writing and writing.asynchronous, 0.0
    if behind is not None and kept >= PROGRESS:
        shorter = behind.stall(interval)
        freed = effective_time(failures or 0.0, profile.restart or 0.0, interval, shorter)
        async_gain = freed / kept - 1
    index = plan.reliability.jobs.index(profile)
    return LostTime(
        failures=1 - saving - kept,
        checkpoints=saving,
        repairs=waited,
        interval=interval,
        best_interval=best,
        gain=gain,
        profile=("reliability", "jobs", index),
        writing=writing,
        async_gain=async_gain,
    ), ()


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
    group = next(
        one for one in groups_of(plan) if (one.site, one.group) == (workload.site, workload.group)
    )
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
