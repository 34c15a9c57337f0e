"""What is cut off in a checkpoint, and how what was found gets into it."""

from __future__ import annotations

from typing import Any

from rackwright.crossguard.decode import SECRET, SIGNATURE_KEY
from rackwright.provision.lost_creations.checkpoint import (
    UNREAD,
    Interrupted,
    read_interrupted,
    record,
)

ROOT = "urn:pulumi:s::p::pulumi:pulumi:Stack::s"
PROVIDER = "urn:pulumi:s::p::pulumi:providers:aws::default"
VPC, SUBNET = "aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet"


def urn(token: str, name: str) -> str:
    return f"urn:pulumi:s::p::{token}::{name}"


def resource(token: str, name: str, **more: Any) -> dict[str, Any]:
    return {
        "urn": urn(token, name),
        "type": token,
        "custom": True,
        "inputs": {"cidrBlock": "10.0.0.0/16", "__defaults": []},
        "parent": ROOT,
        "provider": f"{PROVIDER}::id-1",
        **more,
    }


def checkpoint(
    *resources: dict[str, Any], pending: tuple[tuple[str, dict[str, Any]], ...] = ()
) -> dict[str, Any]:
    return {
        "manifest": {"magic": "m"},
        "resources": [
            {"urn": ROOT, "type": "pulumi:pulumi:Stack", "custom": False},
            {"urn": PROVIDER, "type": "pulumi:providers:aws", "custom": True, "id": "id-1"},
            *resources,
        ],
        "pending_operations": [{"type": kind, "resource": one} for kind, one in pending],
    }


def recorded(content: dict[str, Any], identity: str = "vpc-2") -> dict[str, Any]:
    (lost,) = read_interrupted(content).creations
    return record(content, {lost.urn: (lost, identity)})


def unread(interrupted: Interrupted) -> list[tuple[str, str]]:
    return [(one.urn, identity) for one, identity in interrupted.unread]


def test_a_checkpoint_without_pending_operations_needs_nothing() -> None:
    assert not read_interrupted(checkpoint(resource(VPC, "vpc", id="vpc-1")))
    assert not read_interrupted({})


def test_operations_are_told_apart() -> None:
    content = checkpoint(
        resource(VPC, "old", id="vpc-1"),
        resource(VPC, "changed", id="vpc-3"),
        pending=(
            ("creating", resource(VPC, "vpc")),
            ("updating", resource(VPC, "changed")),
            ("deleting", resource(VPC, "old")),
        ),
    )
    found = read_interrupted(content)
    (lost,) = found.creations
    assert (lost.name, lost.type) == ("vpc", VPC)
    assert lost.known == {"vpc-1", "vpc-3"}
    assert found.changes == (urn(VPC, "changed"),)
    assert found.deletions == (urn(VPC, "old"),)


def test_resource_outside_of_the_cloud_is_not_searched() -> None:
    provider = {"urn": PROVIDER, "type": "pulumi:providers:aws", "custom": True, "inputs": {}}
    component = {"urn": urn("x:y:Z", "z"), "type": "x:y:Z", "custom": False, "inputs": {}}
    found = read_interrupted(checkpoint(pending=(("creating", provider), ("creating", component))))
    assert found.creations == ()
    assert found.rest, "the operations have to go"


def test_secrets_are_opened_to_look_and_kept_in_the_checkpoint() -> None:
    secret = {SIGNATURE_KEY: SECRET, "plaintext": '"10.1.0.0/16"'}
    sealed = {SIGNATURE_KEY: SECRET, "ciphertext": "v1:abc"}
    one = resource(VPC, "vpc", inputs={"cidrBlock": secret, "other": sealed})
    content = checkpoint(pending=(("creating", one),))
    (lost,) = read_interrupted(content).creations
    assert lost.inputs == {"cidrBlock": "10.1.0.0/16"}
    new = recorded(content)["resources"][-1]
    assert new["outputs"] == {"cidrBlock": secret, "other": sealed, "id": "vpc-2"}
    assert new["inputs"] == one["inputs"]


def test_a_found_resource_is_recorded_as_not_read() -> None:
    content = checkpoint(pending=(("creating", resource(VPC, "vpc")),))
    after = recorded(content)
    new = after["resources"][-1]
    assert (new["id"], new["urn"], new["provider"]) == (
        "vpc-2",
        urn(VPC, "vpc"),
        f"{PROVIDER}::id-1",
    )
    assert new["outputs"] == {"cidrBlock": "10.0.0.0/16", "id": "vpc-2"}
    assert new["initErrors"] == [UNREAD]
    assert after["pending_operations"] == []
    assert after["manifest"] == content["manifest"]
    again = read_interrupted(after)
    assert again.creations == ()
    assert unread(again) == [(urn(VPC, "vpc"), "vpc-2")]


def test_a_resource_that_was_deleted_first_gives_its_place() -> None:
    gone = resource(VPC, "vpc", id="vpc-2", pendingReplacement=True)
    content = checkpoint(
        gone,
        resource(SUBNET, "a", id="subnet-1"),
        pending=(("creating", resource(VPC, "vpc")),),
    )
    (lost,) = read_interrupted(content).creations
    assert lost.known == frozenset(), "the successor may have the same id"
    ids = [one.get("id") for one in recorded(content)["resources"]]
    assert ids == [None, "id-1", "vpc-2", "subnet-1"]


def test_a_resource_that_is_deleted_after_is_left_for_it() -> None:
    content = checkpoint(
        resource(VPC, "vpc", id="vpc-1"),
        resource(SUBNET, "a", id="subnet-1"),
        pending=(("creating", resource(VPC, "vpc")),),
    )
    after = recorded(content)["resources"]
    assert [(one.get("id"), one.get("delete", False)) for one in after[2:]] == [
        ("vpc-2", False),
        ("vpc-1", True),
        ("subnet-1", False),
    ]


def test_interrupted_change_is_read_again_even_after_another_kill() -> None:
    content = checkpoint(
        resource(VPC, "vpc", id="vpc-1"), pending=(("updating", resource(VPC, "vpc")),)
    )
    found = read_interrupted(content)
    after = record(content, {}, found.changes)
    assert after["resources"][-1]["initErrors"] == [UNREAD]
    assert [one for one, _ in unread(read_interrupted(after))] == [urn(VPC, "vpc")]


def test_a_creation_that_failed_counts_unless_it_is_recorded() -> None:
    failed = [
        {
            "urn": urn(VPC, "vpc"),
            "type": VPC,
            "custom": True,
            "inputs": {"cidrBlock": "10.0.0.0/16"},
            "parent": ROOT,
            "provider": PROVIDER,
        }
    ]
    content = checkpoint()
    (lost,) = read_interrupted(content, failed).creations
    new = record(content, {lost.urn: (lost, "vpc-2")})["resources"][-1]
    assert new["provider"] == f"{PROVIDER}::id-1"
    assert not read_interrupted(checkpoint(resource(VPC, "vpc", id="vpc-1")), failed)
    replaced = resource(VPC, "vpc", id="vpc-1", pendingReplacement=True)
    assert len(read_interrupted(checkpoint(replaced), failed).creations) == 1


def test_unread_resource_is_read_before_its_change() -> None:
    """AWS's provider could not change a route of which it knew no target."""
    route = resource("aws:ec2/route:Route", "default", id="r-rtb-11080289494", initErrors=["EOF"])
    assert unread(read_interrupted(checkpoint(route))) == [(route["urn"], route["id"])]
    assert unread(read_interrupted(checkpoint({**route, "delete": True}))) == []
