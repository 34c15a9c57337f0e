"""UPSs that are products: the numbers of their entries, by hand, against those that a blueprint writes.

The site is that of ``fixtures/electrical.yaml``: 163.2 kW on a UPS of 250 kW after the loss of another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from designs import GONE, Changes, Design, said
from rack_records import as_data
from rackwright.plan.problems import PlanError
from rackwright.policy.api import Outcome

PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN
PRODUCT = "galaxy-vxl-500kw"
NUMBERS = {
    "rating": "250 kW",
    "max_altitude": "1 km",
    "overload": "375 kW",
    "efficiency": "96 %",
    "recharge": "25 kW",
    "backup": "5 min",
    "voltage_tolerance": "1 %",
    "short_circuit_rating": "35 kA",
}
ENTRY = {name: said(value) for name, value in NUMBERS.items()}
DESIGN = Design("electrical", {PRODUCT: ENTRY})
UPS = [("power", "sources", number) for number in (4, 5, 6)]
UPS_A = UPS[0]
BY_HAND = {
    (*one, name if name != "rating" else "capacity"): value
    for one in UPS
    for name, value in NUMBERS.items()
    if name != "max_altitude"
}
BY_PRODUCT: Changes = {
    **dict.fromkeys(BY_HAND, GONE),
    **{(*one, "product"): PRODUCT for one in UPS},
}
PLANNED = (
    "sources", "autonomies", "fault_currents", "voltage_drops", "totals", "racks",
)  # fmt: skip


def by_product(changes: Changes | None = None) -> Changes:
    """Sources that say nothing but their product, with changes."""
    kept = {path: value for path, value in BY_PRODUCT.items() if path[-1] == "product"}
    written = {path for path in BY_HAND if path[-1] not in {"overload", "recharge"}}
    return {**kept, **dict.fromkeys(written, GONE), **(changes or {})}


def judged(
    rule: str,
    changes: Changes | None = None,
    entry: Mapping[str, Any] | None = None,
    name: str = "ups-a",
) -> Any:
    """What a rule says of a source, with numbers of the product changed; None makes one unknown."""
    patch = {key: None if value is None else said(value) for key, value in (entry or {}).items()}
    found = DESIGN.judged(rule, by_product(changes), {PRODUCT: patch})
    return next(r for r in found if r.subject.name == f"el1 source {name}")


def test_the_plan_is_that_of_the_numbers_by_hand() -> None:
    one, other = DESIGN.site(BY_HAND), DESIGN.site(by_product())
    for table in PLANNED:
        assert as_data(one, table) == as_data(other, table), table
    assert one.power.overhead == other.power.overhead
    assert {row.capacity_w for row in other.power.sources if row.kind == "ups"} == {250e3}


def test_modules_of_a_product_are_those_of_the_numbers_by_hand() -> None:
    """3 of 125 kW, one of them spare: 250 kW, an overload of 2 × 187.5 kW, charging of 3 × 10 kW."""
    modules = {"count": 3, "spare": 1}
    hand = {
        **BY_HAND,
        **{(*one, "capacity"): GONE for one in UPS},
        **{(*one, "modules"): {**modules, "capacity": "125 kW"} for one in UPS},
        **{(*one, "recharge"): "30 kW" for one in UPS},
    }
    entry = {"rating": said("125 kW"), "overload": said("187.5 kW"), "recharge": said("10 kW")}
    product = by_product({(*one, "modules"): modules for one in UPS})
    one, other = DESIGN.site(hand), DESIGN.site(product, {PRODUCT: entry})
    for table in PLANNED:
        assert as_data(one, table) == as_data(other, table), table


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        ({"rating": "164 kW"}, PASS),
        ({"rating": "163.2 kW"}, PASS),  # the load itself
        ({"rating": "163.1 kW"}, FAIL),
        ({"max_altitude": None}, UNKNOWN),
        ({"max_altitude": "30 m"}, PASS),  # the altitude of the site
        ({"max_altitude": "29 m"}, UNKNOWN),
    ],
)
def test_a_ups_carries_its_rating_up_to_its_altitude(
    entry: Mapping[str, Any], outcome: Outcome
) -> None:
    assert judged("PWR-006", entry=entry).outcome is outcome


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        ({"backup": "59 s"}, PASS),  # 90.38 s of 90 s
        ({"backup": "58 s"}, FAIL),
        ({"rating": "272 kW", "backup": "54 s"}, PASS),  # 54 × 272 / 163.2 = 90 s
        ({"backup": None}, UNKNOWN),
        ({"max_altitude": None}, UNKNOWN),
    ],
)
def test_batteries_of_a_product_outlast_the_start_of_generators(
    entry: Mapping[str, Any], outcome: Outcome
) -> None:
    assert judged("PWR-018", entry=entry).outcome is outcome


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        ({"short_circuit_rating": "25 kA"}, PASS),
        ({"short_circuit_rating": "20 kA"}, FAIL),
        ({"short_circuit_rating": None}, UNKNOWN),
    ],
)
def test_a_product_stands_the_fault_current(entry: Mapping[str, Any], outcome: Outcome) -> None:
    assert judged("PWR-016", entry=entry).outcome is outcome


def test_fact_that_a_ups_lacks_is_unknown_and_named() -> None:
    for rule, field in (
        ("PWR-007", "overload"),
        ("PWR-016", "short_circuit_rating"),
        ("PWR-018", "backup"),
    ):
        found = judged(rule, entry={field: None})
        assert found.outcome is UNKNOWN
        assert f"sites.el1.power.sources.ups-a.{field}'" in found.fix
        assert f"state '{field}' of '{PRODUCT}' in 'facts'" in found.fix
    found = judged("PWR-013", entry={"recharge": None}, name="board")
    assert (found.outcome, "'recharge' of 'ups-a'" in found.missing) == (UNKNOWN, True)


def test_a_rating_that_does_not_hold_says_what_would_tell() -> None:
    unsaid = judged("PWR-006", entry={"max_altitude": None})
    assert f"state 'max_altitude' of '{PRODUCT}' in 'facts'" in unsaid.fix
    high = judged("PWR-006", {("altitude",): "1200 m"})
    assert high.outcome is UNKNOWN
    assert "holds up to 1,000 m, and 'altitude' is 1,200 m" in "".join(high.missing)
    assert "'facts'" not in high.fix
    nowhere = judged("PWR-006", {("altitude",): GONE})
    assert nowhere.outcome is UNKNOWN
    assert "sites.el1.altitude'" in nowhere.fix


def test_a_number_of_the_blueprint_holds_in_the_place_of_the_products() -> None:
    assert judged("PWR-018", {(*UPS_A, "backup"): "58 s"}).outcome is FAIL
    assert judged("PWR-006", {(*UPS_A, "capacity"): "160 kW"}).outcome is FAIL
    derated = judged("PWR-006", {(*UPS_A, "capacity"): "200 kW", ("altitude",): "3 km"})
    assert (derated.outcome, derated.limit) == (PASS, 200e3)


@pytest.mark.parametrize(("efficiency", "watts"), [("96 %", 343_434.3), ("80 %", 412_121.2)])
def test_losses_of_a_product_are_drawn_from_what_feeds_it(efficiency: str, watts: float) -> None:
    """326.4 kW of racks, over the efficiency of the UPSs, over 99 % of the transformer."""
    site = DESIGN.site(by_product(), {PRODUCT: {"efficiency": said(efficiency)}})
    assert site.power.overhead.declared_w == pytest.approx(watts)


def test_more_than_the_rating_is_refused() -> None:
    with pytest.raises(
        PlanError, match=r"'ups-a' is said to carry 251 kW, and the rating of .* is 250 kW"
    ):
        DESIGN.plan(by_product({(*UPS_A, "capacity"): "251 kW"}))
    modules = {"count": 2, "spare": 0, "capacity": "251 kW"}
    with pytest.raises(PlanError, match="251 kW"):
        DESIGN.plan(by_product({(*UPS_A, "modules"): modules}))


def test_a_product_that_nobody_has_is_told_with_the_nearest() -> None:
    with pytest.raises(PlanError) as caught:
        DESIGN.plan(by_product({(*UPS_A, "product"): "galaxy-vxl-500"}))
    (problem,) = caught.value.problems
    assert problem.path == ("sites", 0, *UPS_A, "product")
    assert problem.message == "there is no UPS 'galaxy-vxl-500' in the catalogue"
    assert problem.hint is not None
    assert f"'{PRODUCT}'" in problem.hint
    assert "rackwright catalogue new ups/galaxy-vxl-500" in problem.hint
    with pytest.raises(PlanError, match="there is no UPS 'dgx-h100'"):
        DESIGN.plan(by_product({(*UPS_A, "product"): "dgx-h100"}))


def test_a_product_belongs_to_its_kind_and_has_no_circuit() -> None:
    board = ("power", "sources", 3)
    with pytest.raises(ValueError, match="'product' is of a ups"):
        DESIGN.plan({(*board, "product"): PRODUCT})
    circuit = {"voltage": "415 V", "current": "400 A", "phases": 3}
    with pytest.raises(ValueError, match="no 'circuit'"):
        DESIGN.plan(by_product({(*UPS_A, "circuit"): circuit}))
    with pytest.raises(ValueError, match="'modules' lack the 'capacity' of one"):
        DESIGN.plan({(*UPS_A, "capacity"): GONE, (*UPS_A, "modules"): {"count": 2}})
