"""PWR-012: shelves carry the rack without one supply, or one feed; batteries outlast the start."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Node,
    Path,
    Plan,
    Policy,
    PowerShelf,
    ProductField,
    RackGroup,
    RackShelves,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.policy.helpers.catalogue import fact_value
from rackwright.policy.helpers.missing import of_product
from rackwright.policy.helpers.power import (
    SHELF_INLETS,
    carried_without,
    shelves_needed,
    shelves_on_feeds,
    worst_feed,
)
from rackwright.policy.helpers.racks import RackNames, unknowns
from rackwright.policy.helpers.remediation import provide

MARGIN_S = 10.0
"""Seconds by which the battery must outlast the generator's acceptance of load."""


@rule(
    "PWR-012", "Power shelves are N+1 and bridge the generators' start", Severity.HIGH, since="0.1"
)
class PowerShelves(Policy):
    """Shelves are N+1, survive the loss of a feed, and bridge the start of the generators."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Measures for each class of racks with shelves."""
        for site in plan.onprem:
            names = RackNames(site)
            for row in site.rack_classes:
                group = _group(plan, row.path)
                if group.shelves is None:
                    if _hangs_on_shelves(plan, site, row.rack_class):
                        yield _undeclared(names.subject(row.rack_class))
                    continue
                yield _capacity(plan, site, names, row.rack_class, group)
                if group.feeds:
                    yield _after_loss(plan, site, names, row.rack_class, group)
                if _has_generator(site):
                    yield _backup(plan, site, names, row.rack_class, group.shelves)


def _group(plan: Plan, path: Path) -> RackGroup:
    found: object = plan.blueprint
    for part in path:
        found = getattr(found, part) if isinstance(part, str) else found[part]  # type: ignore[index]
    assert isinstance(found, RackGroup)  # noqa: S101 - the plan made the path
    return found


def _hangs_on_shelves(plan: Plan, site: SitePlan, number: int) -> bool:
    """Whether a device of the rack draws from a bus bar, or is a rack with shelves of its own."""
    return any(
        row.psu_inlet == "busbar"
        or (row.psu_inlet in SHELF_INLETS and _is_rack(plan, row.kind, row.entry))
        for row in site.devices_of(number)
    )


def _is_rack(plan: Plan, kind: str, entry: str) -> bool:
    return kind == "node" and plan.catalogue.get(Node, entry).whole_rack


def _undeclared(at: Subject) -> Finding:
    return Finding(
        at,
        ok=None,
        message="whether the power shelves carry the rack",
        missing=(Missing("'shelves' of the rack", (*at.path, "shelves")),),
    )


def _after_loss(
    plan: Plan, site: SitePlan, names: RackNames, number: int, group: RackGroup
) -> Measure:
    """What is left when the feed with most shelves is dead."""
    shelves = group.shelves
    assert shelves is not None  # noqa: S101 - the caller looked
    entry = plan.catalogue.get(PowerShelf, shelves.type)
    on_feeds = shelves_on_feeds(shelves, [feed.name for feed in group.feeds])
    lost = worst_feed(on_feeds)
    rating, power = entry.rating.value, names.row(number).power_w
    needed = None if power is None else shelves_needed(power, rating, len(group.feeds))
    left = sum(on_feeds) - on_feeds[lost]
    return Measure(
        names.subject(number, f"feed {group.feeds[lost].name}"),
        value=power,
        limit=carried_without(rating, on_feeds, lost),
        unit="W",
        what=f"power on {left} × {entry.id} with feed {group.feeds[lost].name} lost",
        fix="hang the shelves on two feeds or more"
        if needed is None
        else f"install {needed} shelves of this type, as many on each feed",
        missing=() if power is not None else unknowns(site, "power_w", [number]),
    )


def _capacity(
    plan: Plan, site: SitePlan, names: RackNames, number: int, group: RackGroup
) -> Measure:
    shelves = group.shelves
    assert shelves is not None  # noqa: S101 - the caller looked
    entry = plan.catalogue.get(PowerShelf, shelves.type)
    each = fact_value(entry.rating_n_plus_1)
    power = names.row(number).power_w
    missing = [] if power is not None else [*unknowns(site, "power_w", [number])]
    if each is None:
        words = "rating with one supply lost"
        missing.append(of_product(entry.id, "rating_n_plus_1", words))
    return Measure(
        names.subject(number),
        value=power,
        limit=None if each is None else each * shelves.count,
        unit="W",
        what=f"power on {shelves.count} × {entry.id} with one supply of each lost",
        fix=None
        if power is None or not each
        else f"install {-(-power // each):.0f} shelves of this type",
        missing=tuple(missing),
    )


def _has_generator(site: SitePlan) -> bool:
    return any(source.kind == "generator" for source in site.site.power.sources)


def _backup(
    plan: Plan, site: SitePlan, names: RackNames, number: int, shelves: RackShelves
) -> Measure:
    """The battery as the blueprint states it, but not beyond what the catalogue does."""
    acceptance = site.site.power.generator_acceptance
    stated = (shelves.backup, fact_value(plan.catalogue.get(PowerShelf, shelves.type).backup))
    backup = min((seconds for seconds in stated if seconds is not None), default=None)
    needed = None if acceptance is None else acceptance + MARGIN_S
    missing = []
    if backup is None:
        place = (*names.row(number).path, "shelves", "backup")
        words = f"'backup' of the shelves, or of {shelves.type}"
        missing.append(Missing(words, place, ProductField(shelves.type, "backup")))
    if acceptance is None:
        place = (*site.path, "power", "generator_acceptance")
        missing.append(Missing("'generator_acceptance' of the site", place))
    return Measure(
        names.subject(number),
        value=backup,
        limit=needed,
        unit="s",
        what="battery backup at full load",
        sense="at_least",
        fix=None if needed is None else provide(needed, "s", "battery backup"),
        missing=tuple(missing),
    )
