"""Work that spans sites, the lines between them, and the rest when one is lost.

Bandwidths are in Gbps, round-trip times in seconds; None is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from rackwright.model.cluster import Blueprint
from rackwright.model.reliability import WanNeed
from rackwright.plan.base import Path
from rackwright.plan.expansion import Expansion
from rackwright.plan.missing import Missing
from rackwright.plan.problems import PlanProblem
from rackwright.plan.reliability.failures import groups_of
from rackwright.reading.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class SiteLink:
    """All interconnects between two sites.

    Attributes:
        bandwidth: the sum of all.
        round_trip_time: of the slowest, because traffic may take any.
        missing: what would have to be known.
    """

    names: tuple[str, ...]
    bandwidth: float | None
    round_trip_time: float | None
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpanningWork:
    """Something that runs on two sites at once.

    Attributes:
        name: in words, like ``job pretrain``.
        path: its place in the blueprint.
        sites: the two sites, in the order of the blueprint.
        need: what it needs of the line; None for a partition, which may hold any job.
    """

    name: str
    path: Path
    sites: tuple[str, str]
    need: WanNeed | None


def line_between(plan: Expansion, one: str, other: str) -> SiteLink | None:
    """Return the line between two sites, None where there is none; a detour over a third is no line."""
    interconnects = plan.blueprint.interconnects
    found = [line for line in interconnects if set(line.sites) == {one, other}]
    if not found:
        return None
    missing = tuple(
        Missing(f"'{name}' of the interconnect '{line.name}'", ("interconnects", index, name))
        for index, line in enumerate(interconnects)
        if line in found
        for name in ("bandwidth", "round_trip_time")
        if getattr(line, name) is None
    )
    widths = [line.bandwidth for line in found]
    times = [line.round_trip_time for line in found]
    return SiteLink(
        tuple(line.name for line in found),
        None if None in widths else math.fsum(width for width in widths if width is not None),
        None if None in times else max(time for time in times if time is not None),
        missing,
    )


def spans(plan: Expansion) -> Iterator[SpanningWork]:
    """Yield every job and every partition, once for each two of its sites."""
    blueprint = plan.blueprint
    jobs = blueprint.reliability.jobs if blueprint.reliability else ()
    for index, job in enumerate(jobs):
        need = job.between_sites or WanNeed()
        for pair in _pairs(blueprint, (part.site for part in job.parts)):
            yield SpanningWork(f"job {job.name}", ("reliability", "jobs", index), pair, need)
    scheduler = blueprint.scheduler
    if scheduler is None or blueprint.federation is not None:
        return  # no job of a federation spans clusters
    covered = [s for s in blueprint.sites if not scheduler.sites or s.name in scheduler.sites]
    for index, partition in enumerate(scheduler.partitions):
        sites = (
            site.name
            for site in covered
            if any(group.name in partition.groups for group in site.node_groups)
        )
        for pair in _pairs(blueprint, sites):
            path = ("scheduler", "partitions", index)
            yield SpanningWork(f"partition {partition.name}", path, pair, None)


def _pairs(blueprint: Blueprint, sites: Iterable[str]) -> Iterator[tuple[str, str]]:
    named = set(sites)
    yield from combinations([s.name for s in blueprint.sites if s.name in named], 2)


def compute_hosts(plan: Expansion) -> dict[str, int]:
    """Compute hosts of each site, also of one that has none."""
    found = dict.fromkeys(plan.site_names, 0)
    for group in groups_of(plan):
        if group.compute:
            found[group.site] += group.hosts
    return found


def hosts_to_add(hosts: int, lost: int, share: float) -> int | None:
    """Return the hosts to add elsewhere so that ``share`` of all are left without ``lost`` of ``hosts``.

    None where no number is enough.
    """
    if share >= 1:
        return None
    return max(0, math.ceil((share * hosts - (hosts - lost)) / (1 - share) - 1e-9))


def check_interconnects(blueprint: Blueprint) -> list[PlanProblem]:
    """Return the interconnects that lead nowhere or have one name."""
    sites = [site.name for site in blueprint.sites]
    names = [line.name for line in blueprint.interconnects]
    problems = []
    for index, line in enumerate(blueprint.interconnects):
        where: Path = ("interconnects", index)
        if line.name in names[:index]:
            message = f"the interconnect '{line.name}' is named twice"
            problems.append(PlanProblem((*where, "name"), message))
        for end, site in enumerate(line.sites):
            if site not in sites:
                hint = did_you_mean(site, sites)
                message = f"there is no site '{site}'"
                problems.append(PlanProblem((*where, "sites", end), message, hint))
    return problems
