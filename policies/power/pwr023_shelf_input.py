"""PWR-023: power shelves get the voltage and phases that they are rated for."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    FieldPath,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    RackClass,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.plan.racks.contributors import subject
from rackwright.plan.racks.feeds.shelves import shelves_of
from rackwright.plan.records.circuits import FeedLoad
from rackwright.plan.records.products import ShelfSet


@rule(
    "PWR-023",
    "Power shelves get the voltage and phases that they are rated for",
    Severity.CRITICAL,
    since="0.4",
    stage="design",
    profile=Profile.LAB,
)
class ShelfInput(Policy):
    """The circuits of racks with power shelves fit the input of the shelves."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield two measures and a finding for each feed of racks with shelves."""
        for site in plan.onprem:
            for rack in site.racks:
                shelves = shelves_of(site, rack)
                for feed, _, path in rack.feeds if shelves else ():
                    if shelves is not None and feed.pdu_entry is None:
                        yield from _feed(site, rack, shelves, feed, path)


def _feed(
    site: SitePlan, rack: RackClass, shelves: ShelfSet, feed: FeedLoad, path: FieldPath
) -> Iterator[Measure | Finding]:
    at = subject(site, rack, f"feed {feed.feed}", path)
    circuit = Missing("'circuit' of the feed", (*path, "circuit"))
    shelf = shelves.shelf
    for sense, limit in (("at_least", shelves.voltage_min_v), ("at_most", shelves.voltage_max_v)):
        yield Measure(
            at,
            value=feed.voltage_v,
            limit=limit,
            unit="V",
            what=f"voltage of the circuit, against the {'lowest' if sense == 'at_least' else 'highest'} "
            f"input of {shelf},",
            sense="at_least" if sense == "at_least" else "at_most",
            fix=f"feed the shelves from a source of {limit:g} V at {sense.replace('_', ' ')}, or choose "
            "other shelves"
            if feed.voltage_v is not None
            else None,
            missing=(circuit,) if feed.voltage_v is None else (),
        )
    yield _phases(at, shelves, feed, circuit)


def _phases(at: Subject, shelves: ShelfSet, feed: FeedLoad, circuit: Missing) -> Finding:
    what = "phases of the circuit"
    if feed.phases is None:
        return Finding(at, ok=None, message=what, what=what, missing=(circuit,))
    message = f"the circuit has {feed.phases} phase(s), and {shelves.shelf} takes {shelves.phases}"
    fix = f"feed the shelves by circuits of {shelves.phases} phase(s)"
    return Finding(at, ok=feed.phases == shelves.phases, message=message, what=what, fix=fix)
