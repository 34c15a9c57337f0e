"""A fleet of 16 p5 instances with 33 interfaces each, and the EC2 calls that moto lacks."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from rackwright.embedded_aws.control import Embedded
from rackwright.embedded_aws.provider.wire import UNKNOWN
from unit.embedded_aws.engine import Engine, client_of
from unit.embedded_aws.test_types import World

CARDS = 32


def interfaces(world: World) -> list[dict[str, Any]]:
    def nic(card: int, device: int, kind: str) -> dict[str, Any]:
        return {
            "networkCardIndex": card,
            "deviceIndex": device,
            "interfaceType": kind,
            "securityGroups": [world.group()],
            "subnetId": world.subnet(),
            "deleteOnTermination": "true",
        }

    first = nic(0, 0, "interface")
    return [first, nic(0, 1, "efa-only"), *(nic(card, 1, "efa") for card in range(1, CARDS))]


def template(world: World, **more: Any) -> dict[str, Any]:
    return {
        "imageId": world.image(),
        "instanceType": "p5.48xlarge",
        "ebsOptimized": "true",
        "networkInterfaces": interfaces(world),
        "blockDeviceMappings": [
            {
                "deviceName": "/dev/sda1",
                "ebs": {"encrypted": "true", "volumeSize": 200, "deleteOnTermination": "true"},
            }
        ],
        "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2},
        "userData": "IyEvYmluL3NoCg==",
        "tagSpecifications": [{"resourceType": "instance", "tags": {"pool": "a"}}],
        **more,
    }


def test_a_fleet_has_every_interface_of_its_template(engine: Engine, embedded: Embedded) -> None:
    world = World(engine, "fleet")
    ec2 = client_of(embedded, "ec2")
    placement = world.get("aws:ec2/placementGroup:PlacementGroup", "pg", strategy="cluster")
    reservation = world.get(
        "aws:ec2/capacityReservation:CapacityReservation",
        "cr",
        availabilityZone="us-west-2a",
        instanceCount=16,
        instancePlatform="Linux/UNIX",
        instanceType="p5.48xlarge",
        instanceMatchCriteria="targeted",
    )
    role = world.role()
    profile = world.get("aws:iam/instanceProfile:InstanceProfile", "profile", role=role)
    launch = world.get(
        "aws:ec2/launchTemplate:LaunchTemplate",
        "p5",
        **template(
            world,
            placement={"groupName": placement.id},
            iamInstanceProfile={"name": profile.id},
            capacityReservationSpecification={
                "capacityReservationTarget": {"capacityReservationId": reservation.id}
            },
        ),
    )
    data = ec2.describe_launch_template_versions(LaunchTemplateId=launch.id)
    stored = data["LaunchTemplateVersions"][0]["LaunchTemplateData"]
    cards = [one["NetworkCardIndex"] for one in stored["NetworkInterfaces"]]
    assert sorted(cards) == [0, 0, *range(1, CARDS)]
    assert stored["BlockDeviceMappings"][0]["Ebs"]["Encrypted"] is True
    assert stored["MetadataOptions"]["HttpTokens"] == "required"

    group = world.get(
        "aws:autoscaling/group:Group",
        "asg",
        minSize=16,
        maxSize=16,
        vpcZoneIdentifiers=[world.subnet()],
        launchTemplate={"id": launch.id, "version": "$Latest"},
        tags=[{"key": "Name", "value": "gpu", "propagateAtLaunch": True}],
    )
    filters = [{"Name": "tag:aws:autoscaling:groupName", "Values": [group.id]}]
    instances = [
        instance
        for reply in ec2.describe_instances(Filters=filters)["Reservations"]
        for instance in reply["Instances"]
    ]
    assert len(instances) == 16
    for instance in instances:
        attached = [one["Attachment"] for one in instance["NetworkInterfaces"]]
        places = sorted((one["NetworkCardIndex"], one["DeviceIndex"]) for one in attached)
        assert places == [(0, 0), (0, 1), *((card, 1) for card in range(1, CARDS))]
        kinds = [one["InterfaceType"] for one in instance["NetworkInterfaces"]]
        assert kinds.count("efa") == CARDS - 1
        assert kinds.count("efa-only") == 1
        assert instance["MetadataOptions"]["HttpTokens"] == "required"
        assert instance["Placement"]["GroupName"] == placement.id
        assert instance["CapacityReservationId"] == reservation.id
        assert instance["IamInstanceProfile"]["Arn"] == profile.outputs["arn"]
        assert [one["GroupId"] for one in instance["SecurityGroups"]] == [world.group()]
    addresses = [one["PrivateIpAddress"] for one in instances]
    assert len(set(addresses)) == 16
    ids = [one["Ebs"]["VolumeId"] for one in instances[0]["BlockDeviceMappings"]]
    volumes = ec2.describe_volumes(VolumeIds=ids)["Volumes"]
    assert [one["Encrypted"] for one in volumes] == [True]
    held = ec2.describe_capacity_reservations(CapacityReservationIds=[reservation.id])
    assert held["CapacityReservations"][0]["AvailableInstanceCount"] == 0

    topology = ec2.describe_instance_topology(GroupNames=[placement.id])["Instances"]
    assert {one["InstanceId"] for one in topology} == {one["InstanceId"] for one in instances}
    assert len({one["NetworkNodes"][0] for one in topology}) == 1
    assert len({one["NetworkNodes"][2] for one in topology}) == 2

    with pytest.raises(ClientError, match="ReservationCapacityExceeded"):
        ec2.run_instances(MinCount=1, MaxCount=1, LaunchTemplate={"LaunchTemplateId": launch.id})
    with pytest.raises(ClientError, match=r"InvalidPlacementGroup\.InUse"):
        ec2.delete_placement_group(GroupName=placement.id)
    world.close()
    left = ec2.describe_network_interfaces(Filters=[{"Name": "group-id", "Values": [role]}])
    assert left["NetworkInterfaces"] == []


def test_a_preview_does_not_know_the_version_that_an_update_will_make(engine: Engine) -> None:
    token = "aws:ec2/launchTemplate:LaunchTemplate"
    before = {"name": "versions", "instanceType": "p5.48xlarge", "updateDefaultVersion": True}
    made = engine.create(token, "versions", before)
    other = {**before, "instanceType": "p5en.48xlarge"}
    seen = engine.update(made, other, preview=True).outputs
    assert (seen["latestVersion"], seen["defaultVersion"]) == (UNKNOWN, UNKNOWN)
    pinned = engine.update(made, {**other, "updateDefaultVersion": False}, preview=True).outputs
    assert (pinned["latestVersion"], pinned["defaultVersion"]) == (UNKNOWN, 1)
    tagged = engine.update(made, {**before, "tags": {"a": "b"}}, preview=True).outputs
    assert (tagged["latestVersion"], tagged["defaultVersion"]) == (1, 1)
    done = engine.update(made, other).outputs
    assert (done["latestVersion"], done["defaultVersion"]) == (2, 2)
    engine.delete(made)


def test_a_group_grows_by_a_second_version_of_its_template(
    engine: Engine, embedded: Embedded
) -> None:
    world = World(engine, "grows")
    launch = world.get("aws:ec2/launchTemplate:LaunchTemplate", "t", **template(world))
    asked = {
        "minSize": 1,
        "maxSize": 1,
        "vpcZoneIdentifiers": [world.subnet()],
        "launchTemplate": {"id": launch.id, "version": "$Latest"},
    }
    group = world.get("aws:autoscaling/group:Group", "g", **asked)
    (mapping,) = launch.inputs["blockDeviceMappings"]
    larger = [{**mapping, "ebs": {**mapping["ebs"], "volumeSize": 300}}]
    engine.update(launch, {**launch.inputs, "blockDeviceMappings": larger})
    engine.update(group, {**group.inputs, "minSize": 2, "maxSize": 2})
    described = client_of(embedded, "autoscaling").describe_auto_scaling_groups(
        AutoScalingGroupNames=[group.id]
    )
    assert len(described["AutoScalingGroups"][0]["Instances"]) == 2
    world.close()


def test_two_interfaces_in_one_place_are_refused(engine: Engine) -> None:
    nic = {"networkCardIndex": 1, "deviceIndex": 1}
    inputs = {"instanceType": "p5.48xlarge", "networkInterfaces": [nic, nic]}
    urn = "urn:pulumi:dev::lab::aws:ec2/launchTemplate:LaunchTemplate::double"
    failures = engine.check(urn, inputs).failures
    assert [one.reason for one in failures] == ["two interfaces have network card 1 and device 1"]


@pytest.mark.parametrize(
    ("operation", "arguments", "code"),
    [
        ("delete_placement_group", {"GroupName": "none"}, r"InvalidPlacementGroup\.Unknown"),
        ("describe_placement_groups", {"GroupNames": ["none"]}, r"InvalidPlacementGroup\.Unknown"),
        (
            "create_placement_group",
            {"GroupName": "x", "Strategy": "cluster", "PartitionCount": 3},
            "InvalidParameterCombination",
        ),
        (
            "cancel_capacity_reservation",
            {"CapacityReservationId": "cr-none"},
            r"InvalidCapacityReservationId\.NotFound",
        ),
        (
            "purchase_capacity_block",
            {"CapacityBlockOfferingId": "cbo-zz", "InstancePlatform": "Linux/UNIX"},
            r"InvalidCapacityBlockOfferingId\.NotFound",
        ),
    ],
)
def test_capacity_calls_refuse_what_is_not_there(
    embedded: Embedded, operation: str, arguments: dict[str, Any], code: str
) -> None:
    with pytest.raises(ClientError, match=code):
        getattr(client_of(embedded, "ec2"), operation)(**arguments)


def test_a_capacity_block_is_bought_and_used(engine: Engine, embedded: Embedded) -> None:
    ec2 = client_of(embedded, "ec2")
    offers = ec2.describe_capacity_block_offerings(
        InstanceType="p5.48xlarge", InstanceCount=1, CapacityDurationHours=24
    )["CapacityBlockOfferings"]
    assert offers[0]["AvailabilityZone"] == "us-west-2a"
    bought = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offers[0]["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )["CapacityReservation"]
    assert bought["ReservationType"] == "capacity-block"
    world = World(engine, "block")
    target = {
        "CapacityReservationTarget": {"CapacityReservationId": bought["CapacityReservationId"]}
    }
    launch = {
        "MinCount": 1,
        "MaxCount": 1,
        "ImageId": world.image(),
        "InstanceType": "p5.48xlarge",
        "SubnetId": world.subnet(),
        "CapacityReservationSpecification": target,
    }
    with pytest.raises(ClientError, match="InvalidParameterCombination"):
        ec2.run_instances(**launch)
    made = ec2.run_instances(**launch, InstanceMarketOptions={"MarketType": "capacity-block"})[
        "Instances"
    ][0]
    assert made["CapacityReservationId"] == bought["CapacityReservationId"]
    blocks = ec2.describe_capacity_blocks()["CapacityBlocks"]
    assert [bought["CapacityReservationId"]] in [one["CapacityReservationIds"] for one in blocks]
    with pytest.raises(ClientError, match="OperationNotPermitted"):
        ec2.cancel_capacity_reservation(CapacityReservationId=bought["CapacityReservationId"])
    ec2.terminate_instances(InstanceIds=[made["InstanceId"]])
    world.close()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"storageCapacity": 1300}, "1200 nor a multiple of 2400"),
        ({"perUnitStorageThroughput": 300}, "none of 125, 250, 500, 1000"),
        ({"deploymentType": "SCRATCH_2"}, "EFA needs the deployment type PERSISTENT_2"),
        ({"metadataConfiguration": None}, "EFA needs a metadata configuration"),
    ],
)
def test_lustre_refuses_what_fsx_refuses(
    engine: Engine, change: dict[str, Any], reason: str
) -> None:
    from unit.embedded_aws.test_types import lustre

    world = World(engine, "lustre")
    try:
        with pytest.raises(Exception, match=reason):
            engine.create(
                "aws:fsx/lustreFileSystem:LustreFileSystem", "bad", lustre(world, **change)
            )
    finally:
        world.close()
