"""A stack is settled: what is imported, what is read again, and when nothing is touched."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from pulumi import automation

from rackwright.errors import ExternalToolError
from rackwright.provision.lost_creations.checkpoint import UNREAD
from rackwright.provision.lost_creations.failures import FailedCreations
from rackwright.provision.lost_creations.stack import settle_stack
from unit.provision.lost_creations.test_checkpoint import VPC, checkpoint, resource, urn
from unit.provision.lost_creations.world import World, tags

INPUTS = {"cidrBlock": "10.9.0.0/16", "tags": tags("vpc")}
BEGUN = resource(VPC, "vpc", inputs=INPUTS)


@dataclass
class Recorder:
    """A stack that records what is asked of it."""

    content: dict[str, Any]
    done: list[tuple[str, Any]] = field(default_factory=list)
    decrypted: int = 0

    name, work_dir, env_vars = "life-cloud", ".", {"A": "b"}

    @property
    def workspace(self) -> Recorder:
        return self

    @property
    def pulumi_command(self) -> Recorder:
        return self

    def run(self, words: list[str], cwd: str, env: dict[str, str]) -> automation.CommandResult:
        """The answer of the CLI, without ``--show-secrets``."""
        assert (words, cwd, env) == (["stack", "export", "--stack", self.name], ".", {"A": "b"})
        told = json.dumps({"version": 3, "deployment": self.content})
        return automation.CommandResult(stdout=told, stderr="", code=0)

    def export_stack(self) -> automation.Deployment:
        self.decrypted += 1
        return automation.Deployment(version=3, deployment=self.content)

    def import_stack(self, state: automation.Deployment) -> None:
        self.content = dict(state.deployment or {})
        self.done.append(("import", [one.get("id") for one in self.content["resources"]]))

    def refresh(self, *, target: list[str], **_more: Any) -> None:
        self.done.append(("refresh", target))


def settled(stack: Recorder, world: World, notes: Path) -> list[str]:
    said: list[str] = []
    settle_stack(
        cast("automation.Stack", stack),
        FailedCreations(notes),
        world.cloud,
        label="aws-network",
        say=said.append,
    )
    return said


def test_a_stack_that_is_settled_is_left_alone(world: World, tmp_path: Path) -> None:
    stack = Recorder(checkpoint(resource(VPC, "vpc", id="vpc-1")))
    assert settled(stack, world, tmp_path / "notes") == []
    assert settled(Recorder({}), world, tmp_path / "notes") == []
    assert stack.done == []
    assert stack.decrypted == 0, "to open secrets takes the CLI longer than the rest"


def test_found_creation_is_imported_and_read(world: World, tmp_path: Path) -> None:
    identity = world.create(VPC, INPUTS)
    stack = Recorder(checkpoint(pending=(("creating", BEGUN),)))
    assert len(settled(stack, world, tmp_path / "notes")) == 1
    assert stack.done == [
        ("import", [None, "id-1", identity]),
        ("refresh", [urn(VPC, "vpc")]),
    ]
    # It was killed before the refresh: what is recorded is read by the next run.
    assert stack.content["resources"][-1]["initErrors"] == [UNREAD]
    settled(stack, world, tmp_path / "notes")
    assert stack.done[2:] == [("refresh", [urn(VPC, "vpc")])]


def test_missing_creation_is_removed_from_the_pending_ones(world: World, tmp_path: Path) -> None:
    stack = Recorder(checkpoint(pending=(("creating", BEGUN),)))
    settled(stack, world, tmp_path / "notes")
    assert stack.done == [("import", [None, "id-1"])]
    assert stack.content["pending_operations"] == []


def test_ambiguous_creation_changes_nothing(world: World, tmp_path: Path) -> None:
    world.create(VPC, INPUTS)
    world.create(VPC, INPUTS)
    notes = FailedCreations(tmp_path / "notes")
    notes.add([resource(VPC, "other", inputs=INPUTS)])
    stack = Recorder(checkpoint(pending=(("creating", BEGUN),)))
    before = dict(stack.content)
    with pytest.raises(ExternalToolError, match="AWS has 2 that could be it"):
        settled(stack, world, notes.path)
    assert (stack.done, stack.content) == ([], before)
    assert len(notes.read()) == 1


def test_a_creation_that_failed_is_looked_for_and_its_note_goes(
    world: World, tmp_path: Path
) -> None:
    identity = world.create(VPC, INPUTS)
    notes = FailedCreations(tmp_path / "notes")
    queue = resource("aws:sqs/queue:Queue", "queue", inputs={})
    notes.add([resource(VPC, "vpc", inputs=INPUTS), queue])
    stack = Recorder(checkpoint())
    settled(stack, world, notes.path)
    assert stack.done[0] == ("import", [None, "id-1", identity])
    assert not notes.path.exists()
    assert settled(stack, world, notes.path) == []


def test_a_creation_that_aws_refused_is_left_to_the_next_run(world: World, tmp_path: Path) -> None:
    notes = FailedCreations(tmp_path / "notes")
    notes.add([resource(VPC, "vpc", inputs=INPUTS)])
    stack = Recorder(checkpoint())
    settled(stack, world, notes.path)
    assert stack.done == []
    assert not notes.path.exists()
