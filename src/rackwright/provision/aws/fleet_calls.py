"""The calls of AWS that are about the instances of node groups and their names.

Reading takes ``autoscaling:DescribeAutoScalingGroups``, ``ec2:DescribeInstances`` and
``ec2:DescribeLaunchTemplateVersions``; writing also ``ec2:CreateTags``,
``autoscaling:SetInstanceProtection``, ``ssm:GetParameter``, ``route53:ListResourceRecordSets`` and
``route53:ChangeResourceRecordSets``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rackwright.errors import ExternalToolError
from rackwright.exit_codes import ExitCode
from rackwright.plan.aws.access import parameter_path
from rackwright.plan.aws.names import site_prefix
from rackwright.provision.access.errors import error_code, refusals
from rackwright.provision.aws.calls import make_client
from rackwright.provision.aws.capacity import CAPACITY_ADVICE, lacks_capacity
from rackwright.provision.naming import (
    GROUP_TAG,
    HOST_TAG,
    Naming,
    NodeInstance,
    TemplateVersion,
    held,
)
from rackwright.provision.outdated import ScalingGroup
from rackwright.provision.targets import Target

GROUPS_PER_PAGE = 100
INSTANCES_PER_PAGE = 1000
SUBNETS_PER_PAGE = 1000
PROTECTED_PER_CALL = 50
TOPOLOGIES_PER_CALL = 100
ACTIVITIES_READ = 20
RECORDS_PER_PAGE = 300
"""Items that one answer holds, or one call names: the most that the API gives."""
CHANGES_PER_BATCH = 400
"""Records changed by one call. Route 53 takes 1,000, and an ``UPSERT`` counts as two of them."""
SNAPSHOT_WAITS = 240
"""Times that a snapshot is looked at, 15 s apart: an hour."""
_ALIVE = ["pending", "running", "stopping", "stopped"]
_LEAVING = ("Terminat", "Detach")
_TEMPLATE_ID, _TEMPLATE_VERSION = "aws:ec2launchtemplate:id", "aws:ec2launchtemplate:version"
"""Tags that EC2 puts on an instance with the launch template that it was launched from."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """The node groups of an AWS site, as the blueprint has them.

    Attributes:
        zone: name of the private zone.
        groups: instances wanted, by node group.
        digits: least number of digits in the host names of a node group; 1 where it is not there.
        reserved: node groups with reserved capacity, which stays theirs when an instance ends.
        servers: hosts whose names somebody else keeps: head and login nodes, and elastic nodes.
    """

    cluster: str
    site: str
    region: str
    zone: str
    groups: Mapping[str, int]
    servers: tuple[str, ...]
    digits: Mapping[str, int] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()

    def held(self, group: str, instances: Iterable[NodeInstance]) -> Naming:
        """Return the names that instances of ``group`` have by their tags."""
        return held(group, self.groups.get(group, 0), instances, digits=self.digits.get(group, 1))


class NothingProvisionedError(ExternalToolError):
    """The site has no network whose private zone could take names."""

    exit_code = ExitCode.NOTHING


@dataclass
class FleetCalls:
    """The calls, each with its pages and batches."""

    fleet: Fleet
    target: Target
    _clients: dict[str, Any] = field(default_factory=dict)

    def groups(self) -> list[ScalingGroup]:
        """Return the Auto Scaling groups of the site's node groups, with the instances that are their own."""
        pages = self._pages(
            "autoscaling", "describe_auto_scaling_groups", GROUPS_PER_PAGE, Filters=self._own()
        )
        described = [one for page in pages for one in page["AutoScalingGroups"]]
        return [_scaling_group(one) for one in described if GROUP_TAG in _tags(one)]

    def instances(
        self, groups: Sequence[ScalingGroup] | None = None
    ) -> dict[str, list[NodeInstance]]:
        """Return the living instances of each node group.

        An Auto Scaling group says which are its own, EC2 what they are.
        """
        groups = self.groups() if groups is None else groups
        group_of = {one: group for group in groups for one in group.members}
        found: dict[str, list[NodeInstance]] = {}
        filters = [
            *self._own(),
            {"Name": "tag-key", "Values": [GROUP_TAG]},
            {"Name": "instance-state-name", "Values": _ALIVE},
        ]
        pages = self._pages("ec2", "describe_instances", INSTANCES_PER_PAGE, Filters=filters)
        for reservation in (one for page in pages for one in page["Reservations"]):
            for one in reservation["Instances"]:
                group = group_of.get(one["InstanceId"])
                if group is not None:
                    found.setdefault(group.group, []).append(_instance(one))
        return found

    def _own(self) -> list[dict[str, Any]]:
        """Return filters that fit what belongs to the site."""
        return [
            {"Name": "tag:rackwright:cluster", "Values": [self.fleet.cluster]},
            {"Name": "tag:rackwright:site", "Values": [self.fleet.site]},
        ]

    def subnets(self) -> dict[str, str]:
        """Return the addresses of each subnet that the site's network has, by the name in its tag."""
        pages = self._pages("ec2", "describe_subnets", SUBNETS_PER_PAGE, Filters=self._own())
        described = (one for page in pages for one in page["Subnets"])
        return {_tags(one).get("Name", ""): str(one["CidrBlock"]) for one in described}

    def template(self, version: TemplateVersion) -> Mapping[str, Any] | None:
        """Return a version of a launch template; None if it no longer exists.

        Raises:
            ExternalToolError: AWS refuses, or cannot be asked.
        """  # noqa: DOC501 - refusals() turns ClientError into it
        from botocore.exceptions import ClientError

        with refusals("ec2:DescribeLaunchTemplateVersions"):
            try:
                told = self._client("ec2").describe_launch_template_versions(
                    LaunchTemplateId=version.id, Versions=[version.number]
                )["LaunchTemplateVersions"]
            except ClientError as error:
                if not error_code(error).startswith("InvalidLaunchTemplate"):
                    raise
                return None
        return told[0]["LaunchTemplateData"] if told else None

    def protect(self, name: str, ids: Sequence[str]) -> None:
        """Keep a group from choosing these of its instances when it gets smaller."""
        client = self._client("autoscaling")
        for begin in range(0, len(ids), PROTECTED_PER_CALL):
            with refusals("autoscaling:SetInstanceProtection"):
                client.set_instance_protection(
                    AutoScalingGroupName=name,
                    InstanceIds=list(ids[begin : begin + PROTECTED_PER_CALL]),
                    ProtectedFromScaleIn=True,
                )

    def end(self, instance: str, *, smaller: bool) -> None:
        """End an instance of a group, which gets smaller by it or launches another one."""
        with refusals("autoscaling:TerminateInstanceInAutoScalingGroup"):
            self._client("autoscaling").terminate_instance_in_auto_scaling_group(
                InstanceId=instance, ShouldDecrementDesiredCapacity=smaller
            )

    def lower_minimum(self, name: str, count: int) -> None:
        """Let a group become as small as ``count``; that ends nothing."""
        with refusals("autoscaling:UpdateAutoScalingGroup"):
            self._client("autoscaling").update_auto_scaling_group(
                AutoScalingGroupName=name, MinSize=count
            )

    def resize(self, name: str, count: int) -> None:
        """Set the desired and the largest size of a group to ``count``; its smallest size stays."""
        with refusals("autoscaling:UpdateAutoScalingGroup"):
            self._client("autoscaling").update_auto_scaling_group(
                AutoScalingGroupName=name, MaxSize=count, DesiredCapacity=count
            )

    def last_failure(self, group: str) -> str | None:
        """Return what AWS says of the last instance that a node group could not launch, and what to do.

        None where it could launch all of the last ones.
        """
        found = next((one for one in self.groups() if one.group == group), None)
        if found is None:
            return f"the node group '{group}' has no Auto Scaling group"
        told = map(failure_of, self.activities(found.name, ACTIVITIES_READ))
        return next((words for words in told if words is not None), None)

    def activities(self, name: str, count: int) -> list[Mapping[str, Any]]:
        """Return the last activities of an Auto Scaling group, the newest first."""
        with refusals("autoscaling:DescribeScalingActivities"):
            told = self._client("autoscaling").describe_scaling_activities(
                AutoScalingGroupName=name, MaxRecords=count
            )["Activities"]
        return list(told[:count])

    def shared_parameter(self, what: str) -> Mapping[str, Any]:
        """Return the outputs of a stack of the site, from the parameter that it has written.

        Raises:
            NothingProvisionedError: there is none.
        """
        name = f"{parameter_path(self.fleet.cluster, self.fleet.site)}/{what}"
        client = self._client("ssm")
        with refusals("ssm:GetParameter"):
            try:
                value = client.get_parameter(Name=name)["Parameter"]["Value"]
            except client.exceptions.ParameterNotFound:
                raise NothingProvisionedError(
                    f"there is no parameter '{name}' in '{self.fleet.region}'",
                    hint="provision the site first: rackwright up",
                ) from None
        told: Mapping[str, Any] = json.loads(value)
        return told

    def servers(self, hosts: Collection[str]) -> dict[str, str]:
        """Return the living instance of each of these head nodes that has one."""
        prefix = site_prefix(self.fleet.cluster, self.fleet.site)
        name_of = {f"{prefix}-{host}": host for host in hosts}
        return {
            name_of[tags["Name"]]: str(one["InstanceId"])
            for one in self._heads()
            if (tags := _tags(one)).get("Name") in name_of
        }

    def _heads(self) -> Iterator[Mapping[str, Any]]:
        filters = [
            *self._own(),
            {"Name": "tag:rackwright:role", "Values": ["head"]},
            {"Name": "instance-state-name", "Values": _ALIVE},
        ]
        for page in self._pages("ec2", "describe_instances", INSTANCES_PER_PAGE, Filters=filters):
            for reservation in page["Reservations"]:
                yield from reservation["Instances"]

    def release_servers(self) -> list[str]:
        """Lift the protection from termination of head nodes; their instances."""
        found = [str(one["InstanceId"]) for one in self._heads()]
        for one in found:
            self.release(one)
        return found

    def release(self, instance: str) -> None:
        """Lift the protection from termination of an instance."""
        with refusals("ec2:ModifyInstanceAttribute"):
            self._client("ec2").modify_instance_attribute(
                InstanceId=instance, DisableApiTermination={"Value": False}
            )

    def snapshot(self, instance: str, description: str) -> list[str]:
        """Return snapshots of all volumes of an instance at one moment, which are not complete yet; their ids."""
        tags = {
            "rackwright:cluster": self.fleet.cluster,
            "rackwright:site": self.fleet.site,
            "Name": description,
        }
        listed = [{"Key": key, "Value": value} for key, value in tags.items()]
        with refusals("ec2:CreateSnapshots"):
            made = self._client("ec2").create_snapshots(
                InstanceSpecification={"InstanceId": instance},
                Description=description,
                TagSpecifications=[{"ResourceType": "snapshot", "Tags": listed}],
            )
        return [str(one["SnapshotId"]) for one in made["Snapshots"]]

    def wait_for_snapshots(self, ids: Sequence[str]) -> None:
        """Wait until snapshots are complete.

        Raises:
            ExternalToolError: they are not, in the time that AWS's own waiter takes.
        """
        from botocore.exceptions import WaiterError

        waiter = self._client("ec2").get_waiter("snapshot_completed")
        pace = {"Delay": 15, "MaxAttempts": SNAPSHOT_WAITS}
        with refusals("ec2:DescribeSnapshots"):
            try:
                waiter.wait(SnapshotIds=list(ids), WaiterConfig=pace)
            except WaiterError as error:
                raise ExternalToolError(
                    f"the snapshots {', '.join(ids)} are not complete: {error}",
                    hint="run the same command again once they are",
                ) from None

    def topology(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the network nodes above each of these instances of which EC2 tells them."""
        found: dict[str, tuple[str, ...]] = {}
        client = self._client("ec2")
        for begin in range(0, len(ids), TOPOLOGIES_PER_CALL):
            batch = list(ids[begin : begin + TOPOLOGIES_PER_CALL])
            with refusals("ec2:DescribeInstanceTopology"):
                told = client.describe_instance_topology(InstanceIds=batch)
            for one in told["Instances"]:
                if nodes := one.get("NetworkNodes"):
                    found[one["InstanceId"]] = tuple(nodes)
        return found

    def zone_id(self) -> str:
        """Return the private zone, from the parameter that the network's stack has written.

        Raises:
            NothingProvisionedError: there is none.
        """
        return str(self.shared_parameter("network")["dns_zone_id"])

    def records(self, zone_id: str) -> list[dict[str, Any]]:
        """Return the simple records of the zone."""
        pages = self._pages(
            "route53", "list_resource_record_sets", RECORDS_PER_PAGE, HostedZoneId=zone_id
        )
        listed = [one for page in pages for one in page["ResourceRecordSets"]]
        return [one for one in listed if "ResourceRecords" in one and "SetIdentifier" not in one]

    def tag(self, one: NodeInstance, host: str) -> bool:
        """Give an instance its name; False where it has just gone.

        One call tags an instance: EC2 gives all instances of a call the same value.

        Raises:
            ExternalToolError: AWS refuses, or cannot be asked.
        """  # noqa: DOC501 - refusals() turns ClientError into it
        from botocore.exceptions import ClientError

        tags = [{"Key": HOST_TAG, "Value": host}]
        with refusals("ec2:CreateTags"):
            try:
                self._client("ec2").create_tags(Resources=[one.id], Tags=tags)
            except ClientError as error:
                if error_code(error) != "InvalidInstanceID.NotFound":
                    raise
                return False
        return True

    def change(self, zone_id: str, changes: Sequence[Mapping[str, Any]]) -> None:
        """Change records of the zone, a batch after the other."""
        client = self._client("route53")
        for begin in range(0, len(changes), CHANGES_PER_BATCH):
            batch = list(changes[begin : begin + CHANGES_PER_BATCH])
            with refusals("route53:ChangeResourceRecordSets"):
                client.change_resource_record_sets(
                    HostedZoneId=zone_id, ChangeBatch={"Changes": batch}
                )

    def _pages(self, service: str, operation: str, size: int, **arguments: Any) -> Iterator[Any]:
        paginator = self._client(service).get_paginator(operation)
        with refusals(f"{service}:{operation.title().replace('_', '')}"):
            yield from paginator.paginate(PaginationConfig={"PageSize": size}, **arguments)

    def _client(self, service: str) -> Any:
        if service not in self._clients:
            with refusals(service):
                self._clients[service] = make_client(self.target, service, self.fleet.region)
        return self._clients[service]


def failure_of(activity: Mapping[str, Any]) -> str | None:
    """Return what AWS says of a launch that failed, and what to do where capacity is lacking; None if it did not."""
    if activity["StatusCode"] != "Failed":
        return None
    text = str(activity.get("StatusMessage", "")).strip().rstrip(".")
    if not lacks_capacity(text):
        return text
    return f"{text}; the group asks again by itself: {CAPACITY_ADVICE}"


def _scaling_group(described: Mapping[str, Any]) -> ScalingGroup:
    told = described.get("LaunchTemplate") or {}
    template = None
    if "LaunchTemplateId" in told:
        template = TemplateVersion(told["LaunchTemplateId"], told.get("Version", "$Default"))
    return ScalingGroup(
        name=described["AutoScalingGroupName"],
        group=_tags(described)[GROUP_TAG],
        template=template,
        subnets=frozenset(filter(None, described.get("VPCZoneIdentifier", "").split(","))),
        minimum=described["MinSize"],
        # One that only begins cannot be protected yet; it takes over what its group says.
        members={
            one["InstanceId"]: bool(one.get("ProtectedFromScaleIn"))
            or one["LifecycleState"].startswith("Pending")
            for one in described["Instances"]
            if not one["LifecycleState"].startswith(_LEAVING)
        },
        unhealthy=frozenset(
            one["InstanceId"] for one in described["Instances"] if one["HealthStatus"] != "Healthy"
        ),
        maximum=described["MaxSize"],
        pending=frozenset(
            one["InstanceId"]
            for one in described["Instances"]
            if one["LifecycleState"].startswith("Pending")
        ),
    )


def _instance(described: Mapping[str, Any]) -> NodeInstance:
    tags = _tags(described)
    template = None
    if _TEMPLATE_ID in tags and _TEMPLATE_VERSION in tags:
        template = TemplateVersion(tags[_TEMPLATE_ID], tags[_TEMPLATE_VERSION])
    return NodeInstance(
        id=described["InstanceId"],
        launched=described["LaunchTime"],
        address=described.get("PrivateIpAddress"),
        host=tags.get(HOST_TAG),
        template=template,
        subnet=described.get("SubnetId"),
    )


def _tags(described: Mapping[str, Any]) -> dict[str, str]:
    return {one["Key"]: one["Value"] for one in described.get("Tags", ())}
