"""Wiring of the devices of one rack to its feeds, and the effect of a lost feed on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rackwright.plan.power.electrical import Legs, line_implied_power, spread
from rackwright.plan.racks.feeds.shelves import SHELF_INLETS
from rackwright.plan.records.circuits import DeviceState
from rackwright.plan.records.racks import POWERED, RackDevice


@dataclass(frozen=True, slots=True)
class WiredCircuit:
    """One PDU, or one hardwired circuit, of a rack.

    Attributes:
        usable: continuous capacity in W, None when unknown.
        wiring: how outlets see the lines; None where the load is balanced by itself.
    """

    feed: int
    pdu: int
    usable: float | None
    phases: int
    wiring: Literal["wye", "delta"] | None


@dataclass(frozen=True, slots=True)
class CircuitDraw:
    """Load of one circuit in W; None if the power of a device is unknown.

    Attributes:
        implied: what the busiest line implies for the whole circuit.
    """

    load: float | None
    implied: float | None
    legs: Legs | None
    peak: float | None


@dataclass(frozen=True, slots=True)
class Plug:
    """One power supply on its outlet."""

    device: int
    circuit: int
    leg: int


def wire(
    devices: Sequence[RackDevice], feeds: int, shelves: Sequence[int] | None = None
) -> list[RackDevice]:
    """Return the devices with their power supplies dealt over the feeds.

    A device whose supplies do not divide evenly starts on the feed after its predecessor's, so
    that the rack as a whole is balanced. One on the bus bar draws from each feed as the shelves do.

    Args:
        devices: what stands in the rack.
        feeds: number of its feeds.
        shelves: power shelves on each feed; None where the rack has none.
    """
    on_bar = tuple(shelves) if shelves is not None and any(shelves) else (1,) * feeds
    wired: list[RackDevice] = []
    start = 0
    for device in devices:
        count = device.psu_count
        if count is None or device.kind not in POWERED or feeds == 0:
            wired.append(device)
            continue
        if device.psus:
            wired.append(device)
            continue
        if device.psu_inlet in SHELF_INLETS:
            wired.append(replace(device, psus=on_bar, psu_count=sum(on_bar)))
            continue
        wired.append(replace(device, psus=spread(count, feeds, start=start)))
        start = (start + count) % feeds
    return wired


def plug_in(devices: Sequence[RackDevice], circuits: Sequence[WiredCircuit]) -> list[Plug]:
    """Return every power supply on its circuit and leg, dealt in turn."""
    of_feed: dict[int, list[int]] = {}
    for index, circuit in enumerate(circuits):
        of_feed.setdefault(circuit.feed, []).append(index)
    next_circuit = dict.fromkeys(of_feed, 0)
    next_leg = [0] * len(circuits)
    plugs = []
    for number, device in enumerate(devices):
        for feed, count in enumerate(device.psus or ()):
            choices = of_feed.get(feed, [])
            for _ in range(count if choices else 0):
                index = choices[next_circuit[feed] % len(choices)]
                next_circuit[feed] += 1
                plugs.append(Plug(number, index, next_leg[index] % 3))
                next_leg[index] += 1
    return plugs


def device_state(device: RackDevice, alive: int) -> tuple[DeviceState, float | None]:
    """Return the fate of a device with ``alive`` power supplies, and its power then in W."""
    if alive == 0:
        return "off", 0.0
    if device.full_performance is None:
        # Unknown is judged by a policy; the load is the full one, which is on the safe side.
        return ("full" if alive == device.psu_count else "unknown"), device.power_w
    if alive >= device.full_performance:
        return "full", device.power_w
    if device.degraded is not None and alive < device.degraded:
        return "off", 0.0
    power = device.power_w
    if device.degraded_power_w is not None and power is not None:
        power = min(power, device.degraded_power_w)
    # With too few for full performance it runs degraded or not at all: no more than that either way.
    return "unknown" if device.degraded is None else "degraded", power


def circuit_loads(
    devices: Sequence[RackDevice],
    circuits: Sequence[WiredCircuit],
    plugs: Sequence[Plug],
    lost: frozenset[int] = frozenset(),
    *,
    counted_only: bool = False,
) -> list[CircuitDraw]:
    """Return the load of every circuit when those in ``lost`` are dead.

    Each device shares its power equally among its living supplies. A device whose number of
    supplies is unknown may hang on any circuit, so it makes all of them unknown. With
    ``counted_only`` such a device is left out where its power is known.
    """
    uncounted = [device for device in devices if hangs_anywhere(device)]
    if any(device.power_w is None or not counted_only for device in uncounted):
        unknown = CircuitDraw(None, None, None, None)
        return [
            _circuit_load(circuit, 0.0, (0.0, 0.0, 0.0), 0.0) if number in lost else unknown
            for number, circuit in enumerate(circuits)
        ]
    alive = [0] * len(devices)
    for plug in plugs:
        if plug.circuit not in lost:
            alive[plug.device] += 1
    draws = [device_state(device, alive[n])[1] for n, device in enumerate(devices)]
    loads: list[float | None] = [0.0] * len(circuits)
    peaks: list[float | None] = [0.0] * len(circuits)
    legs = [[0.0, 0.0, 0.0] for _ in circuits]
    for plug in plugs:
        if plug.circuit in lost:
            continue
        draw, device = draws[plug.device], devices[plug.device]
        here = loads[plug.circuit]
        if draw is None or here is None:
            loads[plug.circuit] = peaks[plug.circuit] = None
            continue
        share = draw / alive[plug.device]
        loads[plug.circuit] = here + share
        legs[plug.circuit][plug.leg] += share
        peak = peaks[plug.circuit]
        if peak is not None:
            extra = device.peak_w / alive[plug.device] if device.peak_w is not None else None
            peaks[plug.circuit] = None if extra is None else peak + extra
    return [
        _circuit_load(circuit, load, (leg[0], leg[1], leg[2]), peak)
        for circuit, load, leg, peak in zip(circuits, loads, legs, peaks, strict=True)
    ]


def hangs_anywhere(device: RackDevice) -> bool:
    """Return True if a device draws power through supplies of unknown number."""
    known = device.psu_count is not None or bool(device.psus)
    return device.kind in POWERED and not known and device.power_w != 0


def _circuit_load(
    circuit: WiredCircuit, load: float | None, legs: Legs, peak: float | None
) -> CircuitDraw:
    if load is None:
        return CircuitDraw(None, None, None, None)
    if circuit.phases == 1 or circuit.wiring is None:
        third = load / 3
        return CircuitDraw(load, load, (third, third, third), peak)
    return CircuitDraw(load, line_implied_power(legs, circuit.wiring), legs, peak)
