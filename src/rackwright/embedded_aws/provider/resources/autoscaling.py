# ruff: noqa: D102, S105 - Resource describes the methods; a token names a type
"""Auto Scaling groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.embedded_aws.provider.aws import Aws
from rackwright.embedded_aws.provider.resource import Resource, changed, take
from rackwright.embedded_aws.provider.resources.ec2_template import to_api
from rackwright.embedded_aws.provider.wire import Props

_FIELDS = {
    "capacityRebalance": "CapacityRebalance",
    "defaultCooldown": "DefaultCooldown",
    "desiredCapacity": "DesiredCapacity",
    "healthCheckGracePeriod": "HealthCheckGracePeriod",
    "healthCheckType": "HealthCheckType",
    "maxSize": "MaxSize",
    "minSize": "MinSize",
    "placementGroup": "PlacementGroup",
    "protectFromScaleIn": "NewInstancesProtectedFromScaleIn",
    "terminationPolicies": "TerminationPolicies",
}
_ONLY_CREATE = ("CapacityRebalance", "TerminationPolicies")
_PER_CALL = 50
"""Instances whose protection one call sets at most (Amazon EC2 Auto Scaling API, SetInstanceProtection)."""


class Group(Resource):
    """An Auto Scaling group."""

    token = "aws:autoscaling/group:Group"
    named = "name"
    replace = frozenset({"name", "namePrefix"})
    required = ("maxSize", "minSize")
    inputs = (
        "name",
        "vpcZoneIdentifiers",
        "launchTemplate",
        "mixedInstancesPolicy",
        "suspendedProcesses",
        *_FIELDS,
    )
    computed = ("arn", "availabilityZones", "defaultCooldown", "desiredCapacity")
    unordered = frozenset({"suspendedProcesses", "tags", "vpcZoneIdentifiers"})
    taggable = False

    def check(self, inputs: Props) -> list[tuple[str, str]]:
        low, high = inputs["minSize"], inputs["maxSize"]
        desired = inputs.get("desiredCapacity", low)
        known = all(isinstance(one, int) for one in (low, high, desired))
        if known and not low <= desired <= high:
            text = f"minSize {low}, desiredCapacity {desired}, maxSize {high} do not ascend"
            return [("desiredCapacity", text)]
        if not inputs.get("launchTemplate") and not inputs.get("mixedInstancesPolicy"):
            return [("launchTemplate", "a group needs a launchTemplate or mixedInstancesPolicy")]
        return []

    def _one(self, aws: Aws, name: str) -> dict[str, Any] | None:
        groups = aws.client("autoscaling").describe_auto_scaling_groups(
            AutoScalingGroupNames=[name]
        )["AutoScalingGroups"]
        found: dict[str, Any] | None = groups[0] if groups else None
        return found

    @staticmethod
    def _source(inputs: Props) -> dict[str, Any]:
        if inputs.get("mixedInstancesPolicy"):
            return {"MixedInstancesPolicy": to_api(inputs["mixedInstancesPolicy"])}
        names = {"id": "LaunchTemplateId", "name": "LaunchTemplateName", "version": "Version"}
        reference = dict(inputs.get("launchTemplate") or {})
        if reference.get("id"):
            reference.pop("name", None)
        return {"LaunchTemplate": take(reference, names)}

    @staticmethod
    def _where(inputs: Props) -> dict[str, Any]:
        if inputs.get("vpcZoneIdentifiers"):
            return {"VPCZoneIdentifier": ",".join(inputs["vpcZoneIdentifiers"])}
        return take(inputs, {"availabilityZones": "AvailabilityZones"})

    @staticmethod
    def _tags(inputs: Props, default: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        tags = {
            key: {"Key": key, "Value": value, "PropagateAtLaunch": True}
            for key, value in default.items()
        }
        for one in inputs.get("tags") or []:
            tags[one["key"]] = {
                "Key": one["key"],
                "Value": str(one["value"]),
                "PropagateAtLaunch": bool(one.get("propagateAtLaunch", False)),
            }
        return tags

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        held = self._tags(inputs, aws.default_tags)
        aws.client("autoscaling").create_auto_scaling_group(
            AutoScalingGroupName=inputs["name"],
            Tags=list(held.values()),
            **take(inputs, _FIELDS),
            **self._source(inputs),
            **self._where(inputs),
        )
        return str(inputs["name"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        client = aws.client("autoscaling")
        sources = ("launchTemplate", "mixedInstancesPolicy", "vpcZoneIdentifiers")
        if olds and changed(olds, news, *_FIELDS, *sources, "availabilityZones"):
            fields = take(news, _FIELDS)
            for name in _ONLY_CREATE:
                fields.pop(name, None)
            client.update_auto_scaling_group(
                AutoScalingGroupName=identity,
                **fields,
                **self._source(news),
                **self._where(news),
            )
        self._suspend(client, identity, olds, news)
        if olds and changed(olds, news, "tags"):
            before = self._tags(olds, aws.default_tags)
            after = self._tags(news, aws.default_tags)
            owner = {"ResourceId": identity, "ResourceType": "auto-scaling-group"}
            gone = [before[key] | owner for key in before.keys() - after.keys()]
            new = [tag | owner for key, tag in after.items() if before.get(key) != tag]
            if gone:
                client.delete_tags(Tags=gone)
            if new:
                client.create_or_update_tags(Tags=new)

    @staticmethod
    def _suspend(client: Any, identity: str, olds: Props, news: Props) -> None:
        before = set(olds.get("suspendedProcesses") or ())
        after = set(news.get("suspendedProcesses") or ())
        if before - after:
            client.resume_processes(
                AutoScalingGroupName=identity, ScalingProcesses=sorted(before - after)
            )
        if after - before:
            client.suspend_processes(
                AutoScalingGroupName=identity, ScalingProcesses=sorted(after - before)
            )

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        group = self._one(aws, identity)
        if group is None:
            return None
        subnets = group.get("VPCZoneIdentifier")
        template = group.get("LaunchTemplate")
        live: Props = {
            "arn": group["AutoScalingGroupARN"],
            "name": group["AutoScalingGroupName"],
            "availabilityZones": sorted(set(group["AvailabilityZones"])),
            "vpcZoneIdentifiers": subnets.split(",") if subnets else None,
            "minSize": group["MinSize"],
            "maxSize": group["MaxSize"],
            "desiredCapacity": group["DesiredCapacity"],
            "defaultCooldown": group.get("DefaultCooldown"),
            "healthCheckType": group.get("HealthCheckType"),
            "healthCheckGracePeriod": group.get("HealthCheckGracePeriod"),
            "placementGroup": group.get("PlacementGroup") or None,
            "protectFromScaleIn": group.get("NewInstancesProtectedFromScaleIn"),
            "suspendedProcesses": [one["ProcessName"] for one in group["SuspendedProcesses"]],
            "tags": [
                {
                    "key": one["Key"],
                    "value": one["Value"],
                    "propagateAtLaunch": one["PropagateAtLaunch"],
                }
                for one in group.get("Tags", [])
                if one["Key"] not in aws.default_tags
            ]
            or state.get("tags"),
        }
        if template and state.get("launchTemplate"):
            wanted = state["launchTemplate"]
            live["launchTemplate"] = {
                "id": template["LaunchTemplateId"],
                "name": template["LaunchTemplateName"],
                **({"version": template["Version"]} if wanted.get("version") else {}),
            }
        return live

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        group = self._one(aws, identity)
        if group is None:
            return
        client = aws.client("autoscaling")
        if instances := [one["InstanceId"] for one in group["Instances"]]:
            # As AWS's provider does: a group without instances has none that are protected from scale-in.
            for first in range(0, len(instances), _PER_CALL):
                client.set_instance_protection(
                    AutoScalingGroupName=identity,
                    InstanceIds=instances[first : first + _PER_CALL],
                    ProtectedFromScaleIn=False,
                )
            client.update_auto_scaling_group(
                AutoScalingGroupName=identity, MinSize=0, MaxSize=0, DesiredCapacity=0
            )
        client.delete_auto_scaling_group(AutoScalingGroupName=identity, ForceDelete=True)
