"""Racks and what stands in them: kinds of equal racks, and the classes that share them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rackwright.plan.base import Path
from rackwright.plan.records.circuits import (
    CircuitAfterLoss,
    CircuitLoad,
    DevicesAfterLoss,
    FeedLoad,
)

CoolingMode = Literal["air", "rear-door", "liquid", "liquid-rear-door", "immersion"]
DeviceKind = Literal["node", "switch", "pdu", "shelf", "cdu", "manifold", "door", "fluid"]

POWERED: frozenset[DeviceKind] = frozenset({"node", "switch", "cdu"})
"""Kinds of devices that draw power from the feeds of their rack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RackDevice:
    """One device in a rack: a node, a switch, or what feeds and cools the rack.

    Attributes:
        kind: what it is.
        entry: catalogue id of the product.
        group: name of the node group or switch tier; ``feed A`` for a PDU, ``shelves`` for a shelf.
        path: place of that group, or of the loop for a CDU; None for what the rack group states.
        unit_low: lowest rack unit, counted from 1; None beside the rails and without a place.
        fits: whether a free place was found.
        share: part of its units that it takes, like ``left`` or ``half-depth``; empty if it takes all of them.
        height_u: height, in U; 0 beside the rails.
        power_w: most input power, in W, capped where the blueprint caps it.
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
        psu_efficiency_percent: output over input of one power supply at its rating, in %.
        psu_current_a: most input current of one power supply, in A.
        psu_inlet: inlet of a power supply, like ``C20``; None where unknown or without power supplies.
        psus: power supplies on each feed, in the order of the feeds; None where unknown.
        full_performance: power supplies that must live for full performance.
        degraded: power supplies that must live for the device to run at all.
        degraded_power_w: most input power while degraded, in W.
        voltage_min_v: lowest voltage at its inlet, in V.
        voltage_max_v: highest voltage at its inlet, in V.
        max_altitude_m: highest site at which its maker lets it run, in m.
        medium: what carries its heat away: ``air``, ``liquid`` or ``hybrid``.
        water_class: warmest class of facility water that it takes, like ``W32``.
        max_supply_c: warmest coolant that it takes, in °C.
        connector: catalogue id of its quick connector.
        includes_rack: its weight includes that of the rack.
        whole_rack: it is a rack that is installed as one, with what is in it.
    """

    kind: DeviceKind
    entry: str
    group: str
    path: Path | None
    unit_low: float | None = None
    fits: bool = True
    share: str = ""
    height_u: float | None
    power_w: float | None = None
    peak_w: float | None = None
    heat_w: float | None = None
    heat_air_w: float | None = None
    heat_liquid_w: float | None = None
    airflow_cfm: float | None = None
    flow_lpm: float | None = None
    pressure_drop_kpa: float | None = None
    weight_kg: float | None = None
    depth_m: float | None = None
    air_direction: str | None = None
    inlet_min_c: float | None = None
    inlet_max_c: float | None = None
    psu_count: int | None = None
    psu_rating_w: float | None = None
    psu_efficiency_percent: float | None = None
    psu_current_a: float | None = None
    psu_inlet: str | None = None
    psus: tuple[int, ...] | None = None
    full_performance: int | None = None
    degraded: int | None = None
    degraded_power_w: float | None = None
    voltage_min_v: float | None = None
    voltage_max_v: float | None = None
    max_altitude_m: float | None = None
    medium: str = "air"
    water_class: str | None = None
    max_supply_c: float | None = None
    connector: str | None = None
    includes_rack: bool = False
    whole_rack: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RackDelivery:
    """One rack on its way to its hall; None where the blueprint does not say.

    Attributes:
        height_m: height on the way, in m.
        width_m: width on the way, in m.
        weight_kg: weight on the way, in kg.
        caster_kg: of that, on one caster, in kg.
        empty_kg: weight of the empty rack, in kg.
        way_height_m: height of the lowest place on the way, in m.
        way_width_m: width of the narrowest one, in m.
        way_rating_kg: most that the way carries, in kg.
        way_rolling_kg: most that it carries on one caster, in kg.
        way_slope_percent: slope of the steepest ramp, in %.
    """

    height_m: float | None
    width_m: float | None
    weight_kg: float | None
    caster_kg: float | None
    empty_kg: float | None
    way_height_m: float | None
    way_width_m: float | None
    way_rating_kg: float | None
    way_rolling_kg: float | None
    way_slope_percent: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RackKind:
    """Racks that are alike but for their names, their places and the sources of their feeds.

    Made once and shared by every ``RackClass`` of the kind. Every number is that of one rack. Kinds are
    compared by identity.

    Attributes:
        devices: all that stands or hangs in the rack, from the fixtures to the switches.
        feeds: its feeds, in the order of the blueprint.
        circuits: its PDUs and hardwired circuits, in the order of the feeds.
        losses: the circuits that remain after each single loss of a feed or PDU.
        fates: equal devices with equal fates after each of these losses.
        delivery: the rack on its way to the hall.
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
        credited_m2: the same with no more of the aisles than the weight of a rack spreads to, in m².
        aisle_m: width of the aisles in front and behind, in m.
        center_of_mass_u: height of the content's centre of mass above the rack's bottom, in U.
        rack_depth_m: depth of the rack, in m.
        deepest_m: depth of the deepest node or switch, in m; 0 without one.
        lift_allowance_m: height of hoist and hook above a device that is lifted out of a tank, in m.
        tank_edge_m: height of the edge of a tank above the floor, in m.
        service_height_m: height to lift its longest device out of a tank, in m; 0 where it is none.
        cable_allowance_m: space behind the devices for cable bends, in m.
        power_limit_w: most power that the rack may draw by the design of the hall, in W.
        leak_detection: whether leaks of the rack are detected.
        isolation: whether valves shut the rack off when it leaks.
        blanking: whether blanking panels close the empty units.
        has_liquid: whether coolant flows in the rack.
    """

    devices: tuple[RackDevice, ...]
    feeds: tuple[FeedLoad, ...]
    circuits: tuple[CircuitLoad, ...]
    losses: tuple[CircuitAfterLoss, ...]
    fates: tuple[DevicesAfterLoss, ...]
    delivery: RackDelivery
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
    credited_m2: float | None
    aisle_m: float | None
    center_of_mass_u: float | None
    rack_depth_m: float
    deepest_m: float | None
    lift_allowance_m: float | None
    tank_edge_m: float | None
    service_height_m: float | None
    cable_allowance_m: float | None
    power_limit_w: float | None
    leak_detection: bool | None
    isolation: bool | None
    blanking: bool | None
    has_liquid: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RackClass:
    """Racks of one rack group with the same content. Classes are compared by identity.

    Attributes:
        kind: what one of these racks holds, draws and weighs.
        names: name of each rack, unique in the site, in the order of the row.
        positions: place of each rack in its row, counted from 0.
        hostlist: the names as messages give them, like ``c[01-08]``.
        hall: name of the hall.
        row: name of the row, unique in the hall.
        path: place of the rack group in the blueprint.
        sources: name of the power source of each feed, in the order of ``kind.feeds``.
    """

    kind: RackKind
    names: tuple[str, ...]
    positions: tuple[int, ...]
    hostlist: str
    hall: str
    row: str
    path: Path
    sources: tuple[str, ...]

    @property
    def count(self) -> int:
        """Number of racks."""
        return len(self.names)

    @property
    def power_w(self) -> float | None:
        """Most input power of one rack, in W. None if unknown."""
        return self.kind.power_w

    @property
    def order(self) -> tuple[Path, int]:
        """Sort key: classes in the order of the blueprint."""
        return self.path, self.positions[0]

    @property
    def feeds(self) -> Iterator[tuple[FeedLoad, str, Path]]:
        """Feeds of one rack, each with its power source and its place in the blueprint."""
        for index, (feed, source) in enumerate(zip(self.kind.feeds, self.sources, strict=True)):
            yield feed, source, (*self.path, "feeds", index)

    def feed_path(self, name: str) -> Path:
        """Return the place of a feed in the blueprint.

        Raises:
            ValueError: the racks have no feed of that name.
        """
        return (*self.path, "feeds", [feed.feed for feed in self.kind.feeds].index(name))

    def path_of(self, device: RackDevice) -> Path:
        """Return the place in the blueprint of a device of these racks."""
        return self.path if device.path is None else device.path


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
    left: int | None
