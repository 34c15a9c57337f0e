"""Records of what products stand and carry, for sites that have them."""

from __future__ import annotations

from dataclasses import dataclass

MANIFOLD, REAR_DOOR, FLUID = "manifold", "rear door", "immersion fluid"
NO_PRODUCTS = (MANIFOLD, REAR_DOOR, FLUID)
"""What stands in racks and is no product of the catalogue, by the names that its costs have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorLimits:
    """Limits of a liquid quick connector; None where the catalogue does not state them.

    Attributes:
        connector: its catalogue id.
        flow_lpm: most coolant through it, in L/min.
        fluid_max_c: warmest coolant, in °C.
        pressure_kpa: highest pressure, in kPa.
    """

    connector: str
    flow_lpm: float | None
    fluid_max_c: float | None
    pressure_kpa: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelfSet:
    """The power shelves of each rack of a class.

    Attributes:
        shelf: catalogue id.
        count: shelves in one rack.
        rating_w: what one carries, in W.
        rating_n1_w: the same with one of its supplies lost, in W; None where the catalogue does
            not say.
        backup_s: battery backup at full load, in s, as the blueprint states it but not beyond what
            the catalogue does; None where neither does.
        feeds: names of the feeds of the rack.
        on_feeds: shelves on each of them.
        phases: phases of the input.
        voltage_min_v: lowest voltage of the input, line to line for three phases, in V.
        voltage_max_v: highest one, in V.
    """

    shelf: str
    count: int
    rating_w: float
    rating_n1_w: float | None
    backup_s: float | None
    feeds: tuple[str, ...]
    on_feeds: tuple[int, ...]
    phases: int
    voltage_min_v: float
    voltage_max_v: float
