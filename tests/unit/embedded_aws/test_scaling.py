"""Capacity of the embedded AWS that runs out, with what Auto Scaling says of it."""

from __future__ import annotations

from typing import Any

from rackwright_lab.embedded_aws import control
from unit.embedded_aws.clients import IMAGE, REGION, Connect, a_subnet, admin

MOST = {"p5.48xlarge": 2}


def members(scaling: Any) -> list[str]:
    (group,) = scaling.describe_auto_scaling_groups()["AutoScalingGroups"]
    return [one["InstanceId"] for one in group["Instances"]]


def test_group_launches_what_there_is_and_the_rest_when_there_is_more(
    aws: Connect, embedded: control.Embedded
) -> None:
    ec2, scaling = aws("ec2"), aws("autoscaling")
    admin(embedded, "POST", "capacity", {REGION: MOST})
    ec2.create_launch_template(
        LaunchTemplateName="nodes",
        LaunchTemplateData={"ImageId": IMAGE, "InstanceType": "p5.48xlarge"},
    )
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="nodes",
        MinSize=4,
        MaxSize=4,
        LaunchTemplate={"LaunchTemplateName": "nodes", "Version": "$Latest"},
        VPCZoneIdentifier=a_subnet(ec2),
    )
    first = members(scaling)
    assert len(first) == 2
    told = scaling.describe_scaling_activities(AutoScalingGroupName="nodes")["Activities"]
    assert [one["StatusCode"] for one in told] == ["Failed"] * 2 + ["Successful"] * 2
    assert told[0]["StatusMessage"].startswith(
        "We currently do not have sufficient p5.48xlarge capacity"
    )
    assert members(scaling) == first, "it waits"

    scaling.suspend_processes(AutoScalingGroupName="nodes", ScalingProcesses=["Launch"])
    admin(embedded, "POST", "capacity", {REGION: {"p5.48xlarge": 3}})
    assert members(scaling) == first
    scaling.resume_processes(AutoScalingGroupName="nodes", ScalingProcesses=["Launch"])
    assert len(members(scaling)) == 3
    admin(embedded, "POST", "capacity", {REGION: {"p5.48xlarge": None}})
    after = members(scaling)
    assert len(after) == 4
    assert set(first) < set(after)
