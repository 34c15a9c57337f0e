"""Rows, halls, loops and the site as a whole: sums over racks, and what is left after a loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from rackwright.catalog.loader import Catalogue
from rackwright.model.cooling import AirSupply
from rackwright.model.hardware import fact_value
from rackwright.model.onprem import OnPremSite
from rackwright.model.plant import AirHandler, Cdu
from rackwright.plan.base import Path
from rackwright.plan.cooling.hydraulics import drop_at, head_at
from rackwright.plan.cooling.thermal import (
    CFM_PER_WATT_KELVIN,
    LEAKAGE,
    at_density,
    density_ratio,
    volumetric_heat,
    without_largest,
)
from rackwright.plan.power.overhead import Overhead
from rackwright.plan.records.facility import HallLoad, LoopLoad, RowLoad, SiteTotals
from rackwright.plan.records.racks import RackClass

K = TypeVar("K", bound=Hashable)


class Counts(NamedTuple):
    """Number of devices of a site, by product.

    Attributes:
        accelerators: number of accelerators.
        nodes: number of servers and rack-scale systems.
        hosts: number of operating systems.
    """

    accelerators: int
    nodes: int
    hosts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:
    """Sums over racks, and the largest drop of pressure; None as soon as one rack's value is."""

    power_w: float | None
    heat_air_w: float | None
    heat_liquid_w: float | None
    airflow_cfm: float | None
    device_flow_lpm: float | None
    door_flow_lpm: float | None
    device_drop_kpa: float | None
    door_drop_kpa: float | None
    weight_kg: float | None
    air_into_loop_w: float | None
    densest_air_w: float | None


def _sums(classes: Iterable[RackClass], key: Callable[[RackClass], K]) -> Mapping[K, _Sums]:
    """Return the sums over racks by ``key``."""
    grouped: dict[K, list[RackClass]] = {}
    for racks in classes:
        grouped.setdefault(key(racks), []).append(racks)
    return {name: _add(racks) for name, racks in grouped.items()}


def _add(classes: Sequence[RackClass]) -> _Sums:
    known = [racks.kind.heat_air_w for racks in classes if racks.kind.heat_air_w is not None]
    return _Sums(
        power_w=_sum((racks.kind.power_w, racks.count) for racks in classes),
        heat_air_w=_sum((racks.kind.heat_air_w, racks.count) for racks in classes),
        heat_liquid_w=_sum((racks.kind.heat_liquid_w, racks.count) for racks in classes),
        airflow_cfm=_sum((racks.kind.airflow_cfm, racks.count) for racks in classes),
        device_flow_lpm=_sum((racks.kind.device_flow_lpm, racks.count) for racks in classes),
        door_flow_lpm=_sum((racks.kind.door_flow_lpm, racks.count) for racks in classes),
        device_drop_kpa=_largest([racks.kind.device_drop_kpa for racks in classes]),
        door_drop_kpa=_largest([racks.kind.door_drop_kpa for racks in classes]),
        weight_kg=_sum((racks.kind.weight_kg, racks.count) for racks in classes),
        air_into_loop_w=_sum((racks.kind.air_into_loop_w, racks.count) for racks in classes),
        densest_air_w=max(known, default=None if classes else 0.0),
    )


def _sum(values: Iterable[tuple[float | None, int]]) -> float | None:
    products = []
    for value, count in values:
        if not count:  # nothing of what is not known is nothing
            continue
        if value is None:
            return None
        products.append(value * count)
    return math.fsum(products)


def _largest(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known, default=0.0) if len(known) == len(values) else None


_NOTHING = _add(())


def row_rows(site: OnPremSite, path: Path, classes: Sequence[RackClass]) -> tuple[RowLoad, ...]:
    """Return the rows of the halls."""
    sums = _sums(classes, lambda racks: (racks.hall, racks.row))
    found = []
    for h, hall in enumerate(site.halls):
        for r, row in enumerate(hall.rows):
            here = sums.get((hall.name, row.name), _NOTHING)
            found.append(
                RowLoad(
                    hall=hall.name,
                    row=row.name,
                    path=(*path, "halls", h, "rows", r),
                    power_w=here.power_w,
                    heat_air_w=here.heat_air_w,
                    heat_liquid_w=here.heat_liquid_w,
                    weight_kg=here.weight_kg,
                    power_limit_w=row.power_limit,
                )
            )
    return tuple(found)


def hall_rows(
    site: OnPremSite, path: Path, classes: Sequence[RackClass], catalogue: Catalogue
) -> tuple[HallLoad, ...]:
    """Return the halls: heat and airflow against the air handlers less one.

    The capacity of the air handlers is that at the site's altitude, and unknown without it.
    """
    sums = _sums(classes, lambda racks: racks.hall)
    density = None if site.altitude is None else density_ratio(site.altitude)
    found = []
    for h, hall in enumerate(site.halls):
        here, floor = sums.get(hall.name, _NOTHING), hall.floor
        row = HallLoad(
            hall=hall.name,
            path=(*path, "halls", h),
            power_w=here.power_w,
            heat_air_w=here.heat_air_w,
            heat_liquid_w=here.heat_liquid_w,
            airflow_cfm=here.airflow_cfm,
            weight_kg=here.weight_kg,
            densest_air_w=here.densest_air_w,
            power_limit_w=hall.power_limit,
            clear_height_m=hall.clear_height,
            density_ratio=density,
            floor_uniform_kgm2=None if floor is None else floor.uniform,
            floor_concentrated_kg=None if floor is None else floor.concentrated,
            floor_rolling_kg=None if floor is None else floor.rolling,
        )
        if hall.air is not None:
            unit = catalogue.get(AirHandler, hall.air.type)
            each = at_density(unit.capacity.value, density)
            flow = fact_value(unit.airflow)
            count = hall.air.count
            airflow = here.airflow_cfm
            row = replace(
                row,
                handler=unit.id,
                handlers=count,
                containment=hall.air.containment,
                ashrae_class=hall.air.ashrae_class,
                inlet_c=hall.air.inlet_temperature,
                exhaust_c=_exhaust(hall.air, here.heat_air_w, airflow),
                air_capacity_w=None if each is None else each * count,
                air_capacity_n1_w=None if each is None else without_largest(each, count),
                air_supply_cfm=None if flow is None else flow * count,
                air_supply_n1_cfm=None if flow is None else without_largest(flow, count),
                supply_cfm=None if airflow is None else airflow * LEAKAGE[hall.air.containment],
            )
            row = _returned(row, unit, hall.air, site)
        found.append(row)
    return tuple(found)


def _exhaust(air: AirSupply, heat: float | None, airflow: float | None) -> float | None:
    """Return the warmest that the air behind the racks is planned or computed to be, in °C."""
    rises = [air.temperature_rise] if air.temperature_rise is not None else []
    if heat is not None and airflow:
        rises.append(CFM_PER_WATT_KELVIN * heat / airflow)
    return air.inlet_temperature + max(rises) if rises else None


def _returned(row: HallLoad, unit: AirHandler, air: AirSupply, site: OnPremSite) -> HallLoad:
    """Return the record with the temperature of the returning air and the capacity at it.

    A coil takes heat in proportion to the difference between the air and the water that reach it, or
    the air that it supplies where its water is unknown.
    """
    rated, capacity = fact_value(unit.return_temperature), row.air_capacity_n1_w
    if not row.supply_cfm or row.heat_air_w is None:
        return replace(row, rated_return_c=rated)
    returned = air.inlet_temperature + CFM_PER_WATT_KELVIN * row.heat_air_w / row.supply_cfm
    if rated is None or capacity is None:
        return replace(row, rated_return_c=rated, return_c=returned)
    circuits = {water.name: water.supply_temperature for water in site.facility_water}
    coldest = circuits.get(air.water or "")
    coldest = air.inlet_temperature if coldest is None else min(coldest, air.inlet_temperature)
    share = 1.0 if rated <= coldest else min(1.0, (returned - coldest) / (rated - coldest))
    return replace(row, rated_return_c=rated, return_c=returned, returned_n1_w=capacity * share)


def loop_rows(
    site: OnPremSite, path: Path, classes: Sequence[RackClass], catalogue: Catalogue
) -> tuple[LoopLoad, ...]:
    """Return the loops: heat and flow against the CDUs less one; of one rack where CDUs stand in racks."""
    sums = _sums(classes, lambda racks: racks.kind.loop)
    doors = _sums(classes, lambda racks: racks.kind.door_loop)
    found = []
    for index, loop in enumerate(site.loops):
        here, behind = sums.get(loop.name, _NOTHING), doors.get(loop.name, _NOTHING)
        cdu = catalogue.get(Cdu, loop.cdu)
        flow = fact_value(cdu.flow)
        heat = _sum(((here.heat_liquid_w, 1), (behind.air_into_loop_w, 1)))
        needed = _sum(((here.device_flow_lpm, 1), (behind.door_flow_lpm, 1)))
        if loop.in_rack:
            heat, needed = _hottest_rack(loop.name, classes)
        found.append(
            LoopLoad(
                loop=loop.name,
                path=(*path, "loops", index),
                cdu=cdu.id,
                cdu_rejects_to=cdu.rejects_to,
                water=loop.water,
                cdus=loop.count,
                in_rack=loop.in_rack,
                fluid=loop.fluid,
                heat_capacity=volumetric_heat(loop.fluid, loop.heat_capacity),
                rise_k=loop.temperature_rise,
                heat_w=heat,
                flow_lpm=needed,
                capacity_w=cdu.capacity.value * loop.count,
                capacity_n1_w=without_largest(cdu.capacity.value, loop.count),
                cdu_flow_lpm=None if flow is None else flow * loop.count,
                cdu_flow_n1_lpm=None if flow is None else without_largest(flow, loop.count),
                cdu_head_kpa=fact_value(cdu.head),
                cdu_shutoff_head_kpa=fact_value(cdu.shutoff_head),
                pump_lost_lpm=_sum(((flow, loop.count - 1), (fact_value(cdu.flow_pump_lost), 1)))
                if loop.in_rack
                else None,
                approach_k=loop.approach,
                catalogue_approach_k=fact_value(cdu.approach),
                supply_c=loop.supply_temperature,
                facility_c=loop.facility_temperature,
                facility_class=loop.facility_class,
                dew_point_c=loop.dew_point,
                pressure_kpa=loop.pressure,
                flow_limit_lpm=loop.flow_limit,
                stated_drop_kpa=loop.pressure_drop,
                piping_drop_kpa=drop_at(needed, loop.pressure_drop, loop.flow_limit),
                rack_drop_kpa=_largest([here.device_drop_kpa, behind.door_drop_kpa]),
                head_n1_kpa=_head_without_one(cdu, loop.count, needed),
            )
        )
    return tuple(found)


def _hottest_rack(loop: str, classes: Sequence[RackClass]) -> tuple[float | None, float | None]:
    """Return the heat in W and flow in L/min of the racks on a loop that have most; 0 without racks."""
    heats: list[float | None] = [0.0]
    flows: list[float | None] = [0.0]
    for racks in classes:
        on, behind = racks.kind.loop == loop, racks.kind.door_loop == loop
        if on or behind:
            heats.append(
                _sum(((racks.kind.heat_liquid_w, on), (racks.kind.air_into_loop_w, behind)))
            )
            flows.append(
                _sum(((racks.kind.device_flow_lpm, on), (racks.kind.door_flow_lpm, behind)))
            )
    return _largest(heats), _largest(flows)


def _head_without_one(cdu: Cdu, count: int, flow: float | None) -> float | None:
    """Return the pressure in kPa that the other CDUs give, each with its share of the flow; 0 without others."""
    if count < 2:
        return 0.0
    return head_at(
        None if flow is None else flow / (count - 1),
        fact_value(cdu.head),
        fact_value(cdu.flow),
        fact_value(cdu.shutoff_head),
    )


def totals_row(
    site: OnPremSite, classes: Sequence[RackClass], counts: Counts, overhead: Overhead
) -> SiteTotals:
    """Return the site as a whole."""
    here = _add(classes)
    power = here.power_w
    return SiteTotals(
        accelerators=counts.accelerators,
        nodes=counts.nodes,
        hosts=counts.hosts,
        racks=sum(racks.count for racks in classes),
        it_power_w=power,
        facility_w=overhead.of_site(power),
        heat_air_w=here.heat_air_w,
        heat_liquid_w=here.heat_liquid_w,
        weight_kg=here.weight_kg,
        pue=site.pue,
        contract_w=site.power.contract,
    )
