"""Hosts that have names already are called by them everywhere."""

from __future__ import annotations

import pytest

from fabric_factories import a_fabric
from factories import a_blueprint, a_hall, a_plan, a_rack_group, a_row, a_site, some_nodes
from rackwright.model.cluster import Blueprint
from rackwright.plan.expand import expand
from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.layout import find_host
from rackwright.plan.host_list import list_hosts
from rackwright.plan.naming.host_lines import host_lines
from rackwright.plan.problems import PlanError
from rackwright.render.slurm import render_slurm

SCHEDULER = {
    "kind": "slurm",
    "version": "25.05",
    "controllers": [{"host": "ctl", "address": "10.9.9.8"}],
    "partitions": [{"name": "train", "groups": ["dgx"], "default": True}],
    "topology": {"plugin": "flat"},
}


def addressed(name: str, prefix: str, **more: object) -> dict[str, object]:
    return {
        "domain": f"{name}.example.com",
        "serial": 1,
        "networks": [
            {"name": "mgmt", "kind": "management", "prefix": f"{prefix}.0/24",
             "ranges": [{"of": "dgx", "first": f"{prefix}.11"}]}
        ],
        **more,
    }  # fmt: skip


def _hall(*racks: str) -> dict[str, object]:
    return a_hall(rows=[a_row(*map(a_rack_group, racks))])


def test_every_consumer_of_the_plan_has_the_names_that_hosts_have() -> None:
    nodes = some_nodes(host_names="node[012,010-011],dgx-x")
    blueprint = a_blueprint(
        a_site(node_groups=[nodes], addresses=addressed("lab", "10.1.0")), scheduler=SCHEDULER
    )
    plan = expand(Blueprint.model_validate(blueprint), a_plan().catalogue)
    names = ("node012", "node010", "node011", "dgx-x")
    (site,) = plan.onprem
    assert site.groups[0].host_names == names
    assert tuple(host.name for host in list_hosts(plan)) == names
    assert [name for units in plan.racked["lab"]["c01"].values() for name in units] == list(names)
    text = render_slurm(plan)["slurm.conf"]
    assert "NodeName=node[012,010-011],dgx-x NodeAddr=10.1.0.[11-14] " in text
    assert "PartitionName=train Nodes=node[012,010-011],dgx-x " in text
    assert plan.names.address_in(["lab"], "node011") == "10.1.0.13"
    assert plan.names.address_in(["lab"], "dgx-1") is None
    lines = list(host_lines(plan.names, plan.names.networks))
    assert lines[0] == "10.1.0.11 node012.lab.example.com node012"


def test_cables_begin_at_the_names_that_hosts_have() -> None:
    fabric = a_fabric(attached=[{"group": "dgx"}])
    nodes = some_nodes(count=32, racks="c[01-08]", host_names="node[101-132]")
    plan = a_plan(a_site(node_groups=[nodes], fabrics=[fabric], halls=[_hall("c[01-08]", "n01")]))
    (layout,) = plan.onprem[0].layouts
    ends = {wire.lower for wire in wires(layout) if wire.lower.startswith("node")}
    assert ends == {f"node{number}" for number in range(101, 133)}
    assert find_host(layout, "node132") == (0, 31)
    assert find_host(layout, "dgx-32") is None


def test_a_name_that_two_sites_have_is_short_in_neither() -> None:
    first = a_site(node_groups=[some_nodes()], addresses=addressed("lab", "10.1.0"))
    nodes = some_nodes(host_names="dgx-4,own[1-3]")
    second = a_site(name="b", node_groups=[nodes], addresses=addressed("b", "10.2.0"))
    plan = a_plan(first, second)
    lines = dict(line.split(" ", 1) for line in host_lines(plan.names, plan.names.networks))
    assert lines["10.2.0.11"] == "dgx-4.b.example.com"
    assert lines["10.2.0.12"] == "own1.b.example.com own1"


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([some_nodes(host_names="node[1-3]")], "3 names are written, and there are 4 hosts"),
        ([some_nodes(host_names="node[1-3],node-")], "'node-' is not a host name"),
        (
            [some_nodes(), some_nodes("own", racks="c02", host_names="dgx-4,own[1-3]")],
            "'dgx-4' is a name in 'dgx' already",
        ),
        (
            [
                some_nodes("one", host_names="node[1-4]"),
                some_nodes("two", racks="c02", host_names="node[4-7]"),
            ],
            "'node4' is a name in 'one' already",
        ),
    ],
)
def test_names_that_cannot_be_are_refused(groups: list[dict[str, object]], words: str) -> None:
    with pytest.raises(PlanError) as caught:
        a_plan(a_site(node_groups=groups, halls=[_hall("c[01-02]")]))
    (problem,) = caught.value.problems
    assert words in problem.message
    assert problem.path[-1] == "host_names"


def test_a_name_server_that_stands_is_known_by_its_name() -> None:
    declared = addressed("lab", "10.1.0", name_servers=[{"host": "node2", "address": "10.9.9.9"}])
    with pytest.raises(PlanError) as caught:
        a_plan(a_site(node_groups=[some_nodes(host_names="node[1-4]")], addresses=declared))
    assert "'node2' is a name of this site" in caught.value.problems[0].message


def switched(**more: object) -> dict[str, object]:
    """A fabric whose leaves have names of their own."""
    fabric = a_fabric()
    leaf, spine = fabric["tiers"]
    return fabric | {"tiers": [leaf | {"switch_names": "A09.Leaf_[01-08]", **more}, spine]}


def test_every_consumer_of_the_plan_has_the_names_that_switches_have() -> None:
    nodes = some_nodes(count=32, racks="c[01-08]")
    halls = [_hall("c[01-08]", "n[01-02]")]
    plan = a_plan(a_site(node_groups=[nodes], fabrics=[switched()], halls=halls))
    names = [f"A09.Leaf_{number:02}" for number in range(1, 9)]
    (site,) = plan.onprem
    (fabric,) = site.fabrics
    assert fabric.layout is not None
    leaves, spines = fabric.layout.tiers
    assert (list(leaves.names()), spines.names()[0]) == (names, "compute-spine-1")
    assert (leaves.index_of(names[3]), leaves.index_of("compute-leaf-4")) == (3, None)
    assert {wire.upper for wire in wires(fabric.layout) if wire.lower.startswith("dgx-")} == set(
        names
    )
    racked = [name for units in plan.racked["lab"].values() for found in units.values() for name in found]  # fmt: skip
    assert set(names) <= set(racked)
    assert not any(name.startswith("compute-leaf") for name in racked)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("A09.Leaf_[01-07]", "7 names are written, and there are 8 switches"),
        ("dgx-01,A09.Leaf_[02-08]", "'dgx-01' is a name in 'dgx' already"),
    ],
)
def test_names_of_switches_that_cannot_be_are_refused(names: str, words: str) -> None:
    nodes = some_nodes(count=32, racks="c[01-08]")
    halls = [_hall("c[01-08]", "n[01-02]")]
    with pytest.raises(PlanError) as caught:
        a_plan(a_site(node_groups=[nodes], fabrics=[switched(switch_names=names)], halls=halls))
    (problem,) = caught.value.problems
    assert words in problem.message
    assert problem.path[-1] == "switch_names"
