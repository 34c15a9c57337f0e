"""Rear doors: heat exchangers that take heat from the air behind a rack into its loop."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rackwright.model.cooling import AirSupply
from rackwright.model.onprem import Hall, RackGroup
from rackwright.plan.base import Path
from rackwright.plan.expansion import SitePlan


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


def missing_of_doors(site: SitePlan, classes: Collection[int]) -> tuple[str, ...]:
    """What keeps the heat that rear doors of these rack classes take from being known."""
    found: dict[str, None] = {}
    for row in site.rack_classes:
        if row.rack_class in classes and row.mode == "rear-door":
            hall, group = _place(site, row.path)
            found |= dict.fromkeys(_missing(site, hall, group))
    return tuple(found)


def _place(site: SitePlan, where: Path) -> tuple[Hall, RackGroup]:
    hall, row, group = (int(where[n]) for n in (-5, -3, -1))
    found = site.site.halls[hall]
    return found, found.rows[row].rack_groups[group]


def _missing(site: SitePlan, hall: Hall, group: RackGroup) -> Iterator[str]:
    cooling = group.cooling
    for name in ("rear_door_capacity", "rear_door_difference"):
        if getattr(cooling, name) is None:
            yield f"'{name}' of racks {group.racks}"
    if hall.air is None:
        yield f"'air' of the hall '{hall.name}'"
    elif hall.air.temperature_rise is None:
        yield f"'temperature_rise' of the air of the hall '{hall.name}'"
    loop = next((loop for loop in site.site.loops if loop.name == cooling.loop), None)
    if loop is not None and loop.supply_temperature is None:
        yield f"'supply_temperature' of the loop '{loop.name}'"
