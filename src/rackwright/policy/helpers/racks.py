"""Subjects, excesses and missing facts of racks and their feeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rackwright.plan.base import Path, Subject
from rackwright.plan.expansion import SitePlan
from rackwright.plan.missing import Missing, each_once, of_product
from rackwright.plan.racks.contributors import (
    Quantity,
    subject,
    unknowns,
)
from rackwright.plan.records.circuits import CircuitAfterLoss, CircuitLoad
from rackwright.plan.records.racks import POWERED, RackClass, RackKind

MOST_FEEDS = 4
"""Feeds that people build to one rack at most; no fix asks for more."""


def circuit(site: SitePlan, racks: RackClass, row: CircuitLoad | CircuitAfterLoss) -> Subject:
    """Return the subject of a circuit at its feed, like ``sjc1 racks c[01-08] feed A``, with its PDU if of several."""
    several = any(feed.feed == row.feed and feed.pdus > 1 for feed in racks.kind.feeds)
    suffix = f"feed {row.feed} PDU {row.pdu + 1}" if several else f"feed {row.feed}"
    return subject(site, racks, suffix, racks.feed_path(row.feed))


def is_over(value: float | None, limit: float | None) -> bool:
    """Return True if a value is known to be over its limit, so that a fix is worth computing."""
    return excess(value, limit) is not None


def excess(value: float | None, limit: float | None) -> float | None:
    """Return by how much a value is over its limit; None if it is not, or if one is unknown."""
    if value is not None and limit is not None and value > limit:
        return value - limit
    return None


def unknown_draw(site: SitePlan, racks: RackClass) -> tuple[str, ...]:
    """Return the missing facts that make the draw of a rack's devices from its feeds unknown."""
    return (*unknowns(site, "power_w", [racks]), *uncounted(racks.kind))


class BelowSources:
    """Facts that products below the sources of a site lack; each class of racks is searched once."""

    def __init__(self, site: SitePlan) -> None:
        self._site = site
        self._found: dict[tuple[Quantity, RackClass], tuple[str, ...]] = {}

    def lacking(self, source: str, quantity: Quantity = "power_w") -> tuple[str, ...]:
        """Return the facts that products below a source lack; of the whole site where none of those lacks any.

        Another source's racks count where that is lost and this one takes over.
        """
        return self._of(self._site.racks_below(source), quantity) or self.anywhere(quantity)

    def anywhere(self, quantity: Quantity = "power_w") -> tuple[str, ...]:
        """Return the facts that products of the whole site lack."""
        return self._of(self._site.racks, quantity)

    def _of(self, classes: Iterable[RackClass], quantity: Quantity) -> tuple[str, ...]:
        lacks = (text for racks in classes for text in self._class(racks, quantity))
        return tuple(sorted(each_once(lacks)))

    def _class(self, racks: RackClass, quantity: Quantity) -> tuple[str, ...]:
        if (quantity, racks) not in self._found:
            self._found[quantity, racks] = unknowns(self._site, quantity, [racks])
        return self._found[quantity, racks]


def uncounted(kind: RackKind) -> Iterator[str]:
    """Yield the missing number of power supplies of products that may hang on any circuit."""
    entries = {
        device.entry
        for device in kind.devices
        if device.kind in POWERED
        and device.psu_count is None
        and device.psus is None
        and device.power_w != 0
    }
    for entry in sorted(entries):
        yield of_product(entry, "power_supplies.count", "number of power supplies")


def without_inlet(kind: RackKind) -> Iterator[Missing]:
    """Yield the inlet of each product of a rack whose power supplies have an unknown one."""
    entries = {d.entry for d in kind.devices if d.psu_count and d.psu_inlet is None}
    for entry in sorted(entries):
        yield of_product(entry, "power_supplies.inlet", "inlet of its power supplies")


def unrated(path: Path) -> Missing:
    """Return the missing rating of the circuit of a feed: in A and V, or by its PDU."""
    return Missing("rating of the circuit", (*path, "circuit"), (*path, "pdu"))


def weight_limit(kind: RackKind, value: float | None) -> float | None:
    """Return the limit on the weight of a rack's content, or of both if it is weighed with the rack, in kg.

    A rack carries at least its payload: a product that is no heavier than that with its rack is
    safe without a gross rating, and a heavier one is unknown.

    Args:
        kind: what the racks are.
        value: the weight that is checked, in kg.
    """
    payload = kind.static_rating_kg
    if not kind.includes_rack:
        return payload
    if kind.gross_rating_kg is not None or payload is None or value is None:
        return kind.gross_rating_kg
    return payload if value <= payload else None


def of_weight_limit(kind: RackKind) -> Missing:
    """Return the field of the rack's product that would state ``weight_limit``."""
    name = "gross rating" if kind.includes_rack else "static rating"
    return of_product(kind.type, name.replace(" ", "_"), name)
