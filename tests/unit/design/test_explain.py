"""What binds a layout, and how much more of it would help."""

from __future__ import annotations

from typing import Any

import pytest

from design_factories import (
    a_document,
    a_facility,
    a_hall,
    a_judge,
    a_wish,
    some_positions,
    some_sources,
)
from design_halls import COSTS, cooling_that_is_lost_with_a_utility
from rackwright.design.answer.explain import Binding, bindings_of
from rackwright.design.search import Design, design


def searched(document: dict[str, Any]) -> Design:
    judge = a_judge(document)
    (product,) = judge.builder.document.wanted.products
    return design(judge, product)


def kilowatts(one: Binding) -> float:
    return round(one.more / 1000, 2)


def test_air_binds_by_the_heat_of_one_more_node() -> None:
    found = searched(a_document(a_facility(halls=[a_hall(units=2)])))
    (one,) = bindings_of(found)
    assert one.what == "air handlers of hall-1, one lost"
    assert (one.units, one.accelerators, one.unit) == (1, 8, "W")
    needed = one.load / found.accelerators * 8 + one.load
    assert one.more == pytest.approx(needed - one.limit, rel=1e-3)


def test_more_of_what_binds_brings_what_is_said() -> None:
    tight = a_facility(contract="250 kW")
    (one,) = bindings_of(searched(a_document(tight)))
    assert one.what == "contract"
    assert one.units > 0
    wider = a_facility(contract=f"{(one.limit + one.more) * 1.00001:.0f} W")
    before, after = searched(a_document(tight)), searched(a_document(wider))
    assert after.accelerators - before.accelerators == one.accelerators


def test_ups_of_which_each_carries_what_another_loses_bind_together() -> None:
    found = searched(a_document(a_facility(sources=some_sources(capacity="35 kW"))))
    (one,) = bindings_of(found)
    assert one.what == "all ups"
    assert one.units == 1
    assert 0 < kilowatts(one) < 10.2


def test_positions_bind_where_all_are_full() -> None:
    found = searched(a_document(a_facility(halls=[a_hall(some_positions("c[01-02]"))])))
    (one,) = bindings_of(found)
    assert (one.what, one.unit, one.load, one.limit, one.more) == ("rack positions", "", 2, 2, 1)
    assert (one.units, one.accelerators) == (4, 32)


def test_batteries_that_charge_bind_beside_the_load() -> None:
    sources = some_sources(utility="200 kW", recharge="25 kW")
    found = searched(a_document(a_facility(sources=sources)))
    first = bindings_of(found)[0]
    assert first.what == "utility while batteries are charged"
    assert first.units > 0


def test_a_budget_of_a_year_binds_with_what_the_next_units_cost() -> None:
    costs = COSTS | {"budget_per_year": "1_000_000 USD/year"}
    (one,) = bindings_of(searched(a_document(a_facility(pue=1.4), costs=costs)))
    assert (one.what, one.unit, one.units) == ("budget of a year", "USD/year", 1)
    assert one.load <= one.limit < one.load + one.more + 100_000


def test_a_rule_that_has_no_sum_is_named() -> None:
    hall = cooling_that_is_lost_with_a_utility()
    assert "COOL-011" in " ".join(one.what for one in bindings_of(searched(hall)))


def test_nothing_binds_a_number_that_is_there() -> None:
    assert bindings_of(searched(a_document(None, {**a_wish(), "accelerators": 8}))) == ()
