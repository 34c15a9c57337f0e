"""Lemons, and the spares that the failure rates of the plan need: pure arithmetic over the ledger."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from rackwright.nodelife.service import Incident
from rackwright.plan.model import Plan
from rackwright.plan.reliability.failures import spares_needed

FALSE_NAMES = 1e-3
"""Chance that a fleet without any lemon has one named: our choice."""
DAY = 86400.0


@dataclass(frozen=True, slots=True, order=True)
class Lemon:
    """A node that fails more often than chance explains.

    Attributes:
        score: −log₁₀ of the chance of so many incidents at the rate of the others.
    """

    score: float
    node: str
    incidents: int
    expected: float


def lemon_score(incidents: int, expected: float) -> float:
    """Return −log₁₀ P(X ≥ incidents) for X of Poisson with mean ``expected``.

    The idea is that of the lemon nodes of arXiv:2410.21680, which fail again and again where the whole fleet does
    not; the paper sets thresholds on seven counts by hand, while one probability needs none.
    """
    if incidents == 0:
        return 0.0
    if expected <= 0:
        return math.inf
    # The tail as a sum from its largest term on, in logarithms: it may be far below what a float holds.
    first = incidents * math.log(expected) - expected - math.lgamma(incidents + 1)
    total, term, k = 1.0, 1.0, incidents
    while term > 1e-17 * total and k < incidents + 10_000:
        k += 1
        term *= expected / k
        total += term
    return max(0.0, -(first + math.log(total)) / math.log(10))


def lemons(
    incidents: Iterable[Incident],
    nodes: Collection[str],
    since: float,
    causes: Collection[str] = (),
) -> list[Lemon]:
    """Return the lemons among the nodes, the worst first.

    A node is one if its score is above 3 + log₁₀ of the number of nodes, so that a fleet without any
    has one named in one of 1,000 looks.

    Args:
        incidents: of the fleet.
        nodes: of the fleet.
        since: begin of the time that counts, in seconds since the epoch.
        causes: causes that do not count, since many nodes share them: those of shared parts.
    """
    counts = Counter(
        one.node for one in incidents if one.began >= since and one.cause not in causes
    )
    total, fleet = sum(counts[node] for node in nodes), len(nodes)
    limit = math.log10(fleet / FALSE_NAMES) if fleet else math.inf
    found = []
    for node in nodes:
        # Mean of the other nodes. Half an incident stands for none (Jeffreys' prior), so that the mean is never 0.
        expected = max(total - counts[node], 0.5) / max(fleet - 1, 1)
        score = lemon_score(counts[node], expected)
        if score > limit:
            found.append(Lemon(score, node, counts[node], expected))
    return sorted(found, key=lambda one: (-one.score, one.node))


@dataclass(frozen=True, slots=True)
class SpareNeed:
    """Spares of a node group.

    Attributes:
        hosts: of the group.
        planned: spares of the blueprint; None if it states none.
        by_plan: spares by the failure rate of the plan; None if it states no rate or no repair time.
        observed: failures of 1,000 hosts in a day, as the ledger has them; None without time to look at.
        by_ledger: spares by that rate; None likewise.
    """

    site: str
    group: str
    hosts: int
    planned: int | None
    by_plan: int | None
    observed: float | None
    by_ledger: int | None


def spare_needs(
    plan: Plan, incidents: Iterable[Incident], begin: float, end: float, quantile: float = 0.99
) -> list[SpareNeed]:
    """Return the spares that each node group needs, so that with ``quantile`` all failed hosts have one.

    The mean number of hosts in repair is hosts × rate × repair time (Little's law); the spares are the quantile of
    Poisson with that mean.

    Args:
        plan: the cluster with its failure rates and repair times.
        incidents: of the ledger.
        begin: time since which the ledger is kept, in seconds since the epoch.
        end: now, likewise.
        quantile: share of the time in which the spares are enough.
    """
    reliability = plan.reliability
    days = (end - begin) / DAY
    began = Counter(one.node for one in incidents if begin <= one.began < end)
    hosts: dict[tuple[str, str], list[str]] = {}
    for host in plan.hosts:
        if host.role == "compute":
            hosts.setdefault((host.site, host.group), []).append(host.name)
    made = []
    for (site, group), names in hosts.items():
        said = None if reliability is None else reliability.of_group(site, group)
        rate = None if said is None else said.node_failures_per_1000_days
        repair = None if said is None else said.repair_time
        observed = (
            1000 * sum(began[name] for name in names) / (len(names) * days) if days >= 1 else None
        )
        made.append(
            SpareNeed(
                site=site,
                group=group,
                hosts=len(names),
                planned=said.spares if said else None,
                by_plan=_spares(len(names), rate, repair, quantile),
                observed=observed,
                by_ledger=_spares(len(names), observed, repair, quantile),
            )
        )
    return made


def _spares(hosts: int, rate: float | None, repair_s: float | None, quantile: float) -> int | None:
    if rate is None or repair_s is None:
        return None
    mean = hosts * rate / 1000 * repair_s / DAY
    return spares_needed(mean, quantile) if mean > 0 else 0
