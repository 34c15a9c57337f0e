"""Feeds and circuits of one rack: what they carry, normally and after a loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rackwright.plan.base import Path

DeviceState = Literal["full", "degraded", "off", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedLoad:
    """One feed of one rack, with the load of all its PDUs.

    Attributes:
        feed: name, like ``A``.
        pdu_entry: catalogue id of its PDUs; None where the circuit ends in the product itself.
        pdus: number of equal PDUs or circuits.
        voltage_v: voltage of the stated circuit, line to line for three phases, in V.
        pdu_voltage_v: voltage that the PDU is rated for, in V; None without a PDU.
        current_a: rating of the PDU's plug and breaker for each line, in A.
        circuit_current_a: breaker of the branch circuit, in A; None where none is stated.
        continuous_rated: whether that breaker is rated for 100 % continuous load.
        phases: 1 or 3.
        wiring: how outlets see the lines, ``wye`` or ``delta``; None without a PDU.
        outlet_voltage_v: voltage at an outlet, in V.
        usable_w: continuous capacity of one PDU with its stated circuit, in W.
        load_w: load of all PDUs, in W.
        peak_w: load of all PDUs when every device peaks, in W.
        short_circuit_rating_a: largest fault current that a PDU stands, in A.
    """

    feed: str
    pdu_entry: str | None
    pdus: int
    voltage_v: float | None
    pdu_voltage_v: float | None
    current_a: float | None
    circuit_current_a: float | None
    continuous_rated: bool
    phases: int | None
    wiring: str | None
    outlet_voltage_v: float | None
    usable_w: float | None
    load_w: float | None
    peak_w: float | None
    short_circuit_rating_a: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitLoad:
    """One PDU, or one hardwired circuit, of one rack, with its outlets and branches.

    Attributes:
        feed: name of its feed.
        pdu: number on the feed, counted from 0.
        usable_w: continuous capacity, in W.
        load_w: load, in W.
        implied_w: load of the whole circuit if every line carried what the busiest one does, in W.
        peak_w: load when every device peaks, in W.
        c13_used: C13 outlets in use.
        c13_available: C13 outlets of the PDU.
        c13_worst_a: largest current at a C13 outlet, in A.
        c13_rating_a: rating of a C13 outlet, in A.
        c19_used: C19 outlets in use.
        c19_available: C19 outlets of the PDU.
        c19_worst_a: largest current at an outlet of another type than C13, in A.
        c19_rating_a: rating of a C19 outlet, in A.
        branches: number of branch breakers.
        branch_worst_a: current of the busiest branch breaker, in A.
        branch_rating_a: rating of a branch breaker, in A.
    """

    feed: str
    pdu: int
    usable_w: float | None
    load_w: float | None
    implied_w: float | None
    peak_w: float | None
    c13_used: int | None
    c13_available: int | None
    c13_worst_a: float | None
    c13_rating_a: float | None
    c19_used: int | None
    c19_available: int | None
    c19_worst_a: float | None
    c19_rating_a: float | None
    branches: int | None
    branch_worst_a: float | None
    branch_rating_a: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitAfterLoss:
    """A circuit that lives on after one feed or one PDU of its rack is lost.

    Attributes:
        lost: name of the lost feed, like ``A``, or of the lost PDU, like ``A/2``.
        lost_kind: what is lost.
        feed: name of the feed of the living circuit.
        pdu: number of the living circuit on its feed, counted from 0.
        load_w: load, in W.
        implied_w: load of the whole circuit if every line carried what the busiest one does, in W.
        usable_w: continuous capacity, in W.
    """

    lost: str
    lost_kind: Literal["feed", "pdu"]
    feed: str
    pdu: int
    load_w: float | None
    implied_w: float | None
    usable_w: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicesAfterLoss:
    """Equal nodes or switches of a rack with equal fates after one feed or PDU is lost.

    Attributes:
        entry: catalogue id of the product.
        group: name of the node group or switch tier.
        lost: name of the lost feed, like ``A``, or of the lost PDU, like ``A/2``.
        path: place of the group in the blueprint.
        devices: number of devices.
        alive: living power supplies of each.
        needed_full: power supplies that full performance needs.
        state: what becomes of each device.
    """

    entry: str
    group: str
    lost: str
    path: Path
    devices: int
    alive: int | None
    needed_full: int | None
    state: DeviceState
