"""Top-of-rack fabrics: hosts are cabled to the leaves that stand in their racks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from examples import share
from fabric_factories import (
    a_fabric,
    a_patch,
    a_tier,
    in_racks,
    layout_of,
    site_of,
    some_cables,
    top_of_rack,
)
from factories import CATALOGUE, a_hall, a_plan, a_rack_group, a_row, a_site, some_nodes
from known import known
from rackwright.plan.fabric.cables import digest, wires
from rackwright.plan.fabric.graph import graph_of
from rackwright.plan.fabric.ibsim import network
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.fabric.ports import (
    collisions,
    fewest_leaves_of_a_host,
    needed_switches,
    oversubscription,
    racks_short_of_leaves,
    racks_without_leaves,
    tier_use,
    unit_share,
)
from rackwright.plan.fabric.racks import RackSet, Stretch
from rackwright.plan.problems import PlanError

ROOT = Path(__file__).parents[4]


def leaves_of(layout: Layout) -> dict[str, list[str]]:
    """The leaves of each host, in the order of its interfaces."""
    found: dict[str, list[str]] = {}
    for wire in wires(layout):
        if "leaf" not in wire.lower and "spine" not in wire.lower:
            found.setdefault(wire.lower, []).append(wire.upper)
    return found


def test_a_top_of_rack_fabric_was_cabled_leaf_after_leaf_whatever_the_racks():
    """Four hosts fill the 32 host ports of a leaf; but the leaf in each rack has two hosts beside it."""
    layout = in_racks()
    meant = {f"dgx-{n}": [f"compute-leaf-{(n + 1) // 2}"] * 8 for n in range(1, 9)}
    assert leaves_of(layout) == meant
    assert layout.leaf_use == (16, 16, 16, 16)


def test_each_cable_of_a_rack_has_ports_of_its_own():
    made = [w for w in wires(in_racks()) if w.upper == "compute-leaf-3"]
    assert [(w.lower, w.lower_port, w.upper_port) for w in made] == [
        (f"dgx-{host}", port, 8 * (host - 5) + port) for host in (5, 6) for port in range(1, 9)
    ]
    up = [w for w in wires(in_racks()) if w.lower == "compute-leaf-3"]
    assert [w.lower_port for w in up] == list(range(33, 49))  # behind the 32 host ports
    assert {w.upper for w in up} == {"compute-spine-1", "compute-spine-2"}


def test_slurm_and_the_simulator_see_the_racks():
    layout = in_racks()
    made = known(graph_of(layout))
    assert [(group.leaves, group.nodes) for group in made.leaf_groups] == [
        ((f"compute-leaf-{n}",), (f"dgx-{2 * n - 1}", f"dgx-{2 * n}")) for n in range(1, 5)
    ]
    assert '[1]\t"compute-leaf-3"[9]' in network(layout).text.split('"dgx-6/1"\n')[1]


def test_the_loss_of_a_leaf_takes_the_hosts_of_its_rack():
    layout = in_racks()
    assert fewest_leaves_of_a_host(layout, 0) == 1
    assert unit_share(layout, 0) == 25  # 16 of the 64 ports of eight hosts


@pytest.mark.parametrize(
    "change",
    [
        {"top_of_rack": False},
        {"rail_optimized": None, "attached": [{"group": "dgx", "rails": True}]},
        {"tiers": [a_tier("leaf", 4, racks="c[01-03],n01", per_rack=1), a_tier("spine", 2)]},
        {"tiers": [a_tier("leaf", 3, racks="c[01-03]", per_rack=1), a_tier("spine", 2)]},
        {"tiers": [a_tier("leaf", 8, racks="c[01-08]", per_rack=1), a_tier("spine", 2)]},
    ],
)
def test_leaves_that_are_not_those_of_the_racks_are_filled_in_order(change):
    layout = in_racks(top_of_rack(**change))
    assert layout.rack_sets is None
    assert layout.runs[0].hosts > 2


def test_racks_that_are_said_to_have_leaves_of_their_own_need_no_rails():
    layout = in_racks(top_of_rack(top_of_rack=True, rail_optimized=None))
    assert layout.hosts[0].rails is False
    assert layout.leaf_use == (16,) * 4
    two = [a_tier("leaf", 8, racks="c[01-04]", per_rack=2), a_tier("spine", 2)]
    layout = in_racks(top_of_rack(top_of_rack=True, rail_optimized=None, tiers=two))
    assert layout.hosts[0].rails is None  # which of the two leaves an interface is on is open
    assert layout.unplaced == (8,)


def test_two_leaves_in_each_rack_share_the_rails():
    two = [a_tier("leaf", 8, racks="c[01-04]", per_rack=2), a_tier("spine", 2)]
    attached = [{"group": "dgx", "interfaces": 2}]
    fabric = top_of_rack(top_of_rack=True, rail_optimized=True, tiers=two, attached=attached)
    layout = in_racks(fabric)
    assert leaves_of(layout)["dgx-5"] == ["compute-leaf-5", "compute-leaf-6"]
    assert layout.leaf_use == (2,) * 8
    assert fewest_leaves_of_a_host(layout, 0) == 2
    assert needed_switches(layout) == (8, 2)  # 8 × 16 uplinks


def test_racks_share_the_leaves_of_one_of_them():
    tiers = [a_tier("leaf", 2, racks="c01,n02", per_rack=1), a_tier("spine", 2)]
    fabric = top_of_rack(top_of_rack=True, shared_racks=["c[01-02]", "c[03-04],n02"], tiers=tiers)
    layout = in_racks(fabric)
    assert layout.rack_sets == (
        RackSet(("c01", "c02"), (0,), (Stretch(0, 0, 4),)),
        RackSet(("n02", "c03", "c04"), (1,), (Stretch(0, 4, 4),)),
    )
    assert layout.leaf_use == (32, 32)
    assert needed_switches(layout) == (2, 1)  # 64 uplinks
    assert tier_use(layout, 0).used == 48


def test_hosts_of_a_rack_without_a_leaf_find_no_port():
    tiers = [a_tier("leaf", 3, racks="c[01-03]", per_rack=1), a_tier("spine", 2)]
    layout = in_racks(top_of_rack(top_of_rack=True, tiers=tiers))
    assert layout.unplaced == (2,)
    assert racks_without_leaves(layout, 0) == ("c04",)
    assert racks_short_of_leaves(layout) == [("c04",)]
    assert needed_switches(layout) == (4, 1)
    assert graph_of(layout) is None


def test_leaves_in_other_racks_do_not_make_up_for_a_full_one():
    tiers = [a_tier("leaf", 4, racks="c[01-02]", per_rack=2), a_tier("spine", 2)]
    fabric = top_of_rack(top_of_rack=True, tiers=tiers)
    layout = in_racks(fabric, racks=2, count=11, per_rack=10)
    # 10 hosts of 8 ports need 3 leaves of 32 host ports, and c01 has 2; c02 needs 1 and has 2.
    assert layout.unplaced == (2,)
    assert racks_short_of_leaves(layout) == [("c01",)]
    assert needed_switches(layout) is not None
    assert known(needed_switches(layout))[0] == 5


def test_two_groups_of_a_rack_fill_its_leaf_one_after_the_other():
    groups = [
        some_nodes(count=4, racks="c[01-02]", per_rack=2),
        some_nodes("login", count=2, racks="c[01-02]", per_rack=1, type="cpu-2u"),
    ]
    attached = [{"group": "dgx"}, {"group": "login", "interfaces": 2, "rate": "400 Gbps"}]
    layout = layout_of(top_of_rack(2, attached=attached), groups=groups)
    assert leaves_of(layout)["login-2"] == ["compute-leaf-2"] * 2
    assert layout.leaf_use == (18, 18)
    assert oversubscription(layout, 0) == 18 / 16


def test_a_rack_that_is_not_full_has_fewer_hosts_on_its_leaf():
    layout = in_racks(count=7)
    assert layout.leaf_use == (16, 16, 16, 8)
    assert leaves_of(layout)["dgx-7"] == ["compute-leaf-4"] * 8


def test_a_rack_scale_unit_has_all_its_hosts_in_its_rack():
    groups = [some_nodes("nvl", count=2, racks="c[01-02]", per_rack=1, type="gb200-nvl72")]
    tiers = [
        a_tier("leaf", 4, "sn5610", racks="c[01-02]", per_rack=2, split=2),
        a_tier("spine", 2, "sn5610", split=2),
    ]
    fabric = top_of_rack(tiers=tiers, attached=[{"group": "nvl"}])
    layout = layout_of(fabric, groups=groups)
    assert [(run.first, run.hosts, run.leaves) for run in layout.runs] == [
        (0, 16, (0,)),  # 64 host ports of four each
        (16, 2, (1,)),
        (18, 16, (2,)),
        (34, 2, (3,)),
    ]


def test_a_patch_leads_to_the_leaf_of_another_rack():
    patch = a_patch("dgx-3", 1, "compute-leaf-1", 17)
    layout = in_racks(top_of_rack(patches=[patch]))
    assert collisions(layout) == []
    assert leaves_of(layout)["dgx-3"][:2] == ["compute-leaf-1", "compute-leaf-2"]
    (found,) = collisions(in_racks(top_of_rack(patches=[{**patch, "port": 16}])))
    assert "already holds interface 8 of dgx-2" in found.reason


def test_a_routing_run_of_leaves_filled_in_order_is_of_another_fabric():
    by_rack, in_order = in_racks(), in_racks(top_of_rack(top_of_rack=False))
    assert digest(by_rack) != digest(in_order)
    assert digest(in_racks(top_of_rack(top_of_rack=True))) == digest(by_rack)
    moved = in_racks(per_rack=4, count=8, racks=2)
    assert digest(moved) != digest(by_rack)


def test_a_leaf_in_a_rack_needs_the_uplinks_of_the_hosts_that_are_there():
    # 16 host ports: 16 uplinks of 4 leaves are 64, the ports of one spine.
    assert needed_switches(in_racks()) == (4, 1)
    assert oversubscription(in_racks(), 0) == 1.0
    # 12 uplinks carry 16 ports as 4 to 3; sized for non-blocking, there must be 16 all the same.
    layout = in_racks(top_of_rack(8, links=[some_cables(parallel=6)]), racks=8)
    assert oversubscription(layout, 0) == 16 / 12
    assert needed_switches(layout) == (8, 2)
    # Sized for 4 to 3, 12 are enough: 8 × 12 = 96 of 128 ports.
    links = [some_cables(parallel=6)]
    eased = in_racks(top_of_rack(8, links=links, oversubscription=4 / 3), racks=8)
    assert needed_switches(eased) == (8, 2)


A_POD: dict[str, dict[str, Any]] = {
    # A leaf of 64 ports, a chassis of 220 and one of 224, all of 400 Gbps.
    "sn5600": {"rate": {"value": "400 Gbps", "source": "x"}},
    "sn5610": {"radix": 220, "rate": {"value": "400 Gbps", "source": "x"}},
    "sn4600c": {"radix": 224, "rate": {"value": "400 Gbps", "source": "x"}},
}


def pods(count: int, **more: Any) -> Layout:
    """Pods of 192 racks, each with two hosts of eight ports, as published for Llama 3.

    arXiv:2407.21783, section 3.3.1: a rack has 16 GPUs in two servers and one switch at its top; 192
    racks are a pod of 3,072 GPUs without oversubscription; eight pods of 24,576 are joined by a layer
    with an oversubscription of 7 to 1.
    """
    racks = f"r[0001-{192 * count:04d}]"
    tiers = [
        a_tier("leaf", 192 * count, "sn5600", racks=racks, per_rack=1),
        a_tier("spine", 16 * count, "sn5610"),
    ]
    links = [some_cables(parallel=1, pods=count)]
    if count > 1:
        tiers[1]["oversubscription"] = 7
        tiers.append(a_tier("core", 16, "sn4600c"))
        links.append({"name": "top", "lower": "spine", "upper": "core", "parallel": 28})
        links[1]["planes"] = 16
    fabric = top_of_rack(tiers=tiers, links=links, **more)
    groups = [some_nodes(count=384 * count, racks=racks, per_rack=2)]
    return layout_of(fabric, groups=groups, catalogue=CATALOGUE.patched(A_POD))


def test_a_pod_of_192_racks_without_oversubscription():
    """3,072 ports: 16 down and 16 up on each of 192 leaves; 16 spines with 192 cables each."""
    layout = pods(1)
    assert layout.endpoints == 3072
    assert layout.leaf_use == (16,) * 192
    assert needed_switches(layout) == (192, 16)
    assert oversubscription(layout, 0) == 1.0
    assert [tier_use(layout, tier).used for tier in (0, 1)] == [32, 192]
    kinds = Counter(wire.kind for wire in wires(layout))
    assert kinds == {"": 3072, "up": 3072}


def test_eight_pods_below_seven_to_one():
    """A spine has 192 cables below; 192 / 7 = 27.4, so 28 above: 6.86 to 1, and 220 ports in use.

    There are 8 × 16 = 128 spines. The n-th of every pod go to core n: 8 × 28 = 224 cables. In all
    that are 24,576 cables of hosts, as many of leaves, and 128 × 28 = 3,584 of spines.
    """
    layout = pods(8)
    assert layout.endpoints == 24_576
    assert needed_switches(layout) == (1536, 128, 16)
    assert oversubscription(layout, 0) == 1.0
    assert oversubscription(layout, 1) == pytest.approx(192 / 28)
    assert [tier_use(layout, tier).used for tier in range(3)] == [32, 220, 224]
    kinds = Counter(wire.kind for wire in wires(layout))
    assert kinds == {"": 24_576, "up": 24_576, "top": 3584}
    made = known(graph_of(layout))
    core = made.switches[-16]
    assert (core.name, len(core.children)) == ("compute-core-01", 8)
    assert core.children[:2] == ("compute-spine-001", "compute-spine-017")


def test_three_tiers_were_always_sized_without_oversubscription():
    """At 3 to 1, a spine of 64 ports gives 48 to leaves and 16 to cores; at 1 to 1, 32 and 32."""
    links = [
        some_cables(parallel=1, pods=4),
        {"name": "top", "lower": "spine", "upper": "core", "parallel": 16, "planes": 32},
    ]
    tiers = [a_tier("leaf", 192), a_tier("spine", 128), a_tier("core", 32)]
    even = layout_of(a_fabric(tiers=tiers, links=links), nodes=768)
    # 192 leaves × 32 / 32 = 192 spines; 192 × 32 / 64 = 96 cores.
    assert needed_switches(even) == (192, 192, 96)
    tiers[1]["oversubscription"] = 3
    eased = layout_of(a_fabric(tiers=tiers, links=links), nodes=768)
    # 192 × 32 / 48 = 128 spines with 48 cables below and 16 above; 4 of a plane on one core: 64.
    assert needed_switches(eased) == (192, 128, 32)
    assert oversubscription(eased, 1) == 3.0
    assert [tier_use(eased, tier).used for tier in range(3)] == [64, 64, 64]


def test_three_tiers_with_a_ratio_at_each_above_racks():
    """2 to 1 at the leaves and 3 to 1 at the spines, four pods of 24 racks with two hosts each.

    A leaf has 2 × 8 = 16 ports below and 16 / 2 = 8 above. Of 64 ports, a spine gives 64 × 3 / 4 = 48
    to leaves: 24 × 8 = 192 uplinks of a pod are 4 spines, with 2 cables from each leaf. 48 / 3 = 16 lead
    on; the n-th spine of every pod goes to core n: 4 × 16 = 64 ports, so 4 cores.
    """
    tiers = [
        a_tier("leaf", 96, racks="c[01-96]", per_rack=1),
        a_tier("spine", 16, oversubscription=3),
        a_tier("core", 4),
    ]
    links = [
        some_cables(parallel=2, pods=4),
        {"name": "top", "lower": "spine", "upper": "core", "parallel": 16, "planes": 4},
    ]
    layout = in_racks(top_of_rack(96, tiers=tiers, links=links, oversubscription=2), racks=96)
    assert needed_switches(layout) == (96, 16, 4)
    assert [oversubscription(layout, tier) for tier in (0, 1)] == [2.0, 3.0]
    assert [tier_use(layout, tier).used for tier in range(3)] == [24, 64, 64]
    # 96 × 16 cables of hosts, 96 × 8 of leaves, 16 × 16 of spines.
    assert Counter(w.kind for w in wires(layout)) == {"": 1536, "up": 768, "top": 256}


def test_three_tiers_with_a_ratio_at_each_above_rails():
    """The same ratios and pods, of units of 42 hosts whose rails have leaves of their own.

    64 × 2 / 3 = 42.7: a leaf gives 42 ports to hosts and 22 upwards, 1.91 to 1. 504 hosts are 12 units
    of 8 leaves. The 24 leaves of a pod have 24 × 22 = 528 uplinks: 11 spines of 48 ports below, with 2
    cables from each leaf. 4 × 11 = 44 spines have 16 above: 4 of a plane are 64, the ports of a core.
    """
    tiers = [a_tier("leaf", 96), a_tier("spine", 44, oversubscription=3), a_tier("core", 11)]
    links = [
        some_cables(parallel=2, pods=4),
        {"name": "top", "lower": "spine", "upper": "core", "parallel": 16, "planes": 11},
    ]
    fabric = a_fabric(tiers=tiers, links=links, oversubscription=2, unit_hosts=42)
    layout = layout_of(fabric, nodes=504)
    assert layout.leaf_use == (42,) * 96
    assert needed_switches(layout) == (96, 44, 11)
    assert [oversubscription(layout, tier) for tier in (0, 1)] == [42 / 22, 3.0]
    assert [tier_use(layout, tier).used for tier in range(3)] == [64, 64, 64]
    assert Counter(w.kind for w in wires(layout)) == {"": 4032, "up": 2112, "top": 704}


def test_spines_of_a_pod_are_cabled_evenly_to_its_leaves():
    """5 leaves of 16 uplinks are 80; 3 spines with 32 ports below have 96, but 6 a leaf each are 90."""
    tiers = [
        a_tier("leaf", 10, racks="c[01-10]", per_rack=1),
        a_tier("spine", 6),
        a_tier("core", 3),
    ]
    links = [
        some_cables(parallel=6, pods=2),
        {"name": "top", "lower": "spine", "upper": "core", "parallel": 30, "planes": 3},
    ]
    layout = in_racks(top_of_rack(10, tiers=tiers, links=links), racks=10)
    # 18 uplinks of a leaf: 5 × 6 = 30 of 32 ports of each spine; 2 × 30 = 60 of 64 of each core.
    assert needed_switches(layout) == (10, 6, 3)
    assert oversubscription(layout, 0) == 16 / 18
    assert oversubscription(layout, 1) == 1.0


def test_a_last_unit_that_is_smaller_has_fewer_leaves():
    """144 hosts with four rails: 5 leaves of 32 host ports a rail; the last 36 hosts: 2 a rail."""
    groups = [some_nodes("nvl", count=10, type="gb200-nvl72")]
    tiers = [a_tier("leaf", 28), a_tier("spine", 16)]
    fabric = a_fabric(tiers=tiers, attached=[{"group": "nvl"}], unit_hosts=144, links=None)
    whole = layout_of({**fabric, "links": []}, groups=groups)
    assert whole.unplaced == (36,)
    assert needed_switches(whole) == (40, 32)
    uneven = layout_of({**fabric, "links": [], "last_unit_hosts": 36}, groups=groups)
    assert uneven.unplaced == (0,)
    assert needed_switches(uneven) == (28, 16)
    assert [(run.hosts, run.leaves) for run in uneven.runs[-2:]] == [
        (32, (20, 22, 24, 26)),
        (4, (21, 23, 25, 27)),
    ]
    assert digest(uneven) != digest(whole)


def test_a_last_unit_with_more_hosts_than_it_is_built_for_needs_all_its_leaves():
    groups = [some_nodes("nvl", count=11, type="gb200-nvl72")]
    fabric = a_fabric(28, 16, attached=[{"group": "nvl"}], unit_hosts=144, last_unit_hosts=36)
    layout = layout_of(fabric, groups=groups)
    assert layout.unplaced == (18,)
    assert known(needed_switches(layout))[0] == 40


def test_a_last_pod_that_is_smaller_is_connected_in_itself():
    """40 leaves are a pod of 32 and one of 8; each has 32 spines, which join 32 cores."""
    links = [
        some_cables(parallel=1, pods=2, pod_switches=32),
        {"name": "top", "lower": "spine", "upper": "core", "parallel": 32, "planes": 32},
    ]
    tiers = [a_tier("leaf", 40), a_tier("spine", 64), a_tier("core", 32)]
    layout = layout_of(a_fabric(tiers=tiers, links=links), nodes=160)
    switches = known(graph_of(layout)).switches
    below = {switch.name: switch.children for switch in switches}
    assert below["compute-spine-01"] == tuple(f"compute-leaf-{n:02d}" for n in range(1, 33))
    assert below["compute-spine-33"] == tuple(f"compute-leaf-{n:02d}" for n in range(33, 41))
    assert below["compute-core-01"] == ("compute-spine-01", "compute-spine-33")
    assert [tier_use(layout, tier).used for tier in range(3)] == [64, 64, 64]
    assert layout.down_links(1) == 32  # of the larger pod
    links[0]["pod_switches"] = 8
    assert layout_of(a_fabric(tiers=tiers, links=links), nodes=160).down_links(1) == 32
    equal = [some_cables(parallel=1, pods=2), links[1]]
    assert digest(layout_of(a_fabric(tiers=tiers, links=equal), nodes=160)) != digest(layout)


def two_planes(**more: Any) -> dict[str, Any]:
    """64 nodes with eight ports of 800 Gbps, each split in two of 400 Gbps for two planes."""
    tiers = [a_tier("leaf", 16, "sn5600", split=2), a_tier("spine", 8, "sn5600", split=2)]
    links = [some_cables(parallel=16, planes=2)]
    attached = [{"group": "b300", "split": 2}]
    return a_fabric(**{"tiers": tiers, "links": links, "attached": attached, **more})


def test_two_planes_of_one_fabric_are_two_leaves_for_each_rail():
    """16 leaves with 64 hosts each; 8 × 64 / 128 = 4 spines in each plane, as NVIDIA publishes."""
    groups = [some_nodes("b300", count=64, type="dgx-b300")]
    layout = layout_of(two_planes(), groups=groups)
    assert layout.hosts[0].interfaces == 16
    assert layout.endpoints == 1024
    assert layout.leaf_use == (64,) * 16
    assert needed_switches(layout) == (16, 8)
    assert oversubscription(layout, 0) == 1.0
    assert [tier_use(layout, tier).used for tier in (0, 1)] == [128, 128]
    switches = known(graph_of(layout)).switches
    below = {switch.name: switch.children for switch in switches if switch.tier == 1}
    assert below["compute-spine-1"] == tuple(f"compute-leaf-{n:02d}" for n in range(1, 17, 2))
    assert below["compute-spine-5"] == tuple(f"compute-leaf-{n:02d}" for n in range(2, 17, 2))


def test_parts_of_a_port_are_cabled_to_different_planes():
    layout = layout_of(two_planes(), groups=[some_nodes("b300", count=64, type="dgx-b300")])
    first = [w.upper for w in wires(layout) if w.lower == "b300-01"]
    assert first == [f"compute-leaf-{n:02d}" for n in range(1, 17)]
    assert layout.hosts[0].parts == 2  # interfaces 1 and 2 are on port 1
    apart = two_planes(attached=[{"group": "b300", "split": 2, "interfaces": 8}])
    assert layout_of(apart, groups=[some_nodes("b300", type="dgx-b300")]).hosts[0].parts == 1


@share(0.5)
@given(
    racks=st.integers(2, 12),
    per_rack=st.integers(1, 6),
    missing=st.integers(0, 5),
    leaves=st.integers(1, 2),
    interfaces=st.integers(1, 9),
    rails=st.booleans(),
)
def test_hosts_are_on_leaves_of_their_own_racks_and_no_port_is_used_twice(
    racks, per_rack, missing, leaves, interfaces, rails
):
    names = f"c[01-{racks:02d}]"
    count = max(1, racks * per_rack - missing)
    tiers = [a_tier("leaf", racks * leaves, racks=names, per_rack=leaves), a_tier("spine", 1)]
    attached = [{"group": "dgx", "interfaces": interfaces, "rails": rails}]
    fabric = top_of_rack(tiers=tiers, attached=attached, top_of_rack=True, links=[])
    layout = in_racks(fabric, racks=racks, count=count, per_rack=per_rack)
    seen = []
    for run in layout.runs:
        for host in range(run.first, run.first + run.hosts):
            placed = [run.place(host, interface) for interface in range(interfaces)]
            assert {leaf // leaves for leaf, _ in placed} == {host // per_rack}
            assert not rails or len({leaf for leaf, _ in placed}) == min(interfaces, leaves)
            seen += placed
    assert len(set(seen)) == len(seen) == (count - layout.unplaced[0]) * interfaces
    assert all(1 <= port <= layout.leaf_ports for _, port in seen)


@share(0.5)
@given(
    pods=st.integers(1, 4),
    leaves=st.integers(1, 6),
    last=st.integers(1, 6),
    spines=st.integers(1, 4),
    per_rack=st.integers(1, 4),
    parallel=st.tuples(st.integers(1, 3), st.integers(1, 3)),
)
def test_the_cables_of_any_pods_are_as_many_as_the_ports_in_use(
    pods, leaves, last, spines, per_rack, parallel
):
    """Counted on the list of cables: two ports a cable, none twice, the busiest switch of each tier."""
    racks = (pods - 1) * leaves + min(last, leaves)
    names = f"c[01-{racks:02d}]"
    tiers = [
        a_tier("leaf", racks, racks=names, per_rack=1),
        a_tier("spine", spines * pods),
        a_tier("core", spines),
    ]
    up = some_cables(parallel=parallel[0], pods=pods, pod_switches=leaves)
    top = {"name": "top", "lower": "spine", "upper": "core", "parallel": parallel[1]}
    fabric = top_of_rack(tiers=tiers, links=[up, {**top, "planes": spines}], top_of_rack=True)
    layout = in_racks(fabric, racks=racks, count=racks * per_rack, per_rack=per_rack)
    ports: Counter[str] = Counter()
    taken = set()
    for wire in wires(layout):
        for end in ((wire.lower, wire.lower_port), (wire.upper, wire.upper_port)):
            assert end not in taken
            taken.add(end)
            ports[end[0]] += 1
    busiest = [max(ports[name] for name in tier.names()) for tier in layout.tiers]
    assert [tier_use(layout, tier).used for tier in range(3)] == busiest
    assert oversubscription(layout, 0) == per_rack * 8 / (spines * parallel[0])
    assert oversubscription(layout, 1) == min(leaves, racks) * parallel[0] / parallel[1]
    needed = known(needed_switches(layout))
    assert needed[0] == racks
    assert all(count >= 1 for count in needed)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shared_racks": ["c[01-02]"]}, "'shared_racks' is for a fabric with 'top_of_rack: true'"),
        (
            {"links": [some_cables(parallel=8, pod_switches=4)]},
            "'pod_switches' are those of a pod: give 'pods' as well",
        ),
        ({"last_unit_hosts": 4}, "'last_unit_hosts' is 4 and 'unit_hosts' is not given"),
        ({"last_unit_hosts": 32, "unit_hosts": 32}, "give the hosts of a whole unit"),
        (
            {"tiers": [a_tier("leaf", 8, oversubscription=2), a_tier("spine", 4)]},
            "'oversubscription' of 'leaf': the tier is of the leaves: give that of the fabric",
        ),
        (
            {"tiers": [a_tier("leaf", 8), a_tier("spine", 4, oversubscription=2)]},
            "'oversubscription' of 'spine': the tier has nothing above it",
        ),
    ],
)
def test_shapes_that_contradict_themselves(change, message):
    with pytest.raises(ValidationError, match=message):
        site_of(a_fabric(**change))


def test_shared_racks_that_are_not_there_or_in_two_sets():
    fabric = top_of_rack(2, top_of_rack=True, shared_racks=["c01,c03", "c[01-02]"])
    for tier in fabric["tiers"]:
        tier["racks"] = "c[01-02]"
    hall = a_hall(rows=[a_row(a_rack_group("c[01-02]"))])
    nodes = some_nodes(count=4, racks="c[01-02]", per_rack=2)
    with pytest.raises(PlanError) as caught:
        a_plan(a_site(halls=[hall], node_groups=[nodes], fabrics=[fabric]))
    path = ("sites", 0, "fabrics", 0, "shared_racks")
    assert [(p.path, p.message) for p in caught.value.problems] == [
        ((*path, 0), "there is no rack 'c03' in this site"),
        ((*path, 1), "the rack 'c01' shares leaves with two sets of racks"),
    ]
    assert "did you mean 'c0" in (caught.value.problems[0].hint or "")


def test_a_list_of_shared_racks_that_is_too_long_is_refused_before_it_is_made():
    fabric = top_of_rack(top_of_rack=True, shared_racks=["c[000001-999999]", "d[01-09]"])
    with pytest.raises(ValidationError, match="racks named by its groups"):
        site_of(fabric)


def test_the_fabric_of_the_documentation_is_one():
    text = (ROOT / "docs/fabrics.md").read_text("utf-8")
    block = text.split("## Top of rack")[1].split("```yaml\n")[1].split("```")[0]
    fabric = yaml.safe_load(block)["fabrics"][0]
    groups = [some_nodes(count=16, racks="c[01-08]", per_rack=2)]
    layout = layout_of(fabric, groups=groups)
    assert layout.unplaced == (0,)
    assert needed_switches(layout) == (7, 2)
    wired = list(wires(layout))
    assert Counter(w.kind for w in wired) == {"nodes": 112, "beside": 16, "spines": 112}
