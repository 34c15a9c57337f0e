"""How a cluster is: nodes by state, what those out of service share, what differs from the bill."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from rackwright.accept.compare import Acceptance, HostAcceptance, ItemOutcome, ItemResult
from rackwright.nodelife.signs.plan_parts import part_map
from rackwright.nodelife.slurm_nodes import NodeState
from rackwright.nodelife.status import (
    PlanPart,
    parts_of,
    plain_state,
    render_status_json,
    render_status_text,
    shared_parts,
    status_of,
)
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack

TREE = Path(__file__).parents[2] / "golden/slurm/tree/layer.yaml"
RACK, OTHER = PlanPart("a", "rack", "r1"), PlanPart("a", "rack", "r2")
LEAF, LOOP = PlanPart("a", "leaf", "l1"), PlanPart("a", "loop", "cdu")
HOME = """
sites:
  - name: sjc1
    nfs: [{name: home, server: head, export: /export/home, mount: /home, clients: [dgx], networks: [10.0.0.0/8]}]
"""


@pytest.fixture(scope="module")
def plan() -> Plan:
    return load_plan(builtin_pack() / "fixtures/slurm.yaml", (TREE,)).plan


def test_nodes_hang_on_racks_feeds_and_leaves_of_the_plan(plan: Plan) -> None:
    parts = parts_of(plan)
    assert parts[PlanPart("sjc1", "rack", "c02")] == {"dgx-05", "dgx-06", "dgx-07", "dgx-08"}
    assert len(parts[PlanPart("sjc1", "feed", "rpp-b")]) == 64
    assert "dgx-33" in parts[PlanPart("sjc1", "leaf", "compute-unit-2")]
    leaves = [part.name for part in parts if part.kind == "leaf"]
    assert sorted(leaves) == ["compute-unit-1", "compute-unit-2"], "not the switches above them"


def test_file_system_that_does_not_answer_is_what_its_nodes_share(tmp_path: Path) -> None:
    """All nodes hang on each feed as well, and a feed was named."""
    layer = tmp_path / "home.yaml"
    layer.write_text(HOME)
    plan = load_plan(builtin_pack() / "fixtures/slurm.yaml", (TREE, layer)).plan
    waits = ("IDLE+DRAIN", "node health: /home does not answer [file-system-silent]")
    states = {f"dgx-{number:02d}": waits for number in range(1, 65)} | {"dgx-07": ("DOWN", "fan")}
    nodes = {name: NodeState(name, *state) for name, state in states.items()}
    status = status_of(plan, nodes, Acceptance(()), {})
    (shared,) = status.shared
    assert shared.part == PlanPart("sjc1", "file-system", "/home")
    assert (len(shared.nodes), shared.of, status.alone) == (63, 64, ("dgx-07",))
    held = {part.title: len(members) for part, members in part_map(plan).parts.items()}
    assert held["file-system /home"] == 64


@pytest.mark.parametrize(
    ("parts", "troubled", "shared", "alone"),
    [
        ({RACK: "ab", OTHER: "cd"}, "abc", [(RACK, "ab")], "c"),
        # Half of a part is the least that is named, and one node never.
        ({LEAF: "abcd"}, "ab", [(LEAF, "ab")], ""),
        ({LEAF: "abcde"}, "ab", [], "ab"),
        ({RACK: "a"}, "a", [], "a"),
        # All of a rack are more of it than they are of the leaf.
        ({RACK: "ab", LEAF: "abc"}, "ab", [(RACK, "ab")], ""),
        # All of both: the one with more nodes explains more.
        ({RACK: "ab", OTHER: "cd", LOOP: "abcd"}, "abcd", [(LOOP, "abcd")], ""),
        # The same nodes: the nearest.
        ({RACK: "ab", LEAF: "ab"}, "ab", [(RACK, "ab")], ""),
        ({}, "", [], ""),
    ],
)
def test_nodes_in_trouble_are_told_by_what_they_share(
    parts: Mapping[PlanPart, str], troubled: str, shared: list[tuple[PlanPart, str]], alone: str
) -> None:
    found, others = shared_parts(
        {part: frozenset(nodes) for part, nodes in parts.items()}, troubled
    )
    assert [(one.part, "".join(one.nodes)) for one in found] == shared
    assert "".join(others) == alone


@pytest.mark.parametrize(
    ("state", "plain"),
    [
        ("IDLE", "idle"),
        ("IDLE+DRAIN", "idle+drain"),
        ("DOWN*+DRAIN", "down+drain+not_responding"),
        ("IDLE+NOT_RESPONDING*", "idle+not_responding"),
        ("MIXED-+PLANNED", "mixed+planned"),
    ],
)
def test_states_have_no_marks(state: str, plain: str) -> None:
    assert plain_state(state) == plain


def seen(**others: tuple[str, str | None]) -> dict[str, NodeState]:
    """All nodes as Slurm has them: idle, but for these."""
    names = [f"dgx-{number:02d}" for number in range(1, 64)]  # Slurm does not know the last one
    given = {name.replace("_", "-"): value for name, value in others.items()}
    return {name: NodeState(name, *given.get(name, ("IDLE", None))) for name in names}


BAD = "node health: Xid 79"
TROUBLE = {
    "dgx_05": ("DOWN*", "Not responding"),
    "dgx_06": ("DOWN*", "Not responding"),
    "dgx_40": ("IDLE+DRAIN", BAD),
    "dgx_41": ("ALLOCATED+MAINTENANCE", None),
}
WRONG = ItemResult(
    "version driver", ItemOutcome.FAIL, "570", "565", None, "driver is 565, wanted 570"
)
PORTS = ItemResult("ports infiniband", ItemOutcome.FAIL, "8", "7", None, "7 of 8 ports")


def test_faults_are_reported_as_text_and_as_json(plan: Plan) -> None:
    hosts = (
        HostAcceptance("dgx-01", "dgx-01", (WRONG, PORTS)),
        HostAcceptance("dgx-02", "dgx-02", (PORTS,)),
    )
    status = status_of(plan, seen(**TROUBLE), Acceptance(hosts), {"dgx-05": "timed out"})
    name = plan.blueprint.name
    assert render_status_text(status).splitlines() == [
        f"{name}: 60 of 64 nodes take jobs",
        "  allocated+maintenance: 1 × dgx-41",
        "  down+not_responding: 2 × dgx-[05-06]",
        "  idle: 59 × dgx-[01-04,07-39,42-63]",
        "  idle+drain: 1 × dgx-40",
        "  unknown to Slurm: 1 × dgx-64",
        "rack c02 of sjc1: 2 of its 4 nodes are out of service",
        "  dgx-[05-06]: Not responding",
        "out of service by themselves:",
        f"  dgx-40: {BAD}",
        "  dgx-64: unknown to Slurm",
        "other than the software entry:",
        "  dgx-01: driver is 565, wanted 570",
        "not known of dgx-05: timed out",
    ]
    document = json.loads(render_status_json(status))
    assert document["schema"] == "rackwright.site-status/v1"
    assert document["out_of_service"] == {
        "dgx-05": "Not responding",
        "dgx-06": "Not responding",
        "dgx-40": BAD,
    }
    assert document["missing"] == ["dgx-64"]
    assert document["shared"] == [
        {"site": "sjc1", "kind": "rack", "name": "c02", "nodes": ["dgx-05", "dgx-06"], "of": 4}
    ]
    assert document["alone"] == ["dgx-40", "dgx-64"]
    assert document["differs"] == {"dgx-01": ["driver is 565, wanted 570"]}
    assert document["silent"] == {"dgx-05": "timed out"}
