"""What policies about power sources say where a number of theirs is unknown."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.plan.model import SitePlan
from rackwright.plan.records.power import SourceLoad


def missing_of_racks(site: SitePlan, row: SourceLoad) -> tuple[str, ...]:
    """What keeps the load of the racks on a source from being known, by its redundancy."""
    racks = row.worst_w if row.redundancy == "N-1" else row.load_w
    if racks is not None:
        return ()
    return site.distribution.missing or ("maximum power of a product that it feeds",)


def missing_of_facility(site: SitePlan, row: SourceLoad) -> Iterator[str]:
    """What keeps the machines and losses on a source from being known."""
    if row.carries_facility:
        yield from site.overhead.missing
    if row.lacks is not None:
        yield row.lacks


def no_capacity(site: SitePlan, name: str) -> str:
    """What is missing of the capacity of a source."""
    if site.distribution.sources[name].modules is None:
        return f"capacity of '{name}'"
    return f"'spare' of the modules of '{name}', 0 where every module is needed"
