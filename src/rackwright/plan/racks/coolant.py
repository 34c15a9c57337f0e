"""Coolant of one rack: heat that its rear door takes, and flow of its loops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rackwright.model.cooling import CoolingLoop, RackCooling
from rackwright.model.onprem import Hall, OnPremSite
from rackwright.plan.cooling.hydraulics import drop_at
from rackwright.plan.cooling.rear_door import Door, exhaust, heat_taken
from rackwright.plan.cooling.thermal import coolant_flow, volumetric_heat
from rackwright.plan.racks.devices import total
from rackwright.plan.records.racks import RackDevice


@dataclass(frozen=True, slots=True)
class Coolant:
    """Coolant of one rack; None where unknown, 0 where there is none.

    Attributes:
        door_heat: heat in W that its rear door moves from the air into the door's loop.
        device_flow: L/min that its devices need.
        door_flow: L/min that its rear door needs.
        device_drop: largest pressure drop of one of its devices at that flow, in kPa; a tank has none
            beside that of the loop's piping.
        door_drop: pressure drop of its rear door, in kPa.
    """

    door_heat: float | None
    device_flow: float | None
    door_flow: float | None
    device_drop: float | None
    door_drop: float | None


def coolant_of(
    devices: Iterable[RackDevice],
    heat_air: float | None,
    cooling: RackCooling,
    door: Door | None,
    hall: Hall,
    site: OnPremSite,
) -> Coolant:
    """Return the heat and flow that a rack asks of its loops.

    Args:
        devices: what stands in it.
        heat_air: heat in W that they give to the air.
        cooling: how it is cooled.
        door: its rear door; None without one.
        hall: where it stands.
        site: the site, whose loops it is on.
    """
    loops = {loop.name: loop for loop in site.loops}
    loop, of_door = loops.get(cooling.loop or ""), loops.get(cooling.door_loop or "")
    door_heat: float | None = 0.0
    if door is not None:
        door_heat = heat_taken(
            heat_air,
            door.capacity,
            rated=door.difference,
            air=exhaust(hall.air),
            water=of_door.supply_temperature if of_door else None,
        )
    placed = tuple(devices)
    door_flow = _door_flow(door_heat, door, of_door)
    return Coolant(
        door_heat,
        _device_flow(placed, loop),
        door_flow,
        0.0 if cooling.mode == "immersion" else _device_drop(placed, loop),
        0.0 if door is None or door_heat == 0 else _door_drop(door, door_flow),
    )


def _device_flow(devices: Iterable[RackDevice], loop: CoolingLoop | None) -> float | None:
    """Return the larger of the flow that the makers of the devices ask for and the flow that their heat needs."""
    if loop is None:
        return 0.0
    flows: list[float | None] = []
    for device in devices:
        if device.heat_liquid_w is None:
            return None
        if device.heat_liquid_w:
            needed = _flow(device.heat_liquid_w, loop)
            flows.append(None if needed is None else max(needed, device.flow_lpm or 0.0))
    return total(flows)


def _device_drop(devices: Iterable[RackDevice], loop: CoolingLoop | None) -> float | None:
    """Return the largest of the drops in kPa: devices hang side by side."""
    largest = 0.0
    for device in devices:
        if loop is None or device.heat_liquid_w == 0:
            continue
        needed = None if device.heat_liquid_w is None else _flow(device.heat_liquid_w, loop)
        flow = None if needed is None else max(needed, device.flow_lpm or 0.0)
        drop = drop_at(flow, device.pressure_drop_kpa, device.flow_lpm)
        if drop is None:
            return None
        largest = max(largest, drop)
    return largest


def _door_flow(heat: float | None, door: Door | None, loop: CoolingLoop | None) -> float | None:
    """Return the larger of the flow that the maker of the door asks for and the flow that its heat needs."""
    if door is None or loop is None or heat == 0:
        return 0.0
    needed = None if heat is None else _flow(heat, loop)
    return None if needed is None else max(needed, door.flow or 0.0)


def _door_drop(door: Door, flow: float | None) -> float | None:
    return drop_at(flow, door.rated_drop, door.flow) if door.drop is None else door.drop


def _flow(heat: float, loop: CoolingLoop) -> float | None:
    capacity = volumetric_heat(loop.fluid, loop.heat_capacity)
    return coolant_flow(heat, loop.temperature_rise, capacity)
