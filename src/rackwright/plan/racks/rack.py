"""One class of racks, worked out: content, circuits, and what each loss does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from rackwright.catalog.loader import Catalogue
from rackwright.model.cooling import RackCooling
from rackwright.model.hardware import Device as DeviceEntry
from rackwright.model.hardware import Node, Pdu, RackType, Switch, fact_value
from rackwright.model.names import compress_hostlist
from rackwright.model.onprem import Hall, NodeGroup, OnPremSite, RackGroup
from rackwright.model.power import RackFeed
from rackwright.plan.cooling.rear_door import Door, door_of
from rackwright.plan.power.demand import FeedWatts
from rackwright.plan.power.electrical import circuit_capacity
from rackwright.plan.racks import mechanical
from rackwright.plan.racks.coolant import Coolant, coolant_of
from rackwright.plan.racks.cooling_fixtures import cooling_fixtures
from rackwright.plan.racks.devices import PlacedDevice, describe_device, place_devices, total
from rackwright.plan.racks.feeds.shelves import shelves_on_feeds
from rackwright.plan.racks.feeds.wiring import (
    CircuitDraw,
    Plug,
    WiredCircuit,
    circuit_loads,
    hangs_anywhere,
    plug_in,
    wire,
)
from rackwright.plan.racks.fixtures import fixtures
from rackwright.plan.racks.placement import AssignedRacks, Load
from rackwright.plan.records.racks import POWERED, CoolingMode, RackClass

LostKind = Literal["feed", "pdu"]


@dataclass(frozen=True, slots=True)
class Sums:
    """Of the devices of one rack: what its record says of all of them; None where unknown."""

    used_u: float | None
    power_w: float | None
    peak_w: float | None
    heat_w: float | None
    heat_air_w: float | None
    heat_liquid_w: float | None
    airflow_cfm: float | None
    content_kg: float | None
    center_of_mass_u: float | None
    heaviest_top_u: float | None
    deepest_m: float | None
    coolant: Coolant


def _sums(
    devices: Sequence[PlacedDevice],
    cooling: RackCooling,
    door: Door | None,
    hall: Hall,
    site: OnPremSite,
) -> Sums:
    heat_air = total(device.heat_air for device in devices)
    return Sums(
        used_u=total(device.height for device in devices),
        power_w=total(device.power for device in devices),
        peak_w=total(d.peak for d in devices if d.kind in POWERED),
        heat_w=total(device.heat for device in devices),
        heat_air_w=heat_air,
        heat_liquid_w=total(device.heat_liquid for device in devices),
        airflow_cfm=total(device.airflow for device in devices),
        content_kg=total(device.weight for device in devices),
        center_of_mass_u=mechanical.center_of_mass(devices),
        heaviest_top_u=mechanical.highest_heavy_unit(devices),
        deepest_m=mechanical.deepest(devices),
        coolant=coolant_of(devices, heat_air, cooling, door, hall, site),
    )


@dataclass(frozen=True)
class Rack:
    """Everything about one rack of a class; tables are made from it.

    Attributes:
        pdus: PDU of each feed, None where the circuit ends in the product itself.
        losses: for each single loss, its name, kind and the dead circuits.
    """

    group: RackGroup
    type: RackType
    devices: tuple[PlacedDevice, ...]
    pdus: tuple[Pdu | None, ...]
    circuits: tuple[WiredCircuit, ...]
    plugs: tuple[Plug, ...]
    normal: tuple[CircuitDraw, ...]
    door: Door | None
    losses: tuple[tuple[str, LostKind, frozenset[int]], ...]
    sums: Sums
    _draws: dict[frozenset[int], Sequence[CircuitDraw]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _feed_draws: dict[frozenset[int], tuple[FeedWatts, FeedWatts]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def loads_without(self, dead: frozenset[int]) -> Sequence[CircuitDraw]:
        """The load of every circuit when those in ``dead`` are lost."""
        if dead not in self._draws:  # racks that differ in names only share what is worked out
            self._draws[dead] = circuit_loads(self.devices, self.circuits, self.plugs, dead)
        return self._draws[dead]

    @property
    def uncounted(self) -> Sequence[PlacedDevice]:
        """Devices of known power whose supplies nobody has counted; they may hang on any circuit."""
        return [d for d in self.devices if hangs_anywhere(d) and d.power is not None]

    def counted_loads(self, dead: frozenset[int]) -> Sequence[CircuitDraw]:
        """The load of every circuit when those in ``dead`` are lost, without what is uncounted."""
        if self.uncounted:
            return circuit_loads(self.devices, self.circuits, self.plugs, dead, counted_only=True)
        return self.loads_without(dead) if dead else self.normal

    def feed_draws(self, dead_feeds: frozenset[int]) -> tuple[FeedWatts, FeedWatts]:
        """W on each feed when some are dead, and the same while every device peaks.

        What is ``uncounted`` is left out.
        """
        if dead_feeds not in self._feed_draws:  # shared as well
            self._feed_draws[dead_feeds] = self._drawn(dead_feeds)
        return self._feed_draws[dead_feeds]

    def _drawn(self, dead_feeds: frozenset[int]) -> tuple[FeedWatts, FeedWatts]:
        dead = frozenset(n for n, c in enumerate(self.circuits) if c.feed in dead_feeds)
        loads = self.counted_loads(dead)
        of_feed: list[list[CircuitDraw]] = [[] for _ in self.group.feeds]
        for load, circuit in zip(loads, self.circuits, strict=True):
            of_feed[circuit.feed].append(load)
        return (
            tuple(total(load.load for load in feed) for feed in of_feed),
            tuple(total(load.peak for load in feed) for feed in of_feed),
        )


def build_rack(
    cls: AssignedRacks, loads: Sequence[Load], site: OnPremSite, catalogue: Catalogue
) -> Rack:
    """The rack that every member of ``cls`` is.

    Raises:
        UnknownEntryError: a product is not in the catalogue.
    """
    group = cls.group.group
    rack_type = catalogue.get(RackType, group.type)
    air = site.halls[cls.group.hall].air
    rise = air.temperature_rise if air else None
    pdus = tuple(catalogue.get(Pdu, feed.pdu) if feed.pdu else None for feed in group.feeds)
    nodes: list[tuple[PlacedDevice, float | None]] = []
    switches: list[tuple[PlacedDevice, float | None]] = []
    for index, count in cls.content:
        load = loads[index]
        device = _describe(load, catalogue, rise, group.cooling.mode)
        device = _override_psus(device, load.group, group)
        (switches if load.is_switch else nodes).extend([(device, load.group.start_unit)] * count)
    whole = any(_is_whole_rack(loads[index], catalogue) for index, _ in cls.content)
    furniture = fixtures(group, pdus, catalogue, cls.group.path, shelves_included=whole)
    door = door_of(group.cooling, catalogue)
    furniture += cooling_fixtures(cls.group, door, site, catalogue, rise)
    placed = place_devices(nodes, switches, furniture, rack_type.height.value)
    feeds = [feed.name for feed in group.feeds]
    devices = wire(
        placed, len(feeds), shelves_on_feeds(group.shelves, feeds) if group.shelves else None
    )
    circuits = _circuits(group.feeds, pdus, site)
    plugs = plug_in(devices, circuits)
    return Rack(
        group=group,
        type=rack_type,
        devices=tuple(devices),
        pdus=pdus,
        circuits=tuple(circuits),
        plugs=tuple(plugs),
        normal=tuple(circuit_loads(devices, circuits, plugs)),
        door=door,
        losses=tuple(_losses(group.feeds, circuits)),
        sums=_sums(devices, group.cooling, door, site.halls[cls.group.hall], site),
    )


def _describe(
    load: Load, catalogue: Catalogue, rise: float | None, mode: CoolingMode
) -> PlacedDevice:
    entry: DeviceEntry
    if isinstance(load.group, NodeGroup):
        entry = catalogue.get(Node, load.group.type)
        cap = load.group.power_cap
    else:
        entry = catalogue.get(Switch, load.group.type)
        cap = None
    return describe_device(
        entry,
        load.group,
        load.path,
        kind="switch" if load.is_switch else "node",
        power_cap=cap,
        temperature_rise=rise,
        on_liquid=mode != "air",
        in_fluid=mode == "immersion",
    )


def _is_whole_rack(load: Load, catalogue: Catalogue) -> bool:
    return not load.is_switch and catalogue.get(Node, load.group.type).whole_rack


def _override_psus(device: PlacedDevice, group: Any, rack: RackGroup) -> PlacedDevice:
    chosen = getattr(group, "psus_per_feed", None)
    if not chosen:
        return device
    return replace(device, psus_per_feed=tuple(chosen.get(feed.name, 0) for feed in rack.feeds))


def _circuits(
    feeds: Sequence[RackFeed], pdus: Sequence[Pdu | None], site: OnPremSite
) -> list[WiredCircuit]:
    found = []
    for index, (feed, pdu) in enumerate(zip(feeds, pdus, strict=True)):
        usable = _usable(feed, pdu, site)
        phases = pdu.phases if pdu else feed.circuit.phases if feed.circuit else 3
        wiring = pdu.wiring if pdu and pdu.phases == 3 else None
        found += [WiredCircuit(index, n, usable, phases, wiring) for n in range(feed.pdus)]
    return found


def _usable(feed: RackFeed, pdu: Pdu | None, site: OnPremSite) -> float | None:
    """The smaller of what the PDU and its branch circuit may carry continuously, in W.

    Unknown where the circuit is not stated: a plug does not tell what breaker is behind its socket.
    """
    if feed.circuit is None:
        return None
    c = feed.circuit
    derate = site.power.continuous_derate / 100
    limits = [(c.voltage, c.current, c.phases, 1.0 if c.continuous_rated else derate)]
    if pdu is not None:
        limits.append((pdu.voltage.value, pdu.current.value, pdu.phases, derate))
    factor = site.power.power_factor
    return min(
        circuit_capacity(v, a, phases, derate=d, power_factor=factor) for v, a, phases, d in limits
    )


def _losses(
    feeds: Sequence[RackFeed], circuits: Sequence[WiredCircuit]
) -> list[tuple[str, LostKind, frozenset[int]]]:
    found: list[tuple[str, LostKind, frozenset[int]]] = []
    for index, feed in enumerate(feeds):
        dead = frozenset(n for n, circuit in enumerate(circuits) if circuit.feed == index)
        found.append((feed.name, "feed", dead))
        if feed.pdus > 1:
            found += [
                (f"{feed.name}/{circuits[n].pdu + 1}", "pdu", frozenset({n})) for n in sorted(dead)
            ]
    return found


def class_row(rack: Rack, cls: AssignedRacks, site: OnPremSite, number: int) -> RackClass:
    """The record of the class with a number."""
    group, kind = rack.group, rack.type
    devices = rack.devices
    cooling = group.cooling
    included = any(device.includes_rack for device in devices)
    empty = 0.0 if included else fact_value(kind.weight)
    sums = rack.sums
    content, heat_air, coolant = sums.content_kg, sums.heat_air_w, sums.coolant
    hall = site.halls[cls.group.hall]
    captured = coolant.door_heat
    liquid = cooling.coolant_weight if cooling.has_cold_plates else 0.0
    counts_manifolds = cooling.manifolds is not None or not cooling.has_cold_plates
    footprint = None
    if group.aisle_depth is not None:
        footprint = mechanical.footprint(kind.width.value, kind.depth.value, group.aisle_depth)
    return RackClass(
        rack_class=number,
        count=len(cls.racks),
        racks=tuple(cls.racks),
        hostlist=compress_hostlist(cls.racks),
        casters=kind.casters,
        hall=hall.name,
        row=hall.rows[cls.group.row].name,
        path=cls.group.path,
        type=kind.id,
        mode=cooling.mode,
        cold_plates=cooling.has_cold_plates,
        loop=cooling.loop,
        door_loop=cooling.door_loop,
        air_direction=group.air_direction,
        height_u=kind.height.value,
        used_u=sums.used_u,
        power_w=sums.power_w,
        peak_w=sums.peak_w,
        heat_w=sums.heat_w,
        heat_air_w=None if heat_air is None or captured is None else heat_air - captured,
        heat_liquid_w=sums.heat_liquid_w,
        air_into_loop_w=captured,
        airflow_cfm=sums.airflow_cfm,
        flow_lpm=total((coolant.device_flow, coolant.door_flow)),
        device_flow_lpm=coolant.device_flow,
        door_flow_lpm=coolant.door_flow,
        device_drop_kpa=coolant.device_drop,
        door_drop_kpa=coolant.door_drop,
        content_kg=content,
        weight_kg=None if content is None or empty is None else content + empty,
        cables_kg=group.cable_weight,
        coolant_kg=liquid,
        counts_manifolds=counts_manifolds,
        in_service_kg=total((content, group.cable_weight, liquid)) if counts_manifolds else None,
        includes_rack=included,
        static_rating_kg=fact_value(kind.static_rating),
        gross_rating_kg=fact_value(kind.gross_rating),
        dynamic_rating_kg=fact_value(kind.dynamic_rating),
        footprint_m2=footprint,
        center_of_mass_u=sums.center_of_mass_u,
        heaviest_top_u=sums.heaviest_top_u,
        rack_depth_m=kind.depth.value,
        deepest_m=sums.deepest_m,
        lift_allowance_m=cooling.lift_allowance,
        tank_edge_m=_tank_edge(rack),
        service_height_m=_service_height(rack),
        cable_allowance_m=group.cable_allowance,
        power_limit_w=cooling.power_limit,
        rear_door_capacity_w=None if rack.door is None else rack.door.capacity,
        leak_detection=cooling.leak_detection,
        isolation=cooling.isolation,
        blanking=group.blanking,
        has_liquid=any(device.medium != "air" for device in devices) or cooling.mode != "air",
    )


def _service_height(rack: Rack) -> float | None:
    """Height in m that the longest device of a tank needs to be lifted out; 0 of what is no tank."""
    if rack.type.immersion is None:
        return 0.0
    longest = rack.sums.deepest_m
    heights = (_tank_edge(rack), longest, rack.group.cooling.lift_allowance)
    return total(heights) if longest != 0 else 0.0


def _tank_edge(rack: Rack) -> float | None:
    """Height in m of the edge that devices are lifted over; None as well of what is no tank."""
    return None if rack.type.immersion is None else fact_value(rack.type.immersion.top)
