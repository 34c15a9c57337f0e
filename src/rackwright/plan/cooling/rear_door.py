"""Rear doors: heat exchangers that take heat from the air behind a rack into its loop."""

from __future__ import annotations

from rackwright.model.cooling import AirSupply


def heat_taken(
    heat: float | None,
    capacity: float | None,
    *,
    rated: float | None,
    air: float | None,
    water: float | None,
) -> float | None:
    """Heat in W that a door moves from the air into its water; None when a number is unknown.

    At given flows a heat exchanger moves heat in proportion to the difference between the temperatures
    at its two inlets (effectiveness; Kays and London, Compact Heat Exchangers). Water as warm as the
    air takes nothing, and no door is credited with more than its rating.

    Args:
        heat: W that the rack gives to the air.
        capacity: W of the door's rating.
        rated: difference in K between air and water at which that holds.
        air: temperature in °C of the air that reaches the door.
        water: temperature in °C of the water that reaches it.
    """
    if heat is None or capacity is None or not rated or air is None or water is None:
        return None
    share = min(1.0, max(0.0, air - water) / rated)
    return min(heat, capacity * share)


def exhaust(air: AirSupply | None) -> float | None:
    """Temperature in °C of the air behind the racks of a hall: its inlets' and the rise."""
    if air is None or air.temperature_rise is None:
        return None
    return air.inlet_temperature + air.temperature_rise
