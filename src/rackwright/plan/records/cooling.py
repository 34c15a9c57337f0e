"""Records of the machines that carry heat away, stage by stage from the racks to the air outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rackwright.plan.base import Path

StageKind = Literal["air handlers", "CDUs", "pumps", "heat rejection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoolingStage:
    """Units that carry one stream of heat together.

    They are the air handlers of a hall, the CDUs of a loop, the pumps of a circuit of facility water,
    or the chillers, dry coolers and towers that take the heat of such a circuit.

    Attributes:
        kind: what the units are.
        of: name of the hall, the loop or the circuit.
        path: its place in the blueprint.
        halls: names of the halls whose air the heat comes from.
        loops: names of the coolant loops that it comes from.
        units: number of units.
        heat_w: heat that they carry while nothing is lost, in W.
        capacity_w: heat that all of them carry together, in W.
        capacity_n1_w: the same with the largest of them lost, in W.
        lost: name of the source whose loss leaves them the least reserve; None for the normal state.
        lost_units: number of units that it takes; None when unknown.
        lost_heat_w: heat that is left to carry after it, in W.
        lost_capacity_w: heat that the other units carry, in W.
        missing: what keeps these from being known, beside the heat of racks.
    """

    kind: StageKind
    of: str
    path: Path
    halls: tuple[str, ...]
    loops: tuple[str, ...]
    units: int
    heat_w: float | None
    capacity_w: float | None
    capacity_n1_w: float | None
    lost: str | None
    lost_units: int | None
    lost_heat_w: float | None
    lost_capacity_w: float | None
    missing: tuple[str, ...]


Buffer = Literal["flow", "air", "coolant", "water"]
Cause = Literal["generators", "dip", "transfer"]
"""Event that stops machines: the loss of the utility until generators carry load, a dip of its voltage,
or the loss of a source until another one has taken over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RideThrough:
    """Heat that is held back while machines are without power.

    Attributes:
        cause: event that stops them.
        buffer: what holds it; ``flow`` where nothing does, for cold plates whose CDUs stand still.
        of: name of the hall, the loop or the circuit.
        path: its place in the blueprint.
        halls: names of the halls whose air the heat comes from.
        loops: names of the coolant loops that it comes from.
        gap_s: time without cooling, in seconds; 0 where batteries keep enough of it running.
        least_gap_s: shortest that time can be where it is unknown, in seconds.
        holds_s: time in which the buffer warms up as far as it may, in seconds.
        rise_k: by how much it may, in K.
        heat_w: heat that it takes, in W.
        missing: what keeps these from being known, beside the heat of racks.
    """

    cause: Cause
    buffer: Buffer
    of: str
    path: Path
    halls: tuple[str, ...]
    loops: tuple[str, ...]
    gap_s: float | None
    least_gap_s: float
    holds_s: float | None
    rise_k: float | None
    heat_w: float | None
    missing: tuple[str, ...]


Bulb = Literal["dry bulb", "wet bulb"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutdoorUnits:
    """Machines that reject heat to the air outside, on the day that the site is designed for.

    Attributes:
        machine: what people call them, like ``plant 'dry-coolers'``.
        path: their place in the blueprint.
        bulb: which outdoor temperature they depend on.
        design_c: that temperature on the design day, in °C.
        rated_c: the temperature at which they carry their capacity, in °C.
        missing: what keeps these from being known.
    """

    machine: str
    path: Path
    bulb: Bulb
    design_c: float | None
    rated_c: float | None
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UncooledWater:
    """Facility water of a loop that no chiller cools: it is no colder than the air outside.

    Attributes:
        loop: name of the loop.
        path: its place in the blueprint.
        bulb: which outdoor temperature it depends on: the wet bulb behind cooling towers.
        supply_c: its temperature at the CDUs, in °C.
        design_c: that outdoor temperature on the design day, in °C.
        missing: what keeps these from being known.
    """

    loop: str
    path: Path
    bulb: Bulb
    supply_c: float | None
    design_c: float | None
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FreezingUnits:
    """Machines with water in the open air, on the coldest day that the site is designed for.

    Attributes:
        machine: words for them, like ``plant 'dry-coolers'``.
        path: their place in the blueprint.
        coldest_c: temperature of that day, in °C.
        freezes_c: temperature at which what flows through them freezes, in °C.
        missing: facts that would make these known.
    """

    machine: str
    path: Path
    coldest_c: float | None
    freezes_c: float | None
    missing: tuple[str, ...]


FitKind = Literal["coil", "class", "door", "plates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaterFit:
    """Water and what it is to cool, or is declared to be.

    Attributes:
        kind: a coil of air handlers, the class of a loop's facility water, a rear door, or cold plates.
        machine: words for what the water reaches.
        path: its place in the blueprint.
        water_c: temperature of the water, in °C.
        limit_c: warmest that works, in °C.
        missing: facts that would make these known.
    """

    kind: FitKind
    machine: str
    path: Path
    water_c: float | None
    limit_c: float | None
    missing: tuple[str, ...]
