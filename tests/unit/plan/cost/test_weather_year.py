"""Energy, water and carbon by the hours of a weather file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rackwright.cli import main
from rackwright.errors import UsageError
from rackwright.plan.cost.weather import (
    Hour,
    parse_carbon,
    parse_curve,
    parse_weather,
    weather_year,
    wet_bulb,
)
from rackwright.resources import bundled

HOURS = 8760
FIXTURE = str(bundled("policies") / "fixtures" / "cost.yaml")
CURVE = "dry_bulb_c,pue,wue_l_per_kwh\n20,1.2,0\n0,1.1,0\n30,1.4,1\n"


def epw(temperatures: list[float], humidity: float = 50) -> str:
    """An EPW as EnergyPlus reads it: eight lines of head, then year, month, day, hour, minute, flags, ..."""
    head = ["LOCATION,Oslo,-,NOR,IWEC,14880,59.90,10.62,1.0,17.0", *["DESIGN CONDITIONS,0"] * 7]
    rows = [
        f"2005,1,1,{n % 24 + 1},60,?9,{t},3.0,{humidity},101000" for n, t in enumerate(temperatures)
    ]
    return "\n".join([*head, *rows]) + "\n"


def tmy3(temperatures: list[float]) -> str:
    head = '724815,"MERCED",CA,-8.0,37.283,-120.517,47\nDate (MM/DD/YYYY),Time (HH:MM),Dry-bulb (C),RHum (%)\n'
    return head + "".join(f"01/01/1995,01:00,{t},50\n" for t in temperatures)


def test_epw_and_tmy3_give_the_same_hours() -> None:
    temperatures = [n % 40 - 5.0 for n in range(HOURS)]
    hours = parse_weather(epw(temperatures), "a.epw")
    assert hours == parse_weather(tmy3(temperatures), "a.csv")
    assert [hour.dry_bulb for hour in hours] == temperatures
    assert all(hour.wet_bulb <= hour.dry_bulb for hour in hours)


def test_wet_bulb_is_that_of_stulls_example() -> None:
    assert wet_bulb(20, 50) == pytest.approx(13.7, abs=0.05)
    assert wet_bulb(20, 100) == pytest.approx(20, abs=0.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "neither"),
        ("a,b\n1,2\n", "neither"),
        (epw([10.0] * 100), "100 hours"),
        (epw([99.9] * HOURS), "hour 1 has no temperature"),
        (epw([10.0] * HOURS, humidity=999), "hour 1 has no temperature or no humidity"),
        (epw([float("nan")] * HOURS), "hour 1 has no"),
    ],
)
def test_other_files_are_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("neither", "not a weather file")):
        parse_weather(text, "file")


def test_the_curve_is_linear_between_its_points_and_even_beyond() -> None:
    curve = parse_curve(CURVE, "plant.csv")
    assert [point[0] for point in curve.points] == [0, 20, 30]
    assert curve.at(Hour(10, 5)) == pytest.approx((1.15, 0))
    assert curve.at(Hour(25, 5)) == pytest.approx((1.3, 0.5))
    assert curve.at(Hour(-20, 5)) == (1.1, 0)
    assert curve.at(Hour(45, 5)) == (1.4, 1)
    by_wet_bulb = parse_curve(CURVE.replace("dry", "wet"), "plant.csv")
    assert by_wet_bulb.at(Hour(45, 20)) == (1.2, 0)


@pytest.mark.parametrize(
    "text", ["", "pue\n1.2\n", "dry_bulb_c,pue\n", "dry_bulb_c,pue\n1,0.9\n", "dry_bulb_c,pue\n1,1.2\n1,1.3\n",
             "dry_bulb_c,pue\nx,1.2\n", "dry_bulb_c,pue,wue_l_per_kwh\n1,1.2,-1\n"]
)  # fmt: skip
def test_impossible_curves_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"plant\.csv"):
        parse_curve(text, "plant.csv")


def test_a_year_of_two_temperatures_is_that_of_a_sheet_of_paper() -> None:
    """Half of the hours at 20 °C and half at 30 °C, 1 MW of IT: PUE 1.3, 0.5 L/kWh, 0.2 and 0.4 kg/kWh."""
    hours = [Hour(20, 14), Hour(30, 20)] * (HOURS // 2)
    year = weather_year("s", 1e6, hours, parse_curve(CURVE, "p"), [0.2, 0.4] * (HOURS // 2))
    assert year.it_kwh == pytest.approx(8.76e6)
    assert (year.pue, year.pue_lowest, year.pue_highest) == pytest.approx((1.3, 1.2, 1.4))
    assert year.energy_kwh == pytest.approx(8.76e6 * 1.3)
    assert year.highest_kw == pytest.approx(1400)
    assert year.water_m3 == pytest.approx(4380)
    assert year.wue == pytest.approx(0.5)
    assert year.carbon_t == pytest.approx(4380 * (1.2 * 0.2 + 1.4 * 0.4))


def test_water_and_carbon_are_unknown_without_their_numbers() -> None:
    curve = parse_curve("dry_bulb_c,pue,wue_l_per_kwh\n0,1.1,\n30,1.4,1\n", "p")
    year = weather_year("s", 1e6, [Hour(10, 5)] * HOURS, curve)
    assert (year.water_m3, year.wue, year.carbon_t) == (None, None, None)


def test_carbon_has_a_number_for_each_hour() -> None:
    series = parse_carbon("hour,kg\n" + "".join(f"{n},0.3\n" for n in range(HOURS)), "grid.csv")
    assert series == (0.3,) * HOURS
    for text in ("0.3\n" * 10, "0.3\n" * (HOURS - 1) + "-1\n", "x\nx\n" + "0.3\n" * HOURS):
        with pytest.raises(UsageError, match="expected 8,760 numbers"):
            parse_carbon(text, "grid.csv")


def test_cost_shows_a_year_by_hours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "w.epw").write_text(epw([25.0] * HOURS))
    (tmp_path / "p.csv").write_text(CURVE)
    (tmp_path / "g.csv").write_text("0.3\n" * HOURS)
    options = ["--weather", str(tmp_path / "w.epw"), "--plant", str(tmp_path / "p.csv")]
    assert main(["cost", FIXTURE, *options, "--carbon", str(tmp_path / "g.csv"), "--json"]) == 0
    (year,) = json.loads(capsys.readouterr().out)["weather_years"]
    assert (year["pue"], year["wue"]) == pytest.approx((1.3, 0.5))
    assert year["carbon_t"] == pytest.approx(year["energy_kwh"] * 0.3 / 1000)
    assert main(["cost", FIXTURE, *options]) == 0
    assert "PUE     1.300 (1.300 to 1.300)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--plant", "p.csv"], "no effect without --weather"),
        (["--weather", "w.epw"], "needs --plant"),
        (["--weather", "w.epw", "--plant", "p.csv", "--site", "moon"], "no bare-metal site 'moon'"),
        (["--weather", "absent.epw", "--plant", "p.csv"], "cannot read 'absent.epw'"),
    ],
)
def test_options_of_weather_are_checked(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cost", FIXTURE, *options]) == 2
    assert said in capsys.readouterr().err
