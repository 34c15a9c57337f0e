"""Loads with one source in maintenance and another one lost, against each pair summed by hand."""

from __future__ import annotations

from itertools import combinations

import pytest

from designs import Design
from rackwright.plan.power.maintenance import dead_feeds, outages_of_two

KINDS = ("utility", "ups")
SOURCES = ("power", "sources")
RESERVE = {
    (*SOURCES, 4, "fed_by"): ["ups-a", "ups-c"],
    (*SOURCES, 5, "fed_by"): ["ups-b", "ups-c"],
}
"""Both panels of the two feeds of each rack with a reserve UPS beside their own."""
DGX_W, SWITCH_RACKS_W = 10_200.0, 24_800.0


@pytest.fixture(scope="module")
def hall() -> Design:
    return Design("two-feeds")


def test_two_losses_are_summed_like_each_pair_by_hand(hall: Design) -> None:
    """Racks share their draw between living feeds; each source takes what its children have no other parent for."""
    site = hall.plan(RESERVE).onprem[0]
    tree = site.power.tree
    worst: dict[str, float] = {}
    whole = 32 * DGX_W + SWITCH_RACKS_W
    for pair in combinations(tree.sources, 2):
        if not any(tree.sources[name].kind in KINDS for name in pair):
            continue
        dead = tree.without(frozenset(pair))
        living = [name for name in ("rpp-a", "rpp-b") if name not in dead]
        loads = dict.fromkeys(tree.sources, 0.0)
        for panel in living:
            loads[panel] = whole / len(living)
            ups = next(name for name in tree.parents[panel] if name not in dead)
            loads[ups] += loads[panel]
        for name in set(loads) - dead:
            worst[name] = max(worst.get(name, 0.0), loads[name])
    found = site.power.maintenance.worst_loads(KINDS)
    for name in ("ups-a", "ups-b", "ups-c", "rpp-a", "rpp-b"):
        assert found[name].known
        assert found[name].load == pytest.approx(worst[name]), name
    assert found["ups-c"].load == pytest.approx(351_200)
    assert set(found["ups-c"].lost) == {"ups-a", "ups-b"}


def test_one_loss_is_no_worse_than_two(hall: Design) -> None:
    site = hall.plan(RESERVE).onprem[0]
    found = site.power.maintenance.worst_loads(KINDS)
    # The loss of the utility leaves nothing to carry.
    rows = [row for row in site.power.sources if row.source != "utility"]
    assert rows
    after_two = [found[row.source].load or 0.0 for row in rows]
    assert all(
        load >= (row.facility_w or 0.0) - 1e-6 for load, row in zip(after_two, rows, strict=True)
    )


def test_unknown_draw_of_a_rack_is_unknown_after_two_losses(hall: Design) -> None:
    found = hall.plan(RESERVE, {"dgx-h100": {"max_power": None}}).onprem[0]
    worst = found.power.maintenance.worst_loads(KINDS)
    assert not worst["ups-c"].known


def test_dead_feeds_begin_with_the_largest_set(hall: Design) -> None:
    tree = hall.plan().onprem[0].power.tree
    sets = dead_feeds(tree, ("rpp-a", "rpp-b"), KINDS)
    assert next(iter(sets)) == frozenset({0, 1})
    assert set(sets) >= {frozenset({0}), frozenset({1})}


def test_pairs_without_a_maintained_source_are_left_out(hall: Design) -> None:
    tree = hall.plan().onprem[0].power.tree
    pairs = [set(pair) for pair, _ in outages_of_two(tree, ["rpp-a", "rpp-b"], KINDS)]
    assert {"rpp-a", "rpp-b"} not in pairs
    assert {"rpp-a", "ups-b"} in pairs
