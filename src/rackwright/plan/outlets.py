"""Outlets and branch breakers of the PDUs of one rack: how many are used, and what they carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rackwright.model.hardware import Outlets, Pdu, fact_value
from rackwright.model.power import RackFeed
from rackwright.plan.content import PlacedDevice
from rackwright.plan.electrical import outlet_voltage
from rackwright.plan.wiring import Plug, hangs_anywhere


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


def outlets_used(
    devices: Sequence[PlacedDevice], plugs: Sequence[Plug]
) -> Mapping[str, int] | None:
    """Outlets in use by type, of the PDU that has ``plugs``; ``devices`` are all of its rack.

    None when a device's number of supplies is unknown.
    """
    if any(hangs_anywhere(device) for device in devices):
        return None
    inlets = [devices[plug.device].psu_inlet for plug in plugs]
    return {"C13": inlets.count("C14"), "C19": inlets.count("C20") + inlets.count("C22")}


def outlet_count(outlets: Mapping[str, Outlets] | None, kind: str) -> int | None:
    """Outlets of one type; None when the maker does not list them."""
    return None if outlets is None else (outlets[kind].count if kind in outlets else 0)


def outlet_rating(outlets: Mapping[str, Outlets] | None, kind: str) -> float | None:
    """Rating in A of the outlets of one type."""
    return outlets[kind].rating.value if outlets and kind in outlets else None


def outlet_currents(
    devices: Sequence[PlacedDevice],
    plugs: Sequence[Plug],
    pdu: Pdu | None,
    feed: RackFeed,
    power_factor: float,
) -> OutletCurrents:
    """Largest current at one outlet of each type and on one branch, in A, from the supplies' ratings.

    A supply may draw its rating as soon as its partners are lost, so the rating counts and not
    the share of the load. Outlets are dealt over the branches in turn.

    Args:
        devices: all of the rack.
        plugs: those on the PDU's circuit.
        pdu: the PDU; None where the circuit ends in the product itself.
        feed: the feed that it hangs on.
        power_factor: of the supplies.
    """
    if pdu is None:
        return _UNKNOWN
    line = feed.circuit.voltage if feed.circuit else pdu.voltage.value
    volts = outlet_voltage(line, pdu.phases, pdu.wiring)
    supplies = [devices[plug.device] for plug in plugs]
    unknown = any(d.psu_rating is None and d.power is None for d in supplies)
    if unknown or any(hangs_anywhere(device) for device in devices):
        return _UNKNOWN
    amperes = [_supply_current(d, volts, power_factor) for d in supplies]
    small = [a for a, d in zip(amperes, supplies, strict=True) if d.psu_inlet == "C14"]
    large = [a for a, d in zip(amperes, supplies, strict=True) if d.psu_inlet != "C14"]
    branches = fact_value(pdu.branch_count)
    worst_branch = None
    if branches:
        sums = [sum(amperes[start::branches]) for start in range(min(branches, len(amperes)))]
        worst_branch = max(sums, default=0.0)
    return OutletCurrents(max(small, default=0.0), max(large, default=0.0), worst_branch)


def _supply_current(device: PlacedDevice, volts: float, power_factor: float) -> float:
    """Current of one supply: its rating in VA, or the whole device through one supply."""
    if device.psu_rating is not None:
        return device.psu_rating / volts
    return (device.power or 0.0) / (volts * power_factor)
