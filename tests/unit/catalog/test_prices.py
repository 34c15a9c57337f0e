"""Price lists: what is in them, and refusing lists that are wrong."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pytest

from rackwright.catalog.loader import load_catalogue
from rackwright.catalog.prices import builtin_prices, load_prices
from rackwright.errors import SpecError, SpecErrors
from rackwright.model.hardware import Confidence
from rackwright.model.instances import Instance
from rackwright.model.prices import Offer, each

LIST = """\
id: {name}
offer: {offer}
region: us-east-1
currency: {currency}
unit: {unit}
prices:
  {item}: {{value: {value}, source: {cited}}}
sources:
  sheet: {{title: A price sheet, date: 2026-11-21, confidence: official}}
"""


def a_list(folder: Path, **changes: str) -> Path:
    words = {
        "name": "team",
        "offer": "on-demand",
        "currency": "USD",
        "unit": "instance-hour",
        "item": "p5.48xlarge",
        "value": "31.5",
        "cited": "sheet",
    } | changes
    folder.mkdir(exist_ok=True)
    (folder / f"{changes.get('file', words['name'])}.yaml").write_text(LIST.format(**words))
    return folder


def test_a_price_has_everything_that_is_known_about_it(tmp_path):
    price = load_prices(a_list(tmp_path / "p")).find(Offer.ON_DEMAND, "us-east-1", "p5.48xlarge")
    assert price is not None
    assert price.amount == Decimal("31.5")
    assert (price.currency, price.unit) == ("USD", "instance-hour")
    assert price.source.date == dt.date(2026, 11, 21)
    assert price.source.confidence is Confidence.OFFICIAL
    assert not price.is_estimate


def test_a_decimal_is_read_exactly(tmp_path):
    prices = load_prices(a_list(tmp_path / "p", value="0.1"))
    price = prices.find(Offer.ON_DEMAND, "us-east-1", "p5.48xlarge")
    assert price is not None
    assert price.amount == Decimal("0.1")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"currency": "EUR"}, "currency"),
        ({"unit": "kWh"}, "the unit of on-demand is 'instance-hour', not 'kWh'"),
        ({"value": "-1"}, "'-1' is not 0 or more"),
        ({"value": "cheap"}, "decimal"),
        ({"value": ".inf"}, "finite"),
        ({"cited": "other"}, "the source 'other' is cited but not listed in 'sources'"),
        ({"offer": "spot"}, "offer"),
    ],
)
def test_a_list_that_is_wrong_is_refused(tmp_path, changes, words):
    with pytest.raises(SpecErrors) as caught:
        load_prices(a_list(tmp_path / "p", **changes))
    assert words in str(caught.value)
    assert "team.yaml:" in str(caught.value)


def test_a_file_is_called_like_its_list(tmp_path):
    with pytest.raises(SpecErrors) as caught:
        load_prices(a_list(tmp_path / "p", file="other"))
    assert caught.value.errors[0].hint == "call the file 'team.yaml'"


def test_no_price_shadows_another(tmp_path):
    a_list(tmp_path / "p", name="one")
    with pytest.raises(SpecErrors, match=r"two\.yaml:\d+:\d+: .* is priced twice"):
        load_prices(a_list(tmp_path / "p", name="two", value="1"))


def test_a_folder_must_exist(tmp_path):
    with pytest.raises(SpecError, match="there is no folder of price lists"):
        load_prices(tmp_path / "nowhere")


def test_the_built_in_lists_price_what_the_catalogue_has():
    prices = list(each(builtin_prices().lists))
    assert min(price.amount for price in prices) > 0
    rented = {p.item for p in prices if p.offer in {Offer.ON_DEMAND, Offer.CAPACITY_BLOCK}}
    assert rented
    assert rented <= set(load_catalogue().ids(Instance))


def test_what_is_guessed_says_so():
    guessed = [price for price in each(builtin_prices().lists) if price.is_estimate]
    assert {price.offer for price in guessed} == {Offer.CAPEX}
