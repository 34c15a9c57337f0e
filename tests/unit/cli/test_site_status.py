"""``status --target hosts``: which arguments are for it, what it asks whom, and what it shows."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from cli_support import run_here
from rackwright.accept import run as asking
from rackwright.accept.run import Answers
from rackwright.ansible_runs.events import HostResult, Tally
from rackwright.errors import ExternalToolError
from rackwright.nodelife.slurm_nodes import NodesSeen, NodeState, NodeUpdate
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.rollout.executor import AnsibleExecutor

AWS = builtin_pack() / "fixtures/aws.yaml"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a blueprint of bare metal, whose Slurm and hosts answer by themselves."""
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path / "state"))
    write_blueprint(find_template("lab"), tmp_path, {})

    def update(
        _self: AnsibleExecutor, names: Collection[str], updates: Sequence[NodeUpdate]
    ) -> NodesSeen:
        assert not updates, "nothing is changed"
        idle = {name: NodeState(name, "IDLE") for name in names}
        return NodesSeen(after=idle | {"gpu-2": NodeState("gpu-2", "DOWN*", "Not responding")})

    def collect(_place: Any, expected: Sequence[Any], **_options: Any) -> Answers:
        lost = {"gpu-2": HostResult(failure="timed out", unreachable=True)}
        return Answers(
            {}, Tally({host.name: lost.get(host.name, HostResult()) for host in expected})
        )

    monkeypatch.setattr(AnsibleExecutor, "update", update)
    monkeypatch.setattr(asking, "collect", collect)
    return tmp_path


def test_nodes_are_shown_with_what_is_not_known_of_hosts(folder: Path) -> None:
    ended = run_here(folder, "status", "blueprint.yaml", "--target", "hosts")
    assert ended.code == 0, ended.err
    assert "  down+not_responding: 1 × gpu-2" in ended.out.splitlines()
    assert "not known of gpu-2: timed out" in ended.out.splitlines()


def test_programs_read_a_document_of_its_own_kind(folder: Path) -> None:
    ended = run_here(folder, "status", "blueprint.yaml", "--target", "hosts", "--json")
    document = json.loads(ended.out)
    assert document["schema"] == "rackwright.site-status/v1"
    assert document["out_of_service"] == {"gpu-2": "Not responding"}


def test_a_slurm_that_does_not_answer_ends_with_4(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*_arguments: Any) -> NodesSeen:
        raise ExternalToolError("Slurm does not answer: head-1: timed out")

    monkeypatch.setattr(AnsibleExecutor, "update", silent)
    ended = run_here(folder, "status", "blueprint.yaml", "--target", "hosts")
    assert ended.code == 4
    assert "Slurm does not answer: head-1: timed out" in ended.err
    assert ended.out == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("blueprint.yaml", "--target", "hosts", "--site", "x"),
            "--site chooses a cluster of a federation",
        ),
        ((str(AWS), "--target", "local", "--lab", "bench"), "--lab is for '--target hosts'"),
        ((str(AWS), "--target", "local", "--limit", "a"), "--limit is for '--target hosts'"),
        ((str(AWS), "--target", "hosts"), "has no 'scheduler', so there are no nodes to show"),
    ],
)
def test_arguments_of_the_other_kind_are_refused(
    folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    run_here(folder, "status", *arguments).refused(said)


def test_incidents_work_and_metrics_are_kept_from_look_to_look(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = folder / "rackwright.prom"
    told = folder / "told"
    notify = folder / "notify.yaml"
    argv = ["sh", "-c", f"cat >> {told}"]
    notify.write_text(json.dumps({"places": [{"kind": "command", "name": "t", "argv": argv}]}))
    words = ("status", "blueprint.yaml", "--target", "hosts", "--json", "--metrics", str(metrics))
    assert run_here(folder, *words, "--notify", str(notify)).code == 0
    ended = run_here(folder, *words, "--notify", str(notify))
    assert ended.code == 0, ended.err
    document = json.loads(ended.out)
    assert document["service"]["incidents"] == 1
    (work,) = document["work"]
    assert (work["node"], work["rack"], work["action"]) == ("gpu-2", "c01", "look at")
    assert work["unit"] > 0
    assert 'rackwright_nodes{cluster="bench",state="idle"} 3' in metrics.read_text()
    assert len(told.read_text().splitlines()) == 1, "a place is told once"

    def healthy(_self: AnsibleExecutor, names: Collection[str], _: Any) -> NodesSeen:
        return NodesSeen(after={name: NodeState(name, "IDLE") for name in names})

    monkeypatch.setattr(AnsibleExecutor, "update", healthy)
    ended = run_here(folder, *words)
    document = json.loads(ended.out)
    assert document["work"] == []
    assert document["service"]["mttr_h"] is not None
    assert list(document["service"]["lost_node_h"]) == ["Not responding"]


def test_node_under_repair_has_its_fault_and_the_task_for_hands(folder: Path) -> None:
    from rackwright.nodelife.ledger import PartSeen, open_ledger
    from rackwright.nodelife.repair.journal import PART, Journal
    from rackwright.nodelife.store import open_store, store_path

    path = store_path("bench")
    with open_store(path, [PART]) as connection:
        journal = Journal(connection)
        journal.step(
            "gpu-2", "suspect", 5.0, "Xid 79", fault="gpu-off-the-bus", device="0000:1b:00.0"
        )
        journal.intend(journal.node("gpu-2"), "hands", "swap", "", 6.0)
    with open_ledger(path) as ledger:
        ledger.see("gpu-2", {"gpu": [PartSeen("gpu", "0000:1b:00.0", "1650")]}, 1.0)
    document = json.loads(
        run_here(folder, "status", "blueprint.yaml", "--target", "hosts", "--json").out
    )
    assert document["repairs"]["gpu-2"].startswith("suspect: gpu-off-the-bus")
    (work,) = document["work"]
    assert (work["action"], work["part"], work["serial"]) == ("swap", "gpu", "1650")
    assert list(document["service"]["lost_node_h"]) in ([], ["gpu-off-the-bus"])


def test_place_that_cannot_be_told_ends_with_4(folder: Path) -> None:
    notify = folder / "notify.yaml"
    notify.write_text("places: [{kind: slack, name: hall, url: 'env:NO_SUCH_HOOK'}]\n")
    ended = run_here(
        folder, "status", "blueprint.yaml", "--target", "hosts", "--notify", str(notify)
    )
    assert ended.code == 4
    assert "'hall' was not told: the secret 'env:NO_SUCH_HOOK' is empty" in ended.err
    assert "down+not_responding" in ended.out


def test_part_that_nodes_share_and_faults_that_only_hands_cure_are_on_the_worklist(
    folder: Path,
) -> None:
    """Faults of severity ``watch`` were in the journal alone."""
    import time

    from rackwright.nodelife.repair.journal import PART, Journal
    from rackwright.nodelife.signs.detect import FaultEvent
    from rackwright.nodelife.store import open_store, store_path

    now = time.time()
    with open_store(store_path("bench"), [PART]) as connection:
        journal = Journal(connection)
        journal.see("gpu-1", FaultEvent("power-supply-lost", "PSU3", 0.0, "Critical"), now)
        journal.see("gpu-1", FaultEvent("gpu-page-fault", "gpu0", 5.0, "of a user"), now)
        journal.see("gpu-2", FaultEvent("optic-bad", "mlx5_1", 7.0, "hot"), now - 2 * 86_400)
        for node in ("gpu-3", "gpu-4"):
            journal.step(node, "suspect", now, "down", fault="port-down", incident="leaf leaf-1 (c01 U40)")  # fmt: skip
    ended = run_here(folder, "status", "blueprint.yaml", "--target", "hosts", "--json")
    work = [(one["node"], one["action"], one["part"]) for one in json.loads(ended.out)["work"] if one.get("part")]  # fmt: skip
    assert sorted(work) == [("gpu-1", "replace", "psu"), ("leaf-1", "look at", "leaf")]
    text = run_here(folder, "status", "blueprint.yaml", "--target", "hosts").out
    assert "gpu-3: suspect: port-down, leaf leaf-1 (c01 U40)" in text
