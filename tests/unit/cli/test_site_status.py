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
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.rollout.executor import AnsibleExecutor
from rackwright.nodelife.slurm_nodes import NodesSeen, NodeState, NodeUpdate

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
        (("blueprint.yaml", "--target", "hosts", "--site", "x"), "--site is for AWS sites"),
        ((str(AWS), "--target", "local", "--lab", "bench"), "--lab is for '--target hosts'"),
        ((str(AWS), "--target", "local", "--limit", "a"), "--limit is for '--target hosts'"),
        ((str(AWS), "--target", "hosts"), "has no 'scheduler', so there are no nodes to show"),
    ],
)
def test_arguments_of_the_other_kind_are_refused(
    folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    run_here(folder, "status", *arguments).refused(said)
