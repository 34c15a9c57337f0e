"""Quantities with units: ``46.2 kW`` is a number, ``46.2`` alone is a mistake.

Each type here is a ``float`` in one canonical unit (watts, kilograms, metres, ...) that pydantic
reads from a string with a unit and writes back as a string with the canonical unit. Parsing is
done in decimal arithmetic so that ``46.2 kW`` is exactly ``46200.0`` W.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

_PATTERN = re.compile(
    r"([+-]?\d+(?:[_,]\d{3})*(?:\.\d+)?(?:[eE][+-]?\d{1,2})?)\s*([^\s\d.,_+-].*)?", re.ASCII
)
_DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d+)(\s*[^\s\d.,].*)?", re.ASCII)
_LONGEST = 64
"""Longest text read as a quantity; anything beyond it is hostile."""
LARGEST, SMALLEST = 1e15, 1e-12
"""Largest and smallest magnitude in a canonical unit; what is beyond them is a slip of the hand,
and a ratio of two such numbers could not be printed."""


@dataclass(frozen=True, eq=False)
class Dimension:
    """A physical dimension: its canonical unit and the factor of each other spelling."""

    name: str
    unit: str
    factors: dict[str, Decimal]
    minimum: float | None = 0.0
    offsets: dict[str, Decimal] | None = None
    usual: str | None = None
    """The unit in which people say it, where that is not the canonical one."""

    def parse(self, text: str) -> float:
        """The value of ``text`` in the canonical unit.

        Raises:
            ValueError: no number, no unit, an unknown unit, or a value out of range.
        """
        if len(text) > _LONGEST:
            raise ValueError(f"{self.noun} is at most {_LONGEST} characters long")
        match = _PATTERN.fullmatch(text.strip())
        if match is None and (comma := _DECIMAL_COMMA.fullmatch(text.strip())):
            meant = f"{comma[1]}.{comma[2]}{comma[3] or f' {self.usual or self.unit}'}"
            raise ValueError(
                f"'{text}' is not {self.noun}; decimals stand behind a point: '{meant}'"
            )
        if match is None:
            raise ValueError(f"'{text}' is not {self.noun}; write it like '{self.example}'")
        number, unit = match.group(1), (match.group(2) or "").strip()
        if not unit:
            raise ValueError(f"'{text}' has no unit; write it like {self.with_unit(number)}")
        factor = self.factors.get(unit)
        if factor is None:
            near = [
                known for known in self.factors if known.lower() == unit.lower()
            ] or difflib.get_close_matches(unit, self.factors, n=1, cutoff=0.5)
            suggestion = f"; did you mean '{near[0]}'?" if near else ""
            raise ValueError(
                f"'{unit}' is not a unit of {self.name} ({', '.join(self.factors)}){suggestion}"
            )
        try:
            value = Decimal(number.replace("_", "").replace(",", "")) * factor
        except InvalidOperation as error:  # pragma: no cover - the pattern admits numbers only
            raise ValueError(f"'{text}' is not {self.noun}") from error
        if self.offsets:
            value += self.offsets.get(unit, Decimal(0))
        result = float(value)
        if abs(result) > LARGEST or 0 < abs(result) < SMALLEST:
            size = "large" if abs(result) > 1 else "small"
            raise ValueError(f"'{text}' is too {size} for {self.noun}")
        if self.minimum is not None and result < self.minimum:
            raise ValueError(f"{self.noun} cannot be below {self.minimum:g} {self.unit}")
        return result

    def format(self, value: float) -> str:
        """The text that parses back to ``value``."""
        return f"{value!r} {self.unit}" if value != int(value) else f"{int(value)} {self.unit}"

    def with_unit(self, number: str) -> str:
        """``number`` in the units that may be meant, in quotes, the likeliest first."""
        units = [unit for unit in (self.usual, self.unit) if unit]
        return " or ".join(f"'{number} {unit}'" for unit in units)

    @property
    def noun(self) -> str:
        """The name with its article."""
        return f"{'an' if self.name[0] in 'aeiou' else 'a'} {self.name}"

    @property
    def example(self) -> str:
        """A valid text, for messages and the JSON Schema."""
        return f"1 {self.unit}"


@lru_cache(maxsize=4_096)  # a large blueprint says the same of many equal things
def _parsed(dimension: Dimension, text: str) -> float:
    return dimension.parse(text)


@dataclass(frozen=True)
class Quantity:
    """Annotation that makes a ``float`` field a quantity of one dimension."""

    dimension: Dimension

    def _validate(self, value: Any) -> float:
        dimension = self.dimension
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise PydanticCustomError(
                "quantity", "{noun} is written as text with a unit", {"noun": dimension.noun}
            )
        if isinstance(value, str):
            try:
                return _parsed(dimension, value)
            except ValueError as error:
                raise PydanticCustomError(
                    "quantity", "{message}", {"message": str(error)}
                ) from None
        raise PydanticCustomError(
            "quantity",
            "'{value}' has no unit; write it like {units}",
            {"value": str(value), "units": dimension.with_unit(str(value))},
        )

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validate,
            serialization=core_schema.plain_serializer_function_ser_schema(
                self.dimension.format, when_used="json", return_schema=core_schema.str_schema()
            ),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        units = "|".join(re.escape(unit) for unit in self.dimension.factors)
        return {
            "type": "string",
            "pattern": rf"^\s*[+-]?[0-9][0-9_,.]*([eE][+-]?[0-9]+)?\s*({units})\s*$",
            "examples": [self.dimension.example],
        }


def _factors(**units: str) -> dict[str, Decimal]:
    return {unit: Decimal(factor) for unit, factor in units.items()}


_BTU_H = Decimal(1) / Decimal("3.412")
"""Watts per BTU/h, with the rounded constant that data sheets use."""

POWER = Dimension(
    "power",
    "W",
    {**_factors(W="1", kW="1e3", MW="1e6", GW="1e9"), "BTU/h": _BTU_H},
    usual="kW",
)
APPARENT_POWER = Dimension(
    "apparent power", "VA", _factors(VA="1", kVA="1e3", MVA="1e6"), usual="kVA"
)
VOLTAGE = Dimension("voltage", "V", _factors(V="1", kV="1e3"))
CURRENT = Dimension("current", "A", _factors(A="1", mA="1e-3", kA="1e3"))
MASS = Dimension("mass", "kg", {**_factors(kg="1", g="1e-3", t="1e3"), "lb": Decimal("0.45359237")})
LENGTH = Dimension(
    "length",
    "m",
    {
        **_factors(m="1", mm="1e-3", cm="1e-2", km="1e3"),
        "ft": Decimal("0.3048"),
        "in": Decimal("0.0254"),
    },
)
VOLUME = Dimension("volume", "m3", _factors(m3="1", L="1e-3") | {"m³": Decimal(1)})
CROSS_SECTION = Dimension(
    "cross-section",
    "mm2",
    {"mm2": Decimal(1), "mm²": Decimal(1), "kcmil": Decimal("0.50670748")},
)
IMPEDANCE_PER_LENGTH = Dimension(
    "impedance per length", "mΩ/m", _factors(**{"mΩ/m": "1", "Ω/km": "1", "mohm/m": "1"})
)
TEMPERATURE = Dimension(
    "temperature",
    "°C",
    {"°C": Decimal(1), "degC": Decimal(1), "°F": Decimal(5) / Decimal(9)},
    minimum=-273.15,
    offsets={"°F": Decimal(-160) / Decimal(9)},
)
TEMPERATURE_DIFFERENCE = Dimension("temperature difference", "K", _factors(K="1"))
AIRFLOW = Dimension("airflow", "CFM", {"CFM": Decimal(1), "m3/h": Decimal(1) / Decimal("1.699011")})
LIQUID_FLOW = Dimension(
    "liquid flow",
    "L/min",
    {
        "L/min": Decimal(1),
        "L/h": Decimal(1) / Decimal(60),
        "m3/h": Decimal(1000) / Decimal(60),
    },
)
PRESSURE = Dimension(
    "pressure", "kPa", {**_factors(kPa="1", Pa="1e-3", bar="100"), "psi": Decimal("6.894757")}
)
FLOOR_LOAD = Dimension("floor load", "kg/m2", {"kg/m2": Decimal(1), "kg/m²": Decimal(1)})
VOLUMETRIC_HEAT = Dimension("volumetric heat capacity", "kJ/L/K", {"kJ/L/K": Decimal(1)})
DATA_RATE = Dimension("data rate", "Gbps", _factors(Gbps="1", Mbps="1e-3", Tbps="1e3"))
DATA_SIZE = Dimension(
    "data size",
    "GiB",
    {
        "GiB": Decimal(1),
        "MiB": Decimal(1) / 1024,
        "KiB": Decimal(1) / 1024**2,
        "TiB": Decimal(1024),
        "PiB": Decimal(1024**2),
        "GB": Decimal(10**9) / Decimal(2**30),
        "TB": Decimal(10**12) / Decimal(2**30),
        "PB": Decimal(10**15) / Decimal(2**30),
    },
)
THROUGHPUT = Dimension(
    "throughput",
    "MB/s",
    {
        "MB/s": Decimal(1),
        "MiB/s": Decimal(2**20) / Decimal(10**6),
        "GB/s": Decimal(1000),
        "TB/s": Decimal(10**6),
    },
)
THROUGHPUT_DENSITY = Dimension("throughput per capacity", "MB/s/TiB", {"MB/s/TiB": Decimal(1)})
RACK_UNITS = Dimension("rack height", "U", {"U": Decimal(1), "OU": Decimal("1.0799")})
DURATION = Dimension(
    "duration",
    "s",
    {
        "s": Decimal(1),
        "ms": Decimal("1e-3"),
        "min": Decimal(60),
        "h": Decimal(3600),
        "d": Decimal(86400),
    },
)
FRACTION = Dimension("percentage", "%", {"%": Decimal(1)})

Watts = Annotated[float, Quantity(POWER)]
VoltAmperes = Annotated[float, Quantity(APPARENT_POWER)]
Volts = Annotated[float, Quantity(VOLTAGE)]
Amperes = Annotated[float, Quantity(CURRENT)]
Kilograms = Annotated[float, Quantity(MASS)]
Metres = Annotated[float, Quantity(LENGTH)]
CubicMetres = Annotated[float, Quantity(VOLUME)]
SquareMillimetres = Annotated[float, Quantity(CROSS_SECTION)]
MilliohmsPerMetre = Annotated[float, Quantity(IMPEDANCE_PER_LENGTH)]
Celsius = Annotated[float, Quantity(TEMPERATURE)]
Kelvin = Annotated[float, Quantity(TEMPERATURE_DIFFERENCE)]
CubicFeetPerMinute = Annotated[float, Quantity(AIRFLOW)]
LitresPerMinute = Annotated[float, Quantity(LIQUID_FLOW)]
Kilopascals = Annotated[float, Quantity(PRESSURE)]
KilogramsPerSquareMetre = Annotated[float, Quantity(FLOOR_LOAD)]
KilojoulesPerLitreKelvin = Annotated[float, Quantity(VOLUMETRIC_HEAT)]
GigabitsPerSecond = Annotated[float, Quantity(DATA_RATE)]
Gibibytes = Annotated[float, Quantity(DATA_SIZE)]
MegabytesPerSecond = Annotated[float, Quantity(THROUGHPUT)]
MegabytesPerSecondPerTebibyte = Annotated[float, Quantity(THROUGHPUT_DENSITY)]
RackUnits = Annotated[float, Quantity(RACK_UNITS)]
Seconds = Annotated[float, Quantity(DURATION)]
Percent = Annotated[float, Quantity(FRACTION)]
