"""What rules about cooling compare with: temperatures and flows, and what is not known of heat."""

from __future__ import annotations

from rackwright.model.onprem import ASHRAE_ALLOWABLE, ASHRAE_RECOMMENDED
from rackwright.plan.cooling.loop_products import LoopDoor, doors_on, rise_within
from rackwright.plan.cooling.thermal import coolant_flow
from rackwright.plan.cooling.water import WATER_CLASSES
from rackwright.plan.racks.heat_unknowns import (
    missing_of_door_drop,
    missing_of_doors,
    missing_of_loop,
    missing_of_stage,
)

__all__ = [
    "ASHRAE_ALLOWABLE",
    "ASHRAE_RECOMMENDED",
    "WATER_CLASSES",
    "LoopDoor",
    "coolant_flow",
    "doors_on",
    "missing_of_door_drop",
    "missing_of_doors",
    "missing_of_loop",
    "missing_of_stage",
    "rise_within",
]
