"""Power shelves of a bus bar rack: on which feed each hangs, and what those on living feeds carry.

Shelves of one bus bar share its current equally (OCP Open Rack v3, current sharing), so a feed
carries as much of the rack as it has shelves, and the loss of a feed takes all of its shelves.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from rackwright.model.hardware import PowerShelf, fact_value
from rackwright.model.power import RackShelves
from rackwright.plan.expansion import SitePlan
from rackwright.plan.power.electrical import spread
from rackwright.plan.records.products import ShelfSet
from rackwright.plan.records.racks import RackClass

SHELF_INLETS = frozenset({"hardwired", "busbar"})
"""Inlets of devices whose power comes from the shelves of their rack."""


OPEN_RACK_INPUT = (346.0, 480.0)
"""Input of ORv3 and MGX power shelves in V, line to line: six supplies of 200 to 277 V to neutral, in a
star of three phases. An entry that states another input has its own."""
OPEN_RACK_PHASES = 3
"""Phases of that input."""


def shelves_of(site: SitePlan, racks: RackClass) -> ShelfSet | None:
    """Return the power shelves of each rack of a class; None where the blueprint declares none."""
    group = site.rack_group(racks.path)
    if group.shelves is None:
        return None
    shelf = site.catalogue.get(PowerShelf, group.shelves.type)
    feeds = tuple(feed.name for feed in group.feeds)
    stated = (group.shelves.backup, fact_value(shelf.backup))
    return ShelfSet(
        shelf=shelf.id,
        count=group.shelves.count,
        rating_w=shelf.rating.value,
        rating_n1_w=fact_value(shelf.rating_n_plus_1),
        backup_s=min((seconds for seconds in stated if seconds is not None), default=None),
        feeds=feeds,
        on_feeds=shelves_on_feeds(group.shelves, feeds),
        phases=OPEN_RACK_PHASES if shelf.phases is None else shelf.phases,
        voltage_min_v=_or(fact_value(shelf.voltage_min), OPEN_RACK_INPUT[0]),
        voltage_max_v=_or(fact_value(shelf.voltage_max), OPEN_RACK_INPUT[1]),
    )


def _or(stated: float | None, standard: float) -> float:
    return standard if stated is None else stated


def shelves_on_feeds(shelves: RackShelves, feeds: Sequence[str]) -> tuple[int, ...]:
    """Return the number of shelves on each of ``feeds``: as stated, or dealt in turn."""
    if shelves.per_feed is not None:
        return tuple(shelves.per_feed.get(feed, 0) for feed in feeds)
    return spread(shelves.count, len(feeds)) if feeds else ()


def worst_feed(on_feeds: Sequence[int]) -> int:
    """Return the first of the feeds that take most shelves along, by its number."""
    return max(range(len(on_feeds)), key=lambda feed: on_feeds[feed])


def carried_without(rating: float, on_feeds: Sequence[int], lost: int) -> float:
    """Return W that the shelves carry when the feed ``lost`` is dead, each at its ``rating`` in W.

    All supplies of the others are taken to live: a feed and a supply are two losses.
    """
    return carried_after(rating, on_feeds, {lost})


def carried_after(rating: float, on_feeds: Sequence[int], lost: AbstractSet[int]) -> float:
    """Return W that the shelves carry when all feeds of ``lost`` are dead, each at its ``rating`` in W."""
    return rating * sum(shelves for feed, shelves in enumerate(on_feeds) if feed not in lost)


def shelves_needed(power: float, rating: float, feeds: int) -> int | None:
    """Return the fewest shelves, as many on each of ``feeds``, that carry ``power`` without one of the feeds.

    None where nothing is left after the loss of a feed.
    """
    if feeds < 2:
        return None
    each = -(-power // (rating * (feeds - 1)))
    return int(each) * feeds
