# ruff: noqa: D102, S105 - Resource describes the methods; a token names a type
"""Volumes, their attachments, and whether an instance runs."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from rackwright.embedded_aws.provider.aws import Aws
from rackwright.embedded_aws.provider.resource import Resource, changed, take
from rackwright.embedded_aws.provider.resources.ec2_base import Ec2Resource
from rackwright.embedded_aws.provider.wire import Props

_DEAD = frozenset({"terminated", "shutting-down"})


class Volume(Ec2Resource):
    """A volume of EBS."""

    token = "aws:ebs/volume:Volume"
    kind, operation, ids = "volume", "describe_volumes", "VolumeIds"
    items, key = "Volumes", "VolumeId"
    required = ("availabilityZone",)
    replace = frozenset({"availabilityZone", "encrypted", "kmsKeyId", "outpostArn", "snapshotId"})
    inputs = (
        "availabilityZone",
        "encrypted",
        "iops",
        "kmsKeyId",
        "size",
        "snapshotId",
        "throughput",
        "type",
    )
    silent = frozenset({"encrypted", "iops", "kmsKeyId", "snapshotId", "throughput", "type"})
    computed = ("arn", "createTime", "iops", "kmsKeyId", "size", "snapshotId", "throughput", "type")

    def check(self, inputs: Props) -> list[tuple[str, str]]:
        if inputs.get("size") is None and inputs.get("snapshotId") is None:
            return [("size", "a volume needs a size or a snapshotId")]
        return []

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        names = {
            "availabilityZone": "AvailabilityZone",
            "encrypted": "Encrypted",
            "iops": "Iops",
            "kmsKeyId": "KmsKeyId",
            "size": "Size",
            "snapshotId": "SnapshotId",
            "throughput": "Throughput",
            "type": "VolumeType",
        }
        made = aws.ec2.create_volume(
            TagSpecifications=self.specifications(tags), **take(inputs, names)
        )
        return str(made["VolumeId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        names = {"iops": "Iops", "size": "Size", "throughput": "Throughput", "type": "VolumeType"}
        if olds and changed(olds, news, *names):
            wanted = {name: news[name] for name in names if olds.get(name) != news.get(name)}
            aws.ec2.modify_volume(VolumeId=identity, **take(wanted, names))

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        return {
            "arn": self.arn(aws, identity),
            "availabilityZone": item["AvailabilityZone"],
            "createTime": item["CreateTime"].isoformat(),
            "encrypted": item["Encrypted"],
            "iops": item.get("Iops"),
            "kmsKeyId": item.get("KmsKeyId"),
            "size": item["Size"],
            "snapshotId": item.get("SnapshotId") or "",
            "throughput": item.get("Throughput"),
            "type": item["VolumeType"],
            **self.tagged(item),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.ec2.delete_volume(VolumeId=identity)


def _instance_state(aws: Aws, identity: str) -> str | None:
    """The state of an instance; None where it is gone."""
    found = aws.ec2.describe_instances(InstanceIds=[identity])["Reservations"]
    states = [one["State"]["Name"] for item in found for one in item["Instances"]]
    return next((state for state in states if state not in _DEAD), None)


class VolumeAttachment(Resource):
    """A volume on an instance."""

    token = "aws:ec2/volumeAttachment:VolumeAttachment"
    required = ("deviceName", "instanceId", "volumeId")
    replace = frozenset(required)
    inputs = (*required, "stopInstanceBeforeDetaching")
    computed = ()
    taggable = False

    @staticmethod
    def _id(inputs: Props) -> str:
        # As the AWS provider makes it.
        joined = (str(inputs[name]) for name in ("deviceName", "instanceId", "volumeId"))
        return f"vai-{zlib.crc32(''.join(f'{one}-' for one in joined).encode())}"

    def _held(self, aws: Aws, inputs: Props) -> dict[str, Any] | None:
        """The attachment as EC2 tells it; None where there is none."""
        found = aws.ec2.describe_volumes(VolumeIds=[inputs["volumeId"]])["Volumes"]
        return next(
            (
                dict(one)
                for volume in found
                for one in volume.get("Attachments", ())
                if (one["InstanceId"], one["Device"])
                == (inputs["instanceId"], inputs["deviceName"])
            ),
            None,
        )

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        names = {"deviceName": "Device", "instanceId": "InstanceId", "volumeId": "VolumeId"}
        aws.ec2.attach_volume(**take(inputs, names))
        return self._id(inputs)

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        held = self._held(aws, state)
        if held is None:
            return None
        return {
            "deviceName": held["Device"],
            "instanceId": held["InstanceId"],
            "volumeId": held["VolumeId"],
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        if self._held(aws, state) is None:
            return
        instance = state["instanceId"]
        if state.get("stopInstanceBeforeDetaching") and _instance_state(aws, instance) == "running":
            aws.ec2.stop_instances(InstanceIds=[instance])
        aws.ec2.detach_volume(
            VolumeId=state["volumeId"],
            InstanceId=instance,
            Device=state["deviceName"],
            Force=bool(state.get("forceDetach", False)),
        )


class InstanceState(Resource):
    """Whether an instance runs or stands still; taken away, it stays as it is."""

    token = "aws:ec2transitgateway/instanceState:InstanceState"
    required = ("instanceId", "state")
    replace = frozenset({"instanceId"})
    inputs = required
    computed = ()
    taggable = False

    def check(self, inputs: Props) -> list[tuple[str, str]]:
        state = inputs.get("state")
        if isinstance(state, str) and state not in ("running", "stopped"):
            return [("state", f"expected state to be one of running, stopped, got {state}")]
        return []

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        self._bring(aws, inputs)
        return str(inputs["instanceId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if olds and changed(olds, news, "state"):
            self._bring(aws, news)

    @staticmethod
    def _bring(aws: Aws, inputs: Props) -> None:
        identity = inputs["instanceId"]
        if _instance_state(aws, identity) != inputs["state"]:
            start = inputs["state"] == "running"
            call = aws.ec2.start_instances if start else aws.ec2.stop_instances
            call(InstanceIds=[identity])

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        now = _instance_state(aws, identity)
        return None if now is None else {"instanceId": identity, "state": now}

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        """Leaves the instance as it is."""
