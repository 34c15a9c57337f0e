"""Addresses of a subnet of the embedded AWS: they run out as on AWS, before anything is launched."""

from __future__ import annotations

from typing import Any

from unit.embedded_aws.clients import IMAGE, Connect, a_vpc, refused


def test_subnet_that_is_full_refuses_a_launch_as_a_whole(aws: Connect) -> None:
    ec2 = aws("ec2")
    vpc = a_vpc(ec2)
    made = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/28", AvailabilityZone="us-west-2a")
    subnet = made["Subnet"]["SubnetId"]

    def free() -> int:
        (found,) = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"]
        return int(found["AvailableIpAddressCount"])

    # The second card carries no address.
    cards = [
        {"NetworkCardIndex": 0, "DeviceIndex": 0, "SubnetId": subnet},
        {"NetworkCardIndex": 1, "DeviceIndex": 1, "SubnetId": subnet, "InterfaceType": "efa-only"},
    ]
    asked: dict[str, Any] = {"ImageId": IMAGE, "NetworkInterfaces": cards}
    assert free() == 11
    first = ec2.run_instances(**asked, MinCount=9, MaxCount=9)["Instances"]
    assert free() == 2
    told = refused(ec2.run_instances, **asked, MinCount=3, MaxCount=3)
    assert told.startswith("InsufficientFreeAddressesInSubnet")
    assert free() == 2
    ec2.run_instances(**asked, MinCount=2, MaxCount=2)
    assert free() == 0
    ec2.terminate_instances(InstanceIds=[first[0]["InstanceId"]])
    assert free() == 1
