"""The records of feeds, circuits and devices of racks that are alike, normally and after each loss.

Racks that differ in names and sources alone share all but the class and the place of their records.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from rackwright.model.hardware import Outlets, fact_value
from rackwright.plan.base import Path
from rackwright.plan.power.electrical import imbalance, outlet_voltage
from rackwright.plan.racks.devices import PlacedDevice, total
from rackwright.plan.racks.feeds import outlets
from rackwright.plan.racks.feeds.wiring import device_state
from rackwright.plan.racks.rack import Rack
from rackwright.plan.records.maker import maker
from rackwright.plan.records.power import (
    CircuitAfterLoss,
    CircuitLoad,
    DevicesAfterLoss,
    DeviceState,
    FeedLoad,
)
from rackwright.plan.records.racks import POWERED, RackDevice


class RackRows:
    """Of racks that are alike."""

    def __init__(self, rack: Rack, power_factor: float) -> None:
        """Of ``rack`` and those like it, whose load has a power factor."""
        self._feeds = [*_feeds(rack)]
        self._circuits = [*_circuits(rack, power_factor)]
        self._losses = [*_losses(rack)]
        self._device_losses = [*_device_losses(rack)]
        self._devices = [*_devices(rack)]

    def feeds(self, rack: Rack, path: Path, number: int) -> Iterator[FeedLoad]:
        """The feeds of a rack of the class with a number, whose group is at ``path``."""
        places = _places(rack, path)
        for feed, place, make in zip(rack.group.feeds, places, self._feeds, strict=True):
            yield make(rack_class=number, source=feed.source, path=place)

    def circuits(self, rack: Rack, path: Path, number: int) -> Iterator[CircuitLoad]:
        """Its circuits: load, outlets and branch breakers."""
        places = _places(rack, path)
        for feed, make in self._circuits:
            yield make(rack_class=number, path=places[feed])

    def losses(self, rack: Rack, path: Path, number: int) -> Iterator[CircuitAfterLoss]:
        """What its living circuits carry after each single loss."""
        places = _places(rack, path)
        for feed, make in self._losses:
            yield make(rack_class=number, path=places[feed])

    def device_losses(self, number: int) -> Iterator[DevicesAfterLoss]:
        """What becomes of its devices after each single loss."""
        return (make(rack_class=number) for make in self._device_losses)

    def devices(self, path: Path, number: int) -> Iterator[RackDevice]:
        """Its devices; what belongs to the rack itself is at ``path``."""
        for place, make in self._devices:
            yield make(rack_class=number, path=path if place is None else place)


def _places(rack: Rack, path: Path) -> list[Path]:
    return [(*path, "feeds", index) for index in range(len(rack.group.feeds))]


def _feeds(rack: Rack) -> Iterator[partial[FeedLoad]]:
    record = maker(FeedLoad)
    for index, (feed, pdu) in enumerate(zip(rack.group.feeds, rack.pdus, strict=True)):
        mine = [n for n, circuit in enumerate(rack.circuits) if circuit.feed == index]
        circuit = feed.circuit
        voltage = circuit.voltage if circuit else None
        phases = circuit.phases if circuit else pdu.phases if pdu else None
        wiring = pdu.wiring if pdu else None
        yield partial(
            record,
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


def _circuits(rack: Rack, power_factor: float) -> Iterator[tuple[int, partial[CircuitLoad]]]:
    """The circuits with their feeds, by index."""
    record = maker(CircuitLoad)
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
        make = partial(
            record,
            feed=feed.name,
            pdu=circuit.pdu,
            usable_w=circuit.usable,
            load_w=load.load,
            implied_w=load.implied,
            peak_w=load.peak,
            imbalance=imbalance(load.legs) if load.legs else None,
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
        yield circuit.feed, make


def _losses(rack: Rack) -> Iterator[tuple[int, partial[CircuitAfterLoss]]]:
    """The living circuits after each single loss, with their feeds by index."""
    record = maker(CircuitAfterLoss)
    for name, kind, dead in rack.losses:
        for index, load in enumerate(rack.loads_without(dead)):
            if index in dead:
                continue
            circuit = rack.circuits[index]
            make = partial(
                record,
                lost=name,
                lost_kind=kind,
                feed=rack.group.feeds[circuit.feed].name,
                pdu=circuit.pdu,
                load_w=load.load,
                implied_w=load.implied,
                usable_w=circuit.usable,
            )
            yield circuit.feed, make


def _device_losses(rack: Rack) -> Iterator[partial[DevicesAfterLoss]]:
    """Equal devices with equal fates after each single loss, as one record each."""
    record = maker(DevicesAfterLoss)
    for name, _, dead in rack.losses:
        alive = [0] * len(rack.devices)
        for plug in rack.plugs:
            if plug.circuit not in dead:
                alive[plug.device] += 1
        found: dict[tuple[str, str, int, DeviceState], list[PlacedDevice]] = {}
        for device, living in zip(rack.devices, alive, strict=True):
            if device.kind not in POWERED:
                continue
            state = "unknown" if device.psu_count is None else device_state(device, living)[0]
            found.setdefault((device.entry, device.group, living, state), []).append(device)
        for (entry, group, living, state), devices in found.items():
            yield partial(
                record,
                entry=entry,
                group=group,
                lost=name,
                path=devices[0].path,
                devices=len(devices),
                alive=None if devices[0].psu_count is None else living,
                needed_full=devices[0].full_performance,
                needed_degraded=devices[0].degraded,
                state=state,
            )


def _devices(rack: Rack) -> Iterator[tuple[Path | None, partial[RackDevice]]]:
    """The devices with their places; None of what belongs to the rack itself."""
    record = maker(RackDevice)
    for index, d in enumerate(rack.devices):
        make = partial(
            record,
            device=index,
            kind=d.kind,
            entry=d.entry,
            group=d.group,
            unit_low=d.unit_low,
            fits=d.fits,
            height_u=d.height,
            power_w=d.power,
            nameplate_w=d.nameplate,
            peak_w=d.peak,
            heat_w=d.heat,
            heat_air_w=d.heat_air,
            heat_liquid_w=d.heat_liquid,
            airflow_cfm=d.airflow,
            flow_lpm=d.flow,
            pressure_drop_kpa=d.pressure_drop,
            weight_kg=d.weight,
            depth_m=d.depth,
            air_direction=d.air_direction,
            inlet_min_c=d.inlet_min,
            inlet_max_c=d.inlet_max,
            psu_count=d.psu_count,
            psu_rating_w=d.psu_rating,
            psu_inlet=d.psu_inlet,
            psus=d.psus_per_feed or None,
            full_performance=d.full_performance,
            degraded=d.degraded,
            degraded_power_w=d.degraded_power,
            voltage_min_v=d.voltage_min,
            voltage_max_v=d.voltage_max,
            medium=d.medium,
            water_class=d.water_class,
            max_supply_c=d.max_supply,
            connector=d.connector,
            whole_rack=d.whole_rack,
        )
        yield (d.path if d.kind in POWERED else None), make
