"""How policies name racks and their feeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rackwright.plan.contributors import Quantity, subject, unknowns
from rackwright.plan.missing import Missing, of_product
from rackwright.plan.model import Path, SitePlan, Subject
from rackwright.plan.records.power import FeedLoad
from rackwright.plan.records.racks import RackClass


class RackNames:
    """Subjects for the rack classes of one site."""

    def __init__(self, site: SitePlan) -> None:
        self._site = site
        self._classes = {racks.rack_class: racks for racks in site.rack_classes}

    def row(self, rack_class: int) -> RackClass:
        """The record of a class."""
        return self._classes[rack_class]

    def subject(self, rack_class: int, suffix: str = "", *, path: Path | None = None) -> Subject:
        """The subject of a class, like ``sjc1 racks c[01-08] feed A``."""
        found = subject(self._site, self._classes[rack_class], suffix)
        return found if path is None else Subject(found.name, path)


def is_over(value: float | None, limit: float | None) -> bool:
    """Whether a fix is worth computing."""
    return excess(value, limit) is not None


def excess(value: float | None, limit: float | None) -> float | None:
    """By how much a value is over its limit; None where it is not, or where one is unknown."""
    if value is not None and limit is not None and value > limit:
        return value - limit
    return None


def unknown_draw(site: SitePlan, rack_class: int) -> tuple[str, ...]:
    """What keeps the draw of a rack's devices from its feeds from being known."""
    return (*unknowns(site, "power_w", [rack_class]), *_uncounted(site, [rack_class]))


def unknown_below(site: SitePlan, source: str, quantity: Quantity) -> tuple[str, ...]:
    """What products that a source feeds lack; of the whole site where none of those lacks it.

    Another source's racks count where that is lost and this one takes over.
    """
    tree = site.distribution
    below = {row.rack_class for row in site.feeds if source in tree.ancestors(row.source)}
    found = (*unknowns(site, quantity, below), *_uncounted(site, below))
    return found or (*unknowns(site, quantity), *_uncounted(site, site.rack_counts))


def _uncounted(site: SitePlan, classes: Iterable[int]) -> Iterator[str]:
    """The products of which nobody says how many power supplies they have."""
    entries = {
        device.entry
        for number in classes
        for device in site.devices_of(number)
        if device.kind in {"node", "switch"} and device.psus is None
    }
    for entry in sorted(entries):
        yield of_product(entry, "power_supplies.count", "number of power supplies")


def unrated(path: Path) -> Missing:
    """The rating of the circuit of a feed at ``path``, which nobody says."""
    return Missing("rating of the circuit", (*path, "circuit"), (*path, "pdu"))


def feed_of(site: SitePlan, rack_class: int, name: str) -> FeedLoad:
    """The feed of a class of racks that has a name."""
    return next(row for row in site.feeds if (row.rack_class, row.feed) == (rack_class, name))
