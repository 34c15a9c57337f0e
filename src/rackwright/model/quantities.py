"""Numbers with units, as people write them."""

from __future__ import annotations

from functools import lru_cache

_SCALED = {
    "W": ((1e6, "MW"), (1e3, "kW"), (1.0, "W")),
    "VA": ((1e6, "MVA"), (1e3, "kVA"), (1.0, "VA")),
    "m": ((1.0, "m"), (1e-3, "mm")),
    "GiB": ((1024.0, "TiB"), (1.0, "GiB")),
}


@lru_cache(maxsize=4096)  # equal racks have equal numbers
def format_quantity(value: float, unit: str) -> str:
    """Return ``value`` in a fitting multiple of ``unit``: ``46200, "W"`` gives ``46.2 kW``.

    Args:
        value: how many.
        unit: one that is scaled, like ``W``, or any other, which stays as it is.
    """  # noqa: DOC501 - the last scale always fits
    if unit == "%":
        return f"{_digits(value)} %"
    for scale, name in _SCALED.get(unit, ((1.0, unit),)):
        if abs(value) >= scale or scale == _SCALED.get(unit, ((1.0, unit),))[-1][0]:
            digits = _digits(value / scale)
            return f"{digits} {_singular(name) if digits in {'1', '-1'} else name}".strip()
    raise AssertionError(unit)  # the last scale always fits


def _singular(unit: str) -> str:
    """Return the noun of one of a unit that is counted, as ``host`` of ``hosts``; others stay as they are."""
    last = unit.rpartition(" ")[2]
    if len(last) < 4 or not (unit.islower() and last.isalpha() and last.endswith("s")):
        return unit
    if last.endswith("ies"):
        return f"{unit[:-3]}y"
    return unit[:-2] if last.endswith(("ches", "shes", "sses", "xes")) else unit[:-1]


def _digits(value: float) -> str:
    """Return a number with four significant digits at least, no trailing zeros, thousands separated."""
    magnitude = abs(value)
    decimals = 0 if magnitude >= 1000 else 1 if magnitude >= 100 else 2 if magnitude >= 1 else 4
    text = f"{value:,.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text
