"""PWR-012: power shelves are N+1 and bridge the start of generators."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    ProductField,
    RackClass,
    RackKind,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.plan.missing import of_product
from rackwright.plan.racks.contributors import subject, unknowns
from rackwright.plan.racks.feeds.shelves import (
    SHELF_INLETS,
    carried_without,
    shelves_needed,
    shelves_of,
    worst_feed,
)
from rackwright.plan.records.products import ShelfSet
from rackwright.policy.helpers.remediation import provide

MARGIN_S = 10.0
"""Seconds by which the battery must outlast the generator's acceptance of load."""


@rule(
    "PWR-012",
    "Power shelves are N+1 and bridge the start of generators",
    Severity.HIGH,
    since="0.1",
    stage="design",
)
class PowerShelves(Policy):
    """Shelves are N+1, survive the loss of a feed, and bridge the start of the generators."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield measures for each class of racks with shelves."""
        for site in plan.onprem:
            for rack in site.racks:
                shelves = shelves_of(site, rack)
                if shelves is None:
                    if _hangs_on_shelves(rack.kind):
                        yield _undeclared(subject(site, rack))
                    continue
                yield _capacity(site, rack, shelves)
                if shelves.feeds:
                    yield _after_loss(site, rack, shelves)
                if _has_generator(site):
                    yield _backup(site, rack, shelves)


def _hangs_on_shelves(kind: RackKind) -> bool:
    """Return True if a device of the rack draws from a bus bar, or is a rack with shelves of its own."""
    return any(
        row.psu_inlet == "busbar" or (row.psu_inlet in SHELF_INLETS and row.whole_rack)
        for row in kind.devices
    )


def _undeclared(at: Subject) -> Finding:
    return Finding(
        at,
        ok=None,
        message="whether the power shelves carry the rack",
        missing=(Missing("'shelves' of the rack", (*at.path, "shelves")),),
    )


def _after_loss(site: SitePlan, rack: RackClass, shelves: ShelfSet) -> Measure:
    """Return the measure after the loss of the feed with most shelves."""
    on_feeds, rating = shelves.on_feeds, shelves.rating_w
    lost, power = worst_feed(on_feeds), rack.power_w
    needed = None if power is None else shelves_needed(power, rating, len(shelves.feeds))
    left = sum(on_feeds) - on_feeds[lost]
    return Measure(
        subject(site, rack, f"feed {shelves.feeds[lost]}"),
        value=power,
        limit=carried_without(rating, on_feeds, lost),
        unit="W",
        what=f"power on {left} × {shelves.shelf} with feed {shelves.feeds[lost]} lost",
        fix="connect the shelves to two feeds or more"
        if needed is None
        else f"install {needed} shelves of this type, as many on each feed",
        missing=() if power is not None else unknowns(site, "power_w", [rack]),
    )


def _capacity(site: SitePlan, rack: RackClass, shelves: ShelfSet) -> Measure:
    each, power = shelves.rating_n1_w, rack.power_w
    missing = [] if power is not None else [*unknowns(site, "power_w", [rack])]
    if each is None:
        words = "rating with one supply lost"
        missing.append(of_product(shelves.shelf, "rating_n_plus_1", words))
    return Measure(
        subject(site, rack),
        value=power,
        limit=None if each is None else each * shelves.count,
        unit="W",
        what=f"power on {shelves.count} × {shelves.shelf} with one supply of each lost",
        fix=None
        if power is None or not each
        else f"install {-(-power // each):.0f} shelves of this type",
        missing=tuple(missing),
    )


def _has_generator(site: SitePlan) -> bool:
    return any(source.kind == "generator" for source in site.power.settings.sources)


def _backup(site: SitePlan, rack: RackClass, shelves: ShelfSet) -> Measure:
    acceptance = site.power.settings.generator_acceptance
    backup = shelves.backup_s
    needed = None if acceptance is None else acceptance + MARGIN_S
    missing = []
    if backup is None:
        place = (*rack.path, "shelves", "backup")
        words = f"'backup' of the shelves, or of {shelves.shelf}"
        missing.append(Missing(words, place, ProductField(shelves.shelf, "backup")))
    if acceptance is None:
        place = (*site.path, "power", "generator_acceptance")
        missing.append(Missing("'generator_acceptance' of the site", place))
    return Measure(
        subject(site, rack),
        value=backup,
        limit=needed,
        unit="s",
        what="battery backup at full load",
        sense="at_least",
        fix=None if needed is None else provide(needed, "s", "battery backup"),
        missing=tuple(missing),
    )
