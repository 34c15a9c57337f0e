# ruff: noqa: D102, S105 - Resource describes the methods; a token names a type
"""Placement groups, capacity reservations and capacity blocks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from rackwright.embedded_aws.provider.aws import ACCOUNT, Aws
from rackwright.embedded_aws.provider.resource import changed, take
from rackwright.embedded_aws.provider.resources.ec2_base import Ec2Resource
from rackwright.embedded_aws.provider.wire import Props


class PlacementGroup(Ec2Resource):
    """A placement group."""

    token = "aws:ec2/placementGroup:PlacementGroup"
    kind, operation, ids = "placement-group", "describe_placement_groups", "GroupNames"
    items, key = "PlacementGroups", "GroupName"
    replace = frozenset({"name", "partitionCount", "spreadLevel", "strategy"})
    required = ("strategy",)
    named = "name"
    inputs = ("name", "partitionCount", "spreadLevel", "strategy")
    computed = ("arn", "partitionCount", "placementGroupId", "spreadLevel")

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        names = {
            "strategy": "Strategy",
            "partitionCount": "PartitionCount",
            "spreadLevel": "SpreadLevel",
        }
        made = aws.ec2.create_placement_group(
            GroupName=inputs["name"],
            TagSpecifications=self.specifications(tags),
            **take(inputs, names),
        )
        return str(made["PlacementGroup"]["GroupName"])

    def tag(self, aws: Aws, identity: str, put: dict[str, str], drop: list[str]) -> None:
        item = self.one(aws, identity)
        if item is not None:
            super().tag(aws, item["GroupId"], put, drop)

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        return {
            "arn": item["GroupArn"],
            "name": item["GroupName"],
            "placementGroupId": item["GroupId"],
            "strategy": item["Strategy"],
            "partitionCount": item.get("PartitionCount"),
            "spreadLevel": item.get("SpreadLevel"),
            **self.tagged(item),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.ec2.delete_placement_group(GroupName=identity)


def _reservation(item: Mapping[str, Any]) -> Props:
    end = item.get("EndDate")
    return {
        "arn": item["CapacityReservationArn"],
        "availabilityZone": item["AvailabilityZone"],
        "instanceType": item["InstanceType"],
        "instancePlatform": item["InstancePlatform"],
        "instanceCount": item["TotalInstanceCount"],
        "ebsOptimized": item.get("EbsOptimized", False),
        "ephemeralStorage": item.get("EphemeralStorage", False),
        "endDate": end.strftime("%Y-%m-%dT%H:%M:%SZ") if isinstance(end, datetime) else None,
        "endDateType": item["EndDateType"],
        "instanceMatchCriteria": item["InstanceMatchCriteria"],
        "placementGroupArn": item.get("PlacementGroupArn"),
        "tenancy": item["Tenancy"],
        "ownerId": ACCOUNT,
    }


class CapacityReservation(Ec2Resource):
    """A capacity reservation on demand."""

    token = "aws:ec2/capacityReservation:CapacityReservation"
    kind, operation = "capacity-reservation", "describe_capacity_reservations"
    ids, items = "CapacityReservationIds", "CapacityReservations"
    key = "CapacityReservationId"
    replace = frozenset(
        {
            "availabilityZone",
            "ebsOptimized",
            "ephemeralStorage",
            "instanceMatchCriteria",
            "instancePlatform",
            "instanceType",
            "outpostArn",
            "placementGroupArn",
            "tenancy",
        }
    )
    required: ClassVar[tuple[str, ...]] = (
        "availabilityZone",
        "instanceCount",
        "instancePlatform",
        "instanceType",
    )
    inputs: ClassVar[tuple[str, ...]] = (
        *required,
        "endDate",
        "endDateType",
        "instanceMatchCriteria",
        "placementGroupArn",
    )
    computed: ClassVar[tuple[str, ...]] = ("arn", "ownerId")

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        names = {
            "availabilityZone": "AvailabilityZone",
            "ebsOptimized": "EbsOptimized",
            "endDate": "EndDate",
            "endDateType": "EndDateType",
            "ephemeralStorage": "EphemeralStorage",
            "instanceCount": "InstanceCount",
            "instanceMatchCriteria": "InstanceMatchCriteria",
            "instancePlatform": "InstancePlatform",
            "instanceType": "InstanceType",
            "placementGroupArn": "PlacementGroupArn",
            "tenancy": "Tenancy",
        }
        made = aws.ec2.create_capacity_reservation(
            TagSpecifications=self.specifications(tags), **take(inputs, names)
        )
        return str(made["CapacityReservation"]["CapacityReservationId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        names = {
            "instanceCount": "InstanceCount",
            "endDate": "EndDate",
            "endDateType": "EndDateType",
        }
        if olds and changed(olds, news, *names):
            aws.ec2.modify_capacity_reservation(CapacityReservationId=identity, **take(news, names))

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        return None if item is None else {**_reservation(item), **self.tagged(item)}

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.ec2.cancel_capacity_reservation(CapacityReservationId=identity)


class CapacityBlockReservation(CapacityReservation):
    """A capacity block, bought once and never given back."""

    token = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
    replace = frozenset({"capacityBlockOfferingId", "instancePlatform", "tags"})
    required = ("capacityBlockOfferingId", "instancePlatform")
    inputs = required
    computed = (
        "arn",
        "availabilityZone",
        "createdDate",
        "endDate",
        "endDateType",
        "instanceCount",
        "instanceType",
        "reservationType",
        "startDate",
        "tenancy",
    )

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        made = aws.ec2.purchase_capacity_block(
            CapacityBlockOfferingId=inputs["capacityBlockOfferingId"],
            InstancePlatform=inputs["instancePlatform"],
            TagSpecifications=self.specifications(tags),
        )
        return str(made["CapacityReservation"]["CapacityReservationId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        """A capacity block is never changed."""

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        return {
            **_reservation(item),
            "createdDate": item["CreateDate"],
            "startDate": item["StartDate"],
            "reservationType": item["ReservationType"],
            **self.tagged(item),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        """A capacity block cannot be cancelled: it leaves the stack and runs to its end."""
