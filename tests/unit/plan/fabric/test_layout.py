from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from examples import share
from fabric_factories import (
    a_fabric,
    a_patch,
    a_tier,
    layout_of,
    site_of,
    some_cables,
    three_tiers,
)
from factories import CATALOGUE, a_plan, a_site, some_nodes
from known import known
from rackwright.plan.fabric.graph import graph_of
from rackwright.plan.fabric.layout import find_host, find_leaf, lay_out
from rackwright.plan.problems import PlanError


def test_a_scalable_unit_has_every_host_on_every_leaf():
    made = known(graph_of(layout_of()))
    leaves = [switch for switch in made.switches if switch.tier == 0]
    assert [leaf.name for leaf in leaves] == [f"compute-leaf-{n}" for n in range(1, 9)]
    assert all(len(leaf.nodes) == 32 for leaf in leaves)
    assert leaves[0].nodes[0] == "dgx-01"
    spine = made.switches[-1]
    assert (spine.name, len(spine.children), spine.nodes) == ("compute-spine-4", 8, ())
    (group,) = made.leaf_groups
    assert len(group.leaves) == 8
    assert len(group.nodes) == 32
    assert made.tiers == 2


def test_four_scalable_units_are_four_groups():
    made = known(graph_of(layout_of(a_fabric(32, 16), nodes=127)))
    assert [len(group.nodes) for group in made.leaf_groups] == [32, 32, 32, 31]
    assert made.leaf_groups[1].leaves[0] == "compute-leaf-09"
    assert made.leaf_groups[1].nodes[0] == "dgx-033"


def test_interface_i_goes_to_leaf_i_on_the_port_of_the_host():
    layout = layout_of(a_fabric(16, 8), nodes=40)
    for host in (0, 31, 32, 39):
        run = known(layout.run_of(0, host))
        placed = [run.place(host, interface) for interface in range(8)]
        assert [leaf for leaf, _ in placed] == [8 * (host // 32) + i for i in range(8)]
        assert {port for _, port in placed} == {host % 32 + 1}


def test_a_management_host_takes_the_first_free_ports():
    groups = [some_nodes(count=31), some_nodes("ufm", count=1, type="ufm-ndr")]
    attached = [{"group": "dgx"}, {"group": "ufm", "interfaces": 4, "rails": True}]
    layout = layout_of(a_fabric(attached=attached), groups=groups)
    assert layout.leaf_use == (32, 32, 32, 32, 31, 31, 31, 31)
    assert layout.unplaced == (0, 0)
    assert layout.endpoints == 252
    assert layout.runs[1].place(0, 0) == (0, 32)


def test_the_32nd_node_leaves_no_port_for_the_fabric_manager():
    groups = [some_nodes(count=32), some_nodes("ufm", count=1, type="ufm-ndr")]
    attached = [{"group": "dgx"}, {"group": "ufm", "interfaces": 4, "rails": True}]
    layout = layout_of(a_fabric(attached=attached), groups=groups)
    assert layout.unplaced == (0, 1)
    assert graph_of(layout) is None


def test_an_nvl72_unit_is_larger_than_a_leaf():
    groups = [some_nodes("nvl", count=8, type="gb200-nvl72")]
    fabric = a_fabric(20, 10, attached=[{"group": "nvl"}], unit_hosts=144)
    layout = layout_of(fabric, groups=groups)
    assert layout.hosts[0].interfaces == 4
    assert layout.endpoints == 576
    assert [run.hosts for run in layout.runs] == [32, 32, 32, 32, 16]
    assert known(layout.run_of(0, 40)).place(40, 0) == (1, 9)
    assert known(layout.run_of(0, 40)).place(40, 1) == (6, 9)


def test_without_rails_a_host_is_on_one_leaf():
    layout = layout_of(a_fabric(8, 4, rail_optimized=False))
    assert [(run.first, run.hosts, run.leaves) for run in layout.runs][:2] == [
        (0, 4, (0,)),
        (4, 4, (1,)),
    ]
    assert layout.leaf_use == (32,) * 8


def test_a_pair_of_switches_takes_both_ports_of_each_host():
    fabric = {
        "name": "storage",
        "role": "storage",
        "tiers": [a_tier("top", 2, "sn5610")],
        "attached": [{"group": "dgx", "interfaces": 2, "rails": True}],
    }
    layout = layout_of(fabric)
    assert layout.leaf_use == (32, 32)
    made = known(graph_of(layout))
    assert made.leaf_groups[0].leaves == ("storage-top-1", "storage-top-2")


def test_three_tiers_are_connected_in_pods_and_planes():
    layout = layout_of(three_tiers(), nodes=512)
    assert [layout.up_ports(tier) for tier in range(3)] == [32, 32, 0]
    assert [layout.down_links(tier) for tier in range(3)] == [0, 32, 64]
    switches = known(graph_of(layout)).switches
    made = {switch.name: switch for switch in switches}
    assert made["compute-spine-033"].children[0] == "compute-leaf-033"
    assert len(made["compute-spine-033"].children) == 32
    assert made["compute-core-01"].children == tuple(
        f"compute-spine-{1 + 32 * pod:03d}" for pod in range(4)
    )


def test_uplinks_of_their_own_leave_the_radix_to_the_hosts():
    fabric = a_fabric(tiers=[a_tier("leaf", 1, "sn2201"), a_tier("spine", 1, "sn5610")])
    assert layout_of(fabric).leaf_ports == 48


def test_two_switches_in_a_chassis_are_two():
    layout = layout_of(a_fabric(tiers=[a_tier("leaf", 4, "q3200-ra")], links=[]))
    assert layout.tiers[0].names()[-1] == "compute-leaf-8"


def test_a_patch_moves_a_host_to_another_leaf():
    patch = {"node": "dgx-32", "interface": 1, "switch": "compute-leaf-2", "port": 33}
    made = known(graph_of(layout_of(a_fabric(patches=[patch]))))
    assert "dgx-32" not in made.switches[0].nodes
    assert [len(group.nodes) for group in made.leaf_groups] == [31, 1]


def test_omitted_layout_is_not_guessed():
    assert graph_of(layout_of(a_fabric(rail_optimized=None))) is None
    assert graph_of(layout_of(a_fabric(links=[]))) is None
    bare = site_of(a_fabric(attached=[]))
    assert lay_out(bare, bare.fabrics[0], CATALOGUE) is None
    groups = [some_nodes("ufm", count=1, type="ufm-ndr")]
    layout = layout_of(a_fabric(attached=[{"group": "ufm"}]), groups=groups)
    assert layout.endpoints is None
    assert layout.unplaced == (1,)


def test_hosts_and_leaves_are_found_by_name():
    layout = layout_of()
    assert find_host(layout, "dgx-32") == (0, 31)
    assert find_host(layout, "dgx-33") is None
    assert find_host(layout, "dgx-1") is None
    assert find_host(layout, "hgx-01") is None
    assert layout.run_of(0, 32) is None
    assert find_leaf(layout, "compute-leaf-8") == 7
    assert find_leaf(layout, "compute-leaf-9") is None


@share(0.6)
@given(
    nodes=st.integers(1, 200),
    leaves=st.integers(1, 40),
    interfaces=st.integers(1, 9),
    rails=st.booleans(),
)
def test_no_port_is_used_twice_and_no_host_is_cabled_twice(nodes, leaves, interfaces, rails):
    attached = [{"group": "dgx", "interfaces": interfaces, "rails": rails}]
    layout = layout_of(a_fabric(leaves, 4, attached=attached, links=[]), nodes=nodes)
    ports = [
        run.place(host, interface)
        for run in layout.runs
        for host in range(run.first, run.first + run.hosts)
        for interface in range(interfaces)
    ]
    assert len(set(ports)) == len(ports)
    assert all(1 <= port <= layout.leaf_ports for _, port in ports)
    assert len(ports) == (nodes - layout.unplaced[0]) * interfaces
    assert sum(layout.leaf_use) == len(ports)
    assert 0 <= layout.unplaced[0] <= nodes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attached": [{"group": "dgy"}]}, "names the node group 'dgy', which is not there"),
        ({"attached": [{"group": "dgx"}, {"group": "dgx"}]}, "named twice"),
        ({"links": [{"name": "x", "lower": "leaf", "upper": "core"}]}, "'core' of the cables"),
        ({"links": [{"name": "x", "lower": "lead", "upper": "spine"}]}, "neither attached nor"),
        ({"links": [{"name": "x", "lower": "spine", "upper": "leaf"}]}, "do not lead upwards"),
        ({"links": [{"name": "x", "lower": "leaf", "upper": "leaf"}]}, "do not lead upwards"),
        (
            {"links": [{"name": "x", "lower": "dgx", "upper": "leaf", "parallel": 2}]},
            "between switches",
        ),
        (
            {"links": [{"name": "x", "lower": "leaf", "upper": "spine", "count": 2}]},
            "use 'parallel'",
        ),
        (
            {"links": [some_cables(same_rack=True)]},
            "'same_rack' of 'up' is for cables of nodes",
        ),
        (
            {"links": [some_cables("dgx", "leaf", same_rack=True, count=3)]},
            "leave out 'count'",
        ),
        (
            {"links": [{"name": "x", "lower": "leaf", "upper": "spine", "pods": 2, "planes": 2}]},
            "not both",
        ),
        (
            {
                "links": [
                    {
                        "name": "x",
                        "lower": "leaf",
                        "upper": "spine",
                        "length": "3 m",
                        "route": {"tray": "1 m", "drop": "1 m"},
                    }
                ]
            },
            "not both",
        ),
        (
            {"patches": [a_patch("dgx-1", 1, "a", 1), a_patch("dgx-1", 1, "b", 1)]},
            "interface 1 of dgx-1' is named twice",
        ),
        ({"subnet_managers": [{"at": "ufm", "count": 2}]}, "'ufm'"),
        ({"segments": [{"name": "a", "groups": ["b"]}]}, "'b'"),
        ({"segments": [{"name": "a", "prefix": "10.0.0.1/8"}]}, "bits set behind its prefix"),
        ({"tiers": [a_tier("dgx", 1)], "links": []}, "both a tier and a node group"),
    ],
)
def test_impossible_fabrics(change, message):
    with pytest.raises(ValidationError, match=message):
        site_of(a_fabric(**change))


def test_a_cable_that_is_not_in_the_catalogue():
    link = {"name": "x", "lower": "leaf", "upper": "spine", "cable": "mms4x00-nx"}
    nodes = some_nodes(count=4, racks="c01")
    fabric = a_fabric(2, 1, links=[link])
    for tier in fabric["tiers"]:
        tier["racks"] = "c01"
    with pytest.raises(PlanError) as caught:
        a_plan(a_site(node_groups=[nodes], fabrics=[fabric]))
    (problem,) = caught.value.problems
    assert problem.path == ("sites", 0, "fabrics", 0, "links", 0, "cable")
    assert "mms4x00-nx" in problem.message
