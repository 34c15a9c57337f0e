"""What feeds a rack and hangs in it beside its servers and switches: PDUs and power shelves."""

from __future__ import annotations

from collections.abc import Sequence

from rackwright.catalog.loader import Catalogue
from rackwright.model.hardware import Pdu, PowerShelf, fact_value
from rackwright.model.onprem import RackGroup
from rackwright.plan.base import Path
from rackwright.plan.racks.devices import PlacedDevice
from rackwright.plan.records.racks import DeviceKind


def fixtures(
    group: RackGroup,
    pdus: Sequence[Pdu | None],
    catalogue: Catalogue,
    path: Path,
    *,
    shelves_included: bool,
) -> list[PlacedDevice]:
    """The fixtures of a rack that feed it, none of which draws power for itself.

    Args:
        group: the racks.
        pdus: PDU of each feed, None where the circuit ends in the product itself.
        catalogue: the products.
        path: place of the racks in the blueprint.
        shelves_included: whether height and weight of the shelves are those of a product that is a
            whole rack.
    """
    found: list[PlacedDevice] = []
    for feed, pdu in zip(group.feeds, pdus, strict=True):
        if pdu is not None:
            height, weight = fact_value(pdu.height), fact_value(pdu.weight)
            made = passive("pdu", pdu.id, f"feed {feed.name}", path, height, weight)
            found += [made] * feed.pdus
    if group.shelves:
        shelf = catalogue.get(PowerShelf, group.shelves.type)
        height, weight = fact_value(shelf.height), fact_value(shelf.weight)
        if shelves_included:
            height = weight = 0.0
        made = passive("shelf", shelf.id, "shelves", path, height, weight)
        found += [made] * group.shelves.count
    return found


def passive(
    kind: DeviceKind, entry: str, group: str, path: Path, height: float | None, weight: float | None
) -> PlacedDevice:
    """A device that draws no power and makes no heat."""
    return PlacedDevice(
        kind=kind,
        entry=entry,
        group=group,
        path=path,
        height=height,
        weight=weight,
        power=0.0,
        heat=0.0,
        heat_air=0.0,
        heat_liquid=0.0,
        airflow=0.0,
    )
