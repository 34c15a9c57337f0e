"""Cooling arithmetic against values worked by hand."""

from __future__ import annotations

import pytest

from known import known
from rackwright.plan.cooling.thermal import (
    CFM_PER_WATT_KELVIN,
    LEAKAGE,
    airflow_for,
    coolant_flow,
    density_ratio,
    volumetric_heat,
    without_largest,
)

PG25 = volumetric_heat("pg25")


@pytest.mark.parametrize(
    ("cfm", "watts", "rise"), [(1105, 10_200, 16.2), (1550, 14_300, 16.2), (1500, 14_500, 17.0)]
)
def test_the_rise_that_published_airflows_imply(cfm, watts, rise):
    """DGX H100, B200 and B300."""
    implied = CFM_PER_WATT_KELVIN * watts / cfm
    assert implied == pytest.approx(rise, abs=0.05)
    assert airflow_for(watts, implied) == pytest.approx(cfm)


def test_one_kilowatt_takes_108_cfm_at_the_usual_rise():
    assert airflow_for(1000, 16.2) == pytest.approx(108.4, abs=0.05)


def test_the_rise_in_fahrenheit_gives_the_same_airflow():
    """3.16·W/ΔT with 18 °F is 1.756·W/ΔT with 10 K."""
    assert airflow_for(5000, 10) == pytest.approx(3.16 * 5000 / 18, rel=1e-3)


@pytest.mark.parametrize(("fluid", "flow"), [("water", 1.440), ("pg25", 1.489)])
def test_flow_of_one_kilowatt_at_ten_kelvin(fluid, flow):
    assert coolant_flow(1000, 10, volumetric_heat(fluid)) == pytest.approx(flow, abs=5e-4)


def test_a_gb200_rack_takes_171_litres_a_minute():
    assert round(known(coolant_flow(115_000, 10, PG25))) == 171


def test_half_the_rise_takes_twice_the_flow():
    assert coolant_flow(115_000, 5, PG25) == pytest.approx(
        2 * known(coolant_flow(115_000, 10, PG25))
    )


def test_a_dielectric_fluid_is_what_is_said_of_it():
    """60 × 12 / (1.8 × 10) = 40 L/min."""
    assert coolant_flow(12_000, 10, volumetric_heat("dielectric", 1.8)) == pytest.approx(40)
    assert coolant_flow(12_000, 10, volumetric_heat("dielectric")) is None
    assert volumetric_heat("water", 1.8) == pytest.approx(0.997 * 4.18)


def test_density_is_that_of_the_standard_atmosphere():
    assert density_ratio(0) == 1
    # ISO 2533:1975, table of the standard atmosphere: 1.1901, 1.0476, 1.0066 and 0.9093 kg/m³
    # at 300, 1,600, 2,000 and 3,000 m, over 1.225 kg/m³ at sea level.
    for altitude, density in ((300, 1.1901), (1600, 1.0476), (2000, 1.0066), (3000, 0.9093)):
        assert density_ratio(altitude) == pytest.approx(density / 1.225, abs=2e-4)
    assert density_ratio(1e6) == 0


def test_one_unit_less():
    assert without_largest(100_000, 5) == 400_000
    assert without_largest(100_000, 1) == 0


def test_air_leaks_most_without_containment():
    assert LEAKAGE == {"hot-aisle": 1.1, "cold-aisle": 1.1, "none": 1.3}
