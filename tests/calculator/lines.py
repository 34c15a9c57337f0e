"""Conductors, stored heat, water and swing, worked out a second time: no code of the plan is in here.

Impedances are complex numbers, heat is carried by mass, and tables are typed again for the sizes that are drawn.
"""

from __future__ import annotations

import cmath
import random
from collections.abc import Mapping
from dataclasses import dataclass
from math import acos, sqrt

COPPER, ALUMINIUM = 0.0225, 0.036
"""Resistivity in service, in Ω·mm²/m (IEC 60364-5-52, annex G)."""
NEC_75: Mapping[float, tuple[float, float]] = {
    8.37: (50, 40), 13.3: (65, 50), 21.2: (85, 65), 33.6: (115, 90), 53.5: (150, 120), 85.0: (200, 155),
    107.2: (230, 180), 126.7: (255, 205), 177.3: (310, 250), 253.4: (380, 310),
}  # fmt: skip
"""Ampacity of copper and aluminium of 75 °C by NEC 310.16, by cross-section in mm²."""
IEC_TRAY_90: Mapping[float, tuple[float, float]] = {
    10: (75, 58), 16: (100, 77), 25: (127, 97), 50: (192, 146), 95: (298, 227), 150: (399, 304), 240: (538, 409),
}  # fmt: skip
"""The same of XLPE on a perforated tray by IEC 60364-5-52, method E."""
AMBIENT = {
    ("nec", 30): 1.0,
    ("nec", 40): 0.88,
    ("nec", 50): 0.75,
    ("iec", 30): 1.0,
    ("iec", 40): 0.91,
    ("iec", 50): 0.82,
}
"""Factors for the air around insulation of 75 °C (NEC) and 90 °C (IEC)."""
TOGETHER = {
    ("nec", 1): 1.0,
    ("nec", 2): 0.8,
    ("nec", 3): 0.7,
    ("iec", 1): 1.0,
    ("iec", 2): 0.88,
    ("iec", 3): 0.82,
}
"""Factors for circuits beside each other: six conductors, nine, and circuits that touch on a tray."""
BREAKERS = (15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100, 110, 125, 150, 175, 200, 225, 250, 300, 350, 400, 450,
            500, 600, 700, 800)  # fmt: skip
"""NEC 240.6(A) up to 800 A."""


@dataclass(frozen=True, slots=True)
class Line:
    """A circuit with its conductors, drawn at random."""

    standard: str
    metal: str
    size: float
    parallel: int
    metres: float
    ambient: int
    circuits: int
    volts: float
    phases: int
    watts: float
    factor: float
    supply: float
    """Short circuit of three phases at its origin, in A."""

    @property
    def table(self) -> float:
        """Ampacity of one conductor as the table has it, in A."""
        tables = NEC_75 if self.standard == "nec" else IEC_TRAY_90
        copper, aluminium = tables[self.size]
        return copper if self.metal == "copper" else aluminium

    @property
    def carried(self) -> float:
        """Current that all conductors of a line carry where they are laid, in A."""
        air, beside = AMBIENT[self.standard, self.ambient], TOGETHER[self.standard, self.circuits]
        return self.parallel * self.table * air * beside

    @property
    def protected_by(self) -> float:
        """Largest breaker, in A: the next size above an ampacity under the NEC, up to 800 A."""
        if self.standard == "iec" or self.carried > BREAKERS[-1]:
            return self.carried
        return float(min(size for size in BREAKERS if size >= self.carried - 1e-9))

    @property
    def impedance(self) -> complex:
        """Impedance of a line in service, in Ω."""
        ohms = COPPER if self.metal == "copper" else ALUMINIUM
        return self.metres / self.parallel * complex(ohms / self.size, 0.08e-3)

    @property
    def most_behind(self) -> float:
        """Most of the short circuit that is left at its end, cold and without an assumed reactance, in A."""
        source = self.volts / sqrt(3) / self.supply
        return self.volts / sqrt(3) / abs(complex(self.impedance.real / 1.25, source))

    @property
    def least_behind(self) -> float:
        """Least fault of one line at its end, in A: 95 % of the voltage, there and back by its resistance."""
        source = self.volts / sqrt(3) / self.supply
        return 0.95 * self.volts / sqrt(3) / (source + self.impedance.real + self.impedance.real)

    @property
    def drop(self) -> float:
        """Drop in % of its voltage: the part of I·Z that is in phase with the voltage."""
        amperes = self.watts / self.factor / self.volts / (sqrt(3) if self.phases == 3 else 1)
        along = cmath.rect(amperes, -acos(self.factor)) * self.impedance
        return 100 * along.real * (sqrt(3) if self.phases == 3 else 2) / self.volts


def a_line(seed: int) -> Line:
    """A line by its seed."""
    draw = random.Random(f"line {seed}")
    standard = draw.choice(["nec", "iec"])
    tables = NEC_75 if standard == "nec" else IEC_TRAY_90
    return Line(
        standard=standard,
        metal=draw.choice(["copper", "aluminium"]),
        size=draw.choice(sorted(tables)),
        parallel=draw.randint(1, 4),
        metres=draw.uniform(2, 120),
        ambient=draw.choice([30, 40, 50]),
        circuits=draw.randint(1, 3),
        volts=draw.choice([208.0, 400.0, 415.0, 480.0]),
        phases=draw.choice([1, 3]),
        watts=draw.uniform(1e3, 2e5),
        factor=draw.uniform(0.8, 0.99),
        supply=draw.uniform(2e3, 6e4),
    )


def behind_transformer(kva: float, volts: float, percent: float) -> float:
    """Short circuit behind a transformer, in A: its rated current by its impedance."""
    return kva * 1000 / volts / sqrt(3) * 100 / percent


def litres_a_minute(watts: float, rise: float, density: float, heat: float) -> float:
    """Flow of coolant: mass that takes the heat, kg/s, by its density in kg/L; ``heat`` in kJ/(kg·K)."""
    return watts / (heat * 1000 * rise) / density * 60


def seconds_to_warm(
    cubic_metres: float, density: float, heat: float, rise: float, watts: float
) -> float:
    """Time in which power warms a mass by ``rise``, by steps of a thousandth; ``density`` in kg/m³, ``heat`` in J/(kg·K)."""
    kilograms, step, passed = cubic_metres * density, rise / 1000, 0.0
    for _ in range(1000):
        passed += kilograms * heat * step / watts
    return passed


def swings(peak: float, cap: float | None, rest: float, floor: float | None) -> float:
    """Power of one node between its steps and while all accelerators compute, apart, in W."""
    high = peak if cap is None or cap > peak else cap
    low = rest if floor is None or floor < rest else floor
    return high - low if high > low else 0.0
