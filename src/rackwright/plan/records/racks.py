"""Records of racks and of what stands in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rackwright.plan.base import Path

CoolingMode = Literal["air", "rear-door", "liquid", "liquid-rear-door", "immersion"]
DeviceKind = Literal["node", "switch", "pdu", "shelf", "cdu", "manifold", "door", "fluid"]

POWERED: frozenset[DeviceKind] = frozenset({"node", "switch", "cdu"})
"""Kinds of devices that draw power from the feeds of their rack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RackPosition:
    """One rack and its place in the hall.

    Attributes:
        rack: name, unique in the site.
        rack_class: number of its class of equal racks.
        hall: name of its hall.
        row: name of its row.
        position: place in the row, counted from 0.
    """

    rack: str
    rack_class: int
    hall: str
    row: str
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RackDelivery:
    """A rack of a class on its way to its hall; None is what nobody says.

    Attributes:
        rack_class: number of the class.
        path: place of the rack group in the blueprint.
        hall: name of the hall.
        height_m: height on the way, in m.
        width_m: width on the way, in m.
        weight_kg: weight on the way, in kg.
        caster_kg: of that, on one caster, in kg.
        way_height_m: height of the lowest place on the way, in m.
        way_width_m: width of the narrowest one, in m.
        way_rating_kg: most that the way carries, in kg.
        way_rolling_kg: most that it carries on one caster, in kg.
        way_slope_percent: slope of the steepest ramp, in %.
    """

    rack_class: int
    path: Path
    hall: str
    height_m: float | None
    width_m: float | None
    weight_kg: float | None
    caster_kg: float | None
    way_height_m: float | None
    way_width_m: float | None
    way_rating_kg: float | None
    way_rolling_kg: float | None
    way_slope_percent: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RackClass:
    """Racks of one rack group with the same content; every number is that of one rack.

    Attributes:
        rack_class: number of the class, counted from 0; other records refer to it.
        count: number of racks.
        racks: name of each rack, in the order of the row.
        hostlist: the same names as messages give them, like ``c[01-08]``.
        hall: name of the hall.
        row: name of the row.
        path: place of the rack group in the blueprint.
        type: catalogue id of the empty rack.
        mode: how the rack is cooled.
        cold_plates: whether coolant reaches its devices.
        loop: name of the loop of its cold plates, or of a door alone; None where it is on none.
        door_loop: name of the loop of its rear door; None without a door.
        air_direction: direction in which air passes the rack.
        casters: number of casters that carry the rack.
        height_u: units for devices, in U.
        used_u: sum of the heights of all devices, in U.
        power_w: most input power of all devices, in W.
        peak_w: sum of the short-time peaks of nodes and switches, in W.
        heat_w: heat of all devices, in W.
        heat_air_w: heat left to the air of the hall, in W: a rear door's share is taken off.
        heat_liquid_w: heat of the devices into the liquid, in W.
        air_into_loop_w: heat that a rear door moves from the air into the loop, in W.
        airflow_cfm: air that the devices draw, in CFM.
        flow_lpm: coolant that the rack needs, in L/min; 0 without a loop.
        device_flow_lpm: of that, what its devices need, in L/min.
        door_flow_lpm: of that, what its rear door needs, in L/min.
        device_drop_kpa: largest pressure drop of one of its devices at the flow that it needs, in kPa.
        door_drop_kpa: pressure drop of its rear door, in kPa; 0 without one.
        content_kg: weight of all devices, in kg.
        weight_kg: weight of the devices and the rack, in kg.
        cables_kg: weight of the cables in it, in kg.
        coolant_kg: weight of the coolant in its cold plates, in kg; 0 without any.
        counts_manifolds: whether its devices hold what its manifolds weigh, or it has none.
        in_service_kg: weight of the devices with manifolds, cables and coolant, in kg.
        includes_rack: whether a device's weight includes the rack, and so ``content_kg``.
        static_rating_kg: content that the rack carries when it stands, in kg.
        gross_rating_kg: what the rack may weigh with itself when it stands, in kg.
        dynamic_rating_kg: content that the rack carries when it is rolled, in kg.
        footprint_m2: floor with the rack's share of the aisles, in m².
        center_of_mass_u: height of the content's centre of mass above the rack's bottom, in U.
        heaviest_top_u: highest unit that a heavy device reaches, in U; 0 without one.
        rack_depth_m: depth of the rack, in m.
        deepest_m: depth of the deepest node or switch, in m; 0 without one.
        lift_allowance_m: height of hoist and hook above a device that is lifted out of a tank, in m.
        tank_edge_m: height of the edge of a tank above the floor, in m.
        service_height_m: height to lift its longest device out of a tank, in m; 0 where it is none.
        cable_allowance_m: space behind the devices for cable bends, in m.
        power_limit_w: most power that the rack may draw by the design of the hall, in W.
        rear_door_capacity_w: heat that the rear door can move, in W.
        leak_detection: whether leaks of the rack are detected.
        isolation: whether valves shut the rack off when it leaks.
        blanking: whether blanking panels close the empty units.
        has_liquid: whether coolant flows in the rack.
    """

    rack_class: int
    count: int
    racks: tuple[str, ...]
    hostlist: str
    hall: str
    row: str
    path: Path
    type: str
    mode: CoolingMode
    cold_plates: bool
    loop: str | None
    door_loop: str | None
    air_direction: str
    casters: int
    height_u: float
    used_u: float | None
    power_w: float | None
    peak_w: float | None
    heat_w: float | None
    heat_air_w: float | None
    heat_liquid_w: float | None
    air_into_loop_w: float | None
    airflow_cfm: float | None
    flow_lpm: float | None
    device_flow_lpm: float | None
    door_flow_lpm: float | None
    device_drop_kpa: float | None
    door_drop_kpa: float | None
    content_kg: float | None
    weight_kg: float | None
    cables_kg: float | None
    coolant_kg: float | None
    counts_manifolds: bool
    in_service_kg: float | None
    includes_rack: bool
    static_rating_kg: float | None
    gross_rating_kg: float | None
    dynamic_rating_kg: float | None
    footprint_m2: float | None
    center_of_mass_u: float | None
    heaviest_top_u: float | None
    rack_depth_m: float
    deepest_m: float | None
    lift_allowance_m: float | None
    tank_edge_m: float | None
    service_height_m: float | None
    cable_allowance_m: float | None
    power_limit_w: float | None
    rear_door_capacity_w: float | None
    leak_detection: bool | None
    isolation: bool | None
    blanking: bool | None
    has_liquid: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NvlinkDomains:
    """The NVLink domains of one node group; each lies in one unit, and so in one rack.

    Attributes:
        group: name of the node group.
        entry: catalogue id of the product.
        path: place of the group in the blueprint.
        domains: number of domains.
        racks: number of racks that hold them.
        trays: compute trays of one domain, each of which is a host.
        accelerators: accelerators of one domain.
        most: accelerators that it has room for.
        partial: whether it has fewer than that.
        tray_accelerators: accelerators of one tray; None where trays differ.
        left: accelerators that the domain joins while one tray is lost.
    """

    group: str
    entry: str
    path: Path
    domains: int
    racks: int
    trays: int
    accelerators: int
    most: int | None
    partial: bool | None
    tray_accelerators: int | None
    left: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RackDevice:
    """One device in one rack of a class: a node, a switch, or what feeds and cools the rack.

    Attributes:
        rack_class: number of the class of racks.
        device: number in the rack, counted from 0.
        kind: what it is.
        entry: catalogue id of the product.
        group: name of the node group or switch tier; ``feed A`` for a PDU, ``shelves`` for a shelf.
        path: place of that group in the blueprint, of the loop for a CDU, else of the rack group.
        unit_low: lowest rack unit, counted from 1; None beside the rails and without a place.
        fits: whether a free place was found.
        height_u: height, in U; 0 beside the rails.
        power_w: most input power, in W, capped where the blueprint caps it.
        nameplate_w: input power on the nameplate, in W.
        peak_w: short-time peak, in W.
        heat_w: the larger of the input power and the published heat, in W.
        heat_air_w: heat into the air, in W.
        heat_liquid_w: heat into the liquid, in W.
        airflow_cfm: air that it draws, in CFM.
        flow_lpm: coolant that its maker asks for, in L/min; None where no maker does.
        pressure_drop_kpa: pressure drop of its coolant at that flow, in kPa.
        weight_kg: weight, in kg.
        depth_m: depth, in m.
        air_direction: direction in which air passes it, or ``passive``.
        inlet_min_c: coldest air at its inlet, in °C.
        inlet_max_c: warmest air at its inlet, in °C.
        psu_count: number of power supplies, or of feeds that a hardwired product is on.
        psu_rating_w: rating of one power supply, in W.
        psu_inlet: inlet of a power supply, like ``C20``; None without power supplies.
        psus: power supplies on each feed of the rack, in the order of the feeds.
        full_performance: power supplies that must live for full performance.
        degraded: power supplies that must live for the device to run at all.
        degraded_power_w: most input power while degraded, in W.
        voltage_min_v: lowest voltage at its inlet, in V.
        voltage_max_v: highest voltage at its inlet, in V.
        medium: what carries its heat away: ``air``, ``liquid`` or ``hybrid``.
        water_class: warmest class of facility water that it takes, like ``W32``.
        max_supply_c: warmest coolant that it takes, in °C.
        connector: catalogue id of its quick connector.
        whole_rack: it is a rack that is installed as one, with what is in it.
    """

    rack_class: int
    device: int
    kind: DeviceKind
    entry: str
    group: str
    path: Path
    unit_low: float | None
    fits: bool
    height_u: float | None
    power_w: float | None
    nameplate_w: float | None
    peak_w: float | None
    heat_w: float | None
    heat_air_w: float | None
    heat_liquid_w: float | None
    airflow_cfm: float | None
    flow_lpm: float | None
    pressure_drop_kpa: float | None
    weight_kg: float | None
    depth_m: float | None
    air_direction: str | None
    inlet_min_c: float | None
    inlet_max_c: float | None
    psu_count: int | None
    psu_rating_w: float | None
    psu_inlet: str | None
    psus: tuple[int, ...] | None
    full_performance: int | None
    degraded: int | None
    degraded_power_w: float | None
    voltage_min_v: float | None
    voltage_max_v: float | None
    medium: str
    water_class: str | None
    max_supply_c: float | None
    connector: str | None
    whole_rack: bool
