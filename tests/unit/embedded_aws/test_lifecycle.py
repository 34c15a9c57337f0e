"""Amazon Data Lifecycle Manager of the embedded AWS, which moto has not."""

from __future__ import annotations

from typing import Any

import pytest

from unit.embedded_aws.clients import Connect, refused

ROLE = "arn:aws:iam::123456789012:role/snapshots"
NONE = "policy-0123456789abcdef0"


@pytest.fixture
def dlm(aws: Connect) -> Any:
    return aws("dlm")


def policy(**change: Any) -> dict[str, Any]:
    """A policy; ``change`` is of it, or of its schedule by the names in small letters."""
    rule = {
        "IntervalUnit": "HOURS",
        "Interval": change.pop("interval", 24),
        "Times": change.pop("times", ["03:30"]),
    }
    schedule = {
        "Name": "daily",
        "CopyTags": True,
        "CreateRule": rule,
        "RetainRule": {"Count": change.pop("count", 14)},
    }
    return {
        "Description": "data volumes of lab",
        "State": "ENABLED",
        "ExecutionRoleArn": ROLE,
        "PolicyDetails": {
            "PolicyType": "EBS_SNAPSHOT_MANAGEMENT",
            "ResourceTypes": ["VOLUME"],
            **change.pop("targets", {"TargetTags": [{"Key": "backed-up", "Value": "yes"}]}),
            "Schedules": [schedule] * change.pop("schedules", 1),
        },
    } | change


def test_a_policy_lives_through_a_whole_life(dlm: Any) -> None:
    identity = dlm.create_lifecycle_policy(**policy(), Tags={"cluster": "lab"})["PolicyId"]
    held = dlm.get_lifecycle_policy(PolicyId=identity)["Policy"]
    assert {name: held[name] for name in policy()} == policy()
    assert held["Tags"] == {"cluster": "lab"}
    assert held["DateCreated"] == held["DateModified"]
    arn = held["PolicyArn"]
    assert arn == f"arn:aws:dlm:us-west-2:123456789012:policy/{identity}"
    (listed,) = dlm.get_lifecycle_policies()["Policies"]
    assert (listed["PolicyId"], listed["State"]) == (identity, "ENABLED")
    assert listed["Tags"] == {"cluster": "lab"}

    dlm.update_lifecycle_policy(PolicyId=identity, State="DISABLED")
    changed = dlm.get_lifecycle_policy(PolicyId=identity)["Policy"]
    assert (changed["State"], changed["Description"]) == ("DISABLED", "data volumes of lab")
    assert changed["PolicyDetails"] == policy()["PolicyDetails"]
    dlm.tag_resource(ResourceArn=arn, Tags={"owner": "a", "stage": "b"})
    dlm.untag_resource(ResourceArn=arn, TagKeys=["cluster", "stage"])
    assert dlm.list_tags_for_resource(ResourceArn=arn)["Tags"] == {"owner": "a"}

    dlm.delete_lifecycle_policy(PolicyId=identity)
    assert dlm.get_lifecycle_policies()["Policies"] == []
    for call in (
        lambda: dlm.get_lifecycle_policy(PolicyId=identity),
        lambda: dlm.update_lifecycle_policy(PolicyId=identity, State="ENABLED"),
        lambda: dlm.delete_lifecycle_policy(PolicyId=identity),
        lambda: dlm.list_tags_for_resource(ResourceArn=arn),
    ):
        assert refused(call).startswith("ResourceNotFoundException")


def test_policies_belong_to_a_region(aws: Connect, dlm: Any) -> None:
    dlm.create_lifecycle_policy(**policy())
    assert aws("dlm", "eu-west-1").get_lifecycle_policies()["Policies"] == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"Description": "of a.b"}, "Invalid description"),
        ({"Description": ""}, "Missing required parameter: Description"),
        ({"ExecutionRoleArn": "snapshots"}, "Invalid execution role"),
        ({"interval": 5}, "Interval 5 is none of"),
        ({"times": ["25:00"]}, "is not one of the form hh:mm"),
        ({"count": 0}, "is not between 1 and 1000"),
        ({"count": 1001}, "is not between 1 and 1000"),
        ({"targets": {}}, "needs ResourceTypes and TargetTags"),
        ({"schedules": 5}, "has 1 to 4 Schedules"),
    ],
)
def test_a_policy_is_checked(dlm: Any, change: dict[str, Any], said: str) -> None:
    wanted = policy(**change)
    told = refused(dlm.create_lifecycle_policy, **wanted)
    assert told.startswith("InvalidRequestException")
    assert said in told
    held = dlm.create_lifecycle_policy(**policy())["PolicyId"]
    assert said in refused(dlm.update_lifecycle_policy, PolicyId=held, **wanted)
