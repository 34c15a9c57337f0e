"""Quantities: exact, and never without a unit."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from known import known
from rackwright.model import units
from rackwright.model.base import Model
from rackwright.model.unit_words import spelled

DIMENSIONS = {
    name: value for name, value in vars(units).items() if isinstance(value, units.Dimension)
}


@pytest.mark.parametrize(
    ("dimension", "text", "value"),
    [
        ("POWER", "46.2 kW", 46200.0),
        ("POWER", "0.1 MW", 100000.0),
        ("POWER", "1e3 W", 1000.0),
        ("POWER", "2 GW", 2e9),
        ("POWER", "10,200 W", 10200.0),
        ("POWER", "10_200W", 10200.0),
        ("APPARENT_POWER", "34.5 kVA", 34500.0),
        ("VOLTAGE", "0.415 kV", 415.0),
        ("CURRENT", "250 mA", 0.25),
        ("MASS", "1.36 t", 1360.0),
        ("MASS", "3000 lb", 1360.77711),
        ("LENGTH", "897 mm", 0.897),
        ("LENGTH", "19 in", 0.4826),
        ("LENGTH", "10 ft", 3.048),
        ("TEMPERATURE", "-10 °C", -10.0),
        ("TEMPERATURE", "24 degC", 24.0),
        ("TEMPERATURE_DIFFERENCE", "14 K", 14.0),
        ("AIRFLOW", "1105 CFM", 1105.0),
        ("LIQUID_FLOW", "6 m3/h", 100.0),
        ("PRESSURE", "2 bar", 200.0),
        ("PRESSURE", "50 psi", 344.73785),
        ("FLOOR_LOAD", "1221 kg/m²", 1221.0),
        ("DATA_RATE", "0.4 Tbps", 400.0),
        ("DATA_SIZE", "2 TiB", 2048.0),
        ("DATA_SIZE", "81920 MiB", 80.0),
        ("DATA_SIZE", "1 PiB", 1048576.0),
        ("THROUGHPUT", "1.28 TB/s", 1280000.0),
        ("THROUGHPUT_DENSITY", "250 MB/s/TiB", 250.0),
        ("RACK_UNITS", "48 U", 48.0),
        ("DURATION", "1.5 h", 5400.0),
        ("DURATION", "90 s", 90.0),
        ("DURATION", "2 d", 172800.0),
        ("FRACTION", "80 %", 80.0),
    ],
)
def test_quantities_are_exact(dimension, text, value):
    assert DIMENSIONS[dimension].parse(text) == value


@pytest.mark.parametrize(
    ("dimension", "text", "value"),
    [
        ("POWER", "38557 BTU/h", 11300.4),
        ("TEMPERATURE", "95 °F", 35.0),
        ("TEMPERATURE", "32 °F", 0.0),
        ("AIRFLOW", "1699.011 m3/h", 1000.0),
        ("DATA_SIZE", "30400 GB", 28312.2),
        ("RACK_UNITS", "44 OU", 47.5156),
    ],
)
def test_quantities_that_do_not_come_out_even(dimension, text, value):
    assert DIMENSIONS[dimension].parse(text) == pytest.approx(value, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("name", DIMENSIONS)
def test_every_unit_of_every_dimension(name):
    dimension = DIMENSIONS[name]
    assert dimension.factors[dimension.unit] == 1
    for unit, factor in dimension.factors.items():
        offset = float((dimension.offsets or {}).get(unit, 0))
        assert dimension.parse(f"3 {unit}") == pytest.approx(3 * float(factor) + offset)
        assert dimension.parse(f"  3{unit}  ") == dimension.parse(f"3 {unit}")
    usual = dimension.factors[dimension.usual or dimension.unit]
    assert dimension.parse(dimension.example) == pytest.approx(float(usual))


@pytest.mark.parametrize("name", DIMENSIONS)
def test_a_bare_number_is_refused(name):
    dimension = DIMENSIONS[name]
    with pytest.raises(ValueError, match="has no unit; write it like '3 ") as caught:
        dimension.parse("3")
    last = dimension.also[-1] if dimension.also else dimension.unit
    assert str(caught.value).endswith(f"'3 {last}'")
    if dimension.usual:
        assert f"like '3 {dimension.usual}' or " in str(caught.value)


@pytest.mark.parametrize(
    ("text", "meant"), [("1,5 kW", "1.5 kW"), ("-0,25", "-0.25 kW"), ("10,2500 W", "10.2500 W")]
)
def test_a_decimal_comma_is_told_as_one(text, meant):
    with pytest.raises(ValueError, match=f"decimals stand behind a point: '{meant}'"):
        units.POWER.parse(text)
    assert units.POWER.parse("1,500 kW") == 1.5e6, "thousands are parted by a comma"


NO_NUMBERS = [
    "",
    "W",
    "kW 3",
    "three kW",
    "1.2.3 W",
    "1 000 W",
    "46,2 kW",
    "١ kW",
    "nan W",
    "inf W",
]


@pytest.mark.parametrize("name", DIMENSIONS)
@pytest.mark.parametrize("text", NO_NUMBERS)
def test_text_without_a_number_is_refused(name, text):
    with pytest.raises(
        ValueError,
        match=r"is not an? .*; (write |decimals stand behind a point: '\d|did you mean '3 k)",
    ):
        DIMENSIONS[name].parse(text)


@pytest.mark.parametrize("text", ["0x10 W", "1e999 W", "1e W", "3 W W"])
def test_malformed_quantity_is_refused(text):
    with pytest.raises(ValueError, match="is not a unit of power"):
        units.POWER.parse(text)


@pytest.mark.parametrize(
    ("dimension", "text", "near"),
    [
        ("POWER", "46.2 kw", "kW"),
        ("POWER", "46.2 KW", "kW"),
        ("PRESSURE", "3 kpa", "kPa"),
        ("DATA_RATE", "400 gbps", "Gbps"),
        ("LIQUID_FLOW", "5 l/min", "L/min"),
        ("MASS", "5 KG", "kg"),
    ],
)
def test_a_unit_of_another_spelling_is_suggested(dimension, text, near):
    with pytest.raises(ValueError, match="is not a unit of") as caught:
        DIMENSIONS[dimension].parse(text)
    assert str(caught.value).endswith(f"; did you mean '{near}'?")


@pytest.mark.parametrize(
    ("dimension", "text", "message"),
    [
        ("DATA_RATE", "400 GB/s", "'GB/s' counts bytes: '400 GB/s' is '3200 Gbps'"),
        ("DATA_RATE", "50 GBps", "'GBps' counts bytes: '50 GBps' is '400 Gbps'"),
        ("DATA_RATE", "400 Gb/s", "did you mean 'Gbps'?"),
        ("DATA_RATE", "400 Gbit/s", "did you mean 'Gbps'?"),
        ("DATA_RATE", "400 G", "did you mean 'Gbps'?"),
        ("THROUGHPUT", "400 Gbps", "'Gbps' counts bits: '400 Gbps' is '50 GB/s'"),
        ("THROUGHPUT", "400 MBps", "did you mean 'MB/s'?"),
        ("LIQUID_FLOW", "24 gpm", "'24 gpm' is '90.85 L/min'"),
        ("LIQUID_FLOW", "90 lpm", "did you mean 'L/min'?"),
        ("POWER", "3 hp", "'3 hp' is '2.237 kW'"),
        ("DURATION", "15 m", "did you mean 'min'?"),
        ("DURATION", "15 minutes", "did you mean 'min'?"),
        ("TEMPERATURE", "20 C", "did you mean '°C'?"),
        ("CURRENT", "63 Amps", "did you mean 'A'?"),
        ("RACK_UNITS", "42 RU", "did you mean 'U'?"),
    ],
)
def test_hint_for_a_foreign_unit_keeps_the_value(dimension, text, message):
    with pytest.raises(ValueError, match="is not a unit of") as caught:
        DIMENSIONS[dimension].parse(text)
    assert str(caught.value).endswith(f"; {message}")


@pytest.mark.parametrize(
    ("text", "meant"),
    [("0,125 kW", "0.125 kW"), ("0,800", "0.800 kW"), ("1500,000 kW", "1500.000 kW")],
)
def test_a_comma_that_parts_no_thousands_is_a_decimal_comma(text, meant):
    """0,125 kW was read as 125 kW."""
    with pytest.raises(ValueError, match=f"point: '{meant}'"):
        units.POWER.parse(text)


@pytest.mark.parametrize(
    ("dimension", "text"),
    [("POWER", "5 mW"), ("CURRENT", "5 MA"), ("LENGTH", "3 M M"), ("TEMPERATURE", "300 °K")],
)
def test_unit_of_another_magnitude_is_not_suggested(dimension, text):
    with pytest.raises(ValueError, match=r"is not a unit of .*\)$"):
        DIMENSIONS[dimension].parse(text)


@pytest.mark.parametrize(
    ("number", "meant"),
    [("0.8", "80 %"), ("0.05", "5 %"), ("1", "100 %"), ("0.125", "12.5 %"), ("80", "80 %")],
)
def test_hint_for_a_bare_share_is_in_per_cent(number, meant):
    with pytest.raises(ValueError, match="has no unit") as caught:
        units.FRACTION.parse(number)
    assert str(caught.value).endswith(f"write it like '{meant}'")
    comma = number.replace(".", ",")
    if comma != number:
        with pytest.raises(ValueError, match=f"point: '{meant}'"):
            units.FRACTION.parse(comma)


def test_a_unit_of_another_dimension_lists_the_right_ones():
    with pytest.raises(ValueError, match=r"'°C' is not a unit of power \(W, kW, MW, GW, BTU/h\)$"):
        units.POWER.parse("3 °C")


@pytest.mark.parametrize("name", DIMENSIONS)
def test_nothing_is_below_its_least(name):
    dimension = DIMENSIONS[name]
    if name == "TEMPERATURE":
        assert dimension.parse("-273.15 °C") == -273.15
        with pytest.raises(ValueError, match="cannot be below"):
            dimension.parse("-273.16 °C")
        return
    assert dimension.parse(f"0 {dimension.unit}") == 0
    with pytest.raises(ValueError, match="cannot be below 0"):
        dimension.parse(f"-1 {dimension.unit}")


def test_absolute_zero_in_fahrenheit():
    assert units.TEMPERATURE.parse("-459.67 °F") == pytest.approx(-273.15)


def test_a_long_text_is_refused_before_it_is_read():
    with pytest.raises(ValueError, match="at most 64 characters"):
        units.POWER.parse("1" * 65 + " W")


VALUES = st.just(0.0) | st.floats(1e-12, 1e15)


@given(st.sampled_from(sorted(DIMENSIONS)), VALUES)
def test_formatted_quantity_reads_back_the_same(name, value):
    dimension = DIMENSIONS[name]
    assert dimension.parse(dimension.format(value)) == value


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1.1e15 W", "large"),
        ("9" * 44 + " GW", "large"),
        ("1e-13 W", "small"),
        ("1e-99 W", "small"),
    ],
)
def test_a_slip_of_the_hand_is_refused(text, size):
    with pytest.raises(ValueError, match=f"is too {size} for a power"):
        units.POWER.parse(text)


@given(st.decimals(0, 10**6, places=3))
def test_kilowatts_are_a_thousand_watts_exactly(number):
    assert units.POWER.parse(f"{number} kW") == float(number * 1000)


@given(st.sampled_from(sorted(DIMENSIONS)), st.text(max_size=80))
def test_any_text_is_a_quantity_or_a_value_error(name, text):
    dimension = DIMENSIONS[name]
    try:
        value = dimension.parse(text)
    except ValueError as error:
        assert str(error)  # noqa: PT017 - either outcome is right
        return
    assert value >= known(dimension.minimum)


SOME = st.just(0.0) | st.floats(1e-9, 1e6)


@given(SOME, SOME)
def test_more_is_more_in_every_unit(one, two):
    assume(one != two)
    low, high = sorted((one, two))
    assert {"W", "kW", "MW"} <= set(units.POWER.factors)
    for unit in units.POWER.factors:
        assert units.POWER.parse(f"{low!r} {unit}") <= units.POWER.parse(f"{high!r} {unit}")


class Load(Model):
    power: units.Watts
    inlet: units.Celsius | None = None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (46.2, "'46.2' has no unit; write it like '46.2 kW' or '46.2 W'"),
        (5, "'5' has no unit; write it like '5 kW' or '5 W'"),
        (True, "'true' is not a power; write it like '1 kW'"),
        (["5 W"], "a list is not a power; write it like '1 kW'"),
        (None, "no value is set; write it like '1 kW'"),
        (float("nan"), "'nan' has no unit"),
        ("5", "'5' has no unit; write it like '5 kW' or '5 W'"),
    ],
)
def test_a_field_refuses_what_is_no_quantity(value, message):
    with pytest.raises(ValidationError) as caught:
        Load.model_validate({"power": value})
    (error,) = caught.value.errors()
    assert error["msg"].startswith(message)


def test_a_model_writes_text_with_the_canonical_unit():
    load = Load.model_validate({"power": "46.2 kW", "inlet": "75.2 °F"})
    assert load.power == 46200.0
    assert load.model_dump_json() == '{"power":"46200 W","inlet":"24 °C"}'
    assert Load.model_validate_json(load.model_dump_json()) == load


def test_a_model_is_frozen_and_strict_about_keys():
    load = Load.model_validate({"power": "1 W"})
    with pytest.raises(ValidationError, match="frozen"):
        load.power = 2.0  # type: ignore[misc]  # that it cannot be set is the test
    with pytest.raises(ValidationError, match="Extra inputs"):
        Load.model_validate({"power": "1 W", "pwr": "2 W"})


@pytest.mark.parametrize(
    ("name", "text", "cure"),
    [
        ("POWER", "1.100,5 kW", "write thousands without a separator: '1100.5 kW'"),
        ("POWER", "1'100 kW", "write thousands without a separator: '1100 kW'"),
        ("POWER", "1 100", "write thousands without a separator: '1100 kW' or '1100 W'"),
        ("POWER", "ca. 1100 kW", "did you mean '1100 kW'?"),
        ("POWER", "1100 kW (firm)", "did you mean '1100 kW'?"),
        ("POWER", "900-1100 kW", "write one number, with its unit"),
        ("POWER", "TBD", "leave the key out while the value is not known"),
        ("POWER", "45 kVA", "power is apparent power times power factor"),
        ("POWER", "45 kWh", "an energy is given where a power is needed"),
        ("TEMPERATURE", "297.15 K", "'297.15 K' is '24 °C'"),
        ("TEMPERATURE_DIFFERENCE", "18 °F", "'18 °F' is '10 K'"),
        ("FLOOR_LOAD", "10 kPa", "'10 kPa' is '1020 kg/m2'"),
        ("FLOOR_LOAD", "250 psf", "'250 psf' is '1221 kg/m2'"),
        ("MASS", "7 kN", "'7 kN' is '713.8 kg'"),
        ("DATA_RATE", "NDR", "'NDR' is '400 Gbps'"),
        ("DATA_RATE", "400 Gb", "did you mean 'Gbps'?"),
        ("DURATION", "2 weeks", "'2 weeks' is '14 d'"),
    ],
)
def test_mistyped_quantity_has_a_cure(name, text, cure):
    with pytest.raises(ValueError, match=re.escape(cure)):
        DIMENSIONS[name].parse(text)


def test_bare_number_is_not_taken_for_the_largest_unit_alone():
    """A tray at 270 was to be written as '270 m', a fault current of 15 as '15 A'."""
    for name, words in (("LENGTH", "'270 m' or '270 mm'"), ("CURRENT", "'270 A' or '270 kA'")):
        with pytest.raises(ValueError, match=f"write it like {words}$"):
            DIMENSIONS[name].parse("270")


@pytest.mark.parametrize(
    ("text", "area"),
    [
        ("6 AWG", "13.3"),
        ("AWG 14", "2.081"),
        ("#2 AWG", "33.63"),
        ("4/0", "107.2"),
        ("AWG 1/0", "53.48"),
        ("10 ga", "5.261"),
    ],
)
def test_size_of_the_american_wire_gauge_is_given_in_square_millimetres(text, area):
    """'4/0 AWG' was the unit '/0 AWG'. Sizes as in the table of ASTM B258."""
    with pytest.raises(ValueError, match="American Wire Gauge") as caught:
        units.CROSS_SECTION.parse(text)
    assert str(caught.value).endswith(f"; write '{area} mm2'")


def test_mcm_is_kcmil():
    with pytest.raises(ValueError, match="'250 MCM' is '250 kcmil'"):
        units.CROSS_SECTION.parse("250 MCM")


@pytest.mark.parametrize("text", ["35", "5/0", "41 AWG mm2", "AWG"])
def test_what_is_no_gauge_is_not_taken_for_one(text):
    with pytest.raises(ValueError, match=r"cross-section|has no unit") as caught:
        units.CROSS_SECTION.parse(text)
    assert "American" not in str(caught.value)


@pytest.mark.parametrize(
    ("dimension", "text", "meant"),
    [
        ("LENGTH", "thirty", "'30 m' or '30 mm'"),
        ("LENGTH", "thirty metres", "'30 m'"),
        ("POWER", "one hundred and ten kilowatts", "'110 kW'"),
        ("POWER", "two thousand forty", "'2040 kW' or '2040 W'"),
        ("MASS", "forty-two stone", "'42 kg'"),
        ("FRACTION", "eighty percent", "'80 %'"),
    ],
)
def test_number_in_words_is_given_in_digits(dimension, text, meant):
    with pytest.raises(ValueError, match="is not a") as caught:
        DIMENSIONS[dimension].parse(text)
    assert str(caught.value).endswith(f"write it like {meant}")


@pytest.mark.parametrize(
    ("text", "number", "rest"),
    [
        ("sixty-four", 64, ""),
        ("Three hundred", 300, ""),
        ("one hundred and twenty eight racks", 128, "racks"),
        ("ten four", 10, "four"),
        ("and", None, "and"),
        ("hundred", None, "hundred"),
        ("30 m", None, "30 m"),
    ],
)
def test_number_in_words_ends_where_its_words_end(text, number, rest):
    assert spelled(text) == (number, rest)
