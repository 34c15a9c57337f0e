"""Classes of facility water and of coolant, and how warm the coolant of a product may be.

ASHRAE TC 9.9 sorts the water that a building supplies into W classes, and the coolant that a CDU
supplies to the racks into S classes. Between them lies the approach of the CDU. The number of a class
is the warmest supply in °C; W+ is warmer than 45 °C and has none.
"""

from __future__ import annotations

from collections.abc import Mapping

WATER_CLASSES: Mapping[str, float | None] = {
    "W17": 17.0,
    "W27": 27.0,
    "W32": 32.0,
    "W40": 40.0,
    "W45": 45.0,
    "W+": None,
}
"""Warmest facility water in °C, the coldest class first (ASHRAE TC 9.9, 5th edition, as quoted)."""

COOLANT_CLASSES: Mapping[str, float] = {"S30": 30.0, "S40": 40.0, "S50": 50.0}
"""Warmest coolant in °C, the coldest class first (ASHRAE TC 9.9, S classes of 2024, as quoted)."""


def warmest_supply(
    published: float | None, coolant_class: str | None, water_class: str | None
) -> float | None:
    """Return the warmest coolant in °C that a product takes at its inlet; None if unknown.

    The lower of the published temperature and the coolant's class. Where there is neither, the class
    of water holds: a maker who names one names what arrives at the product, whatever lies before it.
    """
    stated = [published, COOLANT_CLASSES[coolant_class] if coolant_class else None]
    known = [celsius for celsius in stated if celsius is not None]
    if known:
        return min(known)
    return WATER_CLASSES[water_class] if water_class else None
