"""Volumes of the embedded AWS do nothing that those of AWS cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from rackwright.embedded_aws.api import dlm, moto_ebs, moto_ec2, moto_instances

REGION = "us-east-1"
IMAGE = "ami-12c6146b"
ROLE = "arn:aws:iam::123456789012:role/snapshots"


@pytest.fixture
def ec2(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "embedded")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "embedded")
    for addition in (moto_ebs, moto_ec2, moto_instances):
        addition.install()
    with mock_aws():
        yield boto3.client("ec2", region_name=REGION)


def a_volume(ec2: Any, zone: str = "us-east-1a", **more: Any) -> str:
    arguments = {"Size": 100, "VolumeType": "gp3"} | more
    return str(ec2.create_volume(AvailabilityZone=zone, **arguments)["VolumeId"])


def an_instance(ec2: Any, **more: Any) -> str:
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    made = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24", AvailabilityZone="us-east-1a")
    launched = ec2.run_instances(
        ImageId=IMAGE,
        InstanceType="m5.large",
        MinCount=1,
        MaxCount=1,
        SubnetId=made["Subnet"]["SubnetId"],
        **more,
    )
    return str(launched["Instances"][0]["InstanceId"])


def refused(call: Any, **arguments: Any) -> str:
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    return str(caught.value.response["Error"]["Code"])


def test_a_volume_is_on_one_instance_of_its_own_zone(ec2: Any) -> None:
    first, second, volume = an_instance(ec2), an_instance(ec2), a_volume(ec2)
    ec2.attach_volume(VolumeId=volume, InstanceId=first, Device="/dev/sdf")
    taken = {"VolumeId": volume, "InstanceId": second, "Device": "/dev/sdf"}
    assert refused(ec2.attach_volume, **taken) == "VolumeInUse"
    assert refused(ec2.attach_volume, **taken | {"InstanceId": first}) == "VolumeInUse"
    other = {"VolumeId": a_volume(ec2), "InstanceId": first, "Device": "/dev/sdf"}
    assert refused(ec2.attach_volume, **other) == "InvalidParameterValue"
    away = {"VolumeId": a_volume(ec2, "us-east-1b"), "InstanceId": second, "Device": "/dev/sdf"}
    assert refused(ec2.attach_volume, **away) == "InvalidVolume.ZoneMismatch"
    assert refused(ec2.delete_volume, VolumeId=volume) == "VolumeInUse"
    assert (
        refused(ec2.detach_volume, VolumeId=volume, InstanceId=second)
        == "InvalidAttachment.NotFound"
    )
    ec2.detach_volume(VolumeId=volume, InstanceId=first)
    assert refused(ec2.detach_volume, VolumeId=volume) == "IncorrectState"
    ec2.attach_volume(**taken)


def test_a_volume_stays_when_its_instance_is_ended(ec2: Any) -> None:
    instance, volume = an_instance(ec2), a_volume(ec2)
    ec2.attach_volume(VolumeId=volume, InstanceId=instance, Device="/dev/sdf")
    ec2.terminate_instances(InstanceIds=[instance])
    (read,) = ec2.describe_volumes(VolumeIds=[volume])["Volumes"]
    assert (read["State"], read["Attachments"]) == ("available", [])
    again = {"VolumeId": volume, "InstanceId": instance, "Device": "/dev/sdf"}
    assert refused(ec2.attach_volume, **again) == "IncorrectState"


def test_a_volume_never_shrinks_and_is_no_smaller_than_its_snapshot(ec2: Any) -> None:
    volume = a_volume(ec2)
    snapshot = ec2.create_snapshot(VolumeId=volume)["SnapshotId"]
    ec2.modify_volume(VolumeId=volume, Size=200)
    assert refused(ec2.modify_volume, VolumeId=volume, Size=150) == "InvalidParameterValue"
    (read,) = ec2.describe_snapshots(SnapshotIds=[snapshot])["Snapshots"]
    assert read["VolumeSize"] == 100
    wanted = {"AvailabilityZone": "us-east-1a", "SnapshotId": snapshot, "VolumeType": "gp3"}
    assert refused(ec2.create_volume, Size=99, **wanted) == "InvalidParameterValue"
    assert ec2.create_volume(**wanted)["Size"] == 100


def test_a_gp3_volume_says_what_it_has(ec2: Any) -> None:
    (read,) = ec2.describe_volumes(VolumeIds=[a_volume(ec2)])["Volumes"]
    assert (read["Iops"], read["Throughput"]) == (3000, 125)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"Description": "of a.b"}, "Invalid description"),
        ({"ExecutionRoleArn": "snapshots"}, "Invalid execution role"),
        ({"interval": 5}, "Interval 5 is none of"),
        ({"times": ["25:00"]}, "is not one of the form hh:mm"),
        ({"count": 0}, "is not between 1 and 1000"),
        ({"tags": []}, "needs ResourceTypes and TargetTags"),
    ],
)
def test_a_lifecycle_policy_is_checked(change: dict[str, Any], said: str) -> None:
    dlm.install()
    from rackwright.embedded_aws.api.dlm.models import LifecycleBackend

    rule = {"IntervalUnit": "HOURS", "Interval": 24, "Times": ["03:30"]}
    wanted: dict[str, Any] = {
        "Description": "data volumes of lab",
        "State": "ENABLED",
        "ExecutionRoleArn": ROLE,
        "PolicyDetails": {
            "ResourceTypes": ["VOLUME"],
            "TargetTags": [{"Key": "a", "Value": "b"}],
            "Schedules": [{"Name": "daily", "CreateRule": rule, "RetainRule": {"Count": 14}}],
        },
    }
    backend = LifecycleBackend(REGION, "123456789012")
    assert backend.create(wanted).startswith("policy-")
    details = wanted["PolicyDetails"]
    rule.update({"Interval": change.pop("interval", 24), "Times": change.pop("times", ["03:30"])})
    details["Schedules"][0]["RetainRule"]["Count"] = change.pop("count", 14)
    details["TargetTags"] = change.pop("tags", details["TargetTags"])
    with pytest.raises(Exception, match=said):
        backend.create(wanted | change)
