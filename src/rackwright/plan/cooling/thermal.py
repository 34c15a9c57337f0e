"""Cooling arithmetic: heat, airflow, coolant flow. Pure functions."""

from __future__ import annotations

from rackwright.model.cooling import Fluid

CFM_PER_WATT_KELVIN = 1.756
"""Airflow in CFM that carries 1 W at a rise of 1 K, at sea level (3.16 with °F)."""
_LAPSE_OVER_SEA_LEVEL = 0.0065 / 288.15
"""Fall of the temperature in K/m over 288.15 K: International Standard Atmosphere, ISO 2533:1975."""
_DENSITY_EXPONENT = 9.80665 * 0.0289644 / (8.31432 * 0.0065) - 1
"""g₀·M / (R·L) - 1 = 4.25588 of the same standard, whose R is 8,314.32 J/(kmol·K)."""
_TROPOPAUSE = 11_000.0
"""Altitude in m up to which they hold."""
_AIR = 1.2 * 1006
"""Heat in J that warms 1 m³ of air by 1 K: 1.2 kg/m³ × 1,006 J/(kg·K), standard air (ASHRAE)."""
LEAKAGE = {"hot-aisle": 1.1, "cold-aisle": 1.1, "none": 1.3}
"""Supply air needed per unit of device airflow, by containment."""

_FLUIDS: dict[Fluid, tuple[float, float]] = {"water": (0.997, 4.18), "pg25": (1.02, 3.95)}
"""Density in kg/L and specific heat in kJ/(kg·K)."""


def airflow_for(watts: float, rise: float) -> float:
    """Return the airflow in CFM that carries ``watts`` at a temperature rise of ``rise`` K at sea level."""
    return CFM_PER_WATT_KELVIN * watts / rise


def volumetric_heat(fluid: Fluid, stated: float | None = None) -> float | None:
    """Return the heat in kJ that a litre of ``fluid`` takes for each K, ρ·cp; ``stated`` for a dielectric one."""
    if fluid not in _FLUIDS:
        return stated
    density, heat_capacity = _FLUIDS[fluid]
    return density * heat_capacity


def coolant_flow(watts: float, rise: float, heat_capacity: float | None) -> float | None:
    """Return the flow in L/min that carries ``watts``: 60·kW / (ρ·cp·ΔT); None where ρ·cp is unknown.

    Args:
        watts: heat.
        rise: of the coolant's temperature in K.
        heat_capacity: of the coolant, in kJ/L/K.
    """
    return None if heat_capacity is None else 60 * (watts / 1000) / (heat_capacity * rise)


def air_heat_capacity(volume: float, density: float) -> float:
    """Return the J/K of ``volume`` m³ of air of a ``density`` relative to that at sea level."""
    return _AIR * density * volume


def fluid_heat_capacity(volume: float, heat_capacity: float) -> float:
    """Return the J/K of ``volume`` m³ of a fluid that takes ``heat_capacity`` kJ/L/K: V·ρ·cp."""
    return volume * heat_capacity * 1e6


def time_to_warm(heat_capacity: float, rise: float, watts: float) -> float:
    """Return the seconds in which ``watts`` warm ``heat_capacity`` J/K by ``rise`` K, mixed well: C·ΔT / P."""
    return heat_capacity * max(0.0, rise) / watts


def density_ratio(altitude: float) -> float:
    """Return the air density at ``altitude`` m relative to sea level, 0 above the troposphere.

    ρ/ρ₀ = (1 - L·h/T₀)^(g₀·M/(R·L) - 1) of the International Standard Atmosphere (ISO 2533:1975).
    """
    if altitude > _TROPOPAUSE:
        return 0.0
    return float((1 - _LAPSE_OVER_SEA_LEVEL * altitude) ** _DENSITY_EXPONENT)


def at_density(capacity: float, density: float | None) -> float | None:
    """Return the sensible capacity in W of an air handler rated at ``capacity`` W at sea level.

    Fans move the same volume and the coil keeps its temperatures, so that the heat carried,
    V·ρ·cp·ΔT, falls with the density (ASHRAE Handbook, Fundamentals, psychrometrics).
    """
    return capacity * density if density else None


def without_largest(each: float, count: int) -> float:
    """Return the capacity of ``count`` equal units with one of them lost."""
    return each * (count - 1)
