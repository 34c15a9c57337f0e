"""Spot instances of the embedded AWS: notice, end, and the words of EC2 for both."""

from __future__ import annotations

from typing import Any

from rackwright_lab.embedded_aws import control
from unit.embedded_aws.clients import IMAGE, REGION, Connect, a_subnet, admin

SPOT = {"MarketType": "spot", "SpotOptions": {"MaxPrice": "25", "SpotInstanceType": "one-time"}}


def requests(ec2: Any, *codes: str) -> dict[str, str]:
    filters = [{"Name": "status-code", "Values": list(codes)}] if codes else []
    told = ec2.describe_spot_instance_requests(Filters=filters)["SpotInstanceRequests"]
    return {one["InstanceId"]: one["Status"]["Code"] for one in told}


def test_a_spot_instance_gets_notice_and_is_taken_back(
    aws: Connect, embedded: control.Embedded
) -> None:
    ec2 = aws("ec2")
    ec2.create_launch_template(
        LaunchTemplateName="nodes",
        LaunchTemplateData={
            "ImageId": IMAGE,
            "InstanceType": "m7i.4xlarge",
            "InstanceMarketOptions": SPOT,
        },
    )
    launched = ec2.run_instances(
        LaunchTemplate={"LaunchTemplateName": "nodes"},
        MinCount=2,
        MaxCount=2,
        SubnetId=a_subnet(ec2),
    )["Instances"]
    first, second = (one["InstanceId"] for one in launched)
    assert requests(ec2) == {first: "fulfilled", second: "fulfilled"}

    admin(embedded, "POST", "spot", {REGION: {"ids": [first]}})
    assert requests(ec2, "marked-for-termination") == {first: "marked-for-termination"}
    admin(embedded, "POST", "spot", {REGION: {"ids": [first], "end": True}})
    assert requests(ec2) == {first: "instance-terminated-no-capacity", second: "fulfilled"}
    (held,) = ec2.describe_instances(InstanceIds=[first])["Reservations"]
    (ended,) = held["Instances"]
    assert ended["StateReason"]["Code"] == "Server.SpotInstanceTermination"
