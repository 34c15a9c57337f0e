"""Units and words that people write for quantities, beside those that are accepted."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal

SPELLINGS: Mapping[str, str] = {
    spelling: unit
    for unit, spellings in {
        "W": "watt watts",
        "kW": "kilowatt kilowatts kw/h kwh/h",
        "MW": "megawatt megawatts",
        "V": "volt volts",
        "A": "amp amps ampere amperes",
        "kg": "kgs kilogram kilograms kilo kilos",
        "lb": "lbs pound pounds",
        "m": "meter meters metre metres",
        "mm": "millimeter millimeters millimetre millimetres",
        "ft": "foot feet '",
        "in": 'inch inches "',
        "°C": "c celsius degrees °",
        "°F": "f fahrenheit degf",
        "K": "kelvin kelvins",
        "L/min": "lpm l/m litres/min liters/min",
        "L/h": "lph",
        "t": "tonne tonnes",
        "m3/h": "m³/h cmh",
        "mm2": "mm^2 sqmm",
        "kg/m2": "kg/m^2 kg/sqm",
        "Gbps": "g gbit gig gbe",
        "Tbps": "t tbit tbe",
        "U": "ru units rack-units",
        "s": "sec secs second seconds",
        "min": "m mins minute minutes",
        "h": "hr hrs hour hours",
        "d": "day days",
        "%": "percent pct %% prozent",
    }.items()
    for spelling in spellings.split()
}
"""Other spellings, in small letters, of units that dimensions know."""
FOREIGN: Mapping[str, tuple[tuple[str, Decimal], ...]] = {
    unit: tuple((known, Decimal(factor)) for known, factor in meant.items())
    for unit, meant in {
        "gpm": {"L/min": "3.785411784"},  # US gallons
        "hp": {"kW": "0.7457"},
        "ps": {"kW": "0.73549875"},
        "kcal/h": {"W": "1.163"},
        "tr": {"kW": "3.516853"},  # tons of refrigeration
        "oz": {"g": "28.349523125"},
        **{unit: {"K": "1"} for unit in ("°c", "degc", "c")},  # differences of temperature
        **{unit: {"K": "0.5555555556"} for unit in ("°f", "degf", "f")},
        "n": {"kg": "0.1019716213"},  # weights of scales and of floors
        "kn": {"kg": "101.9716213"},
        "kpa": {"kg/m2": "101.9716213"},
        "kn/m2": {"kg/m2": "101.9716213"},
        "kn/m²": {"kg/m2": "101.9716213"},
        "t/m2": {"kg/m2": "1000"},
        "t/m²": {"kg/m2": "1000"},
        **{
            unit: {"kg/m2": "4.882427636"}
            for unit in ("psf", "lb/ft2", "lb/ft²", "lbs/ft2", "lb/sqft")
        },
        "inh2o": {"Pa": "249.08891"},
        "mmh2o": {"Pa": "9.80665"},
        "mh2o": {"kPa": "9.80665"},
        "atm": {"kPa": "101.325"},
        "°f": {"K": "0.5555555556"},  # a difference; of temperatures it is known
        "f": {"K": "0.5555555556"},
        "mcm": {"kcmil": "1"},
        "week": {"d": "7"},
        "weeks": {"d": "7"},
    }.items()
}
"""Units that are not accepted, in small letters, each with those that are and how many of them it is."""
NAMED: Mapping[str, tuple[str, str]] = {
    name: ("data rate", f"{rate} Gbps")
    for name, rate in {"fdr": 56, "edr": 100, "hdr": 200, "ndr": 400, "xdr": 800}.items()
}
"""Names of values, in small letters, each with its dimension: generations of InfiniBand by their four lanes."""
UNKNOWN = frozenset({
    "?", "??", "???", "-", "--", "…", "...", "tbd", "tbc", "todo", "xxx", "unknown", "n/a", "na", "none", "nil",
    "unbekannt", "offen", "inconnu",
})  # fmt: skip
"""Words, in small letters, for a value that is not known yet."""
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SPELLED = {
    **{word: number for number, word in enumerate(_ONES.split())},
    **{word: 10 * number for number, word in enumerate(_TENS.split(), start=2)},
}
_GAUGE = re.compile(
    r"(?:AWG\s*)?#?([1-4])/0(?:\s*AWG)?|(?:AWG\s*#?|#)\s*(\d\d?)|#?(\d\d?)\s*(?:AWG|ga|gauge)", re.IGNORECASE
)  # fmt: skip


def spelled(text: str) -> tuple[int | None, str]:
    """Return the whole number that a text begins with in words, and the rest of it; None and all of it without."""
    words = re.split(r"[\s-]+", text.strip())
    whole = part = used = 0
    for word in words:
        value = _SPELLED.get(word.lower())
        if value is not None and (part % 100 == 0 or (part % 10 == 0 < value < 10 < part % 100)):
            part += value
        elif used and word.lower() == "hundred":
            part *= 100
        elif used and word.lower() == "thousand":
            whole, part = part * 1000, 0
        elif not used or word.lower() != "and":
            break
        used += 1
    return (whole + part, " ".join(words[used:])) if used else (None, text)


def gauge_area(text: str) -> float | None:
    """Return the cross-section of a size of the American Wire Gauge, in mm²; None for any other text.

    The diameter of gauge n is 0.127 mm · 92^((36 − n) / 39) (ASTM B258); 1/0 to 4/0 are 0 to −3.
    """
    size = _GAUGE.fullmatch(text.strip())
    if size is None:
        return None
    number = 1 - int(size[1]) if size[1] else int(size[2] or size[3])
    diameter = 0.127 * math.pow(92, (36 - number) / 39)
    return math.pi / 4 * diameter**2
