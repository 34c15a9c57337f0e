"""The power of racks and their circuits, with everything alive and after a loss.

Three phases: P = √3 · V · I · power factor, of which a continuous load may use the derated share (NEC
210.20(A), 215.3), all of it on a device that is rated for that. A circuit trips on its busiest line.
Behind a wye a plug loads one line; behind a delta it loads two, whose currents are 120° apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import sqrt

from calculator.things import (
    Circuit,
    Device,
    Feed,
    NodeGroup,
    Number,
    Pdu,
    Product,
    RackGroup,
    Site,
    placed,
    times,
    total,
)

ON_BUS = ("busbar", "hardwired")
NOTHING = ""
"""What is lost where nothing is."""


def drawn(group: NodeGroup) -> Number:
    """Most that one device of a group draws: its plate or its cap, but no less than it can be capped to."""
    plate = group.product.power
    if plate is None or group.cap is None:
        return plate
    product, rest = group.product, 0.0
    if product.tdp is not None and product.accelerators:
        rest = plate - product.accelerators * product.tdp
    return min(plate, max(group.cap, rest))


def peaks(group: NodeGroup) -> Number:
    """Short-time peak of one device: at its rating without accelerators, else as published, or at its cap."""
    if not group.product.accelerators:
        return drawn(group)
    return (
        drawn(group)
        if group.cap is not None and group.product.peak is not None
        else group.product.peak
    )


def devices_in(site: Site, rack: str, rack_group: RackGroup) -> list[Device]:
    """Servers and switches of a rack, in the order in which their supplies are dealt out.

    CDUs stand lowest, above them servers, the heaviest lowest (RACK-001), switches from the top; the order
    is theirs. Supplies are dealt over the feeds in turn, from one device to the next.
    """
    found: list[tuple[str, Product, Number, Number, tuple[int, ...] | None]] = []
    for loop in site.loops:
        if loop.in_rack and loop.name == rack_group.loop and loop.unit.in_rack is not None:
            cdu = loop.unit.in_rack
            found += [(f"CDU of {loop.name}", cdu, cdu.power, cdu.power, None)] * loop.count
    for group in sorted(site.groups, key=lambda group: -(group.product.weight or 0.0)):
        count = placed(group.count, group.racks, group.per_rack).get(rack, 0)
        one = group.name, group.product, drawn(group), peaks(group), group.per_feed
        found += [one] * count
    for fabric in site.fabrics:
        for tier in fabric.tiers:
            count = placed(tier.count, tier.racks, tier.per_rack).get(rack, 0)
            watts = tier.product.power
            found += [(f"{fabric.name} {tier.name}", tier.product, watts, watts, None)] * count
    made, turn = [], 0
    for owner, product, watts, peak, per_feed in found:
        supplies, on_bus = per_feed, False
        if product.supplies is None:
            supplies = None
        elif product.supplies.inlet in ON_BUS:
            supplies, on_bus = shelves_of(rack_group), True
        elif supplies is None:
            supplies = dealt(product.supplies.count, len(rack_group.feeds), turn)
            turn += product.supplies.count
        made.append(
            Device(
                owner=owner,
                product=product,
                watts=watts,
                peak=peak,
                supplies=supplies,
                on_bus=on_bus,
            )
        )
    return made


def shelves_of(rack_group: RackGroup) -> tuple[int, ...]:
    """Shelves on each feed of a rack; one on each where none are declared."""
    feeds, shelves = len(rack_group.feeds), rack_group.shelves
    if shelves is None:
        return (1,) * feeds
    return shelves.per_feed or dealt(shelves.count, feeds)


def dealt(count: int, feeds: int, first: int = 0) -> tuple[int, ...]:
    """``count`` things dealt over feeds in turn, the first on feed ``first``."""
    made = [0] * feeds
    for number in range(first, first + count):
        made[number % feeds] += 1
    return tuple(made)


def carries(rating: Circuit | Pdu, share: float, power_factor: float) -> float:
    """Continuous power of a circuit or PDU, in W."""
    lines = sqrt(3) if rating.phases == 3 else 1.0
    return lines * rating.voltage * rating.current * share * power_factor


def usable(feed: Feed, site: Site) -> Number:
    """What one PDU of a feed may carry with its circuit, in W; unknown without a circuit."""
    if feed.circuit is None:
        return None
    share = 1.0 if feed.circuit.continuous else site.derate
    made = carries(feed.circuit, share, site.power_factor)
    if feed.pdu is not None:
        made = min(made, carries(feed.pdu, site.derate, site.power_factor))
    return made


def outlet_voltage(feed: Feed) -> Number:
    """At an outlet: line to neutral behind a wye, line to line behind a delta."""
    if feed.pdu is None:
        return None
    wye = feed.pdu.wiring == "wye" and feed.pdu.phases == 3
    return feed.pdu.voltage / sqrt(3) if wye else feed.pdu.voltage


@dataclass(frozen=True, slots=True)
class Plug:
    """One supply in one PDU."""

    device: int
    feed: int
    pdu: int
    line: int


def plugs(devices: list[Device], feeds: tuple[Feed, ...]) -> list[Plug]:
    """Every supply of a rack's devices: dealt over the PDUs of its feed, and over their lines, in turn."""
    made: list[Plug] = []
    for at, feed in enumerate(feeds):
        taken = [0] * feed.pdus
        turn = 0
        for number, device in enumerate(devices):
            if device.on_bus or device.supplies is None:
                continue
            for _ in range(device.supplies[at]):
                pdu = turn % feed.pdus
                made.append(Plug(number, at, pdu, taken[pdu] % 3))
                taken[pdu] += 1
                turn += 1
    return made


@dataclass(frozen=True, slots=True)
class Loaded:
    """The circuits of a rack in one state, by feed and PDU, in W."""

    load: Mapping[tuple[int, int], Number]
    implied: Mapping[tuple[int, int], Number]
    alive: tuple[int | None, ...]
    """Living supplies of each device."""
    lines: Mapping[tuple[int, int], list[list[Number]]]
    """What hangs on each line."""


def losses(feeds: tuple[Feed, ...]) -> Iterator[tuple[str, frozenset[tuple[int, int]]]]:
    """Each feed, and each PDU where a feed has several, with the circuits that are lost with it."""
    for at, feed in enumerate(feeds):
        yield feed.name, frozenset((at, pdu) for pdu in range(feed.pdus))
        if feed.pdus > 1:
            for pdu in range(feed.pdus):
                yield f"{feed.name}/{pdu + 1}", frozenset({(at, pdu)})


def loaded(
    devices: list[Device],
    feeds: tuple[Feed, ...],
    lost: frozenset[tuple[int, int]] = frozenset(),
    *,
    peak: bool = False,
) -> Loaded:
    """Loads of the circuits that live when ``lost`` do not.

    Living supplies share what a device draws; one with fewer than it needs to run draws nothing.
    """
    circuits = [(at, pdu) for at, feed in enumerate(feeds) for pdu in range(feed.pdus)]
    living = [circuit for circuit in circuits if circuit not in lost]
    hung = [plug for plug in plugs(devices, feeds) if (plug.feed, plug.pdu) not in lost]
    alive: list[int | None] = []
    lines: dict[tuple[int, int], list[list[Number]]] = {one: [[], [], []] for one in living}
    for number, device in enumerate(devices):
        watts = device.peak if peak else device.watts
        if device.supplies is None:
            alive.append(None)
            for one in living:
                lines[one][0].append(None)
        elif device.on_bus:
            alive.append(_share_bus(device.supplies, watts, feeds, lines))
        else:
            own = [plug for plug in hung if plug.device == number]
            alive.append(len(own))
            watts = left(device, watts, len(own)) if not peak else watts
            for plug in own:
                lines[plug.feed, plug.pdu][plug.line].append(times(watts, 1 / len(own)))
    load = {one: total(watt for line in lines[one] for watt in line) for one in living}
    implied = {one: _implied(lines[one], feeds[one[0]]) for one in living}
    return Loaded(load, implied, tuple(alive), lines)


def _share_bus(
    shares: tuple[int, ...],
    watts: Number,
    feeds: tuple[Feed, ...],
    lines: Mapping[tuple[int, int], list[list[Number]]],
) -> int:
    """Spread what hangs on shelves over the living circuits; shelves load three lines alike."""
    parts = {
        (at, pdu): shares[at] / feed.pdus
        for at, feed in enumerate(feeds)
        for pdu in range(feed.pdus)
        if (at, pdu) in lines
    }
    whole = sum(parts.values())
    for one, part in parts.items():
        if part:
            for line in lines[one]:
                line.append(times(watts, part / whole / 3))
    return round(whole)


def _implied(lines: list[list[Number]], feed: Feed) -> Number:
    """The whole circuit's load if each line carried what the busiest one does, in W."""
    sums = [total(line) for line in lines]
    known = [one for one in sums if one is not None]
    if len(known) < 3:
        return None
    if feed.pdu is None:
        return 3 * max(known)
    if feed.pdu.phases == 1:
        return sum(known)
    if feed.pdu.wiring == "wye":
        return 3 * max(known)
    first, second, third = known
    pairs = ((first, third), (second, first), (third, second))
    # Currents in units of W/V: P = √3 · V · I, and I of a line joins two loads 120° apart.
    return max(sqrt(3) * sqrt(a * a + b * b + a * b) for a, b in pairs)


def outlets_used(devices: list[Device], feeds: tuple[Feed, ...]) -> dict[tuple[int, int, str], int]:
    """C13 and C19 outlets in use, by feed, PDU and type: inlets C14 and C20."""
    used: dict[tuple[int, int, str], int] = {}
    for plug in plugs(devices, feeds):
        supplies = devices[plug.device].product.supplies
        kind = {"C14": "C13", "C20": "C19"}[supplies.inlet if supplies else ""]
        key = plug.feed, plug.pdu, kind
        used[key] = used.get(key, 0) + 1
    return used


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxed:
    """A tap-off box with all racks on it, in W: usable, normal, by the busiest line, and that at worst."""

    racks: int
    usable: Number
    load: Number
    implied: Number
    worst: Number


def _together(state: Loaded, at: int) -> list[list[Number]]:
    """What hangs on each of the three lines of a feed, on all of its PDUs that live."""
    pdus = [lines for (feed, _), lines in state.lines.items() if feed == at]
    return [[watts for lines in pdus for watts in lines[line]] for line in range(3)]


def boxed(devices: list[Device], feeds: tuple[Feed, ...], at: int, racks: int, site: Site) -> Boxed:
    """The box of a feed: the circuits of all racks on it, whichever other feed or PDU is lost.

    Its lines carry those of all its circuits together, so that one PDU's busy line may be another's idle one.

    Args:
        devices: of a rack; the others are like it.
        feeds: of the rack.
        at: which of them.
        racks: in the group.
        site: with its derating.
    """
    feed = feeds[at]
    box = feed.tap_off
    assert box is not None
    on_it = min(box.racks, racks)
    states = [loaded(devices, feeds)]
    states += [loaded(devices, feeds, lost) for name, lost in losses(feeds) if name != feed.name]
    busiest = [times(_implied(_together(one, at), feed), on_it) for one in states]
    known = [one for one in busiest if one is not None]
    circuit = None if feed.circuit is None else replace(feed.circuit, current=box.current)
    share = 1.0 if box.continuous else site.derate
    return Boxed(
        racks=on_it,
        usable=None if circuit is None else carries(circuit, share, site.power_factor),
        load=times(total(states[0].load[one] for one in states[0].load if one[0] == at), on_it),
        implied=busiest[0],
        worst=max(known) if len(known) == len(busiest) else None,
    )


def state(device: Device, alive: int | None) -> str:
    """What becomes of a device with so many living supplies."""
    supplies = device.product.supplies
    if alive == 0:
        return "off"
    if alive is None or supplies is None:
        return "unknown"
    if alive == supplies.count:
        return "full"
    if supplies.full is None:
        return "unknown"
    if alive >= supplies.full:
        return "full"
    if supplies.degraded is None:
        return "unknown"
    return "degraded" if alive >= supplies.degraded else "off"


def left(device: Device, watts: Number, alive: int) -> Number:
    """What a device draws with so many living supplies: what it may while degraded, nothing where it is off."""
    supplies, is_full = device.product.supplies, state(device, alive) == "full"
    if state(device, alive) == "off":
        return 0.0
    if is_full or supplies is None or supplies.full is None or watts is None:
        return watts
    return watts if supplies.degraded_power is None else min(watts, supplies.degraded_power)
