"""``burn-in`` opens nodes that wait, closes those that fail, and ends with what it found."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cli_support import run_here
from rackwright.accept import run as asking
from rackwright.accept.run import Answers
from rackwright.ansible_runs.events import HostResult, Tally
from rackwright.nodelife.burnin.gate import REASON
from rackwright.nodelife.burnin.groups import BurnInNode
from rackwright.nodelife.burnin.jobs import SlurmJobs
from rackwright.nodelife.ledger import open_ledger
from rackwright.nodelife.repair.journal import PART, Journal
from rackwright.nodelife.slurm_nodes import NodesSeen, NodeState, NodeUpdate
from rackwright.nodelife.store import open_store, store_path
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.rollout.executor import AnsibleExecutor


class Site:
    """A site of four nodes whose answers a test sets."""

    def __init__(self) -> None:
        self.states: dict[str, NodeState] = {}
        self.wrong: set[str] = set()
        self.calls: list[str] = []
        self.lost: dict[str, HostResult] = {}

    def update(self, names: Collection[str], updates: Sequence[NodeUpdate]) -> NodesSeen:
        for one in updates:
            self.calls.append(f"{' '.join(one.arguments)} {','.join(one.names)}")
        idle = {name: NodeState(name, "IDLE") for name in names}
        return NodesSeen(after=idle | self.states)

    def collect(self, _place: Any, expected: Sequence[Any], **_options: Any) -> Answers:
        return Answers(
            {}, Tally({one.name: self.lost.get(one.name, HostResult()) for one in expected})
        )

    def load(self, nodes: Sequence[BurnInNode], request: Mapping[str, Any]) -> dict[str, Any]:
        self.calls.append(
            f"load {','.join(node.name for node in nodes)} for {request['duration_s']:g} s"
        )
        return {node.name: self.report(node) for node in nodes}

    def report(self, node: BurnInNode) -> dict[str, Any]:
        gemm = {
            "size": 8192, "calls": 30, "wrong_calls": int(node.name in self.wrong), "exact_wrong_rows": 0,
            "tflop_s": 790.0, "digest": "ab",
        }  # fmt: skip
        return {
            "node": node.name, "steps": {}, "problems": {},
            "devices": [
                {"model": "NVIDIA H100 80GB HBM3", "uuid": f"{node.name}-{n}", "software": "t", "index": n,
                 "kind": "accelerator", "steps": {"gemm": {"bf16": gemm}}}
                for n in range(8)
            ],
        }  # fmt: skip


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path / "state"))
    write_blueprint(find_template("lab"), tmp_path, {})
    made = Site()
    monkeypatch.setattr(AnsibleExecutor, "update", lambda _self, *words: made.update(*words))
    monkeypatch.setattr(asking, "collect", made.collect)
    monkeypatch.setattr(SlurmJobs, "load", lambda _self, *words: made.load(*words))

    def reserve(self: SlurmJobs, controller: str, nodes: str, minutes: int) -> None:
        made.calls.append(f"reserve {nodes}" if nodes else "release")
        self.reservation = "x" if nodes else ""

    monkeypatch.setattr(SlurmJobs, "reserve", reserve)
    return made


def burn_in(folder: Path, *words: str) -> Any:
    return run_here(folder, "burn-in", "blueprint.yaml", "--json", *words)


def test_sound_nodes_in_service_are_loaded_and_left_there(site: Site, tmp_path: Path) -> None:
    ended = burn_in(
        tmp_path, "--duration", "2 h", "--output", "layer=layer.yaml", "--output", "markdown=b.md"
    )
    assert ended.code == 0, ended.err
    assert site.calls == ["load gpu-1,gpu-2,gpu-3,gpu-4 for 7200 s"]
    assert json.loads(ended.out)["hours"] == 2.0
    assert "passed: gpu-[1-4]" in (tmp_path / "layer.yaml").read_text()
    assert "Buyer" in (tmp_path / "b.md").read_text()
    operations = load_plan(tmp_path / "blueprint.yaml", [tmp_path / "layer.yaml"]).plan.operations
    assert operations is not None
    assert operations.burn_in is not None
    (result,) = operations.burn_in.results
    assert (result.site, result.group, result.duration) == ("room", "gpu", 7200.0)


def test_node_that_waits_is_opened_in_a_reservation_and_closed_when_it_fails(
    site: Site, tmp_path: Path
) -> None:
    site.states = {name: NodeState(name, "IDLE+DRAIN", REASON) for name in ("gpu-1", "gpu-2")}
    site.wrong = {"gpu-2", "gpu-3"}
    ended = burn_in(tmp_path)
    assert ended.code == 5
    opened, resumed, loaded, closed, released = site.calls
    assert opened == "reserve gpu-[1-4]"
    assert resumed == "State=RESUME gpu-1,gpu-2"
    assert loaded.startswith("load gpu-1,gpu-2,gpu-3,gpu-4")
    # gpu-3 was in service, and stays there without --drain.
    assert closed.startswith("State=DRAIN Reason=rackwright: burn-in: gpu-2 GPU 0")
    assert closed.endswith(" gpu-2")
    assert released == "release"


def test_node_in_repair_is_proven_while_it_stays_drained(site: Site, tmp_path: Path) -> None:
    with open_store(store_path("bench"), [PART]) as connection:
        journal = Journal(connection)
        for step in ("suspect", "drain", "empty", "repair", "repaired"):
            for name in ("gpu-1", "gpu-2"):
                journal.step(name, step, 1.0, "Xid 79")
    drained = "rackwright: repair: gpu-off-the-bus"
    site.states = {
        "gpu-1": NodeState("gpu-1", "IDLE+DRAIN", drained),
        "gpu-2": NodeState("gpu-2", "MIXED+DRAIN", drained),  # a job is still on it
        "gpu-3": NodeState("gpu-3", "IDLE+DRAIN", "by hand"),
    }
    nodes = json.loads(burn_in(tmp_path).out)["nodes"]
    assert {name: one["verdict"] for name, one in nodes.items()} == {
        "gpu-1": "pass", "gpu-2": "unknown", "gpu-3": "unknown", "gpu-4": "pass",
    }  # fmt: skip
    assert site.calls == ["load gpu-1,gpu-4 for 0 s"], "nothing is opened, and nothing is resumed"


def test_interrupted_suite_leaves_no_untested_node_in_service(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    site.states = {"gpu-1": NodeState("gpu-1", "IDLE+DRAIN", REASON)}
    monkeypatch.setattr(site, "load", killed)
    burn_in(tmp_path)
    assert site.calls[-2:] == [f"State=DRAIN Reason={REASON} gpu-1", "release"]


def test_node_out_of_service_and_a_silent_one_are_unknown(site: Site, tmp_path: Path) -> None:
    site.states = {"gpu-1": NodeState("gpu-1", "DOWN", "dead")}
    site.lost = {"gpu-2": HostResult(failure="timed out", unreachable=True)}
    ended = burn_in(tmp_path)
    assert ended.code == 6
    nodes = json.loads(ended.out)["nodes"]
    assert nodes["gpu-1"]["reasons"] == ["node: out of service: dead"]
    assert nodes["gpu-2"]["reasons"] == ["node: it does not answer: timed out"]
    with open_ledger(store_path("bench")) as ledger:
        assert {name: one.outcome for name, one in ledger.suites().items()} == {
            "gpu-1": "unknown", "gpu-2": "unknown", "gpu-3": "pass", "gpu-4": "pass",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--groups", "node,row"), "'row' is not a kind of group"),
        (("--steps", "gem"), "'gem' is no step"),
        (("--duration", "soon"), "--duration"),
        (("--seconds", "0"), "--seconds is at least 1"),
        (("--output", "pdf=x"), "'pdf=x' is not FORMAT=FILE"),
        (("--floors", "nowhere.yaml"), "nowhere.yaml"),
    ],
)
def test_wrong_arguments_are_said_before_anything_is_touched(
    site: Site, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    ended = burn_in(tmp_path, *words)
    assert ended.code == 2
    assert said in ended.err
    assert site.calls == []


def test_blueprint_without_slurm_has_nothing_to_burn_in(site: Site, tmp_path: Path) -> None:
    ended = run_here(tmp_path, "burn-in", str(builtin_pack() / "fixtures/air.yaml"))
    assert ended.code == 2
    assert "no nodes of Slurm" in ended.err


def test_ledger_shows_notes_and_says_what_it_does_not_know(site: Site, tmp_path: Path) -> None:
    ended = run_here(tmp_path, "ledger", "show", "gpu-1")
    assert (ended.code, ended.out) == (3, "the ledger has nothing about 'gpu-1'\n")
    assert run_here(tmp_path, "ledger", "note", "gpu-1", "reseated the riser").code == 0
    ended = run_here(tmp_path, "ledger", "show", "gpu-1")
    assert "note gpu-1: reseated the riser" in ended.out
    ended = run_here(tmp_path, "ledger", "show", "1650")
    assert (ended.code, ended.out) == (3, "the ledger has nothing about '1650'\n")
    ended = run_here(tmp_path, "ledger", "packet", "1650", "--output", "x.tar.gz")
    assert "knows no part with the serial number '1650'" in ended.err
    assert run_here(tmp_path, "ledger", "packet", "1650", "--output", "x.zip").code == 2
    assert "no node fails more often" in run_here(tmp_path, "ledger", "lemons").out
    spares = json.loads(run_here(tmp_path, "ledger", "spares", "--json").out)
    assert [(one["group"], one["hosts"]) for one in spares["groups"]] == [("gpu", 4)]
