"""Failure rates and their cost: pure arithmetic and its subjects.

Times are in seconds, failure rates in failures of one host in a day: 0.0065 for a rate of 6.5
per 1,000 host-days, as in arXiv:2410.21680. The rates were measured with large jobs; small ones
fail more often than they predict (7.9 h instead of 28.8 h for 1,024 GPUs in the same paper).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from rackwright.catalog.loader import Catalogue, UnknownEntryError
from rackwright.harmless import counted
from rackwright.model.aws_instances import AwsNodeGroup
from rackwright.model.cluster import Blueprint
from rackwright.model.onprem import NodeGroup
from rackwright.model.reliability import JobProfile, Reliability
from rackwright.plan.base import Path
from rackwright.plan.expansion import Expansion
from rackwright.plan.hosts import host_count
from rackwright.plan.problems import PlanProblem
from rackwright.reading.suggest import did_you_mean

DAY = 86_400.0
"""Seconds."""
MOST_ATTEMPTS = 700.0
"""Failures in an interval above which no interval is ever finished; the exponential of more is no number."""
LARGEST_MEAN = 1e9
"""Most failures at once for which spares are counted, far above any real cluster."""


def daily_rate(per_1000_days: float) -> float:
    """Return the failures of one host in a day, of a rate in failures of 1,000 hosts."""
    return per_1000_days / 1000


def young_interval(stall: float, mttf: float) -> float:
    """Return the best interval between checkpoints by Young (1974): √(2·w·M)."""
    return math.sqrt(2 * stall * mttf)


def daly_interval(stall: float, mttf: float) -> float:
    """Return the best interval between checkpoints by Daly (2006), M itself where w is 2·M or more."""
    if stall >= 2 * mttf:
        return mttf
    root = math.sqrt(stall / (2 * mttf))
    return young_interval(stall, mttf) * (1 + root / 3 + root * root / 9) - stall


def best_interval(stall: float, mttf: float, background: float = 0.0) -> float:
    """Return the interval between checkpoints that loses least, in s, where storage writes each in the ``background``.

    That of Daly, and no shorter than the writing, for which the job would wait; M where the writing takes longer than M.
    """
    return max(daly_interval(stall, mttf), min(background, mttf))


def effective_time(failures_a_day: float, restart: float, interval: float, stall: float) -> float:
    """Return the expected effective training time ratio, from 0 to 1, by the complete model of Daly (2006).

    Δt·e^(−u/M) / (M·(e^((Δt + w)/M) − 1)) with a time M between failures, which strike at any moment, in checkpoints and
    restarts as well. It is exact for failures without memory, however frequent. Its first order is that of
    arXiv:2410.21680, (1 − (u + Δt/2)/M) / (1 + w/Δt), which needs Δt, w and u to be short beside M.
    """
    rate = failures_a_day / DAY
    attempts = rate * (interval + stall)
    if not rate:
        return interval / (interval + stall)
    if attempts > MOST_ATTEMPTS:
        return 0.0
    return interval * rate * math.exp(-rate * restart) / math.expm1(attempts)


def longest_restart(failures_a_day: float, target: float, interval: float, stall: float) -> float:
    """Return the seconds that a restart may take for a ratio of ``target``; negative where none will do."""
    least = effective_time(failures_a_day, 0.0, interval, stall)
    if not target or not least:
        return math.inf if least else -math.inf
    return DAY / failures_a_day * math.log(least / target)


def reach(
    target: float, failures_a_day: float, restart: float, stall: float, background: float = 0.0
) -> tuple[float, float] | None:
    """Return a restart and an interval in seconds with which the ratio is ``target`` or more.

    The restart stays as it is where a better interval is enough. None where no restart is fast
    enough: then the checkpoints or the hosts are too many. A checkpoint that storage writes in the ``background`` can be
    used that much later.
    """
    mttf = DAY / failures_a_day
    if not stall and not background:
        # With x for Δt/M, steps that are repeated leave x / (e^x − 1), which is 1 − x/2 or more.
        left = math.exp(-restart / mttf)
        if target < left:
            return restart, 2 * mttf * (1 - target / left)
        return -mttf * math.log(target) / 2, 2 * mttf * (1 - math.sqrt(target))
    best = best_interval(stall, mttf, background)
    late = min(background, best)
    longest = longest_restart(failures_a_day, target, best, stall + background - late) - late
    return (min(restart, longest), best) if longest > 0 else None


def spares_needed(mean: float, quantile: float) -> int | None:
    """Return the hosts that are down at once with a probability of ``quantile`` at most: a Poisson quantile.

    The smallest k with P(X ≤ k) ≥ quantile, where ``mean`` hosts are down on average. None where
    the mean is beyond belief.
    """
    if mean > LARGEST_MEAN:
        return None
    first, weights = _down_at_once(mean)
    wanted = quantile * math.fsum(weights)
    seen = 0.0
    for k, weight in enumerate(weights, start=first):
        seen += weight
        if seen >= wanted:
            return k
    return first + len(weights) - 1


def waiting_time(mean: float, spares: int, hosts: float = math.inf) -> float:
    """Return the share of the time in which more hosts than ``spares`` are down, from 0 to 1.

    Each host is repaired by itself, and one that is down does not fail, so the hosts that are down are binomial whatever the
    repairs look like (a finite source, Engset), and Poisson of any number of hosts (M/G/∞).

    Args:
        mean: failures in the time of a repair, of all hosts in service.
        spares: hosts that stand by.
        hosts: all of them, spares included.
    """
    if mean > LARGEST_MEAN:
        return 1.0
    first, weights = _down_at_once(mean, hosts)
    return math.fsum(weights[max(0, spares + 1 - first) :]) / math.fsum(weights)


def _down_at_once(mean: float, hosts: float = math.inf) -> tuple[int, list[float]]:
    """Return a number of hosts, and how likely it and those above it are down at once, relative to the likeliest.

    The weights go over ten standard deviations to either side, so that nothing underflows; what lies outside is below 1e-21.
    """
    reach = math.ceil(10 * math.sqrt(mean)) + 30
    mode = math.floor(mean * (1 + 1 / hosts) / (1 + mean / hosts))
    first = max(0, mode - reach)
    below, above = [1.0], [1.0]
    for k in range(mode, first, -1):
        below.append(below[-1] * k / (mean * (1 - (k - 1) / hosts)))
    for k in range(mode + 1, mode + reach + 1):
        above.append(above[-1] * mean * max(0.0, 1 - (k - 1) / hosts) / k)
    return first, below[:0:-1] + above


@dataclass(frozen=True, slots=True)
class GroupHosts:
    """A node group of either provider.

    Attributes:
        hosts: operating systems in it.
        compute: jobs run on it.
        onprem: it stands on bare metal, so that its owner has to keep spares.
    """

    site: str
    group: str
    path: Path
    hosts: int
    compute: bool
    onprem: bool


def groups_of(plan: Expansion) -> Iterator[GroupHosts]:
    """Yield every node group of the plan."""
    for site in plan.onprem:
        for group in site.groups:
            yield GroupHosts(
                site=site.name,
                group=group.name,
                path=group.path,
                hosts=group.hosts,
                compute=group.spec.role == "compute",
                onprem=True,
            )
    for aws in plan.aws:
        for index, launched in enumerate(aws.spec.node_groups):
            yield GroupHosts(
                site=aws.spec.name,
                group=launched.name,
                path=(*aws.path, "node_groups", index),
                hosts=launched.most,
                compute=True,
                onprem=False,
            )


def failures_a_day(job: JobProfile, reliability: Reliability) -> float | None:
    """Return the failures in a day of all hosts of a job, None where a rate is unknown."""
    total = 0.0
    for part in job.parts:
        rate = reliability.of_group(part.site, part.group).node_failures_per_1000_days
        if rate is None:
            return None
        total += part.hosts * daily_rate(rate)
    return total


def check_reliability(blueprint: Blueprint, catalogue: Catalogue) -> list[PlanProblem]:
    """Return the references of the reliability section that lead nowhere, and jobs larger than their groups."""
    reliability = blueprint.reliability
    if reliability is None:
        return []
    sites = [site.name for site in blueprint.sites]
    hosts = {
        (site.name, group.name): hosts_of(group, catalogue)
        for site in blueprint.sites
        for group in site.node_groups
    }
    problems = []
    named: list[tuple[Path, str, str]] = [
        (("reliability", "groups", index), group.site, group.group)
        for index, group in enumerate(reliability.groups)
    ]
    for number, job in enumerate(reliability.jobs):
        for index, part in enumerate(job.parts):
            where: Path = ("reliability", "jobs", number, "parts", index)
            named.append((where, part.site, part.group))
            most = hosts.get((part.site, part.group))
            if most is not None and part.hosts > most:
                message = (
                    f"'{part.group}' has {counted(most, 'host')}; the job takes {part.hosts:,}"
                )
                hint = f"take at most {most:,}" if most else None
                problems.append(PlanProblem((*where, "hosts"), message, hint))
    for where, site, group in named:
        if site not in sites:
            hint = did_you_mean(site, sites)
            problems.append(PlanProblem((*where, "site"), f"there is no site '{site}'", hint))
        elif (site, group) not in hosts:
            known = [name for place, name in hosts if place == site]
            message = f"there is no node group '{group}' in '{site}'"
            problems.append(PlanProblem((*where, "group"), message, did_you_mean(group, known)))
    return problems


def hosts_of(group: NodeGroup | AwsNodeGroup, catalogue: Catalogue) -> int | None:
    """Return the hosts of a group; None where its product is not in the catalogue."""
    if isinstance(group, AwsNodeGroup):
        return group.most
    try:
        return host_count(group, catalogue)
    except UnknownEntryError:
        return None


def count_controllers(plan: Expansion) -> int:
    """Return the hosts that run the scheduler's controller: those it names, else all head nodes."""
    if plan.scheduler is not None:
        return len(plan.scheduler.controllers)
    heads = sum(
        group.hosts for site in plan.onprem for group in site.groups if group.spec.role == "head"
    )
    return heads + sum(aws.spec.head.count for aws in plan.aws)
