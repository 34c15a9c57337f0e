"""Fat trees, rails and patches as the trees that Slurm knows."""

from __future__ import annotations

import pytest

from rackwright.plan.fabric.graph import FabricTopology, SwitchNode
from rackwright.plan.slurm.topology import TreeSwitch, fabric_tree, tree_faults


def a_fabric(*switches: tuple[str, int, str, str]) -> FabricTopology:
    """Switches as name, tier, children and nodes; the last two separated by blanks."""
    made = (SwitchNode(n, t, tuple(c.split()), tuple(h.split())) for n, t, c, h in switches)
    return FabricTopology("ib", tuple(made))


def show(graph: FabricTopology, *, without: str = "") -> dict[str, str]:
    hosts = {node for switch in graph.switches for node in switch.nodes} - set(without.split())
    return {s.name: " ".join(s.nodes or s.children) for s in fabric_tree(graph, hosts)}


TWO_TIERS = (
    ("leaf-1", 0, "", "a b"),
    ("leaf-2", 0, "", "c d"),
    ("spine-1", 1, "leaf-1 leaf-2", ""),
    ("spine-2", 1, "leaf-1 leaf-2", ""),
)


def test_many_spines_become_one_root() -> None:
    found = show(a_fabric(*TWO_TIERS))
    assert found == {"leaf-1": "a b", "leaf-2": "c d", "ib-tier2-1": "leaf-1 leaf-2"}


def test_rails_that_hosts_share_become_one_unit() -> None:
    graph = a_fabric(
        ("leaf-1", 0, "", "a b"),
        ("leaf-2", 0, "", "a b"),
        ("leaf-3", 0, "", "c"),
        ("leaf-4", 0, "", "c"),
        ("spine-1", 1, "leaf-1 leaf-3", ""),
        ("spine-2", 1, "leaf-2 leaf-4", ""),
    )
    found = show(graph)
    assert found == {"ib-unit-1": "a b", "ib-unit-2": "c", "ib-tier2-1": "ib-unit-1 ib-unit-2"}


def test_units_whose_rails_are_joined_in_part_only_stay_apart() -> None:
    graph = a_fabric(
        ("leaf-1", 0, "", "a"),
        ("leaf-2", 0, "", "a"),
        ("leaf-3", 0, "", "b"),
        ("leaf-4", 0, "", "b"),
        ("spine-1", 1, "leaf-1 leaf-3", ""),
        ("spine-2", 1, "leaf-2", ""),
        ("spine-3", 1, "leaf-4", ""),
        ("core-1", 2, "spine-1 spine-2 spine-3", ""),
    )
    found = show(graph)
    assert found == {"ib-unit-1": "a", "ib-unit-2": "b", "ib-tier3-1": "ib-unit-1 ib-unit-2"}


def test_three_tiers_have_pods() -> None:
    graph = a_fabric(
        *((f"leaf-{n}", 0, "", f"h{n}") for n in range(1, 5)),
        ("spine-1", 1, "leaf-1 leaf-2", ""),
        ("spine-2", 1, "leaf-3 leaf-4", ""),
        ("core-1", 2, "spine-1 spine-2", ""),
    )
    found = show(graph)
    assert found["ib-tier2-1"] == "leaf-1 leaf-2"
    assert found["ib-tier2-2"] == "leaf-3 leaf-4"
    assert found["ib-tier3-1"] == "ib-tier2-1 ib-tier2-2"
    assert len(found) == 7


def test_a_host_that_is_patched_elsewhere_stands_alone() -> None:
    graph = a_fabric(
        ("leaf-1", 0, "", "a b"),
        ("leaf-2", 0, "", "a"),
        ("leaf-3", 0, "", "b"),
        ("spine-1", 1, "leaf-1 leaf-2 leaf-3", ""),
    )
    found = show(graph)
    assert found == {"ib-unit-1": "a", "ib-unit-2": "b", "ib-tier2-1": "ib-unit-1 ib-unit-2"}


def test_fabrics_that_are_not_connected_have_roots_of_their_own() -> None:
    graph = a_fabric(
        ("leaf-1", 0, "", "a"),
        ("leaf-2", 0, "", "b"),
        ("spine-1", 1, "leaf-1", ""),
        ("spine-2", 1, "leaf-2", ""),
    )
    assert show(graph) == {"leaf-1": "a", "leaf-2": "b"}


def test_hosts_that_are_no_compute_nodes_are_left_out() -> None:
    assert show(a_fabric(*TWO_TIERS), without="c d") == {"leaf-1": "a b"}


@pytest.mark.parametrize(
    ("switches", "fault"),
    [
        ([TreeSwitch("s" * 65, nodes=("a",))], "is longer than 64 characters"),
        ([TreeSwitch("s1", children=("s2",))], "the switch 's2' below 's1' does not exist"),
        (
            [TreeSwitch("s1", nodes=("a",)), TreeSwitch("s2", nodes=("a",))],
            "'a' is below two switches: 's1' and 's2'",
        ),
        (
            [TreeSwitch("s1", children=("s2",)), TreeSwitch("s2", children=("s1",))],
            "the switch 's1' is above itself",
        ),
    ],
)
def test_topology_that_is_not_a_tree_is_reported(switches: list[TreeSwitch], fault: str) -> None:
    assert any(fault in found for found in tree_faults(switches))


def test_a_tree_has_no_faults() -> None:
    tree = [TreeSwitch("s" * 64, nodes=("a",)), TreeSwitch("top", children=("s" * 64,))]
    assert tree_faults(tree) == ()
