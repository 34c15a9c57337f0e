"""Placement groups, reserved capacity and the topology of EC2, which moto lacks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from unit.embedded_aws.clients import IMAGE, ZONE, Connect, a_subnet, a_vpc, refused

P5 = "p5.48xlarge"
TAGS = [{"Key": "cluster", "Value": "lab"}]


@pytest.fixture
def ec2(aws: Connect) -> Any:
    return aws("ec2")


def given(kind: str) -> dict[str, Any]:
    """Tags of what is made."""
    return {"TagSpecifications": [{"ResourceType": kind, "Tags": TAGS}]}


def where(**asked: str) -> dict[str, Any]:
    """Filters by names with underscores."""
    return {
        "Filters": [
            {"Name": name.replace("_", "-"), "Values": [one]} for name, one in asked.items()
        ]
    }


def reserved(ec2: Any, count: int = 2, **more: Any) -> str:
    arguments = {
        "AvailabilityZone": ZONE,
        "InstanceCount": count,
        "InstancePlatform": "Linux/UNIX",
        "InstanceType": P5,
    } | more
    made = ec2.create_capacity_reservation(**arguments)["CapacityReservation"]
    return str(made["CapacityReservationId"])


def read(ec2: Any, identity: str) -> dict[str, Any]:
    reply = ec2.describe_capacity_reservations(CapacityReservationIds=[identity])
    (found,) = reply["CapacityReservations"]
    return dict(found)


def launch(reservation: str | None = None, **more: Any) -> dict[str, Any]:
    """A launch of one instance, in a reservation where one is named."""
    target = {"CapacityReservationTarget": {"CapacityReservationId": reservation}}
    targeted = {"CapacityReservationSpecification": target} if reservation else {}
    one = {"MinCount": 1, "MaxCount": 1, "ImageId": IMAGE, "InstanceType": P5}
    return one | targeted | more


def bought(ec2: Any, count: int = 1) -> str:
    offers = ec2.describe_capacity_block_offerings(
        InstanceType=P5, InstanceCount=count, CapacityDurationHours=24
    )["CapacityBlockOfferings"]
    made = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offers[0]["CapacityBlockOfferingId"],
        InstancePlatform="Linux/UNIX",
        **given("capacity-reservation"),
    )["CapacityReservation"]
    return str(made["CapacityReservationId"])


def test_a_placement_group_lives_through_a_whole_life(ec2: Any) -> None:
    made = ec2.create_placement_group(
        GroupName="near", Strategy="cluster", **given("placement-group")
    )["PlacementGroup"]
    assert made["GroupArn"].endswith(":placement-group/near")
    assert (made["State"], made["Tags"]) == ("available", TAGS)
    for asked in ({"GroupNames": ["near"]}, {"GroupIds": [made["GroupId"]]}, {}):
        assert ec2.describe_placement_groups(**asked)["PlacementGroups"] == [made]
    again = {"GroupName": "near", "Strategy": "cluster"}
    told = refused(ec2.create_placement_group, **again)
    assert told.startswith("InvalidPlacementGroup.Duplicate")

    ec2.create_tags(Resources=[made["GroupId"]], Tags=[{"Key": "stage", "Value": "two"}])
    ec2.delete_tags(Resources=[made["GroupId"]], Tags=[{"Key": "cluster"}])
    (found,) = ec2.describe_placement_groups()["PlacementGroups"]
    assert found["Tags"] == [{"Key": "stage", "Value": "two"}]

    ec2.delete_placement_group(GroupName="near")
    assert ec2.describe_placement_groups()["PlacementGroups"] == []
    told = refused(ec2.describe_placement_groups, GroupIds=[made["GroupId"]])
    assert told.startswith("InvalidPlacementGroupId.Unknown")


def test_a_strategy_has_its_own_settings(ec2: Any) -> None:
    def made(strategy: str, **more: Any) -> dict[str, Any]:
        reply = ec2.create_placement_group(GroupName=strategy, Strategy=strategy, **more)
        return dict(reply["PlacementGroup"])

    assert made("spread")["SpreadLevel"] == "rack"
    assert made("partition")["PartitionCount"] == 2
    assert {"SpreadLevel", "PartitionCount"}.isdisjoint(made("cluster"))


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ({"tag:cluster": "lab"}, 1),
        ({"tag:cluster": "other"}, 0),
        ({"tag-key": "clus*"}, 1),
        ({"tag-key": "other"}, 0),
        ({"group_name": "n*"}, 1),
        ({"strategy": "spread"}, 1),
        ({"strategy": "cluster", "group_name": "far"}, 0),
    ],
)
def test_placement_groups_are_found_by_filters(ec2: Any, asked: dict[str, str], count: int) -> None:
    ec2.create_placement_group(GroupName="near", Strategy="cluster", **given("placement-group"))
    ec2.create_placement_group(GroupName="far", Strategy="spread")
    assert len(ec2.describe_placement_groups(**where(**asked))["PlacementGroups"]) == count


def test_a_filter_that_is_none_is_refused(ec2: Any) -> None:
    reserved(ec2)
    told = refused(ec2.describe_capacity_reservations, **where(colour="red"))
    assert told.startswith("InvalidParameterValue")


def test_a_reservation_lives_through_a_whole_life(ec2: Any) -> None:
    identity = reserved(ec2, InstanceMatchCriteria="targeted", **given("capacity-reservation"))
    found = read(ec2, identity)
    assert found["CapacityReservationArn"].endswith(f":capacity-reservation/{identity}")
    assert (found["State"], found["EndDateType"]) == ("active", "unlimited")
    assert (found["TotalInstanceCount"], found["AvailableInstanceCount"]) == (2, 2)
    assert (found["InstanceMatchCriteria"], found["Tags"]) == ("targeted", TAGS)
    assert (found["InstanceType"], found["InstancePlatform"]) == (P5, "Linux/UNIX")
    assert (found["Tenancy"], found["EbsOptimized"]) == ("default", False)

    end = (datetime.now(UTC) + timedelta(days=2)).replace(microsecond=0)
    ec2.modify_capacity_reservation(
        CapacityReservationId=identity, InstanceCount=3, EndDate=end, EndDateType="limited"
    )
    changed = read(ec2, identity)
    assert (changed["TotalInstanceCount"], changed["EndDateType"]) == (3, "limited")
    assert changed["EndDate"] == end
    ec2.modify_capacity_reservation(
        CapacityReservationId=identity, EndDateType="unlimited", InstanceMatchCriteria="open"
    )
    changed = read(ec2, identity)
    assert (changed["EndDateType"], changed["InstanceMatchCriteria"]) == ("unlimited", "open")
    assert "EndDate" not in changed
    ec2.create_tags(Resources=[identity], Tags=[{"Key": "cluster", "Value": "other"}])
    assert read(ec2, identity)["Tags"] == [{"Key": "cluster", "Value": "other"}]

    ec2.cancel_capacity_reservation(CapacityReservationId=identity)
    assert read(ec2, identity)["State"] == "cancelled"
    again = {"CapacityReservationId": identity, "InstanceCount": 4}
    assert refused(ec2.modify_capacity_reservation, **again).startswith("InvalidState")
    told = refused(ec2.run_instances, **launch(identity, SubnetId=a_subnet(ec2)))
    assert told.endswith("is cancelled, not active")


def test_a_token_makes_one_reservation(ec2: Any) -> None:
    first, again, other = (reserved(ec2, ClientToken=token) for token in ("one", "one", "two"))
    assert first == again != other
    assert len(ec2.describe_capacity_reservations()["CapacityReservations"]) == 2


def test_a_reservation_ends_at_its_date(ec2: Any) -> None:
    past = datetime.now(UTC) - timedelta(seconds=1)
    identity = reserved(ec2, EndDate=past)
    found = read(ec2, identity)
    assert (found["State"], found["EndDateType"]) == ("expired", "limited")
    told = refused(ec2.run_instances, **launch(identity, SubnetId=a_subnet(ec2)))
    assert told.endswith("is expired, not active")


def test_reservations_are_found_by_filters(ec2: Any) -> None:
    identity = reserved(ec2, **given("capacity-reservation"))
    cancelled = reserved(ec2, InstanceType="p4d.24xlarge")
    ec2.cancel_capacity_reservation(CapacityReservationId=cancelled)
    for asked in (
        {"state": "active"},
        {"instance_type": "p5.*"},
        {"tag:cluster": "lab"},
        {"availability_zone": ZONE, "state": "active", "reservation_type": "default"},
    ):
        reply = ec2.describe_capacity_reservations(**where(**asked))["CapacityReservations"]
        assert [one["CapacityReservationId"] for one in reply] == [identity], asked


@pytest.mark.parametrize(
    ("operation", "arguments", "code"),
    [
        ("delete_placement_group", {"GroupName": "none"}, "InvalidPlacementGroup.Unknown"),
        ("describe_placement_groups", {"GroupNames": ["none"]}, "InvalidPlacementGroup.Unknown"),
        ("describe_instance_topology", {"GroupNames": ["none"]}, "InvalidPlacementGroup.Unknown"),
        (
            "create_placement_group",
            {"GroupName": "x", "Strategy": "cluster", "PartitionCount": 3},
            "InvalidParameterCombination",
        ),
        ("create_placement_group", {"Strategy": "cluster"}, "MissingParameter"),
        ("create_placement_group", {"GroupName": "x", "Strategy": "x"}, "InvalidParameterValue"),
        (
            "cancel_capacity_reservation",
            {"CapacityReservationId": "cr-none"},
            "InvalidCapacityReservationId.NotFound",
        ),
        (
            "describe_capacity_reservations",
            {"CapacityReservationIds": ["cr-none"]},
            "InvalidCapacityReservationId.NotFound",
        ),
        (
            "purchase_capacity_block",
            {"CapacityBlockOfferingId": "cbo-zz", "InstancePlatform": "Linux/UNIX"},
            "InvalidCapacityBlockOfferingId.NotFound",
        ),
        ("create_tags", {"Resources": ["pg-none"], "Tags": TAGS}, "InvalidID"),
        ("run_instances", launch("cr-none"), "InvalidCapacityReservationId.NotFound"),
        (
            "run_instances",
            launch(Placement={"GroupName": "none"}),
            "InvalidPlacementGroup.Unknown",
        ),
    ],
)
def test_unknown_or_senseless_capacity_is_refused(
    ec2: Any, operation: str, arguments: dict[str, Any], code: str
) -> None:
    assert refused(getattr(ec2, operation), **arguments).startswith(code)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"InstanceCount": 0}, "InvalidInstanceCount"),
        ({"AvailabilityZone": "us-west-2z"}, "InvalidParameterValue"),
    ],
)
def test_a_reservation_is_of_instances_in_a_zone(
    ec2: Any, change: dict[str, Any], code: str
) -> None:
    assert refused(reserved, ec2=ec2, **change).startswith(code)


def test_tags_are_given_to_one_kind_at_a_time(ec2: Any) -> None:
    mixed = [reserved(ec2), a_vpc(ec2)]
    assert refused(ec2.create_tags, Resources=mixed, Tags=TAGS).startswith("InvalidParameterValue")


def test_a_reservation_holds_so_many_instances_of_its_type_and_zone(ec2: Any) -> None:
    identity, vpc = reserved(ec2, 1), a_vpc(ec2)
    here, away = a_subnet(ec2, vpc), a_subnet(ec2, vpc, "us-west-2b", 1)
    wanted = launch(identity, SubnetId=here)
    told = refused(ec2.run_instances, **wanted | {"InstanceType": "p4d.24xlarge"})
    assert told.startswith(f"InvalidParameterValue: The capacity reservation {identity} is for p5.")
    assert "the subnet in us-west-2b" in refused(ec2.run_instances, **wanted | {"SubnetId": away})
    (made,) = ec2.run_instances(**wanted)["Instances"]
    assert made["CapacityReservationId"] == identity
    assert read(ec2, identity)["AvailableInstanceCount"] == 0
    assert refused(ec2.run_instances, **wanted).startswith("ReservationCapacityExceeded")
    fewer = {"CapacityReservationId": identity, "InstanceCount": 0}
    told = refused(ec2.modify_capacity_reservation, **fewer)
    assert told.startswith("InvalidInstanceCount")

    (other,) = ec2.run_instances(**launch(SubnetId=here))["Instances"]
    assert "CapacityReservationId" not in other
    open_to_all = {"CapacityReservationPreference": "open"}
    assert other["CapacityReservationSpecification"] == open_to_all
    ec2.terminate_instances(InstanceIds=[made["InstanceId"]])
    assert read(ec2, identity)["AvailableInstanceCount"] == 1
    ec2.run_instances(**wanted)


def test_a_capacity_block_is_bought_and_used(ec2: Any) -> None:
    identity = bought(ec2)
    found = read(ec2, identity)
    assert found["ReservationType"] == "capacity-block"
    assert (found["State"], found["InstanceMatchCriteria"]) == ("active", "targeted")
    assert (found["EndDateType"], found["Tags"]) == ("limited", TAGS)
    assert found["CapacityBlockId"] == identity.replace("cr-", "cb-")
    wanted = launch(identity, SubnetId=a_subnet(ec2))
    assert refused(ec2.run_instances, **wanted).startswith("InvalidParameterCombination")
    wanted["InstanceMarketOptions"] = {"MarketType": "capacity-block"}
    (made,) = ec2.run_instances(**wanted)["Instances"]
    assert (made["CapacityReservationId"], made["InstanceLifecycle"]) == (
        identity,
        "capacity-block",
    )
    (above,) = ec2.describe_instance_topology()["Instances"]
    assert above["CapacityBlockId"] == found["CapacityBlockId"]
    told = refused(ec2.cancel_capacity_reservation, CapacityReservationId=identity)
    assert told.startswith("OperationNotPermitted")


def test_an_offering_is_the_same_until_it_is_bought(ec2: Any) -> None:
    start = datetime.now(UTC) + timedelta(days=3)
    asked = {
        "InstanceType": P5,
        "InstanceCount": 2,
        "CapacityDurationHours": 48,
        "StartDateRange": start,
    }
    first, again = (
        ec2.describe_capacity_block_offerings(**asked)["CapacityBlockOfferings"] for _ in range(2)
    )
    assert first == again
    offer = first[0]
    assert (offer["AvailabilityZone"], offer["UpfrontFee"]) == (ZONE, f"{31.464 * 48 * 2:.2f}")
    assert offer["EndDate"] - offer["StartDate"] == timedelta(hours=48)
    made = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )["CapacityReservation"]
    assert (made["TotalInstanceCount"], made["InstanceType"]) == (2, P5)
    assert made["EndDate"] == offer["EndDate"]


def test_the_topology_is_of_running_instances_of_some_types_in_pages(ec2: Any) -> None:
    ec2.create_placement_group(GroupName="near", Strategy="cluster")
    subnet = a_subnet(ec2)
    near: dict[str, Any] = {"SubnetId": subnet, "Placement": {"GroupName": "near"}}
    made = ec2.run_instances(**launch(**near) | {"MinCount": 9, "MaxCount": 9})["Instances"]
    ids = [one["InstanceId"] for one in made]
    ec2.run_instances(**launch(SubnetId=subnet))
    ec2.run_instances(**launch(SubnetId=subnet, InstanceType="m5.large"))
    assert {one["Placement"]["GroupName"] for one in made} == {"near"}

    asked = ec2.describe_instance_topology
    assert len(asked()["Instances"]) == 10
    found = asked(GroupNames=["near"])["Instances"]
    assert [one["InstanceId"] for one in found] == ids
    nodes = [one["NetworkNodes"] for one in found]
    assert [len({each[level] for each in nodes}) for level in range(3)] == [1, 1, 2]
    (one,) = asked(InstanceIds=ids[8:])["Instances"]
    assert one == found[8]
    assert (one["AvailabilityZone"], one["GroupName"], one["InstanceType"]) == (ZONE, "near", P5)
    assert one["ZoneId"].startswith("usw2-az")
    assert len(asked(**where(instance_type="p4*"))["Instances"]) == 0
    assert len(asked(**where(availability_zone=ZONE))["Instances"]) == 10

    page = asked(MaxResults=4, GroupNames=["near"])
    rest = asked(MaxResults=8, GroupNames=["near"], NextToken=page["NextToken"])
    assert page["Instances"] + rest["Instances"] == found
    assert "NextToken" not in rest
    assert refused(ec2.delete_placement_group, GroupName="near").startswith(
        "InvalidPlacementGroup.InUse"
    )
    ec2.stop_instances(InstanceIds=ids[:1])
    assert len(asked(GroupNames=["near"])["Instances"]) == 8
