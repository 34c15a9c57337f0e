"""Devices on each loop, by product: heat of one device, and what it asks of the loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rackwright.model.cooling import CoolingLoop
from rackwright.plan.cooling.thermal import coolant_flow, volumetric_heat
from rackwright.plan.records.facility import LoopLoad, LoopProduct
from rackwright.plan.records.racks import RackClass, RackDevice


def loop_products(
    loops: Sequence[CoolingLoop], classes: Iterable[RackClass]
) -> Iterator[LoopProduct]:
    """Yield the liquid-cooled products on each loop, in its order; devices that differ apart.

    Args:
        loops: those of the site.
        classes: its racks.
    """
    found: dict[str, dict[tuple[object, ...], tuple[RackDevice, int]]] = {}
    for racks in classes:
        if racks.kind.loop is None:
            continue
        here = found.setdefault(racks.kind.loop, {})
        for device in racks.kind.devices:
            if device.medium != "air":
                key = (device.entry, device.heat_liquid_w, device.flow_lpm)
                first, count = here.get(key, (device, 0))
                here[key] = (first, count + racks.count)
    for loop in loops:
        yield from _of(loop, found.get(loop.name, {}))


def _of(
    loop: CoolingLoop, found: Mapping[tuple[object, ...], tuple[RackDevice, int]]
) -> Iterator[LoopProduct]:
    capacity = volumetric_heat(loop.fluid, loop.heat_capacity)
    for device, count in found.values():
        heat = device.heat_liquid_w
        needed = None if heat is None else coolant_flow(heat, loop.temperature_rise, capacity)
        asked = device.flow_lpm if heat else None  # what gives no heat needs no flow
        yield LoopProduct(
            loop=loop.name,
            entry=device.entry,
            devices=count,
            heat_w=heat,
            asked_lpm=device.flow_lpm,
            flow_lpm=None if needed is None else max(needed, asked or 0.0),
            max_supply_c=device.max_supply_c,
            water_class=device.water_class,
        )


@dataclass(frozen=True, slots=True)
class LoopDoor:
    """Equal rear doors on a loop.

    Attributes:
        entry: catalogue id of the product; ``rear door`` where the blueprint names none.
        doors: how many.
        heat_w: heat that one takes from the air, in W.
        asked_lpm: water that its maker asks for, in L/min.
        flow_lpm: water that one needs, in L/min.
    """

    entry: str
    doors: int
    heat_w: float
    asked_lpm: float | None
    flow_lpm: float | None


def doors_on(loop: str, classes: Iterable[RackClass]) -> Iterator[LoopDoor]:
    """Yield the rear doors on a loop that take heat, of each class of racks.

    Args:
        loop: its name.
        classes: the racks of the site.
    """
    for racks in classes:
        heat = racks.kind.air_into_loop_w
        if racks.kind.door_loop != loop or not heat:
            continue
        for device in racks.kind.devices:
            if device.kind == "door":
                flow = racks.kind.door_flow_lpm
                yield LoopDoor(device.entry, racks.count, heat, device.flow_lpm, flow)


def rise_within(
    row: LoopLoad, products: Iterable[LoopProduct], doors: Iterable[LoopDoor], limit: float
) -> float | None:
    """Return the rise in K at which a loop needs ``limit`` L/min at most; None where no rise does, or unknown.

    The flow of heat falls in proportion as the rise grows, that which makers ask for does not.

    Args:
        row: the loop.
        products: what the loops of its site cool.
        doors: the rear doors on it.
        limit: in L/min.
    """
    if row.flow_lpm is None or limit <= 0:
        return None
    rise = row.rise_k * row.flow_lpm / limit
    on = [
        *((one.devices, one.heat_w, one.asked_lpm) for one in products if one.loop == row.loop),
        *((door.doors, door.heat_w, door.asked_lpm) for door in doors),
    ]
    flow = 0.0
    for count, heat, asked in on:
        if heat:
            needed = coolant_flow(heat, rise, row.heat_capacity) or 0.0
            flow += count * max(needed, asked or 0.0)
    return rise if flow <= limit * (1 + 1e-9) else None
