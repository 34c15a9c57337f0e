"""What policies about power sources say where a number of theirs is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rackwright.plan.listing import first_of
from rackwright.plan.missing import Missing
from rackwright.plan.model import SitePlan
from rackwright.plan.records.power import SourceLoad
from rackwright.policy.helpers.racks import BelowSources


def missing_of_racks(site: SitePlan, row: SourceLoad, below: BelowSources) -> tuple[str, ...]:
    """What keeps the load of the racks on a source from being known, by its redundancy."""
    racks = row.worst_w if row.redundancy == "N-1" else row.load_w
    if racks is not None:
        return ()
    return site.distribution.missing or below.lacking(row.source)


def missing_of_facility(site: SitePlan, row: SourceLoad, below: BelowSources) -> Iterator[str]:
    """What keeps the machines and losses on a source from being known.

    What the PUE says beyond the entries follows from the power of all racks, not of those below it.
    """
    if row.carries_facility and site.overhead.beyond is None:
        yield from site.overhead.missing or site.distribution.missing or below.anywhere()
    if row.lacks is not None:
        yield row.lacks


def missing_of_charging(site: SitePlan, batteries: Iterable[str]) -> tuple[str, ...]:
    """The UPSs among ``batteries`` that do not say what charging takes."""
    tree = site.distribution
    found = [
        Missing(f"'recharge' of '{name}'", tree.place(name, "recharge"))
        for name in batteries
        if tree.sources[name].recharge is None
    ]
    return first_of(found, "'recharge' of {} more UPSs")


def no_capacity(site: SitePlan, name: str) -> Missing:
    """What is missing of the capacity of a source."""
    tree = site.distribution
    modules = tree.sources[name].modules
    if modules is None or modules.spare is not None:
        return Missing(f"capacity of '{name}'", tree.place(name, "capacity"))
    words = f"'spare' of the modules of '{name}', 0 where every module is needed"
    return Missing(words, tree.place(name, "modules", "spare"))
