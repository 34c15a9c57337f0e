"""How policies name racks and their feeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rackwright.plan.missing import Missing, each_once, of_product
from rackwright.plan.model import Path, SitePlan, Subject
from rackwright.plan.racks.contributors import (
    NAMES,
    Quantity,
    contributors,
    fields_lacking,
    subject,
    unknowns,
)
from rackwright.plan.records.power import CircuitAfterLoss, CircuitLoad
from rackwright.plan.records.racks import POWERED, RackClass

__all__ = [
    "MOST_FEEDS",
    "NAMES",
    "POWERED",
    "BelowSources",
    "RackNames",
    "contributors",
    "excess",
    "fields_lacking",
    "is_over",
    "of_weight_limit",
    "pdus_of",
    "subject",
    "unknown_draw",
    "unknowns",
    "unrated",
    "weight_limit",
]

MOST_FEEDS = 4
"""Feeds that people build to one rack at most; no fix asks for more."""


class RackNames:
    """Subjects for the rack classes of one site."""

    def __init__(self, site: SitePlan) -> None:
        self._site = site
        self._classes = {racks.rack_class: racks for racks in site.rack_classes}
        self._pdus = {(row.rack_class, row.feed): row.pdus for row in site.feeds}

    def row(self, rack_class: int) -> RackClass:
        """The record of a class."""
        return self._classes[rack_class]

    def subject(self, rack_class: int, suffix: str = "", *, path: Path | None = None) -> Subject:
        """The subject of a class, like ``sjc1 racks c[01-08] feed A``."""
        found = subject(self._site, self._classes[rack_class], suffix)
        return found if path is None else Subject(found.name, path)

    def circuit(self, row: CircuitLoad | CircuitAfterLoss) -> Subject:
        """The subject of a circuit, like ``sjc1 racks c[01-08] feed A``, with its PDU if of several."""
        several = self._pdus[row.rack_class, row.feed] > 1
        suffix = f"feed {row.feed} PDU {row.pdu + 1}" if several else f"feed {row.feed}"
        return self.subject(row.rack_class, suffix, path=row.path)


def is_over(value: float | None, limit: float | None) -> bool:
    """Whether a fix is worth computing.

    Returns:
        False as well where one of them is unknown.
    """
    return excess(value, limit) is not None


def excess(value: float | None, limit: float | None) -> float | None:
    """By how much a value is over its limit; None where it is not, or where one is unknown.

    Returns:
        The difference in the unit of both.
    """
    if value is not None and limit is not None and value > limit:
        return value - limit
    return None


def unknown_draw(site: SitePlan, rack_class: int) -> tuple[str, ...]:
    """What keeps the draw of a rack's devices from its feeds from being known.

    Returns:
        What is missing of each product; empty where the draw is known.
    """
    return (*unknowns(site, "power_w", [rack_class]), *uncounted(site, rack_class))


class BelowSources:
    """What products lack that the sources of a site feed; each class of racks is looked at once."""

    def __init__(self, site: SitePlan) -> None:
        self._site = site
        self._found: dict[tuple[Quantity, int], tuple[str, ...]] = {}

    def lacking(self, source: str, quantity: Quantity = "power_w") -> tuple[str, ...]:
        """What products below a source lack; of the whole site where none of those lacks anything.

        Another source's racks count where that is lost and this one takes over.
        """
        site = self._site
        names = site.distribution.below(source)
        below = {number for name in names for number in site.classes_fed_by(name)}
        return self._of(below, quantity) or self.anywhere(quantity)

    def anywhere(self, quantity: Quantity = "power_w") -> tuple[str, ...]:
        """What products of the whole site lack."""
        return self._of(self._site.rack_counts, quantity)

    def _of(self, classes: Iterable[int], quantity: Quantity) -> tuple[str, ...]:
        lacks = (text for number in sorted(classes) for text in self._class(number, quantity))
        return tuple(sorted(each_once(lacks)))

    def _class(self, number: int, quantity: Quantity) -> tuple[str, ...]:
        if (quantity, number) not in self._found:
            self._found[quantity, number] = unknowns(self._site, quantity, [number])
        return self._found[quantity, number]


def uncounted(site: SitePlan, rack_class: int) -> Iterator[str]:
    """What nobody says of products that may hang on any circuit: how many power supplies they have.

    Returns:
        The number of power supplies of each such product of a rack.
    """
    entries = {
        device.entry
        for device in site.devices_of(rack_class)
        if device.kind in POWERED
        and device.psu_count is None
        and device.psus is None
        and device.power_w != 0
    }
    for entry in sorted(entries):
        yield of_product(entry, "power_supplies.count", "number of power supplies")


def unrated(path: Path) -> Missing:
    """The rating of the circuit of a feed at ``path``, which nobody says.

    Returns:
        The fields that would say it: the circuit in A and V, or the PDU.
    """
    return Missing("rating of the circuit", (*path, "circuit"), (*path, "pdu"))


def pdus_of(site: SitePlan) -> Mapping[tuple[int, str], str | None]:
    """The PDUs of each feed, by class of racks and name of the feed.

    Returns:
        Catalogue ids; None for a feed without a PDU.
    """
    return {(row.rack_class, row.feed): row.pdu_entry for row in site.feeds}


def weight_limit(row: RackClass, value: float | None) -> float | None:
    """What the content of a rack may weigh; of content weighed with the rack, what both may weigh.

    A rack carries at least its payload: a product that is no heavier than that with its rack is
    safe without a gross rating, and a heavier one is not judged.

    Args:
        row: the class of racks.
        value: the weight that is judged, in kg.

    Returns:
        kilograms; None where it is not known.
    """
    payload = row.static_rating_kg
    if not row.includes_rack:
        return payload
    if row.gross_rating_kg is not None or payload is None or value is None:
        return row.gross_rating_kg
    return payload if value <= payload else None


def of_weight_limit(row: RackClass) -> Missing:
    """What would make ``weight_limit`` known.

    Returns:
        the field of the rack's product.
    """
    name = "gross rating" if row.includes_rack else "static rating"
    return of_product(row.type, name.replace(" ", "_"), name)
