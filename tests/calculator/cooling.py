"""Heat, air and coolant of racks, halls and loops.

Air: 1 W warms 1.756 CFM by 1 K (3.16 CFM for each W and °F at sea level). Coolant: heat = density · specific
heat · flow · rise, for water 0.997 kg/L and 4.18 kJ/(kg·K), for propylene glycol of 25 % 1.02 kg/L and
3.95 kJ/(kg·K). Density of air by the International Standard Atmosphere (ISO 2533:1975): 288.15 K at sea
level, 6.5 K colder for each km, ρ/ρ0 = (T/T0)^(g·M/(R·L) − 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from calculator.things import (
    Air,
    Device,
    Door,
    Hall,
    Loop,
    Number,
    RackGroup,
    Site,
    times,
    total,
)

CFM_PER_WATT = 1.756
LEAK = {"hot-aisle": 1.1, "cold-aisle": 1.1, "none": 1.3}
FLUIDS = {"water": (0.997, 4.18), "pg25": (1.02, 3.95)}
"""Density in kg/L and specific heat in kJ/(kg·K)."""
GRAVITY, MOLAR_MASS, GAS_CONSTANT, LAPSE = 9.80665, 0.0289644, 8.31432, 0.0065
"""Of ISO 2533: m/s², kg/mol, J/(K·mol), K/m."""


@dataclass(frozen=True, slots=True)
class Heat:
    """What one device gives off in W: in all, to the air and to the liquid."""

    whole: Number
    air: Number
    liquid: Number


def heat_of(device: Device, cold: bool) -> Heat:
    """Heat of a device: its power or its published heat, the larger; the liquid takes its share first.

    What is published is at the power of its plate, and less in proportion where it is capped. In a rack
    without coolant (not ``cold``) everything is left to the air.
    """
    product, watts = device.product, device.watts
    whole, liquid = None, product.liquid_heat
    if watts is not None and product.power is not None:
        capped = watts / product.power
        whole, liquid = max(watts, (product.heat or 0.0) * capped), times(liquid, capped)
    if product.medium == "air" or not cold:
        return Heat(whole, whole, 0.0)
    if product.medium in {"liquid", "immersion"}:
        return Heat(whole, None if whole is None else 0.0, whole)
    return Heat(whole, None if whole is None or liquid is None else whole - liquid, liquid)


def air_of(device: Device, air: Air | None, cold: bool) -> Number:
    """CFM that a device draws: the published number, or what carries its heat at the hall's rise."""
    if device.product.airflow is not None:
        return device.product.airflow
    if device.product.medium == "immersion":  # it has no fans
        return 0.0
    into_air = heat_of(device, cold).air
    if into_air == 0:
        return 0.0
    if air is None or air.rise is None or into_air is None:
        return None
    return CFM_PER_WATT * into_air / air.rise


def coolant(watts: Number, loop: Loop) -> Number:
    """L/min that carry ``watts`` away at the loop's rise."""
    takes = loop.heat_capacity
    if loop.fluid in FLUIDS:
        density, specific = FLUIDS[loop.fluid]
        takes = density * specific
    return None if takes is None else times(watts, 60 / 1000 / (takes * loop.rise))


def flow_of(device: Device, loop: Loop) -> Number:
    """L/min of a device: what its heat needs, or what its maker asks for, the larger."""
    needed, asked = coolant(heat_of(device, cold=True).liquid, loop), device.product.flow
    return needed if needed is None or asked is None else max(needed, asked)


def caught(door: Door, into_air: Number, air: Air | None, loop: Loop) -> Number:
    """W that a rear door takes: its rating at the difference of air and water, no more than there is.

    The heat that an exchanger moves at given flows is proportional to the difference of its inlets (Kays and
    London, Compact Heat Exchangers); more than its rating is not counted.
    """
    if loop.supply is None or air is None or air.rise is None or into_air is None:
        return None
    difference = air.inlet + air.rise - loop.supply
    share = min(1.0, max(0.0, difference / door.difference))
    return min(into_air, door.capacity * share)


@dataclass(frozen=True, slots=True, kw_only=True)
class RackHeat:
    """Heat of one rack in W, its air in CFM, its coolant in L/min."""

    whole: Number
    air: Number
    liquid: Number
    caught: Number
    airflow: Number
    flow: Number
    """Of devices and door."""
    flows: Mapping[str, Number]
    """The same by loop, and below the W into each loop."""
    into: Mapping[str, Number]


PLATES = ("liquid", "liquid-rear-door", "immersion")
"""Modes in which coolant reaches devices."""


def rack_heat(devices: list[Device], group: RackGroup, hall: Hall, site: Site) -> RackHeat:
    """The sum over a rack, what its door catches taken off the air."""
    cold = group.mode in PLATES
    heats = [heat_of(device, cold) for device in devices]
    into_air = total(heat.air for heat in heats)
    liquid = total(heat.liquid for heat in heats)
    by_name = {loop.name: loop for loop in site.loops}
    taken: Number = 0.0
    flows: dict[str, Number] = {}
    into: dict[str, Number] = {}
    if group.loop is not None and cold:
        loop = by_name[group.loop]
        flows[loop.name] = total(flow_of(d, loop) for d in devices if d.product.medium != "air")
        into[loop.name] = liquid
    if group.door is not None and group.loop is not None:
        loop = by_name[group.door_loop or group.loop]
        taken = caught(group.door, into_air, hall.air, loop)
        flows[loop.name] = total((flows.get(loop.name, 0.0), coolant(taken, loop)))
        into[loop.name] = total((into.get(loop.name, 0.0), taken))
    return RackHeat(
        whole=total(heat.whole for heat in heats),
        air=None if into_air is None or taken is None else into_air - taken,
        liquid=liquid,
        caught=taken,
        airflow=total(air_of(device, hall.air, cold) for device in devices),
        flow=total(flows.values()),
        flows=flows,
        into=into,
    )


def density_ratio(altitude: Number) -> Number:
    """Density of the air at an altitude in m, relative to sea level."""
    if altitude is None:
        return None
    exponent = GRAVITY * MOLAR_MASS / (GAS_CONSTANT * LAPSE) - 1
    return float((1 - LAPSE * altitude / 288.15) ** exponent)


@dataclass(frozen=True, slots=True, kw_only=True)
class HallAir:
    """Air handlers of a hall and what is asked of them, W and CFM at sea level."""

    capacity: Number
    capacity_n1: Number
    supply: Number
    supply_n1: Number
    needed: Number


def hall_air(air: Air, airflow: Number, density: Number) -> HallAir:
    """Capacity with all handlers, and with one lost; air with what leaks past the racks.

    Thin air carries less heat at the same volume: capacity falls with the density.
    """
    return HallAir(
        capacity=times(air.unit.capacity, air.count, density),
        capacity_n1=times(air.unit.capacity, air.count - 1, density),
        supply=times(air.unit.flow, air.count),
        supply_n1=times(air.unit.flow, air.count - 1),
        needed=times(airflow, LEAK[air.containment]),
    )
