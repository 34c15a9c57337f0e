"""Kinds of racks: what equal racks hold, draw and weigh, normally and after each loss.

Classes of racks that differ in names, places and sources alone share one kind.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

from rackwright.catalog.loader import Catalogue
from rackwright.model.cooling import INDOORS, RackCooling
from rackwright.model.hardware import Outlets, fact_value
from rackwright.model.names import compress_hostlist
from rackwright.model.onprem import DeliveryPath, Hall, OnPremSite, RackGroup, Shipping
from rackwright.model.racks import RackType
from rackwright.plan.cooling.thermal import airflow_for
from rackwright.plan.power.demand import FedRacks
from rackwright.plan.power.electrical import outlet_voltage
from rackwright.plan.power.lines.conductors import OfFeeds
from rackwright.plan.racks import mechanical
from rackwright.plan.racks.coolant import coolant_of
from rackwright.plan.racks.devices import total, used_units
from rackwright.plan.racks.feeds import outlets
from rackwright.plan.racks.feeds.wiring import device_state
from rackwright.plan.racks.placement import AssignedRacks, Load
from rackwright.plan.racks.rack import Loss, WiredRack, build_rack
from rackwright.plan.records.circuits import (
    CircuitAfterLoss,
    CircuitLoad,
    DevicesAfterLoss,
    DeviceState,
    FeedLoad,
)
from rackwright.plan.records.racks import POWERED, RackClass, RackDelivery, RackDevice, RackKind


class BuiltRacks(NamedTuple):
    """A class of racks with the wiring of its kind.

    Attributes:
        assigned: the racks by name, with their group.
        wired: one of these racks on its circuits, shared like the kind.
        racks: their record.
    """

    assigned: AssignedRacks
    wired: WiredRack
    racks: RackClass


def build_racks(
    classes: Sequence[AssignedRacks], loads: Sequence[Load], site: OnPremSite, catalogue: Catalogue
) -> list[BuiltRacks]:
    """Return the racks of a site by class; each kind is worked out once.

    Raises:
        UnknownEntryError: a product is not in the catalogue.
    """
    made: dict[Hashable, tuple[WiredRack, RackKind]] = {}
    built = []
    for cls in classes:
        group, hall = cls.group.spec, site.halls[cls.group.hall]
        # A hall of 1,500 racks has a handful of kinds. Sources differ from row to row and are
        # no part of a kind: racks on other busways still have the same devices and circuits.
        key = (cls.content, cls.group.hall, kind_key(group))
        if key not in made:
            wired = build_rack(cls, loads, site, catalogue)
            made[key] = wired, _describe(wired, hall, site)
        wired, kind = made[key]
        racks = RackClass(
            kind=kind,
            names=tuple(cls.racks),
            positions=tuple(cls.positions),
            hostlist=compress_hostlist(cls.racks),
            hall=hall.name,
            row=hall.rows[cls.group.row].name,
            path=cls.group.path,
            sources=tuple(feed.source for feed in group.feeds),
        )
        built.append(BuiltRacks(cls, wired, racks))
    return built


def fed_racks(built: BuiltRacks) -> FedRacks:
    """Return what a class of racks asks of its sources."""
    rack, sources, positions = built.wired, built.racks.sources, built.racks.positions
    # Neighbours start on another line each, so positions modulo three tell the lines of a source.
    first, second, third = (sum(1 for p in positions if p % 3 == turn) for turn in range(3))
    counted = zip(rack.counted_loads(frozenset()), rack.circuits, strict=True)
    loose = rack.uncounted
    return FedRacks(
        racks=built.racks.count,
        turns=(first, second, third),
        sources=sources,
        draws=rack.feed_draws,
        circuits=tuple((sources[circuit.feed], load.legs) for load, circuit in counted),
        uncounted=(
            sum(device.power_w or 0.0 for device in loose),
            total(device.peak_w for device in loose),
        )
        if loose
        else None,
    )


def conductors_of(classes: Iterable[BuiltRacks]) -> OfFeeds:
    """Return the conductors of the circuits of each feed, by class of racks and name of the feed."""
    return {
        (built.racks, feed.name): feed.conductors
        for built in classes
        for feed in built.assigned.group.spec.feeds
    }


def kind_key(group: RackGroup) -> Hashable:
    """Return what a rack group gives to the kind of its racks: all but names, gaps and sources."""
    return (
        group.type,
        group.shelves.key if group.shelves else None,
        group.cooling,
        tuple((feed.name, feed.pdu, feed.pdus, feed.circuit) for feed in group.feeds),
        group.air_direction,
        group.aisle_depth,
        group.cable_weight,
        group.cable_allowance,
        group.blanking,
        group.shipping,
    )


def _describe(rack: WiredRack, hall: Hall, site: OnPremSite) -> RackKind:
    group, devices, cooling = rack.group, rack.devices, rack.group.cooling
    included = any(device.includes_rack for device in devices)
    # The weight of a product that is a whole rack has the frame in it already.
    empty = 0.0 if included else fact_value(rack.type.weight)
    content = total(device.weight_kg for device in devices)
    weight = None if content is None or empty is None else content + empty
    heat_air = total(device.heat_air_w for device in devices)
    coolant = coolant_of(devices, heat_air, cooling, rack.door, hall, site)
    captured = coolant.door_heat
    into_hall = _into_hall(devices, cooling, hall, site)
    deepest = mechanical.deepest(devices)
    liquid = cooling.coolant_weight if cooling.has_cold_plates else 0.0
    counts_manifolds = cooling.manifolds is not None or not cooling.has_cold_plates
    footprint = credited = None
    if group.aisle_depth is not None:
        width, depth, aisle = rack.type.width.value, rack.type.depth.value, group.aisle_depth
        footprint = mechanical.footprint(width, depth, aisle)
        # Floors spread a load over a limited width: a wider aisle gives no more credit.
        credited = mechanical.footprint(width, depth, min(aisle, mechanical.SPREAD))
    return RackKind(
        devices=devices,
        feeds=tuple(_feeds(rack)),
        circuits=tuple(_circuits(rack, site.power.power_factor)),
        losses=tuple(circuits_after(rack, rack.losses)),
        fates=tuple(devices_after(rack, rack.losses)),
        delivery=_delivery(rack, weight, hall),
        casters=rack.type.casters,
        type=rack.type.id,
        mode=cooling.mode,
        cold_plates=cooling.has_cold_plates,
        loop=cooling.loop,
        door_loop=cooling.door_loop,
        air_direction=group.air_direction,
        height_u=rack.type.height.value,
        used_u=used_units(devices),
        power_w=total(device.power_w for device in devices),
        peak_w=total(d.peak_w for d in devices if d.kind in POWERED),
        heat_w=total(device.heat_w for device in devices),
        heat_air_w=total((heat_air, None if captured is None else -captured, into_hall.heat)),
        heat_liquid_w=total(device.heat_liquid_w for device in devices),
        air_into_loop_w=captured,
        airflow_cfm=total((*(device.airflow_cfm for device in devices), into_hall.airflow)),
        flow_lpm=total((coolant.device_flow, coolant.door_flow)),
        device_flow_lpm=coolant.device_flow,
        door_flow_lpm=coolant.door_flow,
        device_drop_kpa=coolant.device_drop,
        door_drop_kpa=coolant.door_drop,
        content_kg=content,
        weight_kg=weight,
        cables_kg=group.cable_weight,
        coolant_kg=liquid,
        counts_manifolds=counts_manifolds,
        in_service_kg=total((content, group.cable_weight, liquid)) if counts_manifolds else None,
        includes_rack=included,
        static_rating_kg=fact_value(rack.type.static_rating),
        gross_rating_kg=fact_value(rack.type.gross_rating),
        dynamic_rating_kg=fact_value(rack.type.dynamic_rating),
        footprint_m2=footprint,
        credited_m2=credited,
        aisle_m=None if group.aisle_depth is None else 2 * group.aisle_depth,
        center_of_mass_u=mechanical.center_of_mass(devices),
        rack_depth_m=rack.type.depth.value,
        deepest_m=deepest,
        lift_allowance_m=cooling.lift_allowance,
        tank_edge_m=_tank_edge(rack.type),
        service_height_m=_service_height(rack, deepest),
        cable_allowance_m=group.cable_allowance,
        power_limit_w=cooling.power_limit,
        leak_detection=cooling.leak_detection,
        isolation=cooling.isolation,
        blanking=group.blanking,
        has_liquid=any(device.medium != "air" for device in devices) or cooling.mode != "air",
    )


class _IntoHall(NamedTuple):
    """Heat in W that CDUs give back to the air of a hall, and the air in CFM that takes it."""

    heat: float | None
    airflow: float | None


def _into_hall(
    devices: Sequence[RackDevice], cooling: RackCooling, hall: Hall, site: OnPremSite
) -> _IntoHall:
    """Return the heat of a rack's coolant where its loop has CDUs from liquid to air; else nothing."""
    if not any(loop.name == cooling.loop and loop.water == INDOORS for loop in site.loops):
        return _IntoHall(0.0, 0.0)
    heat = total(device.heat_liquid_w for device in devices)
    rise = None if hall.air is None else hall.air.temperature_rise
    return _IntoHall(heat, None if heat is None or not rise else airflow_for(heat, rise))


def _service_height(rack: WiredRack, longest: float | None) -> float | None:
    """Return the height in m to lift the longest device out of a tank; 0 if the rack is not a tank."""
    if rack.type.immersion is None:
        return 0.0
    heights = (_tank_edge(rack.type), longest, rack.group.cooling.lift_allowance)
    return total(heights) if longest != 0 else 0.0


def _tank_edge(kind: RackType) -> float | None:
    """Return the height in m of the edge of a tank above the floor; None also for other racks."""
    return None if kind.immersion is None else fact_value(kind.immersion.top)


def _delivery(rack: WiredRack, weight: float | None, hall: Hall) -> RackDelivery:
    """Return one rack on its way to its hall.

    Args:
        rack: what is delivered.
        weight: of the rack with its devices, in kg.
        hall: where it goes.
    """
    way = hall.delivery or DeliveryPath()
    shipping = rack.group.shipping or Shipping()
    moved = shipping.weight
    if moved is not None and any(device.includes_rack for device in rack.devices):
        # A product that is a whole rack is moved with all that it weighs in its place.
        moved = None if weight is None else max(moved, weight)
    return RackDelivery(
        height_m=shipping.height,
        width_m=shipping.width,
        weight_kg=moved,
        caster_kg=None if moved is None else moved / rack.type.casters,
        empty_kg=fact_value(rack.type.weight),
        way_height_m=way.height,
        way_width_m=way.width,
        way_rating_kg=way.rating,
        way_rolling_kg=way.rolling,
        way_slope_percent=way.slope,
    )


def _feeds(rack: WiredRack) -> Iterator[FeedLoad]:
    """Yield the feeds of a rack, each with the load of all its PDUs."""
    for index, (feed, pdu) in enumerate(zip(rack.group.feeds, rack.pdus, strict=True)):
        mine = [n for n, circuit in enumerate(rack.circuits) if circuit.feed == index]
        circuit = feed.circuit
        voltage = circuit.voltage if circuit else None
        phases = circuit.phases if circuit else pdu.phases if pdu else None
        wiring = pdu.wiring if pdu else None
        yield FeedLoad(
            feed=feed.name,
            pdu_entry=feed.pdu,
            pdus=feed.pdus,
            voltage_v=voltage,
            pdu_voltage_v=pdu.voltage.value if pdu else None,
            current_a=pdu.current.value if pdu else None,
            circuit_current_a=circuit.current if circuit else None,
            continuous_rated=circuit.continuous_rated if circuit else False,
            phases=phases,
            wiring=wiring,
            outlet_voltage_v=outlet_voltage(voltage, phases, wiring)
            if voltage and phases and wiring
            else None,
            usable_w=rack.circuits[mine[0]].usable if mine else None,
            load_w=total(rack.normal[n].load for n in mine),
            peak_w=total(rack.normal[n].peak for n in mine),
            short_circuit_rating_a=fact_value(pdu.short_circuit_rating) if pdu else None,
        )


def _circuits(rack: WiredRack, power_factor: float) -> Iterator[CircuitLoad]:
    """Yield the circuits of a rack: load, outlets and branch breakers."""
    dead = [circuits for _, _, circuits in rack.losses]
    shares = outlets.worst_shares(rack.devices, rack.plugs, dead)
    for index, (circuit, load) in enumerate(zip(rack.circuits, rack.normal, strict=True)):
        pdu = rack.pdus[circuit.feed]
        feed = rack.group.feeds[circuit.feed]
        listed: dict[str, Outlets] | None
        listed = {o.type: o for o in pdu.outlets} if pdu and pdu.outlets is not None else None
        plugs = [plug for plug in rack.plugs if plug.circuit == index]
        used = outlets.outlets_used(rack.devices, plugs)
        available = outlets.outlets_available(listed, used)
        worst = outlets.outlet_currents(rack.devices, plugs, pdu, feed, power_factor, shares)
        yield CircuitLoad(
            feed=feed.name,
            pdu=circuit.pdu,
            usable_w=circuit.usable,
            load_w=load.load,
            implied_w=load.implied,
            peak_w=load.peak,
            c13_used=None if used is None else used["C13"],
            c19_used=None if used is None else used["C19"],
            c13_available=available["C13"],
            c19_available=available["C19"],
            c13_rating_a=outlets.outlet_rating(listed, "C13"),
            c19_rating_a=outlets.outlet_rating(listed, "C19"),
            c13_worst_a=worst.c13,
            c19_worst_a=worst.c19,
            branches=fact_value(pdu.branch_count) if pdu else None,
            branch_rating_a=fact_value(pdu.branch_rating) if pdu else None,
            branch_worst_a=worst.branch,
        )


def circuits_after(rack: WiredRack, losses: Iterable[Loss]) -> Iterator[CircuitAfterLoss]:
    """Yield the remaining circuits after each of ``losses``."""
    for name, kind, dead in losses:
        for index, load in enumerate(rack.loads_without(dead)):
            if index in dead:
                continue
            circuit = rack.circuits[index]
            yield CircuitAfterLoss(
                lost=name,
                lost_kind=kind,
                feed=rack.group.feeds[circuit.feed].name,
                pdu=circuit.pdu,
                load_w=load.load,
                implied_w=load.implied,
                usable_w=circuit.usable,
            )


def devices_after(rack: WiredRack, losses: Iterable[Loss]) -> Iterator[DevicesAfterLoss]:
    """Yield equal devices with equal fates after each of ``losses``, as one record each."""
    for name, _, dead in losses:
        alive = [0] * len(rack.devices)
        for plug in rack.plugs:
            if plug.circuit not in dead:
                alive[plug.device] += 1
        found: dict[tuple[str, str, int, DeviceState], list[RackDevice]] = {}
        for device, living in zip(rack.devices, alive, strict=True):
            if device.kind not in POWERED:
                continue
            # Devices with equal supplies and an equal fate are one record: a rack has few of them.
            state = "unknown" if device.psu_count is None else device_state(device, living)[0]
            found.setdefault((device.entry, device.group, living, state), []).append(device)
        for (entry, group, living, state), devices in found.items():
            place = devices[0].path
            assert place is not None  # noqa: S101 - what draws power is of a group or a loop
            yield DevicesAfterLoss(
                entry=entry,
                group=group,
                lost=name,
                path=place,
                devices=len(devices),
                alive=None if devices[0].psu_count is None else living,
                needed_full=devices[0].full_performance,
                state=state,
            )
