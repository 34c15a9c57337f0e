"""Amounts of money with units, and the owner's rates."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pydantic import TypeAdapter, ValidationError

from rackwright.model.cost import Costs
from rackwright.model.prices import Dollars, DollarsPerKilowattHour, Money

DOLLARS = TypeAdapter(Dollars)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 USD", "1"),
        ("12_000_000 USD", "12000000"),
        ("12,000,000.50 USD", "12000000.50"),
        ("0.1  USD", "0.1"),
        ("0 USD", "0"),
    ],
)
def test_an_amount_is_read_exactly(text, value):
    assert DOLLARS.validate_python(text) == Decimal(value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("1", "is not in USD; write it like '1 USD'"),
        ("1 EUR", "is not in USD"),
        ("-1 USD", "is not an amount"),
        ("1e9 USD", "is not an amount"),
        ("NaN USD", "is not an amount"),
        ("1" * 40 + " USD", "at most 32 characters"),
        ("١ USD", "is not an amount"),
        (5, "an amount is written as text like '1 USD'"),
        (True, "an amount is written as text"),
        (None, "an amount is written as text"),
    ],
)
def test_invalid_amount_is_refused(value, words):
    with pytest.raises(ValidationError) as caught:
        DOLLARS.validate_python(value)
    assert words in str(caught.value)


def test_an_amount_is_written_as_it_is_read():
    money = Money("USD/kWh")
    assert money.format(Decimal("0.0850")) == "0.0850 USD/kWh"
    assert money.parse(money.format(Decimal("1E+3"))) == 1000
    adapter = TypeAdapter(DollarsPerKilowattHour)
    assert adapter.dump_json(Decimal("0.085")) == b'"0.085 USD/kWh"'
    assert adapter.json_schema()["type"] == "string"


def test_the_rates_of_a_site_replace_the_common_ones_one_by_one():
    costs = Costs.model_validate(
        {
            "owned": {"energy": "0.08 USD/kWh", "opex": "4 %"},
            "sites": {"ohio": {"energy": "0.06 USD/kWh", "opex": None}},
        }
    )
    assert costs.rates("elsewhere").energy == Decimal("0.08")
    assert costs.rates("ohio").energy == Decimal("0.06")
    assert costs.rates("ohio").opex is None
    assert Costs().rates("ohio").energy is None


@pytest.mark.parametrize(
    "costs",
    [
        {"owned": {"utilisation": "101 %"}},
        {"owned": {"amortisation_years": 0}},
        {"discount": "120 %"},
        {"budget": "1 USD"},
    ],
)
def test_impossible_cost_is_refused(costs):
    with pytest.raises(ValidationError):
        Costs.model_validate(costs)


def test_price_for_another_kind_of_product_is_refused():
    with pytest.raises(ValidationError):
        Costs.model_validate({"storage": {"ebs-gp2": "0.1 USD/GiB-month"}})
    with pytest.raises(ValidationError):
        Costs.model_validate({"network": {"nat": "0.1 USD/h"}})
