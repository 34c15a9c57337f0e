"""How policies name racks and their feeds."""

from __future__ import annotations

from rackwright.plan.contributors import Quantity, subject, value_of
from rackwright.plan.model import Path, SitePlan, Subject
from rackwright.plan.records.racks import RackClass

MOST_FEEDS = 4
"""Feeds that people build to one rack at most; no fix asks for more."""


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


def uncounted_supplies(site: SitePlan, rack_class: int) -> tuple[str, ...]:
    """Which products of a rack may hang on any of its circuits, for nobody says how many supplies."""
    lacking = {
        device.entry
        for device in site.devices_of(rack_class)
        if device.kind in {"node", "switch"}
        and device.psu_count is None
        and device.psus is None
        and device.power_w != 0
    }
    return tuple(f"{entry}: number of power supplies" for entry in sorted(lacking))


def unknown_devices(
    site: SitePlan, rack_class: int, quantity: Quantity, noun: str
) -> tuple[str, ...]:
    """Which products of a rack lack a number, like ``dgx-b300: published heat``."""
    devices = site.devices_of(rack_class)
    lacking = {device.entry for device in devices if value_of(device, quantity) is None}
    return tuple(f"{entry}: {noun}" for entry in sorted(lacking))
