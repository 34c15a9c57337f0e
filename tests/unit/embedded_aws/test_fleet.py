"""Instances of launch templates and Auto Scaling groups: 16 of p5 with 33 interfaces each, and fewer."""

from __future__ import annotations

from typing import Any

import pytest

from unit.embedded_aws.clients import IMAGE, REGION, ZONE, Connect, a_subnet, a_vpc, refused

CARDS = 32


@pytest.fixture
def ec2(aws: Connect) -> Any:
    return aws("ec2")


@pytest.fixture
def scaling(aws: Connect) -> Any:
    return aws("autoscaling")


def nic(card: int, device: int, kind: str, group: str) -> dict[str, Any]:
    return {
        "NetworkCardIndex": card,
        "DeviceIndex": device,
        "InterfaceType": kind,
        "Groups": [group],
        "DeleteOnTermination": True,
    }


def a_template(ec2: Any, **more: Any) -> str:
    data = {"ImageId": IMAGE, "InstanceType": "p5.48xlarge"} | more
    made = ec2.create_launch_template(LaunchTemplateName="hosts", LaunchTemplateData=data)
    return str(made["LaunchTemplate"]["LaunchTemplateId"])


def a_group(scaling: Any, template: str, subnets: list[str], size: int, **more: Any) -> None:
    scaling.create_auto_scaling_group(
        **{
            "AutoScalingGroupName": "hosts",
            "MinSize": size,
            "MaxSize": size,
            "VPCZoneIdentifier": ",".join(subnets),
            "LaunchTemplate": {"LaunchTemplateId": template, "Version": "$Latest"},
        }
        | more
    )


def members(scaling: Any) -> list[dict[str, Any]]:
    (group,) = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=["hosts"])[
        "AutoScalingGroups"
    ]
    return list(group["Instances"])


def activities(scaling: Any) -> list[dict[str, Any]]:
    """Return the activities of the group, newest first."""
    told = scaling.describe_scaling_activities(AutoScalingGroupName="hosts")
    return list(told["Activities"])


def instances(ec2: Any, ids: list[str]) -> list[dict[str, Any]]:
    reply = ec2.describe_instances(InstanceIds=ids)["Reservations"]
    return [one for held in reply for one in held["Instances"]]


def a_profile(iam: Any) -> tuple[str, str]:
    """Name and ARN of an instance profile."""
    iam.create_role(RoleName="hosts", AssumeRolePolicyDocument="{}")
    made = iam.create_instance_profile(InstanceProfileName="hosts")["InstanceProfile"]
    iam.add_role_to_instance_profile(InstanceProfileName="hosts", RoleName="hosts")
    return "hosts", str(made["Arn"])


def a_reservation(ec2: Any, count: int) -> str:
    made = ec2.create_capacity_reservation(
        AvailabilityZone=ZONE,
        InstanceCount=count,
        InstancePlatform="Linux/UNIX",
        InstanceType="p5.48xlarge",
        InstanceMatchCriteria="targeted",
    )["CapacityReservation"]
    return str(made["CapacityReservationId"])


def targeted(reservation: str) -> dict[str, Any]:
    target = {"CapacityReservationTarget": {"CapacityReservationId": reservation}}
    return {"CapacityReservationSpecification": target}


def test_a_fleet_has_every_interface_of_its_template(aws: Connect, ec2: Any, scaling: Any) -> None:
    vpc = a_vpc(ec2)
    subnet = a_subnet(ec2, vpc)
    security = ec2.create_security_group(GroupName="g", Description="d", VpcId=vpc)["GroupId"]
    ec2.create_placement_group(GroupName="near", Strategy="cluster")
    reservation = a_reservation(ec2, 16)
    profile, arn = a_profile(aws("iam"))
    disk = {"Encrypted": True, "VolumeSize": 200, "DeleteOnTermination": True}
    template = a_template(
        ec2,
        EbsOptimized=True,
        NetworkInterfaces=[
            nic(0, 0, "interface", security),
            nic(0, 1, "efa-only", security),
            *(nic(card, 1, "efa", security) for card in range(1, CARDS)),
        ],
        BlockDeviceMappings=[
            {"DeviceName": "/dev/sda1", "Ebs": disk},
            {"DeviceName": "/dev/sdb", "VirtualName": "ephemeral0"},
        ],
        MetadataOptions={"HttpTokens": "required", "HttpPutResponseHopLimit": 2},
        UserData="IyEvYmluL3NoCg==",
        TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": "pool", "Value": "a"}]}],
        Placement={"GroupName": "near"},
        IamInstanceProfile={"Name": profile},
        **targeted(reservation),
    )
    (stored,) = ec2.describe_launch_template_versions(LaunchTemplateId=template)[
        "LaunchTemplateVersions"
    ]
    cards = [one["NetworkCardIndex"] for one in stored["LaunchTemplateData"]["NetworkInterfaces"]]
    assert cards == [0, 0, *range(1, CARDS)]

    tags = [{"Key": "Name", "Value": "gpu", "PropagateAtLaunch": True}]
    a_group(scaling, template, [subnet], 16, Tags=tags)
    named = [{"Name": "tag:aws:autoscaling:groupName", "Values": ["hosts"]}]
    found = [
        one
        for held in ec2.describe_instances(Filters=named)["Reservations"]
        for one in held["Instances"]
    ]
    assert len(found) == 16
    for instance in found:
        attached = [one["Attachment"] for one in instance["NetworkInterfaces"]]
        places = [(one["NetworkCardIndex"], one["DeviceIndex"]) for one in attached]
        assert places == [(0, 0), (0, 1), *((card, 1) for card in range(1, CARDS))]
        kinds = {one["InterfaceType"]: one for one in instance["NetworkInterfaces"]}
        assert list(kinds) == ["interface", "efa-only", "efa"]
        assert "PrivateIpAddress" not in kinds["efa-only"], "it carries no IP"
        assert {one["SubnetId"] for one in instance["NetworkInterfaces"]} == {subnet}
        assert instance["MetadataOptions"]["HttpTokens"] == "required"
        assert instance["EbsOptimized"] is True
        assert instance["Placement"]["GroupName"] == "near"
        assert instance["CapacityReservationId"] == reservation
        assert instance["IamInstanceProfile"]["Arn"] == arn
        assert [one["GroupId"] for one in instance["SecurityGroups"]] == [security]
        assert {"Key": "Name", "Value": "gpu"} in instance["Tags"]
    assert len({one["PrivateIpAddress"] for one in found}) == 16
    (mapping,) = found[0]["BlockDeviceMappings"]
    (volume,) = ec2.describe_volumes(VolumeIds=[mapping["Ebs"]["VolumeId"]])["Volumes"]
    assert (volume["Encrypted"], volume["Size"]) == (True, 200)
    (held,) = ec2.describe_capacity_reservations()["CapacityReservations"]
    assert held["AvailableInstanceCount"] == 0

    ids = [one["InstanceId"] for one in found]
    scaling.delete_auto_scaling_group(AutoScalingGroupName="hosts", ForceDelete=True)
    assert {one["State"]["Name"] for one in instances(ec2, ids)} == {"terminated"}
    left = ec2.describe_network_interfaces(Filters=[{"Name": "group-id", "Values": [security]}])
    assert left["NetworkInterfaces"] == []


def test_an_interface_of_a_card_is_detached_alone(ec2: Any) -> None:
    subnet = a_subnet(ec2)
    group = ec2.describe_security_groups()["SecurityGroups"][0]["GroupId"]
    places = [(0, 0), (1, 1), (2, 1)]
    (made,) = ec2.run_instances(
        MinCount=1,
        MaxCount=1,
        ImageId=IMAGE,
        InstanceType="p5.48xlarge",
        NetworkInterfaces=[
            nic(card, device, "interface" if card == 0 else "efa", group) | {"SubnetId": subnet}
            for card, device in places
        ],
    )["Instances"]
    held = {
        one["Attachment"]["NetworkCardIndex"]: (
            one["Attachment"]["AttachmentId"],
            one["NetworkInterfaceId"],
        )
        for one in made["NetworkInterfaces"]
    }
    attachment, identity = held[1]
    ec2.detach_network_interface(AttachmentId=attachment)
    (left,) = ec2.describe_network_interfaces(NetworkInterfaceIds=[identity])["NetworkInterfaces"]
    assert left["Status"] == "available"
    (read,) = instances(ec2, [made["InstanceId"]])
    cards = [one["Attachment"]["NetworkCardIndex"] for one in read["NetworkInterfaces"]]
    assert cards == [0, 2]


def test_interfaces_are_in_the_subnet_of_their_instance(ec2: Any) -> None:
    subnet = a_subnet(ec2)
    (made,) = ec2.run_instances(
        MinCount=1,
        MaxCount=1,
        ImageId=IMAGE,
        InstanceType="p5.48xlarge",
        NetworkInterfaces=[
            {"DeviceIndex": 0, "SubnetId": subnet},
            {"NetworkCardIndex": 1, "DeviceIndex": 1},
        ],
    )["Instances"]
    assert [one["SubnetId"] for one in made["NetworkInterfaces"]] == [subnet, subnet]


def test_a_group_fills_its_subnets_in_turn_and_they_win_over_the_template(
    ec2: Any, scaling: Any
) -> None:
    vpc = a_vpc(ec2)
    first, second, other = (
        a_subnet(ec2, vpc, f"{REGION}{zone}", number) for number, zone in enumerate("abc")
    )
    inside = {"DeviceIndex": 0, "SubnetId": other}
    template = a_template(ec2, InstanceType="m5.large", NetworkInterfaces=[inside])
    a_group(scaling, template, [first, second], 3)
    ids = [one["InstanceId"] for one in members(scaling)]
    assert [one["SubnetId"] for one in instances(ec2, ids)] == [first, first, second]


def test_a_group_has_a_placement_group_of_its_own(ec2: Any, scaling: Any) -> None:
    for name in ("near", "far"):
        ec2.create_placement_group(GroupName=name, Strategy="cluster")
    template = a_template(ec2, Placement={"GroupName": "far"})
    a_group(scaling, template, [a_subnet(ec2)], 1, PlacementGroup="near")
    (one,) = instances(ec2, [one["InstanceId"] for one in members(scaling)])
    assert one["Placement"]["GroupName"] == "near"


def test_a_group_grows_by_a_second_version_of_its_template(ec2: Any, scaling: Any) -> None:
    data = {"ImageId": IMAGE, "InstanceType": "p5.48xlarge", "UserData": "IyEvYmluL3NoCg=="}
    template = a_template(ec2, **data)
    a_group(scaling, template, [a_subnet(ec2)], 1)
    ec2.create_launch_template_version(
        LaunchTemplateId=template, LaunchTemplateData=data | {"InstanceType": "p5en.48xlarge"}
    )
    scaling.update_auto_scaling_group(AutoScalingGroupName="hosts", MinSize=2, MaxSize=2)
    ids = [one["InstanceId"] for one in members(scaling)]
    kinds = [one["InstanceType"] for one in instances(ec2, ids)]
    assert kinds == ["p5.48xlarge", "p5en.48xlarge"]


def test_a_template_makes_instances_of_a_capacity_block(ec2: Any, scaling: Any) -> None:
    (offer, *_) = ec2.describe_capacity_block_offerings(
        InstanceType="p5.48xlarge", InstanceCount=1, CapacityDurationHours=24
    )["CapacityBlockOfferings"]
    block = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )["CapacityReservation"]["CapacityReservationId"]
    market = {"InstanceMarketOptions": {"MarketType": "capacity-block"}}
    template = a_template(ec2, **targeted(block), **market)
    a_group(scaling, template, [a_subnet(ec2)], 1)
    (one,) = instances(ec2, [one["InstanceId"] for one in members(scaling)])
    assert (one["CapacityReservationId"], one["InstanceLifecycle"]) == (block, "capacity-block")


def test_a_group_has_no_more_instances_than_its_reservation(ec2: Any, scaling: Any) -> None:
    template = a_template(ec2, **targeted(a_reservation(ec2, 2)))
    a_group(scaling, template, [a_subnet(ec2)], 2)
    scaling.update_auto_scaling_group(AutoScalingGroupName="hosts", MinSize=3, MaxSize=3)
    assert len(members(scaling)) == 2
    (newest, *launches) = activities(scaling)
    assert newest["StatusCode"] == "Failed"
    assert "ReservationCapacityExceeded - The requested reservation" in newest["StatusMessage"]
    assert [one["StatusCode"] for one in launches] == ["Successful"] * 2


def test_a_group_larger_than_its_reservation_launches_what_is_reserved(
    ec2: Any, scaling: Any
) -> None:
    template = a_template(ec2, **targeted(a_reservation(ec2, 2)))
    a_group(scaling, template, [a_subnet(ec2)], 3)
    assert len(members(scaling)) == 2
    assert [one["StatusCode"] for one in activities(scaling)] == ["Failed", *["Successful"] * 2]


def test_a_launch_that_fails_again_is_an_activity_and_no_error_of_a_read(
    ec2: Any, scaling: Any
) -> None:
    template = a_template(ec2)
    a_group(scaling, template, [a_subnet(ec2)], 1)
    unknown = targeted("cr-0123456789abcdef0")
    ec2.create_launch_template_version(
        LaunchTemplateId=template,
        LaunchTemplateData={"ImageId": IMAGE, "InstanceType": "p5.48xlarge"} | unknown,
    )
    told = refused(
        scaling.update_auto_scaling_group,
        AutoScalingGroupName="hosts",
        MinSize=2,
        MaxSize=2,
        LaunchTemplate={"LaunchTemplateId": template, "Version": "$Latest"},
    )
    assert told.startswith("InvalidCapacityReservationId.NotFound")
    before = len(activities(scaling))
    assert len(members(scaling)) == 1
    (newest, *earlier) = activities(scaling)
    assert len(earlier) == before
    assert newest["StatusCode"] == "Failed"
    assert "InvalidCapacityReservationId.NotFound" in newest["StatusMessage"]


def test_a_group_keeps_to_its_least_size(ec2: Any, scaling: Any) -> None:
    a_group(scaling, a_template(ec2), [a_subnet(ec2)], 2)
    first, second = (one["InstanceId"] for one in members(scaling))
    end = scaling.terminate_instance_in_auto_scaling_group
    wanted = {"InstanceId": first, "ShouldDecrementDesiredCapacity": True}
    told = refused(end, **wanted)
    assert told.startswith("ValidationError")
    assert "desiredSize equals minSize (2)" in told
    scaling.update_auto_scaling_group(AutoScalingGroupName="hosts", MinSize=1)
    end(**wanted)
    assert [one["InstanceId"] for one in members(scaling)] == [second]
    end(InstanceId=second, ShouldDecrementDesiredCapacity=False)
    (new,) = members(scaling)
    assert new["InstanceId"] not in (first, second)


@pytest.mark.parametrize("suspended", [False, True])
def test_an_ended_instance_is_replaced_unless_its_group_was_told_not_to(
    ec2: Any, scaling: Any, suspended: bool
) -> None:
    a_group(scaling, a_template(ec2), [a_subnet(ec2)], 1)
    if suspended:
        scaling.suspend_processes(
            AutoScalingGroupName="hosts", ScalingProcesses=["ReplaceUnhealthy"]
        )
    (before,) = members(scaling)
    ec2.terminate_instances(InstanceIds=[before["InstanceId"]])
    (after,) = members(scaling)
    assert (after["InstanceId"] == before["InstanceId"]) is suspended
    assert after["HealthStatus"] == ("Unhealthy" if suspended else "Healthy")


def test_a_token_launches_once_as_long_as_one_is_left(ec2: Any) -> None:
    wanted = {
        "MinCount": 2,
        "MaxCount": 2,
        "ImageId": IMAGE,
        "InstanceType": "m5.large",
        "SubnetId": a_subnet(ec2),
    }

    def launched(token: str) -> list[str]:
        made = ec2.run_instances(**wanted, ClientToken=token)["Instances"]
        return [one["InstanceId"] for one in made]

    first = launched("one")
    assert launched("one") == first
    assert set(launched("two")).isdisjoint(first)
    ec2.terminate_instances(InstanceIds=first[:1])
    assert launched("one") == first
    ec2.terminate_instances(InstanceIds=first)
    assert set(launched("one")).isdisjoint(first)


def test_all_instances_of_a_launch_have_its_profile(aws: Connect, ec2: Any) -> None:
    profile, arn = a_profile(aws("iam"))
    made = ec2.run_instances(
        MinCount=2,
        MaxCount=2,
        ImageId=IMAGE,
        InstanceType="m5.large",
        SubnetId=a_subnet(ec2),
        IamInstanceProfile={"Name": profile},
    )["Instances"]
    read = instances(ec2, [one["InstanceId"] for one in made])
    assert [one["IamInstanceProfile"]["Arn"] for one in read] == [arn, arn]
