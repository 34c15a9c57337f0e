"""Power sources and the conductors below them: loads, fault currents, voltage drops, runtimes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rackwright.model.power import SourceKind
from rackwright.plan.base import Path
from rackwright.plan.records.racks import RackClass


@dataclass(frozen=True, slots=True, kw_only=True)
class TapOffLoad:
    """The tap-off box of one feed of a class, with what all racks that share it draw through it.

    Attributes:
        rack: the racks.
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

    rack: RackClass
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
        rack: the racks; None for a source.
        feed: name of the feed; None for a source.
        path: place of the source or the feed in the blueprint.
        product: catalogue id of the PDUs; None for a source.
        current_a: largest symmetrical current, in A.
        rating_a: largest one that it stands, in A.
        missing: what keeps the current from being known.
    """

    source: str
    rack: RackClass | None
    feed: str | None
    path: Path
    product: str | None
    current_a: float | None
    rating_a: float | None
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoltageZone:
    """Sources and circuits that are joined without a transformer, so that they have one voltage.

    Attributes:
        source: name of the source at its top; of several the first by name.
        path: its place in the blueprint.
        highest_v: highest voltage that is stated in it, line to line, in V; None where none is.
        lowest_v: lowest voltage that is stated in it, line to line, in V; None where none is.
        highest: words for the source or feed with the highest one.
        lowest: words for the source or feed with the lowest one.
    """

    source: str
    path: Path
    highest_v: float | None
    lowest_v: float | None
    highest: str
    lowest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRating:
    """The conductors of a circuit with what protects them: those to a source, or to the PDUs of a feed.

    Attributes:
        source: name of the source at their end, or of that of the feed.
        rack: the racks; None for conductors to a source.
        feed: name of the feed; None for conductors to a source.
        path: place of the source or the feed in the blueprint.
        line: words for the conductors, like ``16 mm² of copper``.
        material: copper or aluminium; None for busbars.
        cross_section_mm2: of one of them, in mm²; None for busbars.
        parallel: conductors of each phase.
        breaker_a: rating of the breaker that protects them, or the current of what they may carry, in A.
        carries_a: current that they carry where they are laid, in A.
        protects_a: largest breaker that may protect them, in A; the same but for the NEC's next size up.
        highest_a: most that any table allows for them, in A.
        fault_a: least current of a fault at their end, of one line, in A.
        above_a: rating of the next breaker above that one, in A; None where no circuit above has one.
        missing: facts that would make the ampacity known.
        missing_fault: facts that would make the fault current known.
    """

    source: str
    rack: RackClass | None
    feed: str | None
    path: Path
    line: str
    material: str | None
    cross_section_mm2: float | None
    parallel: int
    breaker_a: float | None
    carries_a: float | None
    protects_a: float | None
    highest_a: float | None
    fault_a: float | None
    above_a: float | None
    missing: tuple[str, ...]
    missing_fault: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoltageDrop:
    """The voltage at the end of one feed of one rack of a class, under its worst load.

    Attributes:
        rack: the racks.
        feed: name of the feed.
        path: its place in the blueprint.
        drop_percent: drop along all conductors behind what regulates the voltage, in % of it.
        lowest_outlet_v: lowest voltage at an outlet, with that drop and the tolerance of the supply, in V.
        highest_outlet_v: highest one, with that tolerance and no load, in V.
        lacks: unknown facts about the drop, except loads.
        lacks_tolerance: unknown facts about the tolerance of the supply, or of the voltage at the outlets.
        unknown_loads: names of sources on the way whose load is unknown.
    """

    rack: RackClass
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
    """Time for which a UPS or a generator of a site with generators carries its load by itself.

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
