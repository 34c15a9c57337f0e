"""Energy, water and carbon of a bare-metal site by the hours of a weather file. Pure functions.

A weather file is an EPW (EnergyPlus) or a TMY3 (NREL). What cooling and losses draw in an hour follows from
the outdoor temperature by a curve of the owner: PUE, and water for each kilowatt hour of IT, as measured or
as the designer of the plant computes them. Nothing is assumed between sources: without a curve there is no answer.
"""

from __future__ import annotations

import csv
import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from rackwright.errors import UsageError
from rackwright.model.cost import HOURS_PER_YEAR

_EPW_HEAD, _EPW_BULB, _EPW_HUMIDITY = 8, 6, 8
"""Lines before the hours of an EPW, and the fields of dry bulb and relative humidity, counted from 0."""
_TMY_BULB, _TMY_HUMIDITY = "Dry-bulb (C)", "RHum (%)"
_NO_BULB, _NO_HUMIDITY = 99.0, 110.0
"""Values from which on a field of an EPW is missing (EnergyPlus, Auxiliary Programs, weather data)."""


@dataclass(frozen=True, slots=True)
class Hour:
    """Air outside in one hour: dry bulb and wet bulb, in °C."""

    dry_bulb: float
    wet_bulb: float


@dataclass(frozen=True, slots=True)
class PlantCurve:
    """PUE and water by outdoor temperature, between whose points both are linear, and even beyond them.

    Attributes:
        wet: True if the temperatures are wet bulbs.
        points: temperature in °C, PUE, and water in L for each kWh of IT; the coldest first.
    """

    wet: bool
    points: tuple[tuple[float, float, float | None], ...]

    def at(self, hour: Hour) -> tuple[float, float | None]:
        """Return PUE and water in L/kWh in an hour."""
        at = hour.wet_bulb if self.wet else hour.dry_bulb
        place = bisect_left(self.points, at, key=lambda point: point[0])
        if place in {0, len(self.points)}:
            _, pue, water = self.points[min(place, len(self.points) - 1)]
            return pue, water
        (cold, pue, water), (warm, more, thirst) = self.points[place - 1], self.points[place]
        share = (at - cold) / (warm - cold)
        drinks = None if water is None or thirst is None else water + share * (thirst - water)
        return pue + share * (more - pue), drinks


@dataclass(frozen=True, slots=True)
class WeatherYear:
    """A year of a site by its hours.

    Attributes:
        site: its name.
        it_kwh: energy of its IT, in kWh.
        energy_kwh: energy at its meter, in kWh.
        pue: energy at the meter over that of the IT.
        pue_lowest: lowest PUE of an hour.
        pue_highest: highest PUE of an hour.
        highest_kw: highest power at the meter in an hour, in kW.
        water_m3: water that evaporates and drains, in m³; None where the curve has none.
        carbon_t: carbon dioxide of the energy, in t; None without a series of the grid.
    """

    site: str
    it_kwh: float
    energy_kwh: float
    pue: float
    pue_lowest: float
    pue_highest: float
    highest_kw: float
    water_m3: float | None
    carbon_t: float | None

    @property
    def wue(self) -> float | None:
        """Water usage effectiveness in L/kWh: water over the energy of the IT (The Green Grid)."""
        return None if self.water_m3 is None else 1000 * self.water_m3 / self.it_kwh


def parse_weather(text: str, name: str) -> tuple[Hour, ...]:
    """Return the hours of a weather file.

    Raises:
        UsageError: the text is neither an EPW nor a TMY3, or an hour lacks its temperature or humidity.
    """
    rows = list(csv.reader(text.splitlines()))
    if rows and rows[0] and rows[0][0] == "LOCATION":
        columns, data = (_EPW_BULB, _EPW_HUMIDITY), rows[_EPW_HEAD:]
    elif len(rows) > 1 and {_TMY_BULB, _TMY_HUMIDITY} <= set(rows[1]):
        columns, data = (rows[1].index(_TMY_BULB), rows[1].index(_TMY_HUMIDITY)), rows[2:]
    else:
        raise UsageError(f"{name} is not a weather file: expected an EPW or a TMY3")
    hours = []
    for number, row in enumerate(filter(None, data), start=1):
        dry, damp = (_number(row[at]) if at < len(row) else None for at in columns)
        if dry is None or damp is None or dry > _NO_BULB or not 0 <= damp <= _NO_HUMIDITY:
            raise UsageError(f"{name}: hour {number} has no temperature or no humidity")
        hours.append(Hour(dry, wet_bulb(dry, damp)))
    if len(hours) != HOURS_PER_YEAR:
        raise UsageError(
            f"{name} has {len(hours):,} hours; expected the {HOURS_PER_YEAR:,} of a year"
        )
    return tuple(hours)


def wet_bulb(dry: float, humidity: float) -> float:
    """Return the wet bulb in °C at sea level, within 1 K from -20 to 50 °C and 5 to 99 % of humidity.

    R. Stull, Wet-Bulb Temperature from Relative Humidity and Air Temperature, J. Appl. Meteor. Climatol. 50 (2011).
    """
    damp = min(99.0, max(5.0, humidity))
    found = (
        dry * math.atan(0.151977 * math.sqrt(damp + 8.313659))
        + math.atan(dry + damp)
        - math.atan(damp - 1.676331)
        + 0.00391838 * damp**1.5 * math.atan(0.023101 * damp)
        - 4.686035
    )
    return float(min(dry, found))


def parse_curve(text: str, name: str) -> PlantCurve:
    """Return the curve of a CSV file with the columns ``dry_bulb_c`` or ``wet_bulb_c``, ``pue`` and ``wue_l_per_kwh``.

    Raises:
        UsageError: a column or a number is missing or impossible.
    """
    reader = csv.DictReader(text.splitlines())
    columns = set(reader.fieldnames or ())
    axis = [column for column in ("dry_bulb_c", "wet_bulb_c") if column in columns]
    if len(axis) != 1 or "pue" not in columns:
        raise UsageError(f"{name}: expected the columns 'dry_bulb_c' or 'wet_bulb_c', and 'pue'")
    points = []
    for number, row in enumerate(reader, start=2):
        at, pue = _number(row[axis[0]]), _number(row["pue"])
        water = _number(row.get("wue_l_per_kwh"))
        if at is None or pue is None or pue < 1 or (water is not None and water < 0):
            raise UsageError(f"{name}:{number}: expected a temperature, and a PUE of 1 or more")
        points.append((at, pue, water))
    points.sort(key=lambda point: point[0])
    if not points or len({at for at, _, _ in points}) < len(points):
        raise UsageError(f"{name}: expected one row for each of some temperatures")
    return PlantCurve(axis[0] == "wet_bulb_c", tuple(points))


def parse_carbon(text: str, name: str) -> tuple[float, ...]:
    """Return the carbon dioxide of the grid in kg/kWh by hour: the last column of a CSV file, a head aside.

    Raises:
        UsageError: there are not as many numbers as a year has hours.
    """
    found = [_number(row[-1]) for row in csv.reader(text.splitlines()) if row]
    if found and found[0] is None:
        found = found[1:]
    series = tuple(number for number in found if number is not None and number >= 0)
    if len(series) != len(found) or len(series) != HOURS_PER_YEAR:
        raise UsageError(
            f"{name}: expected {HOURS_PER_YEAR:,} numbers in kg/kWh, got {len(series):,}"
        )
    return series


def weather_year(
    site: str,
    it_watts: float,
    hours: Sequence[Hour],
    curve: PlantCurve,
    carbon: Sequence[float] | None = None,
) -> WeatherYear:
    """Return the year of a site whose IT draws ``it_watts`` in every hour."""
    kilowatts = it_watts / 1000
    by_hour = [curve.at(hour) for hour in hours]
    pues = [pue for pue, _ in by_hour]
    litres = [water * kilowatts for _, water in by_hour if water is not None]
    energy = kilowatts * math.fsum(pues)
    emitted = None
    if carbon is not None:
        emitted = kilowatts * math.fsum(
            pue * kilograms for pue, kilograms in zip(pues, carbon, strict=True)
        )
    return WeatherYear(
        site=site,
        it_kwh=kilowatts * len(hours),
        energy_kwh=energy,
        pue=math.fsum(pues) / len(pues),
        pue_lowest=min(pues),
        pue_highest=max(pues),
        highest_kw=kilowatts * max(pues),
        water_m3=math.fsum(litres) / 1000 if len(litres) == len(hours) else None,
        carbon_t=None if emitted is None else emitted / 1000,
    )


def _number(text: str | None) -> float | None:
    try:
        found = float(text or "")
    except ValueError:
        return None
    return found if math.isfinite(found) else None
