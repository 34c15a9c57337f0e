"""How many nodes a rack's circuits carry, by hand.

A PDU of 415 V and 60 A carries √3 · 415 V · 60 A · 0.8 · 0.95 = 32,777 W. On three feeds each node
has two of its six supplies on every feed, dealt over the three lines in turn.
"""

from __future__ import annotations

from itertools import product

import pytest

import factories
from rackwright.plan.base import Path
from rackwright.plan.racks.capacity import CircuitRoom, Fewer

PATH: Path = ("sites", 0, "node_groups", 0)


def most(count: int, watts: str, *, after_losses: bool = False, feeds: str = "ABC") -> Fewer | None:
    catalogue = factories.CATALOGUE.patched(
        {
            "dgx-h100": {
                "max_power": None if watts == "unknown" else {"value": watts, "source": "x"},
                "heat": None,
                "height": {"value": "4 U", "source": "x"},
            }
        }
    )
    group = factories.a_rack_group(feeds=factories.some_feeds(feeds))
    site = factories.a_site_plan(
        catalogue,
        halls=[factories.a_hall(rows=[factories.a_row(group)])],
        node_groups=[factories.some_nodes(count=count, per_rack=count)],
    )
    return CircuitRoom(site, after_losses=after_losses).most(site.racks[0])


def test_six_nodes_of_18_kw_are_two_too_many():
    # 12 supplies of 3 kW, 4 a line: 3 · 4 · 3 = 36 kW. Five: 10 supplies, still 4 on one line.
    # Four: 8 supplies, 3 on a line: 27 kW.
    assert most(6, "18 kW") == Fewer("dgx", "dgx-h100", placed=6, most=4, path=PATH, enough=False)


def test_a_loss_leaves_room_for_fewer():
    # Four supplies of 4 kW a node live. Five nodes: 4 on a line: 48 kW. Three: 2 on each: 24 kW.
    assert most(5, "16 kW") is None
    assert most(5, "16 kW", after_losses=True) == Fewer(
        "dgx", "dgx-h100", placed=5, most=3, path=PATH, enough=False
    )


def test_a_rack_that_fits_needs_no_fewer():
    assert most(4, "10.2 kW", after_losses=True) is None


def test_not_even_one_node_fits():
    # One node: 2 supplies on two lines, each 200 / 6 kW: 3 · 33.3 = 100 kW.
    assert most(2, "200 kW") is None


def test_unknown_capacity_has_no_answer():
    assert most(6, "unknown") is None


def test_the_largest_group_of_a_mixed_rack_is_named():
    catalogue = factories.CATALOGUE.patched(
        {"dgx-h100": {"max_power": {"value": "18 kW", "source": "x"}}}
    )
    site = factories.a_site_plan(
        catalogue,
        node_groups=[
            factories.some_nodes("small", type="cpu-2u", count=2, per_rack=2),
            factories.some_nodes(count=5, per_rack=5),
        ],
    )
    room = CircuitRoom(site, after_losses=True)
    found = room.most(site.racks[0])
    assert found is not None
    assert (found.group, found.placed) == ("dgx", 5)
    assert room.most(site.racks[0]) is found


@pytest.mark.parametrize("feeds", ["AB", "ABC"])
@pytest.mark.parametrize("after_losses", [False, True])
def test_the_answer_fits_and_one_more_does_not(feeds, after_losses):
    answers = 0
    for count, watts in product([4, 6, 8], ["9 kW", "13 kW", "20 kW", "25 kW"]):
        found = most(count, watts, after_losses=after_losses, feeds=feeds)
        if found is not None:
            answers += 1
            assert most(found.most, watts, after_losses=after_losses, feeds=feeds) is None
            assert most(found.most + 1, watts, after_losses=after_losses, feeds=feeds) is not None
    assert answers >= 3
