"""Time that the embedded AWS takes where a test asks for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from rackwright_lab.embedded_aws import control
from unit.embedded_aws.clients import IMAGE, REGION, Connect, a_subnet, admin

SLOW = 3600
"""Seconds that are not over before a test is."""


@pytest.fixture
def pace(embedded: control.Embedded) -> Iterator[Any]:
    yield lambda **settings: admin(embedded, "POST", "pace", settings)
    admin(embedded, "POST", "pace", {})


def until(check: Any) -> None:
    for _ in range(600):
        if check():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come")


def test_things_are_being_made_until_they_are_there(aws: Connect, pace: Any) -> None:
    ec2, fsx = aws("ec2"), aws("fsx")
    subnet = a_subnet(ec2)
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    pace(make_s=SLOW)
    gateway = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)["NatGateway"]
    assert gateway["State"] == "pending"
    lustre = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}
    made = fsx.create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[subnet],
        LustreConfiguration=lustre,
    )["FileSystem"]
    assert made["Lifecycle"] == "CREATING"
    pace()
    (gateway,) = ec2.describe_nat_gateways()["NatGateways"]
    (system,) = fsx.describe_file_systems()["FileSystems"]
    assert (gateway["State"], system["Lifecycle"]) == ("available", "AVAILABLE")


def test_a_group_launches_its_instances_by_and_by(aws: Connect, pace: Any) -> None:
    ec2, scaling = aws("ec2"), aws("autoscaling")
    ec2.create_launch_template(
        LaunchTemplateName="nodes",
        LaunchTemplateData={"ImageId": IMAGE, "InstanceType": "p5.48xlarge"},
    )
    subnet = a_subnet(ec2)
    pace(launch_s=SLOW)
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="nodes",
        MinSize=4,
        MaxSize=4,
        LaunchTemplate={"LaunchTemplateName": "nodes", "Version": "$Latest"},
        VPCZoneIdentifier=subnet,
    )

    def members() -> int:
        (group,) = scaling.describe_auto_scaling_groups()["AutoScalingGroups"]
        assert group["DesiredCapacity"] == 4
        return len(group["Instances"])

    assert members() == 0
    pace(launch_s=0.001)
    seen: list[int] = []

    def whole() -> bool:
        seen.append(members())
        return seen[-1] == 4

    until(whole)
    assert sorted(set(seen)) == [2, 3, 4]


def test_new_resource_is_listed_with_a_delay(aws: Connect, pace: Any) -> None:
    ec2 = aws("ec2")
    pace(see_after=2)
    made = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    for _ in range(2):
        with pytest.raises(ClientError, match=r"InvalidVpcID\.NotFound"):
            ec2.describe_vpcs(VpcIds=[made])
    assert ec2.describe_vpcs(VpcIds=[made])["Vpcs"]


def test_calls_are_throttled(aws: Connect, pace: Any) -> None:
    ec2 = aws("ec2", retries=False)
    pace(throttle_every=2)
    ec2.describe_vpcs()
    with pytest.raises(ClientError, match="RequestLimitExceeded"):
        ec2.describe_vpcs()
    ec2.describe_vpcs()
    aws("ec2").describe_vpcs()


def test_credentials_of_a_role_expire(embedded: control.Embedded, aws: Connect, pace: Any) -> None:
    pace(token_s=0.001)
    found = aws("sts").assume_role(
        RoleArn="arn:aws:iam::123456789012:role/apply", RoleSessionName="run"
    )["Credentials"]
    ec2 = boto3.session.Session(
        found["AccessKeyId"], found["SecretAccessKey"], found["SessionToken"], REGION
    ).client("ec2", endpoint_url=embedded.endpoint)
    time.sleep(0.01)
    with pytest.raises(ClientError, match="ExpiredToken"):
        ec2.describe_vpcs()


def test_a_pace_that_is_none_is_refused(pace: Any) -> None:
    for settings in ({"make_s": -1}, {"speed": 2}, {"launch_s": "soon"}):
        with pytest.raises(OSError, match="400"):
            pace(**settings)
