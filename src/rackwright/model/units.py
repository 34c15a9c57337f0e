"""Quantities with units: ``46.2 kW`` is a number, ``46.2`` alone is a mistake.

Each type here is a ``float`` in one canonical unit (watts, kilograms, metres, ...) that pydantic
reads from a string with a unit and writes back as a string with the canonical unit. Parsing is
done in decimal arithmetic so that ``46.2 kW`` is exactly ``46200.0`` W.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from rackwright.model.unit_words import (
    FOREIGN,
    NAMED,
    SPELLINGS,
    UNKNOWN,
    gauge_area,
    spelled,
)

_PATTERN = re.compile(
    r"([+-]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+(?:_\d{3})*)(?:\.\d+)?(?:[eE][+-]?\d{1,2})?)"
    r"\s*([^\s\d.,_+-].*)?",
    re.ASCII,
)
_DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d+)(\s*[^\s\d.,].*)?", re.ASCII)
_LONGEST = 64
"""Longest text read as a quantity; anything beyond it is hostile."""
_COUNTED = re.compile(r"(?P<prefix>[kKMGT]?)(?P<kind>B|b|bits?|bytes?)(?:/s|ps)")
"""A rate of bits or bytes, in any spelling."""
_GROUPED = re.compile(
    r"([+-]?\d{1,3}(?:[ '’.\u00a0\u202f]\d{3})+)(?:,(\d+))?(\s*[^\W\d_].*|\s*[%°].*)?", re.ASCII
)
"""A number whose thousands are parted as in Europe, with a decimal comma or without."""
_PRODUCT = re.compile(r"(\d{1,6})\s*[x×*]\s*(\d{1,6}(?:\.\d{1,3})?)\s*([^\W\d]\S*)", re.IGNORECASE)
_GENERATION = re.compile(r"[fehnx]dr[ -]?(\d{2,4})", re.IGNORECASE)
"""A rate by the generation of InfiniBand and its number, like ``NDR200``."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?![\d.])", re.ASCII)
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
    also: tuple[str, ...] = ()
    """Further units that a bare number is likely to be in."""

    def parse(self, text: str) -> float:
        """Return the value of ``text`` in the canonical unit.

        Raises:
            ValueError: no number, no unit, an unknown unit, or a value out of range.
        """
        if len(text) > _LONGEST:
            raise ValueError(f"{self.noun} is at most {_LONGEST} characters long")
        match = _PATTERN.fullmatch(text.strip())
        if self.unit == "mm2" and (area := gauge_area(text)):
            size = f"'{_number(Decimal(area))} {self.unit}'"
            raise ValueError(f"'{text}' is a size of the American Wire Gauge; write {size}")
        if match is None and (comma := _DECIMAL_COMMA.fullmatch(text.strip())):
            meant = f"{comma[1]}.{comma[2]}"
            meant = f"'{meant}{comma[3]}'" if comma[3] else self.with_unit(meant)
            raise ValueError(f"'{text}' is not {self.noun}; decimals stand behind a point: {meant}")
        if match is None:
            raise ValueError(f"'{text}' is not {self.noun}; {self._cure(text.strip())}")
        number, unit = match.group(1), (match.group(2) or "").strip()
        if not unit:
            raise ValueError(f"'{text}' has no unit; write it like {self.with_unit(number)}")
        factor = self.factors.get(unit)
        if factor is None:
            raise ValueError(
                f"'{unit}' is not a unit of {self.name} ({', '.join(self.factors)})"
                f"{self._meant(number, unit) or self._grouped(text) or self._found(text)}"
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
        """Return the text that parses back to ``value``."""
        return f"{value!r} {self.unit}" if value != int(value) else f"{int(value)} {self.unit}"

    def with_unit(self, number: str) -> str:
        """Return ``number`` in the units that may be meant, in quotes, the likeliest first.

        A bare number of at most 1 is a share: 0.8 is 80 %, not 0.8 %.
        """
        if self.unit == "%" and 0 < float(number.replace("_", "").replace(",", "")) <= 1:
            number = f"{(Decimal(number) * 100).normalize():f}"
        units = [unit for unit in (self.usual, self.unit, *self.also) if unit]
        return " or ".join(f"'{number} {unit}'" for unit in units)

    def _meant(self, number: str, unit: str) -> str:
        """Return the end of a message: a spelling of the same unit, or the value in a unit known here.

        A unit that merely looks alike is never suggested: l/s and L/h differ by 3,600.
        """
        if (counted := _COUNTED.fullmatch(unit)) and (bits := _bits(counted)):
            for known in self.factors:
                other = _COUNTED.fullmatch(known)
                if other and other["prefix"] == counted["prefix"].upper() and (per := _bits(other)):
                    if per == bits:
                        return f"; did you mean '{known}'?"
                    value = _number(Decimal(number.replace("_", "").replace(",", "")) * bits / per)
                    word = "bytes" if bits > per else "bits"
                    return f"; '{unit}' counts {word}: '{number} {unit}' is '{value} {known}'"
        amount = Decimal(number.replace("_", "").replace(",", ""))
        if self.offsets and unit.lower() in {"k", "kelvin"}:
            return f"; '{number} {unit}' is '{_number(amount - Decimal('273.15'))} {self.unit}'"
        for known, factor in FOREIGN.get(unit.lower(), ()):
            if known in self.factors:
                return f"; '{number} {unit}' is '{_number(amount * factor)} {known}'"
        powers = [
            one for one in (POWER, APPARENT_POWER)
            if one is not self and unit.lower() in map(str.lower, one.factors)
        ]  # fmt: skip
        if powers and self in (POWER, APPARENT_POWER):
            words = "power is apparent power times power factor"
            return f"; '{unit}' is a unit of {powers[0].name}: {words}"
        if f"{unit}ps" in self.factors:
            return f"; did you mean '{unit}ps'?"
        plain = re.sub(r"\s*\bper\s+", "/", unit)
        spelling = SPELLINGS.get(plain.lower().rstrip("."), plain)
        for known in self.factors:
            # Milli and mega differ by their case alone: mW is no slip for MW.
            scaled = unit[0] in "mM" and unit[1:] in self.factors
            if known == spelling or (known.lower() == unit.lower() and not scaled):
                return f"; did you mean '{known}'?"
        return ""

    def _cure(self, text: str) -> str:
        """Return what to write instead of a text that is no number with a unit."""
        if text.partition(" ")[0].lower() in UNKNOWN:
            return "leave the key out while the value is not known"
        if self is DATA_RATE and (lanes := _GENERATION.fullmatch(text)):
            return f"'{text}' is '{lanes[1]} {self.unit}'"
        name, value = NAMED.get(text.lower(), ("", ""))
        if name == self.name:
            return f"'{text}' is '{value}'"
        number, rest = spelled(text)
        if number is not None:
            unit = SPELLINGS.get(rest.lower(), rest)
            known = f"'{number} {unit}'" if unit in self.factors else self.with_unit(str(number))
            return f"write it like {known}"
        cure = self._grouped(text) or self._found(text) or f"; write it like '{self.example}'"
        return cure.removeprefix("; ")

    def _grouped(self, text: str) -> str:
        """Return the end of a message for a number with separated thousands."""
        grouped = _GROUPED.fullmatch(text.strip())
        if grouped is None:
            return ""
        whole = re.sub(r"[^\d+-]", "", grouped[1]) + (f".{grouped[2]}" if grouped[2] else "")
        unit = (grouped[3] or "").strip()
        if unit and unit not in self.factors:
            return ""
        meant = f"'{whole} {unit}'" if unit else self.with_unit(whole)
        return f"; write thousands without a separator: {meant}"

    def _found(self, text: str) -> str:
        """Return the end of a message for a text with other words: the one number and unit in it."""
        if product := _PRODUCT.fullmatch(text.strip()):
            unit = SPELLINGS.get(product[3].lower(), product[3])
            amount = _number(int(product[1]) * Decimal(product[2]))
            return f"; the product is '{amount} {unit}'" if unit in self.factors else ""
        units = "|".join(re.escape(unit) for unit in sorted(self.factors, key=len, reverse=True))
        if re.search(r"W ?h\b", text):
            return "; an energy is given where a power is needed" if self is POWER else ""
        numbers = _NUMBER.findall(text)
        named = re.findall(rf"(?<![^\W\d])(?:{units})(?![\w/])", text)
        if len(numbers) > 1:
            return "; write one number, with its unit"
        if len(numbers) == 1 and len(set(named)) == 1:
            return f"; did you mean '{numbers[0]} {named[0]}'? A remark belongs behind '#'"
        return ""

    @property
    def noun(self) -> str:
        """The name with its article."""
        return f"{'an' if self.name[0] in 'aeiou' else 'a'} {self.name}"

    @property
    def example(self) -> str:
        """A valid text, for messages and the JSON Schema."""
        return f"1 {self.usual or self.unit}"


def _shape(value: Any) -> str:
    """Return the words for a value that no quantity is written as."""
    if isinstance(value, bool):
        return f"'{str(value).lower()}'"
    return "a list" if isinstance(value, (list, tuple)) else "a mapping"


def _number(value: Decimal) -> str:
    """Return a number of four significant digits without trailing zeros."""
    return f"{Decimal(f'{value:.4g}').normalize():f}"


def _bits(match: re.Match[str]) -> int:
    """Return the bits of a unit of ``_COUNTED``: 8 for a byte, 1 for a bit."""
    return 8 if match["kind"] in {"B", "byte", "bytes"} else 1


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
                "quantity",
                "{given} is not {noun}; write it like '{example}'"
                if value is not None
                else "no value is set; write it like '{example}'",
                {"given": _shape(value), "noun": dimension.noun, "example": dimension.example},
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
        units = "|".join(re.escape(unit).replace("\\ ", " ") for unit in self.dimension.factors)
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
CURRENT = Dimension("current", "A", _factors(A="1", mA="1e-3", kA="1e3"), also=("kA",))
MASS = Dimension("mass", "kg", {**_factors(kg="1", g="1e-3", t="1e3"), "lb": Decimal("0.45359237")})
LENGTH = Dimension(
    "length",
    "m",
    {
        **_factors(m="1", mm="1e-3", cm="1e-2", km="1e3"),
        "ft": Decimal("0.3048"),
        "in": Decimal("0.0254"),
    },
    also=("mm",),
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
AIRFLOW = Dimension(
    "airflow",
    "CFM",
    {
        "CFM": Decimal(1),
        "m3/h": Decimal(1) / Decimal("1.699011"),
        "m3/s": Decimal(3600) / Decimal("1.699011"),
    },
)
LIQUID_FLOW = Dimension(
    "liquid flow",
    "L/min",
    {
        "L/min": Decimal(1),
        "L/s": Decimal(60),
        "L/h": Decimal(1) / Decimal(60),
        "m3/h": Decimal(1000) / Decimal(60),
    },
)
PRESSURE = Dimension(
    "pressure",
    "kPa",
    {**_factors(kPa="1", Pa="1e-3", MPa="1e3", bar="100", mbar="0.1"), "psi": Decimal("6.894757")},
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
        "MB": Decimal(10**6) / Decimal(2**30),
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
    usual="h",
)
TOKENS = Dimension(
    "number of tokens",
    "tokens",
    {
        "tokens": Decimal(1),
        **{
            spelling: Decimal(factor)
            for prefix, factor in (
                ("k", "1e3"),
                ("M", "1e6"),
                ("B", "1e9"),
                ("G", "1e9"),
                ("T", "1e12"),
            )
            for spelling in (f"{prefix} tokens", f"{prefix}tokens")
        },
    },
)
TOKEN_RATE = Dimension(
    "tokens a day",
    "tokens/day",
    {"tokens/day": Decimal(1), "M tokens/day": Decimal(10**6), "B tokens/day": Decimal(10**9)},
)
CARBON_INTENSITY = Dimension(
    "carbon intensity", "g/kWh", {"g/kWh": Decimal(1), "kg/MWh": Decimal(1)}
)
FRACTION = Dimension("percentage", "%", {"%": Decimal(1)})


def dimension_of(unit: str) -> Dimension | None:
    """Return the dimension that a unit belongs to; None for a unit of none."""
    known = (one for one in globals().values() if isinstance(one, Dimension))
    return next((one for one in known if unit in one.factors), None)


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
Tokens = Annotated[float, Quantity(TOKENS)]
TokensPerDay = Annotated[float, Quantity(TOKEN_RATE)]
GramsPerKilowattHour = Annotated[float, Quantity(CARBON_INTENSITY)]
