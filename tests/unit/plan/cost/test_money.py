"""Arithmetic of money."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright.plan.cost import money

amounts = st.integers(min_value=0, max_value=10**18)
prices = st.decimals(min_value=0, max_value=10**6, places=6, allow_nan=False)


@given(total=amounts, years=st.integers(min_value=1, max_value=40))
def test_the_parts_of_an_amortisation_add_up_and_are_equal(total, years):
    parts = money.amortise(total, years)
    assert sum(parts) == total
    assert len(parts) == years
    assert parts[0] - parts[-1] in {0, 1}
    assert list(parts) == sorted(parts, reverse=True), "no later year costs more than the first"


@given(yearly=amounts)
def test_an_hour_is_a_year_divided_by_8760(yearly):
    assert abs(money.hourly(yearly) * 8760 - yearly) <= 8760 / 2


def test_an_hour_is_rounded_half_to_even():
    assert money.hourly(8760) == 1
    assert money.hourly(4380) == 0
    assert money.hourly(3 * 4380) == 2
    assert money.hourly(4381) == 1


def test_dollars_are_rounded_half_to_even_to_the_micro_dollar():
    assert money.to_micros(Decimal("0.0000005")) == 0
    assert money.to_micros(Decimal("0.0000015")) == 2
    assert money.to_dollars(1) == Decimal("0.000001")


def test_demand_is_power_times_pue_times_months_times_price():
    # 40.8 kW × 1.25 × 12 months × 15 USD
    assert money.demand(40_800.0, 1.25, Decimal(15)) == 9_180_000_000


def test_a_recurring_price():
    assert money.recurring(Decimal(16), Decimal("55.04"), 8760) == 7_714_406_400_000


def test_energy_is_power_times_utilisation_times_pue_times_hours_times_price():
    # 4 × 10.2 kW × 75 % × 1.25 × 8,760 h × 0.08 USD
    assert money.energy(40_800.0, 75.0, 1.25, Decimal("0.08")) == 26_805_600_000
    assert money.energy(40_800.0, 0.0, 1.25, Decimal("0.08")) == 0


@given(
    power=st.floats(min_value=0, max_value=1e9, allow_nan=False),
    more=st.floats(min_value=0, max_value=1e9, allow_nan=False),
    price=prices,
)
def test_more_power_never_costs_less(power, more, price):
    cost = money.energy(power, 80.0, 1.3, price)
    assert money.energy(power + more, 80.0, 1.3, price) >= cost


@given(price=prices, percent=st.floats(min_value=0, max_value=100, allow_nan=False))
def test_a_discounted_price_lies_between_nothing_and_the_price(price, percent):
    assert 0 <= money.discounted(price, percent) <= price


def test_tenths_of_a_percent_are_exact():
    assert money.discounted(Decimal(100), 0.1) == Decimal("99.9")
    assert money.share(1_000_000_000, 12.5) == 125_000_000


@pytest.mark.parametrize("number", [0.1, 1e-7, 12.5, 3.0, 1e20])
def test_a_number_is_what_it_reads_as(number):
    assert float(money.exact(number)) == number
