"""Cooling arithmetic: heat, airflow, coolant flow. Pure functions."""

from __future__ import annotations

from typing import Literal

CFM_PER_WATT_KELVIN = 1.756
"""Airflow in CFM that carries 1 W at a rise of 1 K, at sea level (3.16 with °F)."""
DENSITY_LOSS_PER_METRE = 0.035 / 300
"""Relative loss of air density, 3.5 % in 300 m."""
LEAKAGE = {"hot-aisle": 1.1, "cold-aisle": 1.1, "none": 1.3}
"""Supply air needed per unit of device airflow, by containment."""

_FLUIDS: dict[str, tuple[float, float]] = {"water": (0.997, 4.18), "pg25": (1.02, 3.95)}
"""Density in kg/L and specific heat in kJ/(kg·K)."""

Fluid = Literal["water", "pg25"]


def airflow_for(watts: float, rise: float) -> float:
    """Airflow in CFM that carries ``watts`` at a temperature rise of ``rise`` K at sea level."""
    return CFM_PER_WATT_KELVIN * watts / rise


def heat_carried(cfm: float, rise: float) -> float:
    """Heat in W that ``cfm`` carries at a rise of ``rise`` K: the inverse of ``airflow_for``."""
    return cfm * rise / CFM_PER_WATT_KELVIN


def coolant_flow(watts: float, rise: float, fluid: Fluid) -> float:
    """Flow in L/min that carries ``watts``: 60·kW / (ρ·cp·ΔT)."""
    density, heat_capacity = _FLUIDS[fluid]
    return 60 * (watts / 1000) / (density * heat_capacity * rise)


def density_ratio(altitude: float) -> float:
    """Air density at ``altitude`` m relative to sea level."""
    return max(0.0, 1 - DENSITY_LOSS_PER_METRE * altitude)


def without_largest(each: float, count: int) -> float:
    """Capacity of ``count`` equal units with one of them lost."""
    return each * (count - 1)
