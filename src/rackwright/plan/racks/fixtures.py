"""Power fixtures of a rack beside its servers and switches: PDUs and power shelves."""

from __future__ import annotations

from collections.abc import Sequence

from rackwright.catalog.loader import Catalogue
from rackwright.model.hardware import Pdu, PowerShelf, fact_value
from rackwright.model.onprem import RackGroup
from rackwright.plan.records.racks import DeviceKind, RackDevice


def fixtures(
    group: RackGroup,
    pdus: Sequence[Pdu | None],
    catalogue: Catalogue,
    *,
    shelves_included: bool,
) -> list[RackDevice]:
    """Return the fixtures of a rack that feed it, none of which draws power for itself.

    Args:
        group: the racks.
        pdus: PDU of each feed, None where the circuit ends in the product itself.
        catalogue: the products.
        shelves_included: whether height and weight of the shelves are those of a product that is a
            whole rack.
    """
    found: list[RackDevice] = []
    for feed, pdu in zip(group.feeds, pdus, strict=True):
        if pdu is not None:
            height, weight = fact_value(pdu.height), fact_value(pdu.weight)
            made = passive("pdu", pdu.id, f"feed {feed.name}", height, weight)
            found += [made] * feed.pdus
    if group.shelves:
        shelf = catalogue.get(PowerShelf, group.shelves.type)
        height, weight = fact_value(shelf.height), fact_value(shelf.weight)
        if shelves_included:
            height = weight = 0.0
        made = passive("shelf", shelf.id, "shelves", height, weight)
        found += [made] * group.shelves.count
    return found


def passive(
    kind: DeviceKind, entry: str, group: str, height: float | None, weight: float | None
) -> RackDevice:
    """Return a device that draws no power and makes no heat."""
    return RackDevice(
        kind=kind,
        entry=entry,
        group=group,
        path=None,
        height_u=height,
        weight_kg=weight,
        power_w=0.0,
        heat_w=0.0,
        heat_air_w=0.0,
        heat_liquid_w=0.0,
        airflow_cfm=0.0,
    )
