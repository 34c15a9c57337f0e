"""Contributors to a number of a rack, a hall or a site, and facts that products lack for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from rackwright.plan.base import Contributor, Path, Subject
from rackwright.plan.cooling.rear_door import ways_of
from rackwright.plan.expansion import SitePlan
from rackwright.plan.missing import Missing, of_product
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
    "peak_w",
    "power_w",
    "weight_kg",
]
"""Fields of a device that are numbers, and may be unknown."""

NAMES: Mapping[str, str] = {
    "airflow": "published airflow",
    "power": "published power",
    "depth": "published depth",
    "liquid.flow": "published coolant flow",
    "liquid.heat": "published heat into the liquid",
    "height": "published height",
    "immersion.fluid_weight": "published weight of its fluid",
    "inlet_max": "published warmest inlet",
    "inlet_min": "published coldest inlet",
    "max_power": "published power",
    "peak_power": "published peak power",
    "weight": "published weight",
}
"""Fields of a catalogue entry in words."""

_FIELDS: Mapping[Quantity, str] = {
    "airflow_cfm": "airflow",
    "depth_m": "depth",
    "flow_lpm": "liquid.flow",
    "heat_w": "max_power",
    "height_u": "height",
    "inlet_max_c": "inlet_max",
    "inlet_min_c": "inlet_min",
    "peak_w": "peak_power",
    "power_w": "max_power",
    "weight_kg": "weight",
}
"""Where a catalogue entry says a quantity; its heat in air and liquid follows from two fields."""

_OF_CDUS: Mapping[Quantity, str] = {
    **dict.fromkeys(("heat_air_w", "heat_w", "peak_w", "power_w"), "power"),
    "airflow_cfm": "airflow",
    "height_u": "height",
    "weight_kg": "weight",
}
"""The same of a CDU in a rack; other quantities are none of its."""

_SIZES: frozenset[Quantity] = frozenset({"height_u", "weight_kg"})


def contributors(
    site: SitePlan, quantity: Quantity, racks: Iterable[RackClass] | None = None, *, per_rack: bool
) -> tuple[Contributor, ...]:
    """Return the devices by product and by their value of ``quantity``, the largest sum first.

    ``racks`` restricts them to some racks. With ``per_rack`` the devices of one rack of each class
    count, not those of all its racks.
    """
    counts: dict[tuple[str, float], int] = {}
    for own in site.racks if racks is None else racks:
        for device in own.kind.devices:
            value = value_of(device, quantity)
            if value:
                key = (device.entry, value)
                counts[key] = counts.get(key, 0) + (1 if per_rack else own.count)
    found = (Contributor(entry, count, each) for (entry, each), count in counts.items())
    return tuple(sorted(found, key=lambda c: (-c.total, c.name)))


def unknowns(
    site: SitePlan, quantity: Quantity, racks: Iterable[RackClass] | None = None
) -> tuple[str, ...]:
    """Return the facts that products lack for a quantity, like ``dgx-h100: published weight``.

    Of a rear door the site may say what its product lacks; manifolds are no products.
    """
    products: set[tuple[str, str]] = set()
    unsaid: set[tuple[str, str, Path]] = set()
    for own in site.racks if racks is None else racks:
        for device in own.kind.devices:
            if getattr(device, quantity) is not None or not _counts(device, quantity):
                continue
            if device.kind in _OF_SITES:
                unsaid.add((_of_site(device), own.hostlist, own.path))
            else:
                entry = own.kind.type if device.kind == "fluid" else device.entry
                products |= {(entry, name) for name in fields_lacking(device, quantity)}
    return (
        *(of_product(entry, name, NAMES[name]) for entry, name in sorted(products)),
        *(_unsaid(site, name, names, where) for name, names, where in sorted(unsaid)),
    )


def _counts(device: RackDevice, quantity: Quantity) -> bool:
    """True if a device has a quantity that its rack is judged by."""
    if quantity in _SIZES or device.kind in {"node", "switch"}:
        return True
    return device.kind == "cdu" and quantity in _OF_CDUS


def _unsaid(site: SitePlan, name: str, racks: str, where: Path) -> Missing:
    """Return the fields of the site that would state doors or manifolds of racks."""
    door = site.rack_group(where).cooling.rear_door if name == _DOOR_WEIGHT else None
    place = (*where, "cooling", *name.split("."))
    return Missing(f"'{name}' of racks {racks}", place, *ways_of(door, "weight"))


_OF_SITES = frozenset({"door", "manifold"})
_DOOR_WEIGHT = "rear_door_weight"


def _of_site(device: RackDevice) -> str:
    """Return the field of a rack's cooling by which what a door or manifold lacks would be known."""
    if device.kind == "door":
        return _DOOR_WEIGHT
    return "manifolds" if device.height_u is None else "manifolds.weight"


def fields_lacking(device: RackDevice, quantity: Quantity) -> tuple[str, ...]:
    """Return the fields of a device's catalogue entry that keep a quantity from being known."""
    if device.kind == "cdu":
        return (_OF_CDUS[quantity],)
    if device.kind == "fluid":
        return ("immersion.fluid_weight",)
    if quantity not in {"heat_air_w", "heat_liquid_w"}:
        return (_FIELDS[quantity],)
    power = ("max_power",) if device.power_w is None else ()
    split = device.medium == "hybrid" and device.heat_liquid_w is None
    return (*power, "liquid.heat") if split else power or ("max_power",)


def value_of(device: RackDevice, quantity: Quantity) -> float | None:
    """Return a quantity of a device in the unit of its field; None when unknown."""
    value: float | None = getattr(device, quantity)
    return value


def subject(
    site: SitePlan, racks: RackClass, suffix: str = "", path: Path | None = None
) -> Subject:
    """Return the subject of a class of racks, like ``sjc1 racks c[01-08] feed A``."""
    noun = "rack" if racks.count == 1 else "racks"
    name = f"{site.spec.name} {noun} {racks.hostlist} {suffix}".rstrip()
    return Subject(name, racks.path if path is None else path)
