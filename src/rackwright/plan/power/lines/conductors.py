"""Electrical arithmetic of conductors: what they limit of a short circuit, and what voltage they drop.

Pure functions. Of each conductor by IEC 60364-5-52:2009, annex G: a copper line of 1 mm² has 22.5 mΩ/m
in service and one of aluminium 36 mΩ/m, which is 1.25 times that at 20 °C, and its reactance is taken as
0.08 mΩ/m unless another one is stated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

from rackwright.model.power import Conductors
from rackwright.plan.records.racks import RackClass

RESISTIVITY: dict[str, float] = {"copper": 22.5, "aluminium": 36.0}
"""In service, in mΩ·mm²/m."""
WARM = 1.25
"""Resistance in service over that at 20 °C."""
REACTANCE = 0.08
"""In mΩ/m."""


OfFeeds = Mapping[tuple[RackClass, str], Conductors | None]
"""Of the circuits of feeds, by number of the class of racks and name of the feed."""


class Impedance(NamedTuple):
    """Impedance of one line, in Ω."""

    resistance: float = 0.0
    reactance: float = 0.0

    def plus(self, other: Impedance) -> Impedance:
        """Return both in series."""
        return Impedance(self.resistance + other.resistance, self.reactance + other.reactance)


def in_service(conductors: Conductors) -> Impedance:
    """Return the impedance of one line of ``conductors`` at their temperature in service."""
    metres = conductors.length / conductors.parallel / 1000
    resistance, reactance = conductors.resistance, conductors.reactance
    if resistance is None or reactance is None:
        area, metal = conductors.cross_section, conductors.material
        assert area is not None  # noqa: S101 - conductors have the one pair or the other
        assert metal is not None  # noqa: S101
        resistance, reactance = RESISTIVITY[metal] / area, REACTANCE
    return Impedance(resistance * metres, reactance * metres)


def when_cold(conductors: Conductors) -> Impedance:
    """Return the least of one line: at 20 °C, and without a reactance that is only assumed."""
    warm = in_service(conductors)
    return Impedance(
        warm.resistance / WARM, 0.0 if conductors.reactance is None else warm.reactance
    )


def transformer_fault_current(rating: float, voltage: float, impedance: float) -> float:
    """Return the current in A of a short circuit of three phases behind a transformer on an infinite bus.

    S/(√3·V·z), with the rating in VA, the secondary voltage in V, line to line, and the short-circuit
    impedance in %: no network in front of it limits more than the transformer itself.
    """
    return rating / (math.sqrt(3) * voltage * impedance / 100)


def limited_fault_current(current: float, voltage: float, line: Impedance) -> float:
    """Return the most of ``current``, in A, that is left behind conductors at ``voltage``, line to line.

    Impedances in the first quadrant add up to no less than the root of the sum of their squares. So
    this is never too low, though the angle of the supply is unknown.
    """
    before = voltage / (math.sqrt(3) * current)
    whole = math.sqrt(before**2 + line.resistance**2 + line.reactance**2)
    return voltage / (math.sqrt(3) * whole)


def voltage_drop(
    power: float, voltage: float, phases: Literal[1, 3], power_factor: float, line: Impedance
) -> float:
    """Drop along a circuit in % of its voltage (IEC 60364-5-52, annex G).

    b·(R·cos φ + X·sin φ)·I by the voltage of a line, b = 1, with three phases; b = 2 with one.

    Args:
        power: in W, that its busiest line implies.
        voltage: in V, line to line for three phases.
        phases: of the circuit.
        power_factor: of the load; taken as lagging.
        line: of one line, in service.
    """
    sine = math.sqrt(1 - power_factor**2)
    ohms = line.resistance * power_factor + line.reactance * sine
    amperes = power / ((math.sqrt(3) if phases == 3 else 1.0) * voltage * power_factor)
    times = math.sqrt(3) if phases == 3 else 2.0
    return 100 * times * ohms * amperes / voltage
