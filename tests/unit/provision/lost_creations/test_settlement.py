"""What becomes of each operation that was cut off, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pulumi.automation.events import StepEventMetadata

from rackwright.crossguard.decode import SECRET, SIGNATURE_KEY
from rackwright.errors import ExternalToolError
from rackwright.provision.aws.cloud import Cloud
from rackwright.provision.lost_creations import settlement as module
from rackwright.provision.lost_creations.checkpoint import Interrupted
from rackwright.provision.lost_creations.creation import FoundResource, LostCreation
from rackwright.provision.lost_creations.failures import FailedCreations, failed_creation
from rackwright.provision.lost_creations.settlement import POLL_S, POLLS, Settlement, settle
from unit.provision.lost_creations.world import World, lost, tags

VPC = "aws:ec2/vpc:Vpc"
INPUTS = {"cidrBlock": "10.9.0.0/16", "tags": tags("vpc")}


def settled(
    cloud: Cloud, *creations: LostCreation, slept: list[float] | None = None
) -> tuple[Settlement, list[str]]:
    said: list[str] = []
    waited: list[float] = [] if slept is None else slept
    found = settle(
        Interrupted(creations, (), (), (), rest=True),
        cloud,
        label="aws-network",
        say=said.append,
        sleep=waited.append,
    )
    return found, said


def test_creation_is_recorded_and_reported(world: World) -> None:
    identity = world.create(VPC, INPUTS)
    one = lost(VPC, INPUTS)
    found, said = settled(world.cloud, one)
    assert found.found == {one.urn: (one, identity)}
    assert said == [
        f"aws-network: it: its creation did not end in the last run; AWS has made {identity}"
    ]


def test_missing_creation_is_repeated(world: World) -> None:
    one = lost(VPC, INPUTS)
    found, said = settled(world.cloud, one)
    assert (found.found, found.repeated) == ({}, [one])
    assert said[0].endswith("AWS has nothing of it")


def test_idempotent_creation_is_repeated(world: World) -> None:
    one = lost("aws:s3/bucketPolicy:BucketPolicy", {"bucket": "atlas", "policy": "{}"})
    found, said = settled(world.cloud, one)
    assert found.repeated == [one]
    assert said[0].endswith("it is repeated")


def test_all_that_is_not_clear_is_refused_at_once(world: World) -> None:
    ids = sorted(world.create(VPC, INPUTS) for _ in range(2))
    foreign = {"name": "atlas-head", "assumeRolePolicy": "{}", "tags": tags("head")}
    world.create("aws:iam/role:Role", {**foreign, "tags": {}})
    creations = (
        lost(VPC, INPUTS),
        lost("aws:iam/role:Role", foreign),
        lost("aws:sqs/queue:Queue", {"name": "q"}),
    )
    with pytest.raises(ExternalToolError) as caught:
        settled(world.cloud, *creations)
    told = str(caught.value)
    assert f"AWS has 2 that could be it: {', '.join(ids)}" in told
    assert "'atlas-head' exists in AWS without the tags" in told
    assert "cannot look for a 'aws:sqs/queue:Queue'" in told
    assert "Nothing was changed or forgotten" in told
    assert "pulumi import" in told


def test_an_input_that_is_missing_is_refused(world: World) -> None:
    with pytest.raises(ExternalToolError, match="does not say 'routeTableId'"):
        settled(world.cloud, lost("aws:ec2/route:Route", {"gatewayId": "igw-1"}))


def test_changes_and_deletions_are_said(world: World) -> None:
    said: list[str] = []
    interrupted = Interrupted((), (f"a::{VPC}::one",), (f"a::{VPC}::two",), (), rest=True)
    settle(interrupted, world.cloud, label="aws-network", say=said.append)
    assert said == [
        "aws-network: one: its change did not end in the last run; it is read again",
        "aws-network: two: its deletion did not end in the last run; it is repeated",
    ]


def test_creation_in_progress_is_awaited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    states = iter([True, True, False])
    finder = lambda _cloud, _lost: [FoundResource("fs-1", making=next(states))]  # noqa: E731
    monkeypatch.setattr(module, "FINDERS", {VPC: finder})
    slept: list[float] = []
    one = lost(VPC, INPUTS)
    found, said = settled(world.cloud, one, slept=slept)
    assert found.found[one.urn][1] == "fs-1"
    assert slept == [POLL_S, POLL_S]
    assert said[0] == "aws-network: it: waiting until AWS has made fs-1"


def test_creation_that_never_completes_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    finder = lambda _cloud, _lost: [FoundResource("fs-1", making=True)]  # noqa: E731
    monkeypatch.setattr(module, "FINDERS", {VPC: finder})
    slept: list[float] = []
    with pytest.raises(ExternalToolError, match="at work on 'fs-1'"):
        settled(world.cloud, lost(VPC, INPUTS), slept=slept)
    assert len(slept) == POLLS


GROUP = "aws:ec2/securityGroup:SecurityGroup"


def let_out(world: World, group: str) -> list[str]:
    """The ids of the rules that let something out of a group."""
    wanted = [{"Name": "group-id", "Values": [group]}]
    rules = world.client("ec2").describe_security_group_rules(Filters=wanted)["SecurityGroupRules"]
    return [one["SecurityGroupRuleId"] for one in rules if one["IsEgress"]]


def test_a_security_group_that_is_found_lets_nothing_out(world: World) -> None:
    """The provider revokes the rule after the creation, and no later run would."""
    inputs = {"vpcId": world.vpc(), "name": "cluster", "tags": tags("cluster")}
    identity = world.create(GROUP, inputs)
    assert let_out(world, identity)
    settled(world.cloud, lost(GROUP, inputs))
    assert let_out(world, identity) == []
    settled(world.cloud, lost(GROUP, inputs))


@pytest.mark.parametrize("recorded", [False, True])
def test_a_security_group_that_the_provider_could_not_close_is_closed(
    world: World,
    recorded: bool,
) -> None:
    """Its rule was no one's, and the stack's own of the same words was refused as a duplicate."""
    inputs = {"vpcId": world.vpc(), "name": "cluster", "tags": tags("cluster")}
    identity = world.create(GROUP, inputs)
    rules = let_out(world, identity)
    known = frozenset(rules if recorded else ())
    begun = Interrupted((), (), (), ((lost(GROUP, inputs), identity),), rest=False, recorded=known)
    settle(begun, world.cloud, label="aws-network", say=lambda _line: None)
    assert let_out(world, identity) == (rules if recorded else [])


HIDDEN = {SIGNATURE_KEY: SECRET, "ciphertext": "[secret]"}
"""A secret in an event of the engine."""


def step(operation: str, **more: Any) -> StepEventMetadata:
    urn = f"urn:pulumi:s::p::{VPC}::vpc"
    state = {
        "type": VPC,
        "urn": urn,
        "custom": True,
        "parent": "urn:pulumi:s::p::pulumi:pulumi:Stack::s",
        "provider": "urn:pulumi:s::p::pulumi:providers:aws::default::id-1",
        "inputs": {"cidrBlock": "10.0.0.0/16", "value": HIDDEN, "list": [{"a": HIDDEN}, HIDDEN]},
        **more,
    }
    return StepEventMetadata.from_json(
        {"op": operation, "urn": urn, "type": VPC, "provider": "p", "new": state}
    )


def test_creations_that_failed_are_kept_until_they_are_settled(tmp_path: Path) -> None:
    failed = failed_creation(step("create", protect=True))
    assert failed is not None
    assert failed["inputs"] == {"cidrBlock": "10.0.0.0/16", "list": [{}]}
    assert failed["provider"].endswith("::id-1")
    assert failed["protect"] is True
    assert failed_creation(step("update")) is None

    kept = FailedCreations(tmp_path / "folder/aws-network.json")
    assert kept.read() == []
    noted: list[dict[str, Any]] = []

    def run() -> None:
        with kept.noted(noted):
            noted.append(failed)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run()
    assert kept.read() == [failed]
    kept.add([failed])
    assert kept.read() == [failed]
    kept.clear()
    assert kept.read() == []


def test_a_note_that_keeps_half_of_a_secret_is_read_without_it(tmp_path: Path) -> None:
    half = {"urn": "u", "type": VPC, "inputs": {"a": 1, "b": {SIGNATURE_KEY: SECRET}}}
    path = tmp_path / "note.json"
    path.write_text(json.dumps([half]))
    assert [one["inputs"] for one in FailedCreations(path).read()] == [{"a": 1}]


@pytest.mark.parametrize("text", ["", "{", "{}", "[1]", '[{"urn": "u"}]'])
def test_a_damaged_note_says_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "note.json"
    path.write_text(text)
    assert FailedCreations(path).read() == []
