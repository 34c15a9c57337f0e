"""The suite over a hall of fake jobs: what is wrong is found by name, stored, and signed for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rackwright.nodelife.burnin import jobs as slurm_jobs
from rackwright.nodelife.burnin.gate import is_required, waiting_nodes
from rackwright.nodelife.burnin.groups import BurnInNode, groups_of, nodes_of
from rackwright.nodelife.burnin.limits import read_floors
from rackwright.nodelife.burnin.report import (
    render_json,
    render_layer,
    render_markdown,
    render_text,
)
from rackwright.nodelife.burnin.suite import (
    Suite,
    SuiteRequest,
    SuiteVerdict,
    record,
    run_groups,
    run_nodes,
)
from rackwright.nodelife.ledger import Ledger, SuiteResult, open_ledger
from rackwright.nodelife.slurm_nodes import NodeState
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack

TREE = Path(__file__).parents[3] / "golden/slurm/tree/layer.yaml"
H100 = "NVIDIA H100 80GB HBM3"
GOOD = "ab" * 32


@pytest.fixture(scope="module")
def plan() -> Plan:
    return load_plan(builtin_pack() / "fixtures/slurm.yaml", (TREE,)).plan


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "l.sqlite") as made:
        yield made


class Hall:
    """Jobs on nodes that are sound, but for those that a test has changed."""

    def __init__(self) -> None:
        self.rates: dict[str, float] = {}
        self.digests: dict[str, str] = {}
        self.changes: dict[str, Any] = {}
        self.silent: dict[str, str] = {}
        self.slow: set[str] = set()
        self.lacking: set[str] = set()
        self.runs: list[tuple[str, ...]] = []

    def load(
        self, nodes: Sequence[BurnInNode], request: Mapping[str, Any]
    ) -> dict[str, dict[str, Any] | str]:
        return {node.name: self.silent.get(node.name) or self.report(node) for node in nodes}

    def report(self, node: BurnInNode) -> dict[str, Any]:
        def device(index: int) -> dict[str, Any]:
            gemm = {
                "size": 8192, "calls": 90, "wrong_calls": 0, "exact_wrong_rows": 0,
                "tflop_s": self.rates.get(node.name, 790.0) if index == 3 else 790.0,
                "digest": self.digests.get(node.name, GOOD) if index == 3 else GOOD,
                **(self.changes.get(node.name, {}) if index == 3 else {}),
            }  # fmt: skip
            return {
                "model": H100, "uuid": f"{node.name}-{index}", "software": "torch 2", "index": index,
                "kind": "accelerator", "steps": {"gemm": {"bf16": gemm}},
            }  # fmt: skip

        count = 7 if node.name in self.lacking else 8
        return {
            "node": node.name,
            "steps": {},
            "problems": {},
            "devices": [device(n) for n in range(count)],
        }

    def all_reduce(self, groups: Sequence[Sequence[BurnInNode]]) -> list[dict[str, Any]]:
        made = []
        for group in groups:
            names = tuple(node.name for node in group)
            self.runs.append(names)
            rate = 180.0 if self.slow & set(names) else 370.0
            made.append({"all_reduce": {"bus_gb_s": rate, "wrong": 0}})
        return made


ASKED = SuiteRequest(("node", "pair", "rack", "leaf", "hall"), {}, {"dgx": 350.0})


def run(plan: Plan, hall: Hall, ledger: Ledger, asked: SuiteRequest = ASKED) -> Suite:
    nodes = nodes_of(plan)
    results = run_nodes(nodes, hall, ledger, read_floors(), asked, {})
    groups = run_groups(plan, nodes, results, hall, asked, lambda line: None)
    suite = Suite("c", 0, 3600, 1.0, tuple(results), tuple(groups), asked.lab)
    record(suite, ledger)
    return suite


def failing(suite: Suite) -> dict[str, tuple[str, ...]]:
    return {one.node.name: one.reasons for one in suite.nodes if one.verdict is SuiteVerdict.FAIL}


def test_sound_hall_passes_in_one_run_a_group(plan: Plan, ledger: Ledger) -> None:
    hall = Hall()
    suite = run(plan, hall, ledger)
    assert suite.verdict is SuiteVerdict.PASS, render_text(suite)
    kinds = [group.group.kind for group in suite.groups]
    assert kinds == ["pair"] * 32 + ["rack"] * 16 + ["leaf"] * 2 + ["hall"]
    assert len(hall.runs) == len(kinds)
    assert {found.outcome for found in ledger.suites().values()} == {"pass"}


def test_odd_digest_slow_gpu_and_wrong_values_are_named_with_their_gpu(
    plan: Plan, ledger: Ledger
) -> None:
    hall = Hall()
    hall.digests["dgx-05"] = "cd" * 32
    hall.rates["dgx-06"] = 750.0  # above the floor of 745, below its equals
    hall.changes["dgx-07"] = {"wrong_calls": 1, "first_wrong": {"call": 7, "bits": "0x400"}}
    suite = run(plan, hall, ledger)
    found = failing(suite)
    assert set(found) == {"dgx-05", "dgx-06", "dgx-07"}
    assert found["dgx-05"] == (
        "dgx-05 GPU 3: gemm bf16: result cdcdcdcdcdcd differs from abababababab of 511 equal parts",
    )
    assert found["dgx-06"][0].startswith(
        "dgx-06 GPU 3: gemm bf16 is 750 TFLOP/s, at least 766.3 is needed"
    )
    assert "1 of 90 equal products differ, first: call 7, bits 0x400" in found["dgx-07"][0]
    grouped = {name for group in suite.groups for name in group.group.nodes}
    assert not grouped & set(found), "a faulty node would hide the links of others"
    fault = next(one for one in ledger.entries(node="dgx-07") if one.what == "fault")
    assert (fault.kind, fault.serial) == ("gpu", "GPU-dgx-07-3")


def test_slow_node_is_found_once_and_left_out_of_larger_groups(plan: Plan, ledger: Ledger) -> None:
    hall = Hall()
    hall.slow.add("dgx-33")
    suite = run(plan, hall, ledger, SuiteRequest(("node", "rack", "hall"), {}, {"dgx": 350.0}))
    assert set(failing(suite)) == {"dgx-33"}
    slow = [group for group in suite.groups if group.verdict is SuiteVerdict.FAIL]
    assert [(one.group.kind, one.search.faulty) for one in slow if one.search] == [
        ("rack", ["dgx-33"])
    ]
    assert suite.verdict is SuiteVerdict.FAIL
    assert "rack c09 (dgx): fail: 180 GB/s, at least 350 GB/s is needed" in render_text(suite)


def test_group_without_a_stated_limit_is_unknown_and_searched_by_nobody(
    plan: Plan, ledger: Ledger
) -> None:
    hall = Hall()
    suite = run(plan, hall, ledger, SuiteRequest(("hall",), {}, {}))
    assert suite.verdict is SuiteVerdict.UNKNOWN
    assert "state 'across' in 'operations.all_reduce'" in render_text(suite)
    assert len(hall.runs) == 1


def test_silent_node_and_missing_gpus_are_unknown_and_never_passed(
    plan: Plan, ledger: Ledger
) -> None:
    hall = Hall()
    hall.silent["dgx-01"] = "srun: error: Unable to allocate resources: Requested nodes are busy"
    hall.lacking.add("dgx-02")
    suite = run(plan, hall, ledger, SuiteRequest(("node",), {}, {}))
    states = {one.node.name: (one.verdict, one.reasons) for one in suite.nodes}
    assert states["dgx-01"][0] is SuiteVerdict.UNKNOWN
    assert "busy" in states["dgx-01"][1][0]
    assert states["dgx-02"] == (SuiteVerdict.UNKNOWN, ("accelerators: 7 of 8 were tested",))
    assert states["dgx-03"][0] is SuiteVerdict.PASS
    assert ledger.suites()["dgx-01"].outcome == "unknown"


def test_new_node_is_held_to_what_the_hall_reached_before(plan: Plan, ledger: Ledger) -> None:
    run(plan, Hall(), ledger, SuiteRequest(("node",), {}, {}))
    slow = Hall()
    slow.rates["dgx-09"] = 750.0
    (node,) = (one for one in nodes_of(plan) if one.name == "dgx-09")
    (result,) = run_nodes([node], slow, ledger, read_floors(), SuiteRequest(("node",), {}, {}), {})
    assert result.verdict is SuiteVerdict.FAIL
    (lone,) = run_nodes([node], Hall(), ledger, (), SuiteRequest(("node",), {}, {}), {})
    assert lone.verdict is SuiteVerdict.PASS


def test_accelerator_without_any_limit_is_unknown(plan: Plan, ledger: Ledger) -> None:
    (node,) = (one for one in nodes_of(plan) if one.name == "dgx-09")
    (result,) = run_nodes([node], Hall(), ledger, (), SuiteRequest(("node",), {}, {}), {})
    assert (result.verdict, result.reasons) == (
        SuiteVerdict.UNKNOWN,
        ("no limit is known for its accelerators",),
    )


def test_report_for_a_signature_has_every_part_and_obeys_nobody(plan: Plan, ledger: Ledger) -> None:
    hall = Hall()
    hall.silent["dgx-01"] = "x | <script>\n::error::"
    suite = run(plan, hall, ledger, SuiteRequest(("node",), {}, {}))
    text = render_markdown(suite)
    assert text.count("| dgx-") == 64 + 63 * 8
    assert "GPU-dgx-64-7" in text.replace("\\", "")
    assert "\n::error::" not in text
    assert "<script>" not in text
    document = json.loads(render_json(suite))
    assert document["schema"] == "rackwright.burn-in-report/v1"
    assert document["nodes"]["dgx-02"]["rates"][0]["least"] is not None
    layer = render_layer(suite)
    assert "passed: dgx-[02-64]" in layer
    assert "date: 1970-01-01" in layer


def test_groups_are_of_one_node_group_and_at_least_two_nodes(plan: Plan) -> None:
    nodes = nodes_of(plan)
    pairs = groups_of(plan, "pair", nodes, ["dgx-01", "dgx-02", "dgx-05"])
    assert [group.nodes for group in pairs] == [("dgx-01", "dgx-02"), ("dgx-02", "dgx-05")]
    assert groups_of(plan, "rack", nodes, ["dgx-01", "dgx-05"]) == []


def test_nodes_wait_until_their_last_burn_in_has_passed(tmp_path: Path, plan: Plan) -> None:
    states = {
        "a": NodeState("a", "IDLE"), "b": NodeState("b", "IDLE"), "c": NodeState("c", "ALLOCATED"),
        "d": NodeState("d", "DOWN", "dead"),
    }  # fmt: skip
    suites = {
        "a": SuiteResult("a", "pass"),
        "b": SuiteResult("b", "fail"),
    }
    assert waiting_nodes(["a", "b", "c", "d", "e"], states, suites) == ["b", "c"]
    assert not is_required(plan)
    layer = tmp_path / "l.yaml"
    layer.write_text("operations: {burn_in: {required: true}}\n")
    assert is_required(load_plan(builtin_pack() / "fixtures/operated.yaml", [layer]).plan)


def test_program_is_one_text_that_runs_from_standard_input() -> None:
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", "import sys; exec(sys.stdin.read())", '{"steps": ["dcgm"]}'],
        input=slurm_jobs.program(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "no level of DCGM" in done.stdout


@pytest.mark.parametrize(
    ("request_", "minutes"),
    [({"seconds": 60}, 34), ({"seconds": 60, "duration_s": 72 * 3600}, 4354), ({"seconds": 1, "dcgm_level": 3}, 61)],
)  # fmt: skip
def test_job_ends_after_its_steps_and_half_an_hour(request_: dict[str, Any], minutes: int) -> None:
    assert slurm_jobs.longest_minutes(request_) == minutes
