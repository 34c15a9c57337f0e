"""Reads the instances of node groups from AWS, and writes their host names there.

A name is a tag of the instance and an address record in the private zone of the site. Reading takes
``autoscaling:DescribeAutoScalingGroups`` and ``ec2:DescribeInstances``; writing also
``ec2:CreateTags``, ``ssm:GetParameter``, ``route53:ListResourceRecordSets`` and
``route53:ChangeResourceRecordSets``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from rackwright.errors import ExternalToolError
from rackwright.exit_codes import ExitCode
from rackwright.locks import exclusive
from rackwright.plan.aws.access import parameter_path
from rackwright.plan.model import Plan
from rackwright.provision.naming import (
    GROUP_TAG,
    HOST_TAG,
    Naming,
    NodeInstance,
    assigned,
    held,
    record_changes,
)
from rackwright.provision.targets import Target

ATTEMPTS = 10
"""Times that a call is made when AWS throttles it or fails; the waits between them grow."""
GROUPS_PER_PAGE = 100
INSTANCES_PER_PAGE = 1000
TOPOLOGIES_PER_CALL = 100
RECORDS_PER_PAGE = 300
"""Items that one answer holds, or one call names: the most that the API gives."""
CHANGES_PER_BATCH = 400
"""Records changed by one call. Route 53 takes 1,000, and an ``UPSERT`` counts as two of them."""
_ALIVE = ["pending", "running", "stopping", "stopped"]
_LEAVING = ("Terminat", "Detach")


@dataclass(frozen=True, slots=True)
class Fleet:
    """The node groups of an AWS site, as the blueprint has them.

    Attributes:
        zone: name of the private zone.
        groups: instances wanted, by node group.
        servers: hosts whose names somebody else keeps.
    """

    cluster: str
    site: str
    region: str
    zone: str
    groups: Mapping[str, int]
    servers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """What giving names has done, or would do.

    Attributes:
        named: instances that got a name.
        records: changes of the private zone.
    """

    namings: tuple[Naming, ...]
    named: int
    records: int


class NothingProvisionedError(ExternalToolError):
    """The site has no network whose private zone could take names."""

    exit_code = ExitCode.NOTHING


def fleet_in(plan: Plan, name: str) -> Fleet:
    """The node groups of the AWS site ``name``, which the plan has."""
    planned = next(one for one in plan.aws if one.name == name)
    return Fleet(
        cluster=plan.name,
        site=planned.name,
        region=planned.region,
        zone=planned.network.dns_zone,
        groups={group.group.name: group.group.count for group in planned.groups},
        servers=tuple(host for servers in planned.servers for host in servers.names),
    )


def read(fleet: Fleet, target: Target) -> tuple[Naming, ...]:
    """The instances of each host by their tags; nothing is changed.

    Raises:
        ExternalToolError: AWS refuses, or cannot be reached.
    """
    found = _Aws(fleet, target).instances()
    return tuple(held(name, count, found.get(name, ())) for name, count in fleet.groups.items())


def network_nodes(fleet: Fleet, target: Target) -> dict[str, tuple[str, ...]]:
    """The network nodes above each host that has an instance, the highest first.

    EC2 tells nothing of types without a topology, and of instances that do not run.

    Raises:
        ExternalToolError: AWS refuses, or cannot be reached.
    """
    aws = _Aws(fleet, target)
    found = aws.instances()
    host_of = {
        one.id: host
        for name, count in fleet.groups.items()
        for host, one in held(name, count, found.get(name, ())).holders.items()
    }
    told = aws.topology(list(host_of))
    return {host: told[one] for one, host in host_of.items() if one in told}


def bind(
    fleet: Fleet,
    target: Target,
    *,
    say: Callable[[str], None] = lambda _line: None,
    dry: bool = False,
) -> Bound:
    """Give the instances without a name the free names, and the private zone their addresses.

    An instance keeps its name as long as it lives. A run that was cut off is finished by the next.

    Args:
        fleet: the node groups.
        target: where they are.
        say: takes lines about the progress.
        dry: change nothing, just find out.

    Raises:
        NothingProvisionedError: the network of the site is not there.
        ExternalToolError: AWS refuses, or cannot be reached.
    """
    if dry:
        return _bind(fleet, _Aws(fleet, target), say, dry=True)
    stack = f"{fleet.cluster}-{fleet.site}"
    with exclusive(target.state / "locks" / stack, what=f"site '{stack}'"):
        return _bind(fleet, _Aws(fleet, target), say, dry=False)


def _bind(fleet: Fleet, aws: _Aws, say: Callable[[str], None], *, dry: bool) -> Bound:
    zone_id = aws.zone_id()
    found = aws.instances()
    namings, named = [], 0
    for group, count in fleet.groups.items():
        naming = assigned(group, count, found.get(group, ()))
        unsettled = naming.unsettled
        if unsettled and not dry:
            say(f"hosts: naming {len(unsettled):,} instances of '{group}'")
            gone = [host for host, one in unsettled.items() if not aws.tag(one, host)]
            holders = {
                host: replace(one, host=host)
                for host, one in naming.holders.items()
                if host not in gone
            }
            naming = replace(naming, holders=holders)
            named -= len(gone)
        named += len(unsettled)
        namings.append(naming)
    changes = record_changes(fleet.zone, namings, aws.records(zone_id), spared=fleet.servers)
    if not dry:
        aws.change(zone_id, changes)
    return Bound(tuple(namings), named, len(changes))


@dataclass
class _Aws:
    """The calls, each with its pages and batches."""

    fleet: Fleet
    target: Target
    _clients: dict[str, Any] = field(default_factory=dict)

    def instances(self) -> dict[str, list[NodeInstance]]:
        """The living instances of each node group.

        An Auto Scaling group says which are its own, EC2 what they are.
        """
        fleet = self.fleet
        own = [
            {"Name": "tag:rackwright:cluster", "Values": [fleet.cluster]},
            {"Name": "tag:rackwright:site", "Values": [fleet.site]},
        ]
        group_of: dict[str, str] = {}
        groups = self._pages(
            "autoscaling", "describe_auto_scaling_groups", GROUPS_PER_PAGE, Filters=own
        )
        for group in (one for page in groups for one in page["AutoScalingGroups"]):
            name = _tags(group).get(GROUP_TAG)
            for one in group["Instances"]:
                if name is not None and not one["LifecycleState"].startswith(_LEAVING):
                    group_of[one["InstanceId"]] = name
        found: dict[str, list[NodeInstance]] = {}
        filters = [
            *own,
            {"Name": "tag-key", "Values": [GROUP_TAG]},
            {"Name": "instance-state-name", "Values": _ALIVE},
        ]
        pages = self._pages("ec2", "describe_instances", INSTANCES_PER_PAGE, Filters=filters)
        for reservation in (one for page in pages for one in page["Reservations"]):
            for one in reservation["Instances"]:
                if one["InstanceId"] in group_of:
                    made = NodeInstance(
                        id=one["InstanceId"],
                        launched=one["LaunchTime"],
                        address=one.get("PrivateIpAddress"),
                        host=_tags(one).get(HOST_TAG),
                    )
                    found.setdefault(group_of[made.id], []).append(made)
        return found

    def topology(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The network nodes above each of these instances of which EC2 tells them."""
        found: dict[str, tuple[str, ...]] = {}
        client = self._client("ec2")
        for begin in range(0, len(ids), TOPOLOGIES_PER_CALL):
            batch = list(ids[begin : begin + TOPOLOGIES_PER_CALL])
            with _refusals("ec2:DescribeInstanceTopology"):
                told = client.describe_instance_topology(InstanceIds=batch)
            for one in told["Instances"]:
                if nodes := one.get("NetworkNodes"):
                    found[one["InstanceId"]] = tuple(nodes)
        return found

    def zone_id(self) -> str:
        """The private zone, from the parameter that the network's stack has written.

        Raises:
            NothingProvisionedError: there is none.
        """
        name = f"{parameter_path(self.fleet.cluster, self.fleet.site)}/network"
        client = self._client("ssm")
        with _refusals("ssm:GetParameter"):
            try:
                value = client.get_parameter(Name=name)["Parameter"]["Value"]
            except client.exceptions.ParameterNotFound:
                raise NothingProvisionedError(
                    f"there is no parameter '{name}' in '{self.fleet.region}'",
                    hint="provision the site first: rackwright up",
                ) from None
        return str(json.loads(value)["dns_zone_id"])

    def records(self, zone_id: str) -> list[dict[str, Any]]:
        """The simple records of the zone."""
        pages = self._pages(
            "route53", "list_resource_record_sets", RECORDS_PER_PAGE, HostedZoneId=zone_id
        )
        listed = [one for page in pages for one in page["ResourceRecordSets"]]
        return [one for one in listed if "ResourceRecords" in one and "SetIdentifier" not in one]

    def tag(self, one: NodeInstance, host: str) -> bool:
        """Give an instance its name; False where it has just gone.

        One call tags an instance: EC2 gives all instances of a call the same value.
        """
        from botocore.exceptions import ClientError

        tags = [{"Key": HOST_TAG, "Value": host}]
        with _refusals("ec2:CreateTags"):
            try:
                self._client("ec2").create_tags(Resources=[one.id], Tags=tags)
            except ClientError as error:
                if _code(error) != "InvalidInstanceID.NotFound":
                    raise
                return False
        return True

    def change(self, zone_id: str, changes: Sequence[Mapping[str, Any]]) -> None:
        """Change records of the zone, a batch after the other."""
        client = self._client("route53")
        for begin in range(0, len(changes), CHANGES_PER_BATCH):
            batch = list(changes[begin : begin + CHANGES_PER_BATCH])
            with _refusals("route53:ChangeResourceRecordSets"):
                client.change_resource_record_sets(
                    HostedZoneId=zone_id, ChangeBatch={"Changes": batch}
                )

    def _pages(self, service: str, operation: str, size: int, **arguments: Any) -> Iterator[Any]:
        paginator = self._client(service).get_paginator(operation)
        with _refusals(f"{service}:{operation.title().replace('_', '')}"):
            yield from paginator.paginate(PaginationConfig={"PageSize": size}, **arguments)

    def _client(self, service: str) -> Any:
        if service not in self._clients:
            with _refusals(service):
                self._clients[service] = _make_client(self.target, service, self.fleet.region)
        return self._clients[service]


def _make_client(target: Target, service: str, region: str) -> Any:
    """A client of the place where ``target`` provisions.

    On AWS the credentials are those that boto3 finds, the same that the Pulumi provider does.
    """
    import boto3
    from botocore.config import Config

    retries = {"total_max_attempts": ATTEMPTS, "mode": "adaptive"}
    if target.endpoint is None:
        made = boto3.session.Session().client(
            service, region_name=region, config=Config(retries=retries)
        )
    else:
        # Real credentials and a proxy's hosts must not meet the embedded AWS.
        made = boto3.session.Session(
            aws_access_key_id=target.environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=target.environment["AWS_SECRET_ACCESS_KEY"],
        ).client(
            service,
            region_name=region,
            endpoint_url=target.endpoint,
            config=Config(retries=retries, proxies={}),
        )
    return made


@contextmanager
def _refusals(action: str) -> Iterator[None]:
    """Turn what AWS refuses into an error that says what was asked."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        message = str(error.response.get("Error", {}).get("Message", "")).strip().rstrip(".")
        hint = "run the same command again"
        if "AccessDenied" in _code(error) or "Unauthorized" in _code(error):
            hint = f"the credentials need the permission '{action}'"
        raise ExternalToolError(
            f"AWS refuses '{action}': {_code(error)}: {message}", hint=hint
        ) from None
    except BotoCoreError as error:
        raise ExternalToolError(
            f"AWS cannot be asked for '{action}': {error}",
            hint="look at the credentials and the network",
        ) from None


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", "unknown"))


def _tags(described: Mapping[str, Any]) -> dict[str, str]:
    return {one["Key"]: one["Value"] for one in described.get("Tags", ())}
