"""The way of racks into their hall: doors, lifts, casters and ramps; racks of 2.3 m × 0.6 m and 200 kg."""

from __future__ import annotations

from typing import Any

import pytest

from designs import Changes, Design
from rackwright.policy.api import Outcome

PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN
AIR, LIQUID = Design("electrical"), Design("liquid")
WAY = ("halls", 0, "delivery")
SHIPPING = ("halls", 0, "rows", 0, "rack_groups", 0, "shipping")


def judged(design: Design, what: str, changes: Changes | None = None, **parameters: Any) -> Any:
    found = design.judged("RACK-011", changes, **parameters)
    (result,) = (r for r in found if what in r.what)
    return result


@pytest.mark.parametrize(
    ("what", "field", "passing", "failing"),
    [
        ("height", "height", "2300 mm", "2299 mm"),
        ("width", "width", "600 mm", "599 mm"),
        ("weight on the delivery route", "rating", "200 kg", "199 kg"),
        ("caster", "rolling", "50 kg", "49 kg"),
        ("slope", "slope", "8.3 %", "8.4 %"),
    ],
)
def test_each_place_on_the_way(what: str, field: str, passing: str, failing: str) -> None:
    assert judged(AIR, what, {(*WAY, field): passing}).outcome is PASS
    assert judged(AIR, what, {(*WAY, field): failing}).outcome is FAIL
    result = judged(AIR, what, {(*WAY, field): None})
    assert result.outcome is UNKNOWN
    assert result.missing == (f"'delivery.{field}' of the hall 'hall-1'",)


@pytest.mark.parametrize(
    ("what", "field"),
    [("height", "height"), ("width", "width"), ("weight on the delivery route", "weight"), ("caster", "weight")],
)  # fmt: skip
def test_rack_without_a_delivery_fact_is_unknown(what: str, field: str) -> None:
    result = judged(AIR, what, {(*SHIPPING, field): None})
    assert result.outcome is UNKNOWN
    assert result.missing == (f"'shipping.{field}' of the racks",)


def test_a_site_that_says_nothing_of_the_way_is_unknown() -> None:
    found = AIR.judged("RACK-011", {WAY: None, SHIPPING: None})
    assert [result.outcome for result in found] == [UNKNOWN] * 5


@pytest.mark.parametrize(("said", "weight"), [("1000 kg", 1600), ("1700 kg", 1700)])
def test_a_product_that_is_a_whole_rack_weighs_what_it_does_in_its_place(
    said: str, weight: float
) -> None:
    changes = {
        SHIPPING: {"height": "2.4 m", "width": "0.7 m", "weight": said},
        WAY: {
            "height": "3 m",
            "width": "2 m",
            "rating": "2 t",
            "rolling": "680 kg",
            "slope": "0 %",
        },
    }
    result = judged(LIQUID, "weight on the delivery route", changes)
    assert (result.outcome, result.value) == (PASS, weight)
    assert judged(LIQUID, "caster", changes).value == weight / 4


def test_teams_may_take_steeper_ramps() -> None:
    steep = {(*WAY, "slope"): "14 %"}
    assert judged(AIR, "slope", steep).outcome is FAIL
    assert judged(AIR, "slope", steep, most_slope=14.1).outcome is PASS
