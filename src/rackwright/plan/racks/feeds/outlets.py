"""Outlets and branch breakers of the PDUs of one rack: how many are used, and what they carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from rackwright.model.hardware import Outlets, Pdu, fact_value
from rackwright.model.power import RackFeed
from rackwright.plan.power.electrical import outlet_voltage
from rackwright.plan.racks.feeds.wiring import Plug, device_state, hangs_anywhere
from rackwright.plan.records.racks import RackDevice


class OutletCurrents(NamedTuple):
    """The largest currents of one PDU in A; None when unknown.

    Attributes:
        c13: at one C13 outlet.
        c19: at one outlet of another type.
        branch: through one branch breaker.
    """

    c13: float | None
    c19: float | None
    branch: float | None


_UNKNOWN = OutletCurrents(None, None, None)


def outlets_used(devices: Sequence[RackDevice], plugs: Sequence[Plug]) -> Mapping[str, int] | None:
    """Return the outlets in use by type, of the PDU that has ``plugs``; ``devices`` are all of its rack.

    None when a device's number of supplies, or the inlet of one that has a plug, is unknown.
    """
    if any(hangs_anywhere(device) for device in devices):
        return None
    inlets = [devices[plug.device].psu_inlet for plug in plugs]
    if None in inlets:
        return None
    return {"C13": inlets.count("C14"), "C19": inlets.count("C20") + inlets.count("C22")}


def outlets_available(
    outlets: Mapping[str, Outlets] | None, used: Mapping[str, int] | None
) -> Mapping[str, int | None]:
    """Return the outlets that there are for plugs of a C13 and of a C19; None when the maker does not list them.

    A C39 takes either: those that plugs of a C19 need are not there for plugs of a C13.
    """
    if outlets is None:
        return {"C13": None, "C19": None}
    c13, c19, either = (
        outlets[kind].count if kind in outlets else 0 for kind in ("C13", "C19", "C39")
    )
    taken = 0 if used is None else min(either, max(0, used["C19"] - c19))
    return {"C13": c13 + either - taken, "C19": c19 + either}


def outlet_rating(outlets: Mapping[str, Outlets] | None, kind: str) -> float | None:
    """Return the least rating in A of the outlets that take plugs of a C13, or of a C19."""
    listed = outlets or {}
    ratings = [listed[name].rating.value for name in (kind, "C39") if name in listed]
    return min(ratings, default=None)


def worst_shares(
    devices: Sequence[RackDevice], plugs: Sequence[Plug], losses: Sequence[AbstractSet[int]]
) -> Sequence[float | None]:
    """Return W that one supply of each device draws at worst; None when the device's power is unknown.

    Living supplies share the power of their device equally. The fewest live after the loss of a feed
    or PDU, or of one supply.

    Args:
        devices: all of the rack.
        plugs: all of theirs.
        losses: the circuits that die with each feed or PDU.
    """
    circuits: list[list[int]] = [[] for _ in devices]
    for plug in plugs:
        circuits[plug.device].append(plug.circuit)
    return [
        _worst_share(device, mine, losses) for device, mine in zip(devices, circuits, strict=True)
    ]


def _worst_share(
    device: RackDevice, circuits: Sequence[int], losses: Sequence[AbstractSet[int]]
) -> float | None:
    """Return the same of one device, whose supplies hang on ``circuits``."""
    living = {len(circuits), len(circuits) - 1}
    living |= {sum(circuit not in lost for circuit in circuits) for lost in losses}
    worst = 0.0
    for alive in living:
        if alive <= 0:
            continue
        power = device_state(device, alive)[1]
        if power is None:
            return None
        worst = max(worst, power / alive)
    return worst


def outlet_currents(
    devices: Sequence[RackDevice],
    plugs: Sequence[Plug],
    pdu: Pdu | None,
    feed: RackFeed,
    power_factor: float,
    shares: Sequence[float | None],
) -> OutletCurrents:
    """Return the largest current at one outlet of each type and on one branch of a PDU, in A.

    Outlets are dealt over the branches in turn.

    Args:
        devices: all of the rack.
        plugs: those on the PDU's circuit.
        pdu: the PDU; None where the circuit ends in the product itself.
        feed: the feed that it hangs on.
        power_factor: of the load.
        shares: W that one supply of each device draws at worst.
    """
    if pdu is None or feed.circuit is None or any(hangs_anywhere(device) for device in devices):
        return _UNKNOWN
    volts = outlet_voltage(feed.circuit.voltage, pdu.phases, pdu.wiring) * power_factor
    if not volts:
        return _UNKNOWN
    amperes = []
    for plug in plugs:
        current = _supply_current(devices[plug.device], shares[plug.device], volts)
        if current is None:
            return _UNKNOWN
        amperes.append(current)
    inlets = [devices[plug.device].psu_inlet for plug in plugs]
    small = [a for a, inlet in zip(amperes, inlets, strict=True) if inlet == "C14"]
    large = [a for a, inlet in zip(amperes, inlets, strict=True) if inlet != "C14"]
    branches = fact_value(pdu.branch_count)
    worst_branch = None
    if branches:
        sums = [sum(amperes[start::branches]) for start in range(min(branches, len(amperes)))]
        worst_branch = max(sums, default=0.0)
    if None in inlets:
        return OutletCurrents(None, None, worst_branch)
    return OutletCurrents(max(small, default=0.0), max(large, default=0.0), worst_branch)


def _supply_current(device: RackDevice, share: float | None, volts: float) -> float | None:
    """Return the most input current of one supply in A; ``volts`` is its voltage times its power factor.

    The least of what bounds it: its share of the device's power, its plate, and what its rated output
    takes at its efficiency. None where nothing does.
    """
    bounds = [share / volts if share is not None else None, device.psu_current_a]
    if device.psu_rating_w is not None and device.psu_efficiency_percent is not None:
        bounds.append(device.psu_rating_w / (device.psu_efficiency_percent / 100) / volts)
    return min((bound for bound in bounds if bound is not None), default=None)
