"""Devices of one rack with their positions and needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rackwright.model.hardware import Device as DeviceEntry
from rackwright.model.hardware import HeatMedium, LiquidCooling, Node, fact_value, supply_inlet
from rackwright.plan.base import Path
from rackwright.plan.cooling.thermal import airflow_for
from rackwright.plan.cooling.water import warmest_supply
from rackwright.plan.racks.mechanical import center_of_mass
from rackwright.plan.records.racks import DeviceKind, RackDevice

if TYPE_CHECKING:
    from rackwright.model.fabric import SwitchTier
    from rackwright.model.onprem import NodeGroup


_SIDES, _FACES = ("left", "right"), ("front", "rear")
_HALVES = {"half-width": _SIDES, "half-depth": _FACES}
_Taken = list[tuple[float, float, str]]
"""Lower and upper edge of what is taken, and the share of these units."""


def total(values: Iterable[float | None]) -> float | None:
    """Return the sum, or None as soon as one value is unknown."""
    result = 0.0
    for value in values:
        if value is None:
            return None
        result += value
    return result


def describe_device(
    entry: DeviceEntry,
    group: NodeGroup | SwitchTier,
    path: Path,
    *,
    kind: DeviceKind,
    power_cap: float | None,
    temperature_rise: float | None,
    on_liquid: bool = True,
    in_fluid: bool = False,
) -> RackDevice:
    """Return the device that ``entry`` makes in a rack, not placed yet.

    Without ``on_liquid`` the rack has no coolant, so that all heat is left to the air; ``in_fluid`` it
    is in a tank, whose fluid takes all heat.
    """
    nameplate = fact_value(entry.max_power)
    power_cap = _as_far_as_it_goes(entry, power_cap)
    power = nameplate if power_cap is None or nameplate is None else min(nameplate, power_cap)
    # Published heat is that at full power: a cap lowers it in proportion.
    share = 1.0 if not nameplate or power is None else power / nameplate
    published = fact_value(entry.heat)
    # All power becomes heat; a published figure below the power is not believed.
    heat = power if published is None else max(power or 0.0, published * share)
    if power is None:
        heat = None
    liquid = entry.liquid
    heat_liquid = _liquid_heat(entry, heat, share) if on_liquid else 0.0
    if in_fluid:
        heat_liquid = heat
    heat_air = None if heat is None or heat_liquid is None else max(0.0, heat - heat_liquid)
    airflow = 0.0 if in_fluid else fact_value(entry.airflow)
    # Without a published airflow, the temperature rise of the hall determines it.
    if airflow is None and heat_air is not None:
        if heat_air == 0:
            airflow = 0.0
        elif temperature_rise:
            airflow = airflow_for(heat_air, temperature_rise)
    psus = entry.power_supplies
    direction = getattr(group, "air_direction", None) or entry.airflow_direction
    part = group.unit_share or ""
    return RackDevice(
        kind=kind,
        entry=entry.id,
        group=group.name,
        path=path,
        share="" if part in {*_FACES, "half-depth"} and entry.full_depth else part,
        height_u=fact_value(entry.height),
        power_w=power,
        peak_w=_peak(entry, power_cap),
        heat_w=heat,
        heat_air_w=heat_air,
        heat_liquid_w=heat_liquid,
        airflow_cfm=airflow,
        flow_lpm=fact_value(liquid.flow) if liquid else None,
        pressure_drop_kpa=fact_value(liquid.pressure_drop) if liquid else None,
        weight_kg=fact_value(entry.weight),
        depth_m=fact_value(entry.depth),
        air_direction=str(direction) if direction else None,
        inlet_min_c=fact_value(entry.inlet_min),
        inlet_max_c=fact_value(entry.inlet_max),
        psu_count=psus.count if psus else None,
        psu_rating_w=fact_value(psus.rating) if psus else None,
        psu_efficiency_percent=fact_value(psus.efficiency) if psus else None,
        psu_current_a=fact_value(psus.input_current) if psus else None,
        psu_inlet=supply_inlet(psus),
        full_performance=fact_value(psus.full_performance) if psus else None,
        degraded=fact_value(psus.degraded) if psus else None,
        degraded_power_w=fact_value(psus.degraded_power) if psus else None,
        voltage_min_v=fact_value(entry.voltage_min),
        voltage_max_v=fact_value(entry.voltage_max),
        max_altitude_m=fact_value(entry.max_altitude),
        medium=str(entry.medium),
        water_class=fact_value(liquid.water_class) if liquid else None,
        max_supply_c=_warmest_supply(liquid) if liquid else None,
        connector=_connector(liquid) if liquid else None,
        includes_rack=isinstance(entry, Node) and entry.rack_weight_included,
        whole_rack=isinstance(entry, Node) and entry.whole_rack,
    )


def _connector(liquid: LiquidCooling) -> str | None:
    stated = liquid.connector
    return stated if isinstance(stated, str) else fact_value(stated)


def _warmest_supply(liquid: LiquidCooling) -> float | None:
    return warmest_supply(
        fact_value(liquid.max_supply),
        fact_value(liquid.coolant_class),
        fact_value(liquid.water_class),
    )


def _as_far_as_it_goes(entry: DeviceEntry, power_cap: float | None) -> float | None:
    """Return a cap, but no less than the product draws when its accelerators draw nothing.

    They are what gives way to a cap. Where the catalogue does not say what they draw, the cap
    counts as it stands.
    """
    nameplate = fact_value(entry.max_power)
    accelerators = entry.accelerators if isinstance(entry, Node) else None
    if power_cap is None or nameplate is None or accelerators is None:
        return power_cap
    each = fact_value(accelerators.tdp)
    return power_cap if each is None else max(power_cap, nameplate - accelerators.count * each)


def _peak(entry: DeviceEntry, power_cap: float | None) -> float | None:
    """Return the published peak; a device that draws its nameplate at most peaks there when capped.

    Accelerators are what draws more than the rated power for some milliseconds (EDPp). A device
    without any peaks at the most that its maker rates it for.
    """
    peak = fact_value(entry.peak_power)
    if peak is None and not (isinstance(entry, Node) and entry.accelerators):
        peak = fact_value(entry.max_power)
    return peak if peak is None or power_cap is None else min(peak, power_cap)


def _liquid_heat(entry: DeviceEntry, heat: float | None, share: float) -> float | None:
    if entry.medium is HeatMedium.AIR:
        return 0.0
    if entry.medium in {HeatMedium.LIQUID, HeatMedium.IMMERSION}:
        return heat
    published = fact_value(entry.liquid.heat) if entry.liquid else None
    return None if published is None else published * share


def place_devices(
    nodes: Sequence[tuple[RackDevice, float | None]],
    switches: Sequence[tuple[RackDevice, float | None]],
    fixtures: Sequence[RackDevice],
    rack_height: float,
    exact: Sequence[tuple[RackDevice, float]] = (),
) -> list[RackDevice]:
    """Return the devices with their units; those of ``exact`` have the unit that is stated, or none.

    Fixtures (horizontal PDUs, shelves, a CDU) come first from the bottom, then nodes from the
    bottom with the heaviest lowest, then switches from the top, or as much lower as it takes to
    keep the centre of mass in the lower half of the rack. A start unit is honoured. What does not
    fit is kept with ``fits`` false, for a policy to judge.
    """
    taken: _Taken = []
    placed = [_place(device, None, taken, rack_height, from_top=False) for device in fixtures]
    for device, unit in exact:
        placed.append(_place(device, unit, taken, rack_height, from_top=False, only=True))
    by_weight = sorted(nodes, key=lambda pair: -(pair[0].weight_kg or 0.0))
    for device, start in by_weight:
        placed.append(_place(device, start, taken, rack_height, from_top=False))
    return placed + _switches(switches, placed, taken, rack_height)


def _switches(
    switches: Sequence[tuple[RackDevice, float | None]],
    others: Sequence[RackDevice],
    taken: _Taken,
    rack_height: float,
) -> list[RackDevice]:
    """Return the switches at their start units, the others as near to the top as the centre of mass permits."""
    best: list[RackDevice] = []
    lowered = 0
    while lowered < rack_height:
        free = list(taken)
        placed = [
            _place(device, start, free, rack_height, from_top=False)
            if start is not None
            else _place(device, None, free, rack_height - lowered, from_top=True)
            for device, start in switches
        ]
        if best and not all(device.fits for device in placed):
            break
        best = placed
        height = center_of_mass([*others, *placed])
        if height is None or height <= rack_height / 2:
            break
        lowered += 1
    return best


def _place(
    device: RackDevice,
    start: float | None,
    taken: _Taken,
    rack_height: float,
    *,
    from_top: bool,
    only: bool = False,
) -> RackDevice:
    if device.height_u is None:
        return replace(device, fits=False)
    if device.height_u == 0:
        return device
    # Devices of half units may start at half units; others are screwed to whole ones.
    step = 0.5 if device.height_u % 1 else 1.0
    top = rack_height + 1 - device.height_u
    steps = int((top - 1) / step) + 1 if top >= 1 else 0
    candidates = [1 + index * step for index in range(steps)]
    if from_top:
        candidates = [top - index * step for index in range(steps)]
    for low in candidates:
        if start is not None and (low < start or (only and low != start)):
            continue
        beside = {share for a, b, share in taken if low + device.height_u > a and low < b}
        for share in _HALVES.get(device.share, (device.share,)):
            if not any(_overlap(share, other) for other in beside):
                taken.append((low, low + device.height_u, share))
                return replace(device, unit_low=low, share=share)
    return replace(device, fits=False)


def _overlap(share: str, other: str) -> bool:
    """Return True if two devices in one unit take the same part of it."""
    return not any(share != other and {share, other} <= set(halves) for halves in (_SIDES, _FACES))


def used_units(devices: Iterable[RackDevice]) -> float | None:
    """Return the rack units that devices take, those that two of them share once; None if one is unknown."""
    whole, shared = 0.0, []
    for device in devices:
        if device.height_u is None:
            return None
        if device.share and device.unit_low is not None:
            shared.append((device.unit_low, device.unit_low + device.height_u))
        else:
            whole += device.height_u
    top = 0.0
    for low, high in sorted(shared):
        whole += max(0.0, high - max(low, top))
        top = max(top, high)
    return whole
