"""The best layout is that of an exhaustive search, judged by the same policies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from design_factories import (
    a_document,
    a_facility,
    a_hall,
    a_judge,
    a_liquid_document,
    a_wish,
    passing,
    some_positions,
    some_sources,
)
from design_halls import (
    COSTS,
    LOW,
    SMALL,
    SmallHall,
    bound_by_cooling,
    cooling_that_is_lost_with_a_utility,
    two_kinds_of_positions,
)
from factories import CATALOGUE
from rackwright.design.document import RackLayout
from rackwright.design.judge import Judge
from rackwright.design.outcome import remedy, run
from rackwright.design.search import Design, design
from rackwright.exit_codes import ExitCode
from rackwright.model.names import compress_hostlist
from rackwright.plan.load import plan_tree
from rackwright.policy.check import check_plan
from rackwright.reading.loader import tree_of
from rackwright.reading.yaml_reader import read_text
from rackwright.render.full_form import document_yaml


def searched(document: dict[str, Any], **more: Any) -> tuple[Judge, Design]:
    judge = a_judge(document)
    (product,) = judge.builder.document.wanted.products
    return judge, design(judge, product, **more)


@pytest.mark.parametrize("hall", SMALL, ids=lambda one: one.name)
def test_as_many_fit_as_by_trying_all_layouts(hall: SmallHall) -> None:
    judge, found = searched(hall.document())
    fitting = passing(judge, found.product, hall.most_units)
    most = max(layout.units for layout in fitting)
    assert most == hall.most
    assert found.ending == "optimal"
    assert found.layout is not None
    assert found.layout.units == most
    first = found.survey.options[0]
    each = first.accelerators // first.units
    assert found.value == found.bound == found.accelerators == each * most
    fewest = min(layout.count for layout in fitting if layout.units == most)
    assert found.layout.count == fewest
    text = document_yaml(judge.builder.blueprint(found.layout).data, ["made by a test"])
    read = plan_tree(tree_of([read_text(text, "blueprint.yaml")]), CATALOGUE)
    assert check_plan(read).exit_code is ExitCode.CLEAN
    cuts = found.problem.cuts if found.problem else ()
    named = {one.what.rpartition("(")[2].strip(")") for one in cuts}
    assert named == ({hall.cut} if hall.cut else set())


@pytest.mark.parametrize(
    ("objective", "measured"),
    [
        ("fewest-racks", lambda layout: layout.count),
        ("least-power", lambda layout: 10_200 * layout.units),
        ("least-cost", lambda layout: layout.count),
    ],
)
def test_search_finds_the_best_layout_of_the_goal(
    objective: str, measured: Callable[[RackLayout], int]
) -> None:
    halls = [a_hall(some_positions("c[01-02]"), some_positions("d[01-02]", cooling=LOW))]
    wish = {**a_wish(objective=objective), "accelerators": 50}
    judge, found = searched(a_document(a_facility(halls=halls, pue=1.3), wish, costs=COSTS))
    assert found.ending == "optimal"
    assert found.layout is not None
    assert found.layout.units == 7, "50 accelerators are 7 units of 8"
    wanted = [one for one in passing(judge, found.product, 4) if one.units == 7]
    assert measured(found.layout) == min(map(measured, wanted))


def test_products_stand_in_the_positions_that_suit_them() -> None:
    """Liquid brings more than air here, and neither product takes the other's positions."""
    feeds = [
        {
            "name": name,
            "source": f"busway-{name.lower()}",
            "pdu": "pdu-415v-60a-24c19",
            "circuit": {"voltage": "415 V", "current": "60 A", "phases": 3},
            "tap_off": {"current": "100 A", "racks": 1},
        }
        for name in "AB"
    ]
    air = some_positions("a[01-02]", feeds=feeds)
    products = [{"type": "gb200-nvl72"}, {"type": "dgx-a100"}]
    outcome = run(a_judge(a_liquid_document("4000 L/min", air, products=products)))
    liquid, cooled_by_air = outcome.designs
    assert liquid.layout is not None
    assert cooled_by_air.layout is not None
    labels = [
        compress_hostlist(name for _, name in one.positions) for one in outcome.builder.classes
    ]
    assert labels == ["g[01-06]", "a[01-02]"]
    assert {number for number, _ in liquid.layout.racks} == {0}
    assert {number for number, _ in cooled_by_air.layout.racks} == {1}
    assert liquid.accelerators == 288
    assert outcome.best is liquid
    barred = {one.policy for one in liquid.survey.barred if one.position_class == 1}
    assert "COOL-003" in barred
    unjudged = {one.policy for one in cooled_by_air.survey.unjudged}
    assert "RACK-003" in unjudged, "nobody says how heavy the shelves of the other positions are"


def test_the_answer_is_the_same_each_time() -> None:
    found = [searched(two_kinds_of_positions())[1] for _ in range(3)]
    assert found[0].racks
    assert [one.racks for one in found] == [found[0].racks] * 3


def test_less_than_is_wanted_is_told_with_what_fits() -> None:
    document = bound_by_cooling()
    document["wanted"]["accelerators"] = 1_000
    judge, found = searched(document)
    assert found.ending == "short"
    assert found.accelerators == 64
    assert found.layout is not None
    assert judge.judge(found.layout).passes
    assert run(judge).exit_code is ExitCode.VIOLATION


def test_infeasible_design_names_the_rules() -> None:
    floor = {"uniform": "100 kg/m2", "concentrated": "680 kg", "rolling": "680 kg"}
    judge, found = searched(a_document(a_facility(halls=[a_hall(floor=floor)])))
    assert (found.ending, found.layout) == ("nothing", None)
    first = found.survey.barred[0]
    assert (first.units, first.policy) == (1, "RACK-004")
    assert "the limit is 100 kg/m2" in first.reasons[0][1]
    assert run(judge).exit_code is ExitCode.VIOLATION


def test_a_number_that_nobody_gave_is_asked_for_and_not_guessed() -> None:
    facility = a_facility()
    del facility["altitude"]
    judge, found = searched(a_document(facility))
    assert (found.ending, found.layout) == ("unknown", None)
    assert any("'facility.altitude'" in remedy(judge.builder, one) for one in found.results)
    assert run(judge).exit_code is ExitCode.UNKNOWN


def test_a_price_that_nobody_gave_is_asked_for() -> None:
    wish = {**a_wish(objective="least-cost"), "accelerators": 8}
    judge, found = searched(a_document(None, wish))
    assert (found.ending, found.layout) == ("unpriced", None)
    assert any("purchase price of 'dgx-h100'" in text for text in found.missing)
    assert run(judge).exit_code is ExitCode.UNKNOWN


def test_rules_that_no_layout_changes_end_the_search() -> None:
    facility = a_facility()
    facility["security"]["secure_boot"] = False
    _, found = searched(a_document(facility, policies={"SEC-005": {"enforcement": "mandatory"}}))
    assert found.ending == "refused"
    assert {one.policy for one in found.results} == {"SEC-005"}
    assert found.judged == 1


def test_after_a_bound_on_the_cuts_the_best_bound_is_told() -> None:
    judge, found = searched(cooling_that_is_lost_with_a_utility(), most_cuts=1)
    assert found.ending == "bounded"
    assert found.layout is not None
    assert judge.judge(found.layout).passes
    assert found.value is not None
    assert found.bound is not None
    assert found.value < found.bound


def test_of_a_wanted_number_nothing_is_told_that_was_not_judged() -> None:
    document = cooling_that_is_lost_with_a_utility()
    document["wanted"]["accelerators"] = 100
    _, found = searched(document, most_cuts=1)
    assert (found.ending, found.layout) == ("undecided", None)
    assert {one.policy for one in found.results} == {"COOL-011"}


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    ups=st.integers(min_value=12, max_value=60),
    utility=st.integers(min_value=80, max_value=400),
    recharge=st.integers(min_value=0, max_value=30),
    handlers=st.integers(min_value=1, max_value=4),
    floor=st.integers(min_value=250, max_value=700),
    low=st.integers(min_value=10, max_value=45),
    reserve=st.integers(min_value=0, max_value=30),
)
def test_random_halls(
    ups: int, utility: int, recharge: int, handlers: int, floor: int, low: int, reserve: int
) -> None:
    cooling = {"mode": "air", "power_limit": f"{low} kW"}
    hall = a_hall(
        some_positions("c[01-02]"),
        some_positions("d01", cooling=cooling),
        units=handlers,
        floor={"uniform": f"{floor} kg/m2", "concentrated": "680 kg", "rolling": "680 kg"},
    )
    sources = some_sources(utility=f"{utility} kW", capacity=f"{ups} kW", recharge=f"{recharge} kW")
    wish = a_wish(most_per_rack=4, reserve={"power": f"{reserve} %"})
    judge, found = searched(a_document(a_facility(sources=sources, halls=[hall]), wish))
    fitting = passing(judge, found.product, 4)
    if found.layout is None:
        assert found.ending in {"nothing", "short"}
        assert fitting == []
    else:
        assert found.ending == "optimal"
        assert judge.judge(found.layout).passes
        assert found.layout.units == max(layout.units for layout in fitting)
