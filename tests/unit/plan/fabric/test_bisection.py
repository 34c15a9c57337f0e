"""The bisection bandwidth of fabrics, by hand and against every way to halve the hosts of small ones."""

from __future__ import annotations

from collections import defaultdict, deque
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import share
from fabric_bisection import bisection
from fabric_factories import (
    a_fabric,
    a_tier,
    in_racks,
    layout_of,
    some_cables,
    three_tiers,
    top_of_rack,
)
from factories import some_nodes
from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.layout import Layout

RATE = 400.0
"""Gbps of a port of a DGX H100 and of its switches."""


def most_flow(edges: dict[str, dict[str, float]], source: str, sink: str) -> float:
    """The most that flows from ``source`` to ``sink`` (Edmonds and Karp, 1972)."""
    left = defaultdict[str, dict[str, float]](dict)
    for one, others in edges.items():
        for other, capacity in others.items():
            left[one][other] = left[one].get(other, 0.0) + capacity
            left[other].setdefault(one, 0.0)
    flow = 0.0
    while True:
        came: dict[str, str] = {source: source}
        queue = deque([source])
        while queue and sink not in came:
            here = queue.popleft()
            for there, capacity in left[here].items():
                if capacity > 0 and there not in came:
                    came[there] = here
                    queue.append(there)
        if sink not in came:
            return flow
        way, here = [], sink
        while here != source:
            way.append((came[here], here))
            here = came[here]
        more = min(left[one][other] for one, other in way)
        for one, other in way:
            left[one][other] -= more
            left[other][one] += more
        flow += more


def least_halves(layout: Layout) -> float:
    """Gbps between the halves of the hosts that are joined least, of all ways to halve them."""
    edges = defaultdict[str, dict[str, float]](lambda: defaultdict(float))
    for wire in wires(layout):
        edges[wire.lower][wire.upper] += RATE
        edges[wire.upper][wire.lower] += RATE
    hosts = [name for one in layout.hosts for name in one.names]
    found = []
    for half in combinations(hosts, len(hosts) // 2):
        ends = {name: dict(others) for name, others in edges.items()}
        ends["one half"] = dict.fromkeys(half, float("inf"))
        for name in set(hosts) - set(half):
            ends[name]["other half"] = float("inf")
        found.append(most_flow(ends, "one half", "other half"))
    return min(found)


def test_a_unit_without_oversubscription_passes_half_of_what_its_hosts_send():
    """32 hosts with 8 ports of 400 Gbps send 102.4 Tbps; half is 51.2 Tbps."""
    assert bisection(layout_of()) == 51_200
    assert bisection(layout_of(a_fabric(32, 16), nodes=128)) == 4 * 51_200
    assert bisection(layout_of(three_tiers(), nodes=512)) == 16 * 51_200


def test_units_are_joined_by_their_uplinks():
    """Two units of 8 leaves with 8 uplinks each: the halves are the units, 64 cables of 400 Gbps."""
    fabric = a_fabric(16, 8, links=[some_cables(parallel=1)])
    assert bisection(layout_of(fabric, nodes=64)) == 64 * RATE


def test_pods_are_joined_by_the_cables_of_their_spines():
    """Two pods of 32 spines with 4 uplinks each: 128 cables, of 2,048 that the leaves of a pod have."""
    links = [
        {"name": "a", "lower": "leaf", "upper": "spine", "parallel": 1, "pods": 2},
        {"name": "b", "lower": "spine", "upper": "core", "parallel": 4, "planes": 32},
    ]
    tiers = [a_tier("leaf", 64), a_tier("spine", 64), a_tier("core", 32)]
    assert bisection(layout_of(a_fabric(tiers=tiers, links=links), nodes=256)) == 128 * RATE


def test_pods_without_cores_are_not_joined_at_all():
    fabric = a_fabric(16, 8, links=[some_cables(parallel=8, pods=2)])
    assert bisection(layout_of(fabric, nodes=64)) == 0


def test_planes_add_up():
    """64 hosts with 8 ports of 800 Gbps, each split in two planes: half of 409.6 Tbps."""
    tiers = [a_tier("leaf", 16, "sn5600", split=2), a_tier("spine", 8, "sn5600", split=2)]
    links = [some_cables(parallel=16, planes=2)]
    fabric = a_fabric(tiers=tiers, links=links, attached=[{"group": "b300", "split": 2}])
    groups = [some_nodes("b300", count=64, type="dgx-b300")]
    assert bisection(layout_of(fabric, groups=groups)) == 204_800


def test_a_single_switch_passes_what_its_ports_do():
    fabric = a_fabric(tiers=[a_tier("leaf", 1)], links=[], rail_optimized=False)
    assert bisection(layout_of(fabric, nodes=4)) == 4 * 8 / 2 * RATE


def test_rails_without_spines_are_networks_of_their_own():
    fabric = a_fabric(tiers=[a_tier("leaf", 8)], links=[])
    assert bisection(layout_of(fabric, nodes=32)) == 32 * 8 / 2 * RATE


def test_fuller_racks_are_joined_to_the_others_by_their_own_uplinks():
    """4 racks of 16 ports with 4 uplinks, one of them half full: two full ones hold 32 of 56 ports.

    Eight cables, and four ports too many on that side.
    """
    links = [some_cables(parallel=2)]
    layout = in_racks(top_of_rack(4, links=links), count=7)
    assert bisection(layout) == (8 + 4) * RATE
    assert bisection(layout) == least_halves(layout) + 4 * RATE  # 3 of 7 hosts are no half


@pytest.mark.parametrize(
    "change",
    [
        {"attached": [{"group": "ufm"}]},
        {"links": [some_cables()]},
        {"links": [{"name": "up", "lower": "leaf", "upper": "spine"}]},
        {"rail_optimized": None},
        {"tiers": [a_tier("leaf", 2), a_tier("spine", 4)]},
    ],
)
def test_bisection_is_unknown_without_cables_or_rates(change: dict[str, Any]):
    groups = [some_nodes(count=32), some_nodes("ufm", count=2, type="cpu-2u")]
    assert bisection(layout_of(a_fabric(**change), groups=groups)) is None


@share(0.2)
@given(
    pods=st.integers(1, 4),
    leaves=st.integers(1, 3),
    per_rack=st.integers(1, 2),
    spines=st.integers(1, 2),
    parallel=st.tuples(st.integers(1, 2), st.integers(1, 3)),
    interfaces=st.integers(1, 3),
)
def test_no_way_to_halve_the_hosts_has_fewer_cables_between(
    pods, leaves, per_rack, spines, parallel, interfaces
):
    """Equal racks in equal pods; hosts in halves of equal size."""
    racks = pods * leaves
    hosts = racks * per_rack
    if hosts % 2 or hosts > 8:
        hosts, racks, pods, leaves, per_rack = 4, 2, 1, 2, 2
    names = f"c[01-{racks:02d}]"
    tiers = [
        a_tier("leaf", racks, racks=names, per_rack=1),
        a_tier("spine", spines * pods),
        a_tier("core", spines),
    ]
    up = some_cables(parallel=parallel[0], pods=pods)
    top = {"name": "top", "lower": "spine", "upper": "core", "parallel": parallel[1]}
    attached = [{"group": "dgx", "interfaces": interfaces}]
    fabric = top_of_rack(
        tiers=tiers, links=[up, {**top, "planes": spines}], top_of_rack=True, attached=attached
    )
    layout = in_racks(fabric, racks=racks, count=hosts, per_rack=per_rack)
    assert bisection(layout) == least_halves(layout)
