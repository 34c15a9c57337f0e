"""Records of rows, halls, coolant loops and the site as a whole."""

from __future__ import annotations

from dataclasses import dataclass

from rackwright.model.cooling import AirClass, Fluid, WaterClass
from rackwright.plan.base import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLoad:
    """The racks of one row together.

    Attributes:
        hall: name of the hall.
        row: name, unique in the hall.
        path: its place in the blueprint.
        power_w: input power of all racks, in W.
        heat_air_w: heat left to the air of the hall, in W.
        heat_liquid_w: heat of the devices into the liquid, in W.
        weight_kg: weight of all racks with their content, in kg.
        power_limit_w: most power that the row may draw, in W; None where none is stated.
    """

    hall: str
    row: str
    path: Path
    power_w: float | None
    heat_air_w: float | None
    heat_liquid_w: float | None
    weight_kg: float | None
    power_limit_w: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HallLoad:
    """The racks of one hall together, and its air handlers; without handlers theirs are None.

    Attributes:
        hall: name, unique in the site.
        path: its place in the blueprint.
        power_w: input power of all racks, in W.
        heat_air_w: heat left to the air, in W.
        heat_liquid_w: heat of the devices into the liquid, in W.
        airflow_cfm: air that the devices draw, in CFM.
        weight_kg: weight of all racks with their content, in kg.
        densest_air_w: most heat that one rack leaves to the air, of those where it is known, in W.
        power_limit_w: most power that the hall may draw, in W; None where none is stated.
        clear_height_m: from the floor to the lowest thing above it, in m.
        density_ratio: density of the air at the site's altitude relative to sea level.
        floor_uniform_kgm2: most weight that the floor carries over an area, in kg/m².
        floor_concentrated_kg: most weight that it carries on one caster, in kg.
        floor_rolling_kg: the same while the rack is moved, in kg.
        handler: catalogue id of the air handlers.
        handlers: number of air handlers.
        containment: ``hot-aisle``, ``cold-aisle`` or ``none``.
        ashrae_class: class that the hall is designed for.
        inlet_c: design temperature at the racks' inlets, in °C.
        air_capacity_w: heat that all air handlers carry, in W.
        air_capacity_n1_w: the same with one of them lost, in W.
        air_supply_cfm: air that all air handlers move, in CFM.
        air_supply_n1_cfm: the same with one of them lost, in CFM.
        supply_cfm: air that the devices draw and what leaks past them, at sea level, in CFM.
        exhaust_c: temperature of the air behind the racks, by its stated rise or that of the devices, in °C.
        return_c: temperature of the air that returns to the handlers, in °C.
        rated_return_c: temperature of that air at which they have their capacity, in °C.
        returned_n1_w: heat that they carry with air of ``return_c`` and one of them lost, in W.
    """

    hall: str
    path: Path
    power_w: float | None
    heat_air_w: float | None
    heat_liquid_w: float | None
    airflow_cfm: float | None
    weight_kg: float | None
    densest_air_w: float | None
    power_limit_w: float | None
    clear_height_m: float | None
    density_ratio: float | None
    floor_uniform_kgm2: float | None
    floor_concentrated_kg: float | None
    floor_rolling_kg: float | None
    handler: str | None = None
    handlers: int | None = None
    containment: str | None = None
    ashrae_class: AirClass | None = None
    inlet_c: float | None = None
    air_capacity_w: float | None = None
    air_capacity_n1_w: float | None = None
    air_supply_cfm: float | None = None
    air_supply_n1_cfm: float | None = None
    supply_cfm: float | None = None
    exhaust_c: float | None = None
    return_c: float | None = None
    rated_return_c: float | None = None
    returned_n1_w: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopLoad:
    """One coolant loop, with the racks on it and the CDUs that feed it.

    Attributes:
        loop: name, unique in the site.
        path: its place in the blueprint.
        cdu: catalogue id of the CDUs.
        cdu_rejects_to: medium that takes their heat by the catalogue, ``water`` or ``air``.
        water: circuit that takes it by the blueprint, or ``outdoors`` or ``indoors``.
        cdus: number of CDUs; of those in one rack where they stand in racks.
        in_rack: whether they stand in racks, and the numbers below are those of one of these racks.
        fluid: what flows.
        heat_capacity: heat that a litre of it takes for each K, in kJ/L/K.
        rise_k: return minus supply temperature at design load, in K.
        heat_w: heat into the loop, rear doors included, in W; with ``in_rack`` the most of a rack.
        flow_lpm: coolant that the racks need, in L/min; with ``in_rack`` the most of a rack.
        capacity_w: heat that all CDUs carry, in W.
        capacity_n1_w: the same with one of them lost, in W.
        cdu_flow_lpm: flow of all CDUs, in L/min.
        cdu_flow_n1_lpm: the same with one of them lost, in L/min.
        cdu_head_kpa: pressure that one CDU gives at its flow, in kPa.
        cdu_shutoff_head_kpa: the same at no flow, in kPa.
        pump_lost_lpm: flow of the CDUs of a rack less one pump, in L/min; None beside racks.
        approach_k: approach at which the capacity is used, in K.
        catalogue_approach_k: approach at which the capacity is published, in K.
        supply_c: supply temperature, in °C.
        facility_c: temperature of the facility water, in °C.
        facility_class: class of the facility water.
        dew_point_c: highest dew point of the hall, in °C.
        pressure_kpa: supply pressure at the manifold, in kPa.
        flow_limit_lpm: flow that the piping carries, in L/min.
        stated_drop_kpa: pressure drop of the piping at that flow, in kPa.
        piping_drop_kpa: pressure drop of the piping at the flow of the racks, in kPa.
        rack_drop_kpa: largest pressure drop of a rack on it, in kPa.
        head_n1_kpa: pressure that the CDUs give at that flow with one of them lost, in kPa.
    """

    loop: str
    path: Path
    cdu: str
    cdu_rejects_to: str
    water: str | None
    cdus: int
    in_rack: bool
    fluid: Fluid
    heat_capacity: float | None
    rise_k: float
    heat_w: float | None
    flow_lpm: float | None
    capacity_w: float
    capacity_n1_w: float
    cdu_flow_lpm: float | None
    cdu_flow_n1_lpm: float | None
    cdu_head_kpa: float | None
    cdu_shutoff_head_kpa: float | None
    pump_lost_lpm: float | None
    approach_k: float | None
    catalogue_approach_k: float | None
    supply_c: float | None
    facility_c: float | None
    facility_class: WaterClass | None
    dew_point_c: float | None
    pressure_kpa: float | None
    flow_limit_lpm: float | None
    stated_drop_kpa: float | None
    piping_drop_kpa: float | None
    rack_drop_kpa: float | None
    head_n1_kpa: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopProduct:
    """Equal liquid-cooled devices on one coolant loop; several products may be on one.

    Attributes:
        loop: name of the loop.
        entry: catalogue id of the product.
        devices: number of devices.
        heat_w: heat of one into the liquid, in W.
        asked_lpm: coolant that its maker asks for, in L/min; None where no maker does.
        flow_lpm: the larger of that and what its heat needs at the loop's rise, in L/min.
        max_supply_c: warmest coolant that it takes, in °C.
        water_class: warmest class of facility water that it takes, like ``W32``.
    """

    loop: str
    entry: str
    devices: int
    heat_w: float | None
    asked_lpm: float | None
    flow_lpm: float | None
    max_supply_c: float | None
    water_class: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteTotals:
    """The whole site.

    Attributes:
        accelerators: number of accelerators.
        nodes: number of servers and rack-scale systems.
        hosts: number of operating systems.
        racks: number of racks.
        it_power_w: input power of all racks, in W.
        facility_w: the same with cooling and losses, by the entries or the PUE, the greater, in W.
        heat_air_w: heat left to the air of all halls, in W.
        heat_liquid_w: heat of the devices into the liquid, in W.
        weight_kg: weight of all racks with their content, in kg.
        pue: power usage effectiveness that is expected.
        contract_w: power that the utility has contracted, in W.
    """

    accelerators: int
    nodes: int
    hosts: int
    racks: int
    it_power_w: float | None
    facility_w: float | None
    heat_air_w: float | None
    heat_liquid_w: float | None
    weight_kg: float | None
    pue: float | None
    contract_w: float | None
