from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from fabric_factories import a_fabric, layout_of, some_cables
from rackwright.plan.fabric.cables import Wire, wires
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.fabric.routes import balance, complaints, destinations, loaded_engine

GOOD = """\
Nov 21 08:33:09 439947 [A876B6C0] 0x02 -> osm_ucast_mgr_process: ftree tables configured on all switches
Nov 21 08:33:09 528904 [A876B6C0] 0x02 -> SUBNET UP
"""
FALLBACK = """\
Nov 21 08:33:09 1 [A8] 0x01 -> fabric_construct: ERR AB0B: Different number of ports
Nov 21 08:33:09 2 [A8] 0x01 -> fabric_construct: ERR AB0B: Different number of ports
Nov 21 08:33:09 3 [A8] 0x01 -> ftree_route: ERR AB0D: Fabric topology is not a fat-tree
Nov 21 08:33:09 4 [A8] 0x02 -> osm_ucast_mgr_process: minhop tables configured on all switches
"""
DUMP = """\
Unicast lids [0-268] of switch Lid 2 guid 0x0000000000011000 ('compute-leaf-1'):
0x0001 001 # Channel Adapter portguid 0x0000000000010001: 'dgx-01/1'
0x0002 000 # Switch portguid 0x0000000000011000: 'compute-leaf-1'
0x0013 033 # Channel Adapter portguid 0x0000000000010011: 'dgx-01/2'
0x0014 033 # Channel Adapter portguid 0x0000000000010012: 'dgx-01/3'
Unicast lids [0-268] of switch Lid 18 guid 0x0000000000011010 ('compute-leaf-2'):
0x0001 034 # Channel Adapter portguid 0x0000000000010001: 'dgx-01/1'
"""


def even(layout: Layout, loads: Callable[[Wire], int] = lambda wire: 7) -> dict[str, Counter[int]]:
    """Tables in which every cable between switches leads to the same number of hosts' ports."""
    tiers = {name for tier in layout.tiers for name in tier.names()}
    routes: dict[str, Counter[int]] = {name: Counter() for name in tiers}
    for wire in wires(layout):
        if wire.lower in tiers:
            routes[wire.lower][wire.lower_port] = loads(wire)
            routes[wire.upper][wire.upper_port] = 4
    return routes


def test_the_engine_is_read_from_the_log():
    assert loaded_engine(GOOD) == "ftree"
    assert loaded_engine(FALLBACK) == "minhop"
    assert loaded_engine("nothing of the kind") is None


def test_complaints_are_told_once():
    assert complaints(GOOD) == ()
    assert complaints(FALLBACK) == (
        "AB0B: Different number of ports",
        "AB0D: Fabric topology is not a fat-tree",
    )


def test_only_hosts_are_destinations():
    found = destinations(DUMP.splitlines())
    assert found == {
        "compute-leaf-1": Counter({33: 2, 1: 1}),
        "compute-leaf-2": Counter({34: 1}),
    }


def test_equal_links_are_in_balance():
    layout = layout_of()
    assert balance(layout, even(layout)) == 1.0


def test_the_busiest_link_over_the_mean_of_its_kind():
    layout = layout_of()
    routes = even(layout, lambda wire: 14 if wire.upper == "compute-spine-1" else 7)
    # A quarter of the cables carries 14, the rest 7: 14 / 8.75.
    assert balance(layout, routes) == pytest.approx(1.6)


def test_a_link_that_nothing_is_routed_over_counts_for_the_mean():
    layout = layout_of()
    routes = even(layout, lambda wire: 0 if wire.upper == "compute-spine-1" else 7)
    assert balance(layout, routes) == pytest.approx(4 / 3)


def test_a_switch_without_a_table_makes_it_unknown():
    layout = layout_of()
    routes = even(layout)
    del routes["compute-leaf-3"]
    assert balance(layout, routes) is None


def test_switches_that_are_not_connected_have_no_balance():
    assert balance(layout_of(a_fabric(links=[])), {}) is None
    unknown = layout_of(a_fabric(links=[some_cables()]))
    assert balance(unknown, {}) is None
