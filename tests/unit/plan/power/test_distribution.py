"""The sources above the racks, and who takes over from whom."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factories import a_source
from known import known
from rackwright.model.power import PowerSource, SitePower
from rackwright.plan.power.demand import FeedDemand
from rackwright.plan.power.distribution import PowerTree, capacity_of, check_sources
from rackwright.plan.power.flows import Flow, FlowCase, judge_flows


def a_power(*sources: dict[str, Any], derate: str = "80 %") -> SitePower:
    return SitePower.model_validate(
        {"continuous_derate": derate, "power_factor": 0.95, "sources": list(sources)}
    )


def shared(*sources: str, watts: float = 12_000.0, racks: int = 1) -> FeedDemand:
    """Racks that share ``watts`` equally among their living feeds."""
    feeds = range(len(sources))

    def without(dead: frozenset[int]) -> tuple[float, ...]:
        alive = len(sources) - len(dead)
        return tuple(0.0 if n in dead or not alive else watts / alive for n in feeds)

    sets = [frozenset(n for n in feeds if mask >> n & 1) for mask in range(2 ** len(sources))]
    return FeedDemand(sources, racks, without(frozenset()), {s: without(s) for s in sets if s})


def judged(power: SitePower, *demands: FeedDemand) -> Mapping[str, FlowCase]:
    tree = PowerTree(power.sources)
    (cases,) = judge_flows(tree, [Flow(tree, demands)], [lambda _, loads: loads[0]])
    return cases


def test_capacity_is_stated_or_of_the_modules_without_spares_or_derated():
    circuit = {"voltage": "415 V", "current": "400 A", "phases": 3}
    power = a_power(
        a_source("stated", capacity="600 kW"),
        a_source("modules", modules={"count": 4, "capacity": "100 kW", "spare": 1}),
        a_source("circuit", circuit=circuit),
        a_source("full", circuit={**circuit, "continuous_rated": True}),
        a_source("unknown"),
    )
    full = math.sqrt(3) * 415 * 400 * 0.95
    expected = [600_000, 300_000, pytest.approx(0.8 * full), pytest.approx(full), None]
    assert [capacity_of(source, power) for source in power.sources] == expected


def test_parents_carry_the_sum_of_their_children():
    power = a_power(
        a_source("utility", kind="utility"),
        a_source("ups-a", "utility"),
        a_source("ups-b", "utility"),
    )
    loads = judged(power, shared("ups-a", "ups-b", racks=10))
    assert loads["utility"] == (120_000, 120_000, None)
    assert loads["ups-a"] == (60_000, 120_000, "ups-b")
    assert loads["ups-b"] == (60_000, 120_000, "ups-a")


@given(st.floats(1, 1e6), st.integers(1, 5000))
def test_a_loss_that_changes_nothing_is_not_the_worst(watts, racks):
    power = a_power(a_source("u"), *[a_source(name, "u") for name in "abc"])
    demands = [shared("a", "b", "c", watts=watts, racks=racks), shared("a", "b", watts=watts / 3)]
    assert judged(power, *demands)["u"][2] is None


def test_a_generator_carries_nothing_until_the_utility_is_lost():
    power = a_power(
        a_source("utility", kind="utility"),
        a_source("gen", kind="generator"),
        a_source("ups", "utility", "gen"),
    )
    loads = judged(power, shared("ups"))
    assert loads["utility"] == (12_000, 12_000, None)
    assert loads["gen"] == (0, 12_000, "utility")
    assert loads["ups"] == (12_000, 12_000, None)


def test_the_order_of_parents_says_who_carries_first():
    power = a_power(a_source("one"), a_source("two"), a_source("sts", "two", "one", kind="sts"))
    loads = judged(power, shared("sts"))
    assert (loads["two"][0], loads["one"][0]) == (12_000, 0)


def test_a_source_without_a_living_parent_is_dead():
    tree = PowerTree(a_power(a_source("u"), a_source("a", "u"), a_source("b", "u", "a")).sources)
    assert tree.alive("a") == {"u": True, "a": False, "b": True}
    assert tree.alive("u") == {"u": False, "a": False, "b": False}
    assert tree.ancestors("b") == {"u", "a", "b"}
    below = {"u": {"u", "a", "b"}, "a": {"a", "b"}, "b": {"b"}}
    assert {name: set(tree.below(name)) for name in tree.sources} == below
    assert (set(tree.dead("a")), set(tree.dead(None))) == ({"a"}, set())


def test_loads_reach_the_top_whatever_the_order_of_writing():
    power = a_power(
        a_source("rpp", "ups", kind="rpp"), a_source("ups", "u"), a_source("u", kind="utility")
    )
    assert {load[0] for load in judged(power, shared("rpp")).values()} == {12_000}


def test_an_unknown_draw_is_unknown_all_the_way_up_and_nowhere_else():
    power = a_power(a_source("u"), a_source("a", "u"), a_source("b", "u"), a_source("other"))
    unknown = FeedDemand(("a",), 1, (None,), {frozenset({0}): (0.0,)})
    loads = judged(power, unknown, shared("b"), shared("other"))
    assert (loads["a"][0], loads["u"][0]) == (None, None)
    assert (loads["a"][1], loads["u"][1]) == (None, None)
    assert loads["b"][0] == 12_000
    assert loads["other"] == (12_000, 12_000, None)


def test_a_loss_that_nobody_worked_out_is_unknown():
    power = a_power(a_source("a"), a_source("b"))
    demand = FeedDemand(("a", "b"), 1, (6_000.0, 6_000.0), {})
    assert judged(power, demand)["b"] == (6_000, None, "a")


def test_parents_that_do_not_exist_are_named_with_the_nearest():
    power = a_power(a_source("utility"), a_source("ups", "utilty", "gen-9"))
    problems = check_sources(power, ("sites", 0))
    assert [p.message for p in problems] == [
        "'ups' is fed by 'utilty', which does not exist",
        "'ups' is fed by 'gen-9', which does not exist",
    ]
    assert problems[0].hint == "did you mean 'utility'?"
    assert problems[0].path == ("sites", 0, "power", "sources", 1, "fed_by")


def test_generators_that_accept_load_stand_among_the_sources():
    """Else the time alone said that there are any, and a site without it was not judged."""
    power = a_power(a_source("utility")).model_copy(update={"generator_acceptance": 60.0})
    (problem,) = check_sources(power, ("sites", 0))
    assert problem.message == "there are no generators: no source is of the kind 'generator'"
    assert problem.path == ("sites", 0, "power", "generator_acceptance")
    there = a_power(a_source("utility"), a_source("gen", kind="generator"))
    assert check_sources(there.model_copy(update={"generator_acceptance": 60.0}), ()) == []


def unfed_or_not(*sources: dict[str, Any]) -> tuple[set[str], set[str]]:
    tree = PowerTree(a_power(*sources).sources)
    return set(tree.unfed), set(tree.unsure)


def test_every_source_that_does_not_hang_on_an_unfed_one_may_carry_it():
    plant = [a_source("u"), a_source("other", "u"), a_source("rpp", "ups")]
    assert unfed_or_not(*plant, a_source("ups", "u")) == (set(), set())
    unfed = a_source("ups", kind="ups")
    assert unfed_or_not(*plant, unfed) == ({"ups"}, {"u", "other"})
    both = a_source("sts", "u", kind="sts")
    assert unfed_or_not(*plant, unfed, both) == (
        {"ups", "sts"},
        {"u", "other", "rpp", "ups", "sts"},
    )


@pytest.mark.parametrize(
    "sources",
    [
        [a_source("a", "a")],
        [a_source("a", "b"), a_source("b", "a")],
        [a_source("a", "c"), a_source("b", "a"), a_source("c", "b"), a_source("d", "a")],
    ],
)
def test_circles_are_reported_once_for_each_member(sources):
    problems = check_sources(a_power(*sources), ())
    circle = {s["name"] for s in sources} - {"d"}
    assert {p.message for p in problems} == {f"'{n}' feeds itself in a circle" for n in circle}


def test_two_ways_to_one_grandparent_are_no_circle():
    power = a_power(a_source("u"), a_source("a", "u"), a_source("b", "u"), a_source("c", "a", "b"))
    assert check_sources(power, ()) == []


def test_a_chain_deeper_than_the_stack_of_python_is_in_order():
    names = [f"s{number}" for number in range(2_000)]
    chain = [a_source(name, above) for above, name in pairwise(names)]
    tree = PowerTree(a_power(*reversed(chain), a_source(names[0])).sources)
    assert tree.order == tuple(reversed(names))


@st.composite
def plants(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[FeedDemand]]:
    """Sources whose parents stand before them, and racks on some of them."""
    count = draw(st.integers(1, 8))
    names = [f"s{n}" for n in range(count)]
    sources = []
    for n, name in enumerate(names):
        parents = draw(st.lists(st.sampled_from(names[:n]), max_size=2, unique=True)) if n else []
        sources.append(a_source(name, *parents))
    feeds = st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)
    demands = draw(st.lists(st.tuples(feeds, st.integers(1, 20)), min_size=1, max_size=4))
    return sources, [shared(*sources_, racks=racks) for sources_, racks in demands]


@given(plants())
def test_sources_without_parents_carry_the_whole_site(plant):
    sources, demands = plant
    loads = judged(a_power(*sources), *demands)
    roots = [s["name"] for s in sources if not s["fed_by"]]
    expected = sum(12_000 * demand.racks for demand in demands)
    assert sum(known(loads[name][0]) for name in roots) == pytest.approx(expected)


@given(plants())
def test_the_worst_case_is_never_below_the_normal_one_nor_above_the_site(plant):
    sources, demands = plant
    everything = sum(12_000 * demand.racks for demand in demands)
    found = judged(a_power(*sources), *demands)
    assert list(found) == [source["name"] for source in sources]
    for load, worst, lost in found.values():
        assert known(load) - 1e-6 <= known(worst) <= everything + 1e-6
        assert (lost is None) == (worst == load)


@given(plants(), st.randoms())
def test_the_order_of_sources_changes_no_load(plant, random):
    sources, demands = plant
    before = judged(a_power(*sources), *demands)
    shuffled = random.sample(sources, len(sources))
    after = judged(a_power(*shuffled), *demands)
    assert before.keys() == after.keys() == {source["name"] for source in sources}
    for name, (load, worst, _) in before.items():
        assert after[name][0] == pytest.approx(load)
        assert after[name][1] == pytest.approx(worst)


def test_the_model_refuses_two_statements_of_capacity():
    circuit = {"voltage": "415 V", "current": "400 A", "phases": 3}
    with pytest.raises(ValueError, match="stated 2 times: capacity, circuit"):
        PowerSource.model_validate(a_source("x", capacity="1 kW", circuit=circuit))
