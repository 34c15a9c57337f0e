"""Electrical arithmetic: capacities, line currents and imbalance. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

Legs = tuple[float, float, float]


def circuit_capacity(
    voltage: float, current: float, phases: Literal[1, 3], *, derate: float, power_factor: float
) -> float:
    """Return the real power in W that a circuit may carry continuously.

    Three phases: √3·V·I·derate·pf with V line to line; one phase: V·I·derate·pf. ``derate`` is
    0.8 under NEC 210.20(A) and 215.3, and 1 for a device rated for 100 % continuous load.
    """
    root = math.sqrt(3) if phases == 3 else 1.0
    return root * voltage * current * derate * power_factor


def outlet_voltage(voltage: float, phases: Literal[1, 3], wiring: Literal["wye", "delta"]) -> float:
    """Return the voltage at an outlet in V: line to neutral behind a wye, line to line behind a delta."""
    return voltage / math.sqrt(3) if phases == 3 and wiring == "wye" else voltage


def line_implied_power(legs: Legs, wiring: Literal["wye", "delta"]) -> float:
    """Return the power in W of a balanced load whose lines all carry what the busiest line carries.

    A circuit trips on its busiest line, so this is what has to be compared with its capacity.
    Behind a wye each leg loads one line. Behind a delta the current of line 1 follows from its
    two legs by √(I12² + I31² + I12·I31), at equal power factors.
    """
    if wiring == "wye":
        return 3 * max(legs)
    ab, bc, ca = legs
    pairs = ((ab, ca), (ab, bc), (bc, ca))
    return math.sqrt(3) * max(math.sqrt(a * a + b * b + a * b) for a, b in pairs)


def line_deviation(legs: Legs) -> float:
    """Return the largest deviation of a leg from the mean, in the unit of ``legs``."""
    mean = sum(legs) / 3
    return max(abs(leg - mean) for leg in legs)


def spread(count: int, places: int, *, start: int = 0) -> tuple[int, ...]:
    """Return the number of ``count`` things in each of ``places``, dealt in turn from ``start``."""
    base, rest = divmod(count, places)
    extra = {(start + index) % places for index in range(rest)}
    return tuple(base + (place in extra) for place in range(places))


def rotate(legs: Sequence[float], by: int) -> Legs:
    """Return ``legs`` connected ``by`` lines further on."""
    a, b, c = (legs[(index - by) % 3] for index in range(3))
    return a, b, c
