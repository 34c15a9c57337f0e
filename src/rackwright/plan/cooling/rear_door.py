"""Rear doors: heat exchangers that take heat from the air behind a rack into its loop.

A number that the blueprint writes beside the product of a door holds instead of the product's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rackwright.catalog.loader import Catalogue
from rackwright.model.cooling import AirSupply, RackCooling
from rackwright.model.hardware import fact_value
from rackwright.model.onprem import RackGroup
from rackwright.model.plant import RearDoor
from rackwright.plan.base import Path
from rackwright.plan.missing import ProductField
from rackwright.plan.problems import PlanProblem


def heat_taken(
    heat: float | None,
    capacity: float | None,
    *,
    rated: float | None,
    air: float | None,
    water: float | None,
) -> float | None:
    """Return the heat in W that a door moves from the air into its water; None when a number is unknown.

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
    """Return the temperature in °C of the air behind the racks of a hall: its inlets' and the rise."""
    if air is None or air.temperature_rise is None:
        return None
    return air.inlet_temperature + air.temperature_rise


@dataclass(frozen=True, slots=True)
class Door:
    """The door of one rack; None if a number is unknown.

    Attributes:
        product: catalogue id; None where the blueprint names none.
        capacity: heat in W that it takes from the air at ``difference``.
        difference: air minus water in K at which that holds.
        weight: with its water, in kg.
        flow: L/min that its maker asks for.
        rated_drop: pressure drop of the product at ``flow``, in kPa.
        drop: pressure drop at the flow that its heat needs, in kPa, as the blueprint says.
    """

    product: str | None
    capacity: float | None
    difference: float | None
    weight: float | None
    flow: float | None
    rated_drop: float | None
    drop: float | None


def door_of(cooling: RackCooling, catalogue: Catalogue) -> Door | None:
    """Return the door of racks that are cooled so; None without one.

    Raises:
        UnknownEntryError: its product is not in the catalogue.
    """
    if cooling.door_loop is None:
        return None
    entry = _entry(cooling, catalogue)
    capacity, difference = cooling.rear_door_capacity, cooling.rear_door_difference
    weight = cooling.rear_door_weight
    if entry is not None:
        capacity = _capacity_at(entry, difference) if capacity is None else capacity
        difference = fact_value(entry.difference) if difference is None else difference
        weight = fact_value(entry.weight) if weight is None else weight
    return Door(
        product=cooling.rear_door,
        capacity=capacity,
        difference=difference,
        weight=weight,
        flow=None if entry is None else fact_value(entry.flow),
        rated_drop=None if entry is None else fact_value(entry.pressure_drop),
        drop=cooling.rear_door_pressure_drop,
    )


def _entry(cooling: RackCooling, catalogue: Catalogue) -> RearDoor | None:
    return None if cooling.rear_door is None else catalogue.get(RearDoor, cooling.rear_door)


def _capacity_at(entry: RearDoor, difference: float | None) -> float | None:
    """Return the heat in W that a product takes at a difference in K: in proportion, and at most its capacity.

    Without one of both differences, its capacity.
    """
    capacity, rated = fact_value(entry.capacity), fact_value(entry.difference)
    if capacity is None or difference is None or rated is None:
        return capacity
    return float(capacity * min(1.0, difference / rated))


def ways_of(product: str | None, name: str) -> tuple[ProductField, ...]:
    """Return the field of a door's entry that says a number; none where the blueprint names no product."""
    return () if product is None else (ProductField(product, name),)


def named_doors(
    groups: Iterable[tuple[RackGroup, Path]],
) -> Iterator[tuple[type[RearDoor], str, Path]]:
    """Yield the products that racks name as their doors: kind, id and place.

    Args:
        groups: racks, with their place in the blueprint.
    """
    for group, where in groups:
        if group.cooling.rear_door is not None:
            yield RearDoor, group.cooling.rear_door, (*where, "cooling", "rear_door")


def check_doors(
    groups: Iterable[tuple[RackGroup, Path]], catalogue: Catalogue
) -> Iterator[PlanProblem]:
    """Yield the doors that are said to take more than their product does.

    Args:
        groups: racks, with their place in the blueprint.
        catalogue: the products.
    """
    for group, where in groups:
        cooling = group.cooling
        entry, stated = _entry(cooling, catalogue), cooling.rear_door_capacity
        most = None if entry is None else _capacity_at(entry, cooling.rear_door_difference)
        if entry is None or stated is None or most is None or stated <= most * (1 + 1e-9):
            continue
        rated = fact_value(entry.difference)
        given = rated if cooling.rear_door_difference is None else cooling.rear_door_difference
        at = "" if given is None or rated is None else f" at {given:g} K"
        message = (
            f"the doors of racks {group.racks} are said to take {stated / 1000:,g} kW{at}, "
            f"and {entry.id} takes {most / 1000:,g} kW"
        )
        hint = "take 'rear_door_capacity' out, or state what the door takes at its difference"
        yield PlanProblem((*where, "cooling", "rear_door_capacity"), message, hint)
