"""Volumes of the embedded AWS do nothing that those of AWS cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from rackwright_lab.embedded_aws.api import moto_ebs, moto_ec2, moto_instances

REGION = "us-east-1"
IMAGE = "ami-12c6146b"


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


def test_a_stopped_instance_takes_volumes_and_keeps_them(ec2: Any) -> None:
    instance, volume = an_instance(ec2), a_volume(ec2)
    ec2.stop_instances(InstanceIds=[instance])
    ec2.attach_volume(VolumeId=volume, InstanceId=instance, Device="/dev/sdf")
    ec2.start_instances(InstanceIds=[instance])
    (read,) = ec2.describe_volumes(VolumeIds=[volume])["Volumes"]
    assert [one["InstanceId"] for one in read["Attachments"]] == [instance]
    (state,) = ec2.describe_instance_status(InstanceIds=[instance])["InstanceStatuses"]
    assert state["InstanceState"]["Name"] == "running"
