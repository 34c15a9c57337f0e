"""Electrical arithmetic against values worked by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright.plan.power.electrical import (
    circuit_capacity,
    line_deviation,
    line_implied_power,
    outlet_voltage,
    rotate,
    spread,
)

LEG = st.integers(0, 10**7).map(lambda tenths: tenths / 10)
LEGS = st.tuples(LEG, LEG, LEG)


@pytest.mark.parametrize(
    ("volts", "amperes", "kva", "usable", "real"),
    [
        (208, 30, 10.8, 8.6, 8.2),
        (208, 60, 21.6, 17.3, 16.4),
        (400, 32, 22.2, 17.7, 16.8),
        (415, 32, 23.0, 18.4, 17.5),
        (415, 60, 43.1, 34.5, 32.8),
        (400, 63, 43.6, 34.9, 33.2),
        (480, 60, 49.9, 39.9, 37.9),
        (415, 100, 71.9, 57.5, 54.6),
    ],
)
def test_three_phase_circuits_of_the_trade(volts, amperes, kva, usable, real):
    """Apparent power, 80 % of it, and the real power of that at a power factor of 0.95."""
    for derate, factor, expected in ((1, 1, kva), (0.8, 1, usable), (0.8, 0.95, real)):
        watts = circuit_capacity(volts, amperes, 3, derate=derate, power_factor=factor)
        assert round(watts / 1000, 1) == expected


def test_one_phase_has_no_root():
    assert circuit_capacity(230, 16, 1, derate=1, power_factor=1) == 3680
    assert circuit_capacity(230, 16, 1, derate=0.8, power_factor=0.5) == pytest.approx(1472)


def test_outlets_see_the_neutral_behind_a_wye_only():
    assert outlet_voltage(415, 3, "wye") == pytest.approx(239.6, abs=0.01)
    assert outlet_voltage(208, 3, "delta") == 208
    assert outlet_voltage(230, 1, "wye") == 230


def test_ten_amperes_between_two_lines_are_not_ten_on_one_line():
    """208 V delta, 10 A on L1-L2 alone: both lines carry 10 A, so the circuit is at √3·208·10 W."""
    legs = (2080.0, 0.0, 0.0)
    assert line_implied_power(legs, "delta") == pytest.approx(math.sqrt(3) * 208 * 10)


def test_line_current_of_two_unequal_delta_legs():
    """16 A on L1-L2 and 10 A on L3-L1: √(16² + 10² + 16·10) = √516 = 22.716 A on L1."""
    legs = (16 * 208.0, 0.0, 10 * 208.0)
    line = line_implied_power(legs, "delta") / (math.sqrt(3) * 208)
    assert line == pytest.approx(22.7156, abs=1e-4)


def test_a_balanced_delta_draws_root_three_of_its_leg_current():
    line = line_implied_power((2080.0,) * 3, "delta") / (math.sqrt(3) * 208)
    assert line == pytest.approx(math.sqrt(3) * 10)


def test_the_busiest_line_of_a_wye_counts_three_times():
    assert line_implied_power((1000.0, 2000.0, 1500.0), "wye") == 6000


@given(LEGS, st.sampled_from(["wye", "delta"]))
def test_the_busiest_line_never_implies_less_than_the_load(legs, wiring):
    assert line_implied_power(legs, wiring) >= sum(legs) * (1 - 1e-9)


@given(LEG, st.sampled_from(["wye", "delta"]))
def test_a_balanced_load_implies_itself(leg, wiring):
    assert line_implied_power((leg,) * 3, wiring) == pytest.approx(3 * leg)


@given(LEGS, st.integers(0, 5), st.sampled_from(["wye", "delta"]))
def test_turning_the_lines_changes_neither_implied_power_nor_deviation(legs, turn, wiring):
    turned = rotate(legs, turn)
    assert sorted(turned) == sorted(legs)
    assert line_implied_power(turned, wiring) == pytest.approx(line_implied_power(legs, wiring))
    assert line_deviation(turned) == pytest.approx(line_deviation(legs))


def test_turning_by_one_moves_line_one_to_line_two():
    assert rotate((1.0, 2.0, 3.0), 1) == (3.0, 1.0, 2.0)


@given(st.integers(0, 200), st.integers(1, 12), st.integers(0, 30))
def test_dealing_loses_nothing_and_differs_by_one_at_most(count, places, start):
    dealt = spread(count, places, start=start)
    assert len(dealt) == places
    assert sum(dealt) == count
    assert max(dealt) - min(dealt) <= 1


def test_dealing_starts_where_it_is_told():
    assert spread(6, 3) == (2, 2, 2)
    assert spread(4, 3) == (2, 1, 1)
    assert spread(4, 3, start=2) == (1, 1, 2)
    assert spread(5, 3, start=2) == (2, 1, 2)
