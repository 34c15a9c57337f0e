"""What adds up to a number of a rack, a hall or a site, and what of it nobody has published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from rackwright.plan.base import Contributor, Subject
from rackwright.plan.expansion import SitePlan
from rackwright.plan.records.racks import RackClass, RackDevice

Quantity = Literal[
    "airflow_cfm",
    "depth_m",
    "flow_lpm",
    "heat_air_w",
    "heat_liquid_w",
    "heat_w",
    "height_u",
    "inlet_max_c",
    "inlet_min_c",
    "nameplate_w",
    "peak_w",
    "power_w",
    "weight_kg",
]
"""Fields of a device that are numbers, and may be unknown."""

NAMES: Mapping[Quantity, str] = {
    "airflow_cfm": "published airflow",
    "depth_m": "published depth",
    "flow_lpm": "published coolant flow",
    "heat_air_w": "published heat into the air",
    "heat_liquid_w": "published heat into the liquid",
    "heat_w": "published heat",
    "height_u": "published height",
    "inlet_max_c": "published warmest inlet",
    "inlet_min_c": "published coldest inlet",
    "nameplate_w": "published power",
    "peak_w": "published peak power",
    "power_w": "published power",
    "weight_kg": "published weight",
}
"""Quantities of devices in words."""


def contributors(
    site: SitePlan, quantity: Quantity, classes: Iterable[int] | None = None, *, per_rack: bool
) -> tuple[Contributor, ...]:
    """Devices by product and by their value of ``quantity``, the largest sum first.

    ``classes`` restricts them to some rack classes. With ``per_rack`` the devices of one rack of
    each class count, not those of all its racks.
    """
    counts: dict[tuple[str, float], int] = {}
    for device, racks in _devices(site, classes):
        value = value_of(device, quantity)
        if value:
            key = (device.entry, value)
            counts[key] = counts.get(key, 0) + (1 if per_rack else racks)
    found = (Contributor(entry, count, each) for (entry, each), count in counts.items())
    return tuple(sorted(found, key=lambda c: (-c.total, c.name)))


def unknowns(
    site: SitePlan, quantity: Quantity, classes: Iterable[int] | None = None
) -> tuple[str, ...]:
    """Which products lack a quantity, like ``dgx-h100: published weight``; a door is the site's own."""
    lacking = [d for d, _ in _devices(site, classes) if value_of(d, quantity) is None]
    products = sorted({device.entry for device in lacking if device.kind != "door"})
    numbers = {device.rack_class for device in lacking if device.kind == "door"}
    doors = sorted(racks.hostlist for racks in site.rack_classes if racks.rack_class in numbers)
    return (
        *(f"{entry}: {NAMES[quantity]}" for entry in products),
        *(f"'rear_door_weight' of racks {names}" for names in doors),
    )


def value_of(device: RackDevice, quantity: Quantity) -> float | None:
    """A quantity of a device in the unit of its field; None when unknown."""
    value: float | None = getattr(device, quantity)
    return value


def subject(site: SitePlan, racks: RackClass, suffix: str = "") -> Subject:
    """The subject of a class of racks, like ``sjc1 racks c[01-08]``."""
    noun = "rack" if racks.count == 1 else "racks"
    name = f"{site.site.name} {noun} {racks.hostlist} {suffix}".rstrip()
    return Subject(name, racks.path)


def _devices(site: SitePlan, classes: Iterable[int] | None) -> Iterator[tuple[RackDevice, int]]:
    """Devices, each with the number of racks of its class."""
    racks = site.rack_counts
    for number in racks if classes is None else sorted(set(classes)):
        for device in site.devices_of(number):
            yield device, racks[number]
