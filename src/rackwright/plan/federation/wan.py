"""Data sets that jobs need at other sites, and the time to copy them over the links.

Sizes are in GiB, bandwidths in Gbps, times in s. None means unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from rackwright.model.federation import Dataset
from rackwright.plan.base import Path
from rackwright.plan.expansion import Expansion
from rackwright.plan.missing import Missing
from rackwright.plan.reliability.interconnect import SiteLink, line_between

_BITS_OF_A_GIB = 8 * 2**30
"""Bits of one GiB."""


@dataclass(frozen=True, slots=True)
class Copy:
    """Copy of a data set to a site whose jobs need it.

    Attributes:
        data: name of the data set.
        site: site without the data set.
        source: site with the fastest link to it; None without a link.
        seconds: time of the copy at the full bandwidth of the link, in s; None if unknown.
        path: place in the blueprint of the data set or burst that needs the copy.
        missing: facts without which the time is unknown.
    """

    data: str
    site: str
    source: str | None
    seconds: float | None
    path: Path
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FederatedLine:
    """Link between two sites of a federation; ``link`` is None if the blueprint has none."""

    sites: tuple[str, str]
    link: SiteLink | None


def copy_seconds(size: float, bandwidth: float) -> float:
    """Return the minimum time to copy ``size`` GiB over ``bandwidth`` Gbps, in s."""
    return size * _BITS_OF_A_GIB / (bandwidth * 1e9)


def copies(plan: Expansion) -> Iterator[Copy]:
    """Yield the data sets that federated jobs or bursts need at sites without them."""
    blueprint = plan.blueprint
    by_name = {data.name: (index, data) for index, data in enumerate(blueprint.datasets)}
    clouds = {site.spec.name for site in plan.aws}
    asked: list[tuple[str, str, Path]] = []
    if blueprint.federation is not None:
        asked += [
            (name, member.site, ("datasets", index))
            for member in blueprint.federation.sites
            for name, (index, _) in by_name.items()
        ]
    for index, burst in enumerate(blueprint.burst):
        site = burst.to.partition("/")[0]
        asked += [(name, site, ("burst", index)) for name in burst.datasets if name in by_name]
    for name, site, path in asked:
        index, data = by_name[name]
        if site in data.at or (data.mirror is not None and site in clouds):
            continue
        yield _copy(plan, data, ("datasets", index), site, path)


def _copy(plan: Expansion, data: Dataset, place: Path, site: str, path: Path) -> Copy:
    links = {source: line_between(plan, source, site) for source in data.at}
    known = {source: link for source, link in links.items() if link is not None}
    if not known:
        return Copy(data.name, site, None, None, path, (_no_line(data.at[0], site),))
    missing = () if data.size is not None else (
        Missing(f"'size' of the data set '{data.name}'", (*place, "size")),
    )  # fmt: skip
    rates = {source: link.bandwidth for source, link in known.items() if link.bandwidth}
    if not rates:
        first = next(iter(known.values()))
        return Copy(data.name, site, next(iter(known)), None, path, (*missing, *first.missing))
    source = max(rates, key=lambda one: rates[one] or 0.0)
    if data.size is None:
        return Copy(data.name, site, source, None, path, missing)
    return Copy(data.name, site, source, copy_seconds(data.size, rates[source] or 0.0), path)


def lines(plan: Expansion) -> Iterator[FederatedLine]:
    """Yield the link between every two sites of the federation."""
    federation = plan.blueprint.federation
    if federation is None:
        return
    for one, other in combinations([member.site for member in federation.sites], 2):
        yield FederatedLine((one, other), line_between(plan, one, other))


def _no_line(one: str, other: str) -> Missing:
    return Missing(f"interconnect between '{one}' and '{other}'", ("interconnects",))


def missing_of(line: FederatedLine) -> tuple[str, ...]:
    """Return the missing facts of a link."""
    return (_no_line(*line.sites),) if line.link is None else line.link.missing
