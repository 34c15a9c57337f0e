"""What each loop cools, by product: what one device gives to it, and asks of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rackwright.model.cooling import CoolingLoop
from rackwright.plan.cooling.thermal import coolant_flow, volumetric_heat
from rackwright.plan.records.facility import LoopLoad, LoopProduct
from rackwright.plan.records.racks import RackClass, RackDevice


def loop_products(
    loops: Sequence[CoolingLoop], classes: Iterable[RackClass], devices: Iterable[RackDevice]
) -> Iterator[LoopProduct]:
    """The liquid-cooled products on each loop, in its order; devices that differ apart.

    Args:
        loops: those of the site.
        classes: its racks.
        devices: what stands in one rack of each class.
    """
    racks = {row.rack_class: row for row in classes}
    found: dict[str, dict[tuple[object, ...], tuple[RackDevice, int]]] = {}
    for device in devices:
        row = racks[device.rack_class]
        if device.medium == "air" or row.loop is None:
            continue
        here = found.setdefault(row.loop, {})
        key = (device.entry, device.heat_liquid_w, device.flow_lpm)
        first, count = here.get(key, (device, 0))
        here[key] = (first, count + row.count)
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


def rise_within(row: LoopLoad, products: Iterable[LoopProduct], limit: float) -> float | None:
    """Rise in K at which a loop needs ``limit`` L/min at most; None where no rise does, or unknown.

    The flow of heat falls in proportion as the rise grows, that which makers ask for does not.
    """
    if row.flow_lpm is None or limit <= 0:
        return None
    rise = row.rise_k * row.flow_lpm / limit
    by_rise = row.flow_lpm
    flow = 0.0
    for product in products:
        if product.loop != row.loop or product.flow_lpm is None or product.heat_w is None:
            continue
        by_rise -= product.devices * product.flow_lpm
        needed = coolant_flow(product.heat_w, rise, row.heat_capacity) or 0.0
        flow += product.devices * max(needed, product.asked_lpm or 0.0)
    flow += by_rise * row.rise_k / rise  # of rear doors
    return rise if flow <= limit * (1 + 1e-9) else None
