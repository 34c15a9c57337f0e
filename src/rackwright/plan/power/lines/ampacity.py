"""Ampacity of conductors: the tables of NEC and IEC with their factors. Pure functions.

NEC (NFPA 70:2023): table 310.16, three loaded conductors in a raceway or cable at 30 °C; table
310.15(B)(1) for the ambient temperature; 310.15(C)(1) for conductors that share a raceway. IEC
60364-5-52:2009: tables B.52.2 to B.52.13 for three loaded conductors at 30 °C, in conduit (B2) and on
a perforated tray (E); B.52.14 for the ambient temperature; B.52.17 for circuits that touch.
Handbooks quote them; the rule's documentation names those that were read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rackwright.model.power import Conductors, SiteCabling

_AWG = (
    2.08, 3.31, 5.26, 8.37, 13.3, 21.2, 26.7, 33.6, 42.4, 53.5, 67.4, 85.0, 107.2,
    126.7, 152.0, 177.3, 202.7, 253.4, 304.0, 380.0, 506.7,
)  # fmt: skip
"""Cross-sections of AWG 14 to 4/0, then 250 to 1000 kcmil, in mm²."""
_NEC: Mapping[tuple[str, float], Sequence[float]] = {
    ("copper", 60.0): (15, 20, 30, 40, 55, 70, 85, 95, 110, 125, 145, 165, 195, 215, 240, 260, 280, 320, 350, 400, 455),
    ("copper", 75.0): (20, 25, 35, 50, 65, 85, 100, 115, 130, 150, 175, 200, 230, 255, 285, 310, 335, 380, 420, 475, 545),
    ("copper", 90.0): (25, 30, 40, 55, 75, 95, 115, 130, 145, 170, 195, 225, 260, 290, 320, 350, 380, 430, 475, 535, 615),
    ("aluminium", 60.0): (0, 15, 25, 35, 40, 55, 65, 75, 85, 100, 115, 130, 150, 170, 195, 210, 225, 260, 285, 320, 375),
    ("aluminium", 75.0): (0, 20, 30, 40, 50, 65, 75, 90, 100, 120, 135, 155, 180, 205, 230, 250, 270, 310, 340, 385, 445),
    ("aluminium", 90.0): (0, 25, 35, 45, 55, 75, 85, 100, 115, 135, 150, 175, 205, 230, 260, 280, 305, 350, 385, 435, 500),
}  # fmt: skip
_SMALL: Mapping[str, Sequence[tuple[float, float]]] = {
    "copper": ((2.08, 15), (3.31, 20), (5.26, 30)),
    "aluminium": ((3.31, 15), (5.26, 25)),
}
"""Largest breaker of small conductors in A by their cross-section in mm² (NEC 240.4(D))."""
STANDARD_RATINGS = (
    15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100, 110, 125, 150, 175, 200, 225, 250, 300, 350,
    400, 450, 500, 600, 700, 800,
)  # fmt: skip
"""Standard ratings of breakers up to 800 A (NEC 240.6(A)); the next one above an ampacity may protect
it (240.4(B))."""
_METRIC = (1.5, 2.5, 4, 6, 10, 16, 25, 35, 50, 70, 95, 120, 150, 185, 240, 300)
_IEC: Mapping[tuple[str, float, str], Sequence[float]] = {
    ("copper", 70.0, "conduit"): (15, 20, 27, 34, 46, 62, 80, 99, 118, 149, 179, 206),
    ("copper", 90.0, "conduit"): (19.5, 26, 35, 44, 60, 80, 105, 128, 154, 194, 233, 268, 300, 340, 398, 455),
    ("copper", 70.0, "tray"): (18.5, 25, 34, 43, 60, 80, 101, 126, 153, 196, 238, 276, 319, 364, 430, 497),
    ("copper", 90.0, "tray"): (23, 32, 42, 54, 75, 100, 127, 158, 192, 246, 298, 346, 399, 456, 538, 621),
    ("aluminium", 90.0, "conduit"): (0, 21, 28, 35, 48, 64, 84, 103, 124, 156, 188, 216, 240, 272, 318, 364),
    ("aluminium", 70.0, "tray"): (0, 19.5, 26, 33, 46, 61, 78, 96, 117, 150, 183, 212, 245, 280, 330, 381),
    ("aluminium", 90.0, "tray"): (0, 24, 32, 42, 58, 77, 97, 120, 146, 187, 227, 263, 304, 347, 409, 471),
}  # fmt: skip
_HIGHEST: Mapping[str, Sequence[float]] = {
    "copper": (23, 32, 42, 54, 75, 100, 135, 169, 207, 268, 328, 383, 444, 510, 607, 703),
    "aluminium": (0, 24, 32, 42, 58, 77, 103, 129, 159, 206, 253, 296, 343, 395, 471, 547),
}
"""Highest of all tables for three loaded conductors: single cores of 90 °C in free air (IEC, method F)."""
FREEST = 1.25
"""Share of the highest of all tables that a data sheet may reach: single cores apart, in air of 10 °C."""
_STEPS = (30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0, 70.0)
_AMBIENT: Mapping[tuple[str, float], Sequence[float]] = {
    ("nec", 60.0): (1, 0.91, 0.82, 0.71, 0.58, 0.41),
    ("nec", 75.0): (1, 0.94, 0.88, 0.82, 0.75, 0.67, 0.58, 0.47, 0.33),
    ("nec", 90.0): (1, 0.96, 0.91, 0.87, 0.82, 0.76, 0.71, 0.65, 0.58),
    ("iec", 70.0): (1, 0.94, 0.87, 0.79, 0.71, 0.61, 0.5),
    ("iec", 90.0): (1, 0.96, 0.91, 0.87, 0.82, 0.76, 0.71, 0.65, 0.58),
}
"""Factors of the ambient temperature, at most that of each step, in °C. Colder air gives no more than 1."""
_SHARED: Mapping[str, Sequence[tuple[int, float]]] = {
    "nec": ((1, 1.0), (2, 0.8), (3, 0.7), (6, 0.5), (10, 0.45), (13, 0.4), (100, 0.35)),
    "conduit": ((1, 1.0), (2, 0.8), (3, 0.7), (4, 0.65), (5, 0.6), (6, 0.57), (7, 0.54), (8, 0.52), (9, 0.5), (12, 0.45), (16, 0.41), (100, 0.38)),
    "tray": ((1, 1.0), (2, 0.88), (3, 0.82), (4, 0.77), (5, 0.75), (7, 0.73), (100, 0.72)),
}  # fmt: skip
"""Factors of circuits that share a raceway or touch, up to each number of circuits of three conductors."""
_SLACK = 1.015
"""A cross-section this little below a size of the table counts as that size: 150 mm² as 300 kcmil."""


class Ampacity(NamedTuple):
    """Current that one line carries, all its parallel conductors together.

    Attributes:
        table: without factors, in A.
        carried: with the factors of ambient and grouping, in A.
        protects: largest breaker that may protect it, in A.
    """

    table: float
    carried: float
    protects: float


def highest_ampacity(conductors: Conductors) -> float | None:
    """Return the most that any table allows for the line, in A; None without its cross-section."""
    if conductors.cross_section is None or conductors.material is None:
        return None
    each = _of_size(_METRIC, _HIGHEST[conductors.material], conductors.cross_section)
    return each * conductors.parallel


def ampacity(conductors: Conductors, cabling: SiteCabling) -> Ampacity | None:
    """Return the ampacity of a line by the tables of its standard; None where none lists it."""
    area, metal = conductors.cross_section, conductors.material
    if area is None or metal is None:
        return None
    sizes: Sequence[float] = _AWG
    listed, shared = _NEC.get((metal, cabling.temperature)), _SHARED["nec"]
    if cabling.standard == "iec":
        laid = cabling.installation or "conduit"
        sizes, listed = _METRIC, _IEC.get((metal, cabling.temperature, laid))
        shared = _SHARED[laid]
    if listed is None:
        return None
    table = _of_size(sizes, listed, area)
    factor = _ambient(cabling) * next(f for most, f in shared if cabling.circuits <= most)
    each = table * factor
    carried = each * conductors.parallel
    protects = carried
    if cabling.standard == "nec":
        protects = _next_standard(carried)
        if conductors.parallel == 1:
            protects = min([protects, *(a for size, a in _SMALL[metal] if area <= size * _SLACK)])
    return Ampacity(table * conductors.parallel, carried, protects)


def _of_size(sizes: Sequence[float], amperes: Sequence[float], area: float) -> float:
    """Return the ampacity of the largest size of a table that is no larger than ``area``; else 0."""
    place = bisect_right(sizes, area * _SLACK) - 1
    return 0.0 if place < 0 else float(amperes[min(place, len(amperes) - 1)])


def _ambient(cabling: SiteCabling) -> float:
    factors = _AMBIENT[cabling.standard, cabling.temperature]
    place = bisect_left(_STEPS, cabling.ambient)
    return factors[place] if place < len(factors) else 0.0


def _next_standard(amperes: float) -> float:
    """Return the standard rating next above an ampacity up to 800 A; above that the ampacity itself."""
    if amperes > STANDARD_RATINGS[-1]:
        return amperes
    return float(next(rating for rating in STANDARD_RATINGS if rating >= amperes - 1e-9))
