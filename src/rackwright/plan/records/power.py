"""Records of feeds, circuits and power sources: what they carry, normally and after a loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rackwright.model.power import SourceKind
from rackwright.plan.base import Path

DeviceState = Literal["full", "degraded", "off", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedLoad:
    """One feed of one rack of a class, with the load of all its PDUs.

    Attributes:
        rack_class: number of the class of racks.
        feed: name, like ``A``.
        source: name of the power source that it comes from.
        path: its place in the blueprint.
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

    rack_class: int
    feed: str
    source: str
    path: Path
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
    """One PDU, or one hardwired circuit, of one rack of a class, with its outlets and branches.

    Attributes:
        rack_class: number of the class of racks.
        feed: name of its feed.
        pdu: number on the feed, counted from 0.
        path: place of the feed in the blueprint.
        usable_w: continuous capacity, in W.
        load_w: load, in W.
        implied_w: load of the whole circuit if every line carried what the busiest one does, in W.
        peak_w: load when every device peaks, in W.
        imbalance: largest deviation of a line from the mean, as a fraction of the mean.
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

    rack_class: int
    feed: str
    pdu: int
    path: Path
    usable_w: float | None
    load_w: float | None
    implied_w: float | None
    peak_w: float | None
    imbalance: float | None
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
        rack_class: number of the class of racks.
        lost: name of the lost feed, like ``A``, or of the lost PDU, like ``A/2``.
        lost_kind: what is lost.
        feed: name of the feed of the living circuit.
        pdu: number of the living circuit on its feed, counted from 0.
        path: place of that feed in the blueprint.
        load_w: load, in W.
        implied_w: load of the whole circuit if every line carried what the busiest one does, in W.
        usable_w: continuous capacity, in W.
    """

    rack_class: int
    lost: str
    lost_kind: Literal["feed", "pdu"]
    feed: str
    pdu: int
    path: Path
    load_w: float | None
    implied_w: float | None
    usable_w: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicesAfterLoss:
    """Equal nodes or switches of a rack with equal fates after one feed or PDU is lost.

    Attributes:
        rack_class: number of the class of racks.
        entry: catalogue id of the product.
        group: name of the node group or switch tier.
        lost: name of the lost feed, like ``A``, or of the lost PDU, like ``A/2``.
        path: place of the group in the blueprint.
        devices: number of devices.
        alive: living power supplies of each.
        needed_full: power supplies that full performance needs.
        needed_degraded: power supplies that the device needs to run at all.
        state: what becomes of each device.
    """

    rack_class: int
    entry: str
    group: str
    lost: str
    path: Path
    devices: int
    alive: int | None
    needed_full: int | None
    needed_degraded: int | None
    state: DeviceState


@dataclass(frozen=True, slots=True, kw_only=True)
class TapOffLoad:
    """The tap-off box of one feed of a class, with what all racks that share it draw through it.

    Attributes:
        rack_class: number of the class of racks.
        feed: name of the feed.
        source: name of the busway.
        path: its place in the blueprint.
        racks: number of racks that share it, all taken to be like those of the class.
        breakers: number of circuits that leave it.
        current_a: its rating for each line, in A.
        breaker_a: breaker of each of its circuits, in A.
        usable_w: continuous capacity, in W.
        load_w: load, in W.
        implied_w: load if every line carried what the busiest one does, in W.
        worst_w: the highest of that over the normal state and the loss of a feed or PDU, in W.
        worst_lost: name of the feed or PDU whose loss causes that; None for the normal state.
    """

    rack_class: int
    feed: str
    source: str
    path: Path
    racks: int
    breakers: int
    current_a: float
    breaker_a: float | None
    usable_w: float | None
    load_w: float | None
    implied_w: float | None
    worst_w: float | None
    worst_lost: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultCurrent:
    """The short circuit of three phases that a source, or the PDUs of a feed of a class, may see.

    Attributes:
        source: name of the source, or of that of the feed.
        rack_class: number of the class of racks; None for a source.
        feed: name of the feed; None for a source.
        path: place of the source or the feed in the blueprint.
        product: catalogue id of the PDUs; None for a source.
        current_a: largest symmetrical current, in A.
        rating_a: largest one that it stands, in A.
        missing: what keeps the current from being known.
    """

    source: str
    rack_class: int | None
    feed: str | None
    path: Path
    product: str | None
    current_a: float | None
    rating_a: float | None
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoltageDrop:
    """The voltage at the end of one feed of one rack of a class, under its worst load.

    Attributes:
        rack_class: number of the class of racks.
        feed: name of the feed.
        path: its place in the blueprint.
        drop_percent: drop along all conductors behind what regulates the voltage, in % of it.
        lowest_outlet_v: lowest voltage at an outlet, with that drop and the tolerance of the supply, in V.
        highest_outlet_v: highest one, with that tolerance and no load, in V.
        lacks: what nobody says of the drop, but for loads.
        lacks_tolerance: what nobody says of the tolerance of the supply, or of the voltage at the outlets.
        unknown_loads: names of sources on the way whose load is unknown.
    """

    rack_class: int
    feed: str
    path: Path
    drop_percent: float | None
    lowest_outlet_v: float | None
    highest_outlet_v: float | None
    lacks: tuple[str, ...]
    lacks_tolerance: tuple[str, ...]
    unknown_loads: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Autonomy:
    """How long a UPS or a generator of a site with generators carries its load by itself.

    Attributes:
        source: its name.
        kind: what it is.
        path: its place in the blueprint.
        load_w: what it carries at most, by its redundancy, in W; None for a generator as well.
        runtime_s: how long, in s.
    """

    source: str
    kind: Literal["ups", "generator"]
    path: Path
    load_w: float | None
    runtime_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLoad:
    """One power source above the racks.

    Attributes:
        source: name, unique in the site.
        kind: what it is.
        path: its place in the blueprint.
        redundancy: whether it carries its load in the normal state only, or after any loss too.
        capacity_w: continuous capacity, in W.
        overload_w: short-time power that it survives, in W.
        load_w: load while nothing is lost, in W.
        worst_w: highest load over the normal state and the loss of any other source, in W.
        worst_lost: name of the source whose loss causes that; None for the normal state.
        carries_facility: whether what the PUE says beyond the entries hangs on it.
        facility_w: load while nothing is lost, with cooling and losses where it carries them, in W.
        facility_worst_w: highest load with them, in W.
        facility_lost: name of the source whose loss causes that; None for the normal state.
        batteries: names of the UPSs whose batteries are charged through it, in the order written.
        charging_w: the same as ``facility_w`` while all of them are charged, in W.
        charging_worst_w: highest of those over the normal state and the loss of any other source, in W.
        charging_lost: name of the source whose loss causes that; None for the normal state.
        peak_w: the same as ``facility_w`` while every device peaks, in W.
        peak_worst_w: highest of those over the normal state and the loss of any other source, in W.
        peak_lost: name of the source whose loss causes that; None for the normal state.
        step_w: most load that is connected to a generator at once after it has started, in W.
        step_number: the step in which that is; None without one.
        step_lost: name of the source whose loss starts it.
        step_limit_w: most load that a generator takes at once, in W.
        lacks: number without which its load with cooling and losses is unknown, with its fields.
        deviation_w: largest deviation of a line's load from the mean of the three, in W.
        ancestors: names of all sources that can feed it, itself included, sorted.
        missing_parents: parents that it must have beside those that are named.
        idle: whether it feeds neither a rack nor another source.
    """

    source: str
    kind: SourceKind
    path: Path
    redundancy: Literal["N", "N-1"]
    capacity_w: float | None
    overload_w: float | None
    load_w: float | None
    worst_w: float | None
    worst_lost: str | None
    carries_facility: bool
    facility_w: float | None
    facility_worst_w: float | None
    facility_lost: str | None
    batteries: tuple[str, ...]
    charging_w: float | None
    charging_worst_w: float | None
    charging_lost: str | None
    peak_w: float | None
    peak_worst_w: float | None
    peak_lost: str | None
    step_w: float | None
    step_number: int | None
    step_lost: str | None
    step_limit_w: float | None
    lacks: str | None
    deviation_w: float | None
    ancestors: tuple[str, ...]
    missing_parents: int
    idle: bool
