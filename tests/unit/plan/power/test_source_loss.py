"""The loss of one source, against the whole plant worked out again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factories import a_source
from rackwright.model.power import SitePower
from rackwright.plan.power.demand import AS_CARRIED, Draws, FeedDemand, Loads
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.power.flows import Flow, judge_flows
from rackwright.plan.power.source_loss import after, leaf_changes


def a_power(*sources: dict[str, Any]) -> SitePower:
    return SitePower.model_validate(
        {"continuous_derate": "80 %", "power_factor": 0.95, "sources": list(sources)}
    )


def a_tree(*sources: dict[str, Any]) -> PowerTree:
    return PowerTree(a_power(*sources).sources)


def loads_without(
    tree: PowerTree, lost: str, normal: Loads, affected: Sequence[FeedDemand] = ()
) -> Loads:
    """The loads of one kind that a loss may change."""
    leaves = leaf_changes(tree.outages.dead[lost], affected)
    found = tree.outages.changes_without(tree.outages.dead[lost], [(normal, leaves, AS_CARRIED)])
    return {name: after(normal[name], change) for name, (change,) in found}


def shared(sources: list[str], racks: int, *, unknown_after_loss: bool = False) -> FeedDemand:
    """Racks of 12 kW on equal feeds; what they do after a loss may be unknown."""
    feeds = range(len(sources))

    def without(dead: frozenset[int]) -> tuple[float, ...]:
        alive = len(sources) - len(dead)
        return tuple(0.0 if n in dead or not alive else 12_000.0 / alive for n in feeds)

    sets = [frozenset(n for n in feeds if mask >> n & 1) for mask in range(1, 2 ** len(sources))]
    known = {} if unknown_after_loss else {dead: without(dead) for dead in sets}
    return FeedDemand(tuple(sources), racks, without(frozenset()), known)


def worst_by_walking_everything(
    sources: list[dict[str, Any]], demands: list[FeedDemand], draws: Draws = AS_CARRIED
) -> dict[str, float | None]:
    """The same question answered the long way: every loss, every source, from the leaves up."""
    tree = a_tree(*sources)

    def loads(lost: str | None) -> dict[str, float | None]:
        alive = tree.alive(lost)
        leaves: dict[str, float | None] = {}
        for demand in demands:
            gone = frozenset(n for n, name in enumerate(demand.sources) if not alive[name])
            each = demand.without.get(gone) if gone else demand.normal
            for name, watts in zip(demand.sources, each or [None] * 9, strict=False):
                so_far = leaves.get(name, 0.0)
                if watts is None or so_far is None:
                    leaves[name] = None
                else:
                    leaves[name] = so_far + watts * demand.racks
        return {n: w for n, w in tree.push_up(leaves, alive, draws).items() if alive[n]}

    worst = loads(None)
    for lost in tree.sources:
        for name, load in loads(lost).items():
            so_far = worst[name]
            if name != lost and so_far is not None:
                worst[name] = None if load is None else max(so_far, load)
    return worst


@st.composite
def plants(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[FeedDemand]]:
    """Sources whose parents stand before them, and racks on some of them."""
    names = [f"s{n}" for n in range(draw(st.integers(1, 10)))]
    sources = []
    for n, name in enumerate(names):
        parents = draw(st.lists(st.sampled_from(names[:n]), max_size=3, unique=True)) if n else []
        sources.append(a_source(name, *parents))
    feeds = st.lists(st.sampled_from(names), min_size=1, max_size=3)
    demand = st.builds(
        shared, feeds, st.integers(1, 20), unknown_after_loss=st.sampled_from([False] * 5 + [True])
    )
    return sources, draw(st.lists(demand, min_size=1, max_size=4))


@st.composite
def losses(draw: st.DrawFn, sources: list[dict[str, Any]]) -> Draws:
    """Sources that draw more than they carry, by a share and by watts."""
    names = st.sampled_from([source["name"] for source in sources])
    return Draws(
        draw(st.dictionaries(names, st.floats(1, 1.5), max_size=4)),
        draw(st.dictionaries(names, st.floats(0, 50_000), max_size=4)),
    )


RING = [a_source("u"), a_source("g"), a_source("a", "u", "g"), a_source("b", "a", "u")]


@given(plants())
@example((RING, [shared(["a", "b"], 1)]))
@example((RING, [shared(["b", "b"], 3, unknown_after_loss=True)]))
def test_loss_changes_only_the_connected_sources(plant):
    sources, demands = plant
    expected = worst_by_walking_everything(sources, demands)
    tree = a_tree(*sources)
    (cases,) = judge_flows(tree, [Flow(tree, demands)], [lambda _, loads: loads[0]])
    found = {name: case.worst for name, case in cases.items()}
    assert found == {
        name: None if worst is None else pytest.approx(worst) for name, worst in expected.items()
    }


@given(plants(), st.data())
def test_losses_and_batteries_follow_the_load_to_what_takes_it_over(plant, data):
    sources, demands = plant
    draws = data.draw(losses(sources))
    expected = worst_by_walking_everything(sources, demands, draws)
    tree = a_tree(*sources)
    (cases,) = judge_flows(tree, [Flow(tree, demands, draws=draws)], [lambda _, loads: loads[0]])
    assert {name: case.worst for name, case in cases.items()} == {
        name: None if worst is None else pytest.approx(worst) for name, worst in expected.items()
    }


@given(plants())
def test_the_dead_are_those_without_a_living_parent(plant):
    sources, _ = plant
    tree = a_tree(*sources)
    outages = tree.outages
    assert list(outages.dead) == [source["name"] for source in sources]
    for lost, dead in outages.dead.items():
        assert set(dead) == {name for name, lives in tree.alive(lost).items() if not lives}


@given(plants())
def test_every_set_of_feeds_that_one_loss_kills_is_found(plant):
    sources, demands = plant
    tree = a_tree(*sources)
    outages = tree.outages
    found = [outages.dead_feeds(demand.sources) for demand in demands]
    assert found == [
        {
            frozenset(n for n, name in enumerate(demand.sources) if not tree.alive(lost)[name])
            for lost in tree.sources
        }
        - {frozenset()}
        for demand in demands
    ]


def test_a_loss_on_one_row_says_nothing_about_another_row():
    sources = [a_source("u"), *(a_source(f"r{n}", "u") for n in range(50))]
    tree = a_tree(*sources)
    normal: Loads = {"u": 1_200_000.0, **{f"r{n}": 24_000.0 for n in range(50)}}
    demand = shared(["r0", "r1"], 4)
    changed = loads_without(tree, "r0", normal, [demand])
    assert changed == pytest.approx({"r1": 48_000.0, "u": 1_200_000.0})


def test_alternate_takes_the_load_of_the_lost_source():
    tree = a_tree(a_source("u"), a_source("g"), a_source("ups", "u", "g"), a_source("r", "ups"))
    normal: Loads = {"u": 9.0, "g": 0.0, "ups": 9.0, "r": 9.0}
    assert loads_without(tree, "u", normal) == {"g": 9.0}


def test_a_dead_source_takes_its_load_from_what_carried_it():
    tree = a_tree(a_source("u"), a_source("ups", "u"))
    assert loads_without(tree, "ups", {"u": 9.0, "ups": 9.0}) == {"u": 0.0}


def test_an_unknown_load_that_moves_makes_its_new_carrier_unknown():
    tree = a_tree(a_source("u"), a_source("g"), a_source("ups", "u", "g"))
    normal = {"u": None, "g": 0.0, "ups": None}
    assert loads_without(tree, "u", normal)["g"] is None
