"""A site on AWS: network, capacity, nodes and file systems."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from ipaddress import IPv4Network
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from rackwright.model.aws_partitions import REGION, partition, partition_of_arn
from rackwright.model.aws_storage import ElasticFileSystem, ExistingLustre, SecurityGroupId
from rackwright.model.base import MaybeEmpty, Model
from rackwright.model.field_kinds import (
    HARDWARE,
    KEY,
    PART,
    POLICIES_ONLY,
    STATEMENT,
    Claim,
    Rollout,
)
from rackwright.model.names import Name, NameDigits
from rackwright.model.storage import Workload
from rackwright.model.units import (
    Gibibytes,
    MegabytesPerSecond,
    MegabytesPerSecondPerTebibyte,
    Percent,
    Seconds,
)

_AT_CREATION = "chosen at creation: another file system would take its place; make one beside it and move the data"
_FOR_LIFE = "an instance keeps it for life, and a placement group goes with its last instance"
_KEPT = "it is unmounted on every node; it exists without the stacks and stays as it is"
_LINK = "the link is replaced; the bucket and the files stay"
_MODIFIED = "the volume is modified as it is used"
_NEXT_HEAD = "another head node takes its place, once 'up --replace-head' is given: snapshots are made, it is stopped, and its data volume is detached, stays as it is and goes to the new one"
_RETAINED = "the file system and all data in it would go; they are retained until taken out by hand"
_STAYS = "hosts and file systems stay where they are"
_SURPLUS = "'up' ends no node: 'rackwright replace --surplus' drains and ends them before"
_TEMPLATE = "a new version of the launch template: nodes stay what they are until 'rackwright replace --outdated' drains and replaces them in turn"


def _check_network(text: str) -> str:
    IPv4Network(text)
    return text


Cidr = Annotated[str, AfterValidator(_check_network)]
"""An IPv4 network like ``10.20.0.0/16``, host bits zero."""


def _in_utc(moment: dt.datetime) -> dt.datetime:
    return (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)


Moment = Annotated[dt.datetime, AfterValidator(_in_utc)]
"""A point in time, in UTC, as which one without a zone is read."""


class OnDemand(Model):
    """Capacity bought when it is launched."""

    kind: Annotated[Literal["on-demand"], HARDWARE]
    """Bought by the hour, where there is capacity."""


class Reservation(Model):
    """A targeted on-demand capacity reservation (ODCR)."""

    kind: Annotated[Literal["reservation"], HARDWARE]
    """An on-demand capacity reservation."""
    id: Annotated[str, Field(pattern=r"^cr-[0-9a-f]{8,17}$"), KEY]
    """Id of the reservation."""
    placement_group: Annotated[str | None, HARDWARE] = None
    """Placement group that the reservation was made in; nodes may use no other."""
    instances: Annotated[int | None, Field(gt=0), Claim(looser="higher"), POLICIES_ONLY] = None
    """Instances it reserves, as recorded; absent where unknown."""
    availability_zone: Annotated[str | None, Claim(looser="either"), POLICIES_ONLY] = None
    """Zone it lies in, as recorded; absent where unknown."""
    ends: Annotated[Moment | Literal["never"] | None, Claim(looser="either"), POLICIES_ONLY] = None
    """When it is cancelled and launches no more; ``never`` until somebody does, absent where unknown."""


class CapacityBlock(Model):
    """A capacity block for machine learning."""

    kind: Annotated[Literal["capacity-block"], HARDWARE]
    """A capacity block, bought for some days."""
    id: Annotated[str, Field(pattern=r"^cr-[0-9a-f]{8,17}$"), KEY]
    """Id of the block's capacity reservation."""
    instances: Annotated[int | None, Field(gt=0), Claim(looser="either"), POLICIES_ONLY] = None
    """Instances in the block, as recorded; absent where unknown."""
    availability_zone: Annotated[str | None, Claim(looser="either"), POLICIES_ONLY] = None
    """Zone it lies in, as recorded; absent where unknown."""
    starts: Annotated[Moment | None, Claim(looser="either"), POLICIES_ONLY] = None
    """When its instances can be launched, as recorded."""
    ends: Annotated[Moment, Claim(looser="higher"), POLICIES_ONLY]
    """When AWS takes the instances back; termination starts 30 minutes before."""

    @property
    def terminates(self) -> dt.datetime:
        """When AWS begins to end its instances (Amazon EC2 User Guide, "Capacity Blocks for ML")."""
        return self.ends - dt.timedelta(minutes=30)

    @model_validator(mode="after")
    def _ends_after_its_start(self) -> CapacityBlock:
        if self.starts is not None and self.starts >= self.ends:
            raise ValueError(
                f"'{self.id}' starts at {self.starts}, which is not before {self.ends}"
            )
        return self


Capacity = Annotated[OnDemand | Reservation | CapacityBlock, Field(discriminator="kind")]


class AwsNodeGroup(Model):
    """Equal instances in one Auto Scaling group."""

    name: Annotated[Name, KEY]
    """How the rest of the blueprint calls it."""
    type: Annotated[str, HARDWARE, Rollout("rolling", _TEMPLATE)]
    """EC2 instance type."""
    count: Annotated[
        int,
        Field(ge=0),
        HARDWARE,
        Rollout("in place", "more instances", on="grown"),
        Rollout("drain", _SURPLUS, on="shrunk"),
    ]
    """Number of instances."""
    name_digits: Annotated[
        NameDigits,
        HARDWARE,
        Rollout("in place", "hosts that it renames are listed with the group's hosts"),
    ] = 1
    """Least number of digits in its host names: with 4, the first is ``train-0001``. A group that grows
    renames no host. 1 if omitted: numbers have no leading zeros."""
    capacity: Annotated[Capacity, PART, Rollout("replace", _FOR_LIFE)]
    """How the instances are bought."""
    image: Annotated[
        str,
        Field(pattern=r"^(ami-[0-9a-f]{8,17}|ssm:/.+)$"),
        HARDWARE,
        Rollout("rolling", _TEMPLATE),
    ]
    """AMI id, or ``ssm:/path`` of the public parameter that holds it."""
    efa: Annotated[bool, HARDWARE, Rollout("replace", _FOR_LIFE)] = True
    """Attach every EFA interface that the type has; the type must have some."""
    placement_group: Annotated[str | None, HARDWARE, Rollout("replace", _FOR_LIFE)] = None
    """Existing placement group to use; absent, the kind of capacity decides."""
    metadata_hops: Annotated[int, Field(ge=1, le=64), HARDWARE, Rollout("rolling", _TEMPLATE)] = 1
    """How far the instance metadata service answers; containers behind a bridge need 2."""
    root_volume: Annotated[Gibibytes, HARDWARE, Rollout("rolling", _TEMPLATE)]
    """Size of each root volume."""
    root_device: Annotated[
        str, Field(pattern=r"^/dev/[a-z0-9]+$"), HARDWARE, Rollout("rolling", _TEMPLATE)
    ] = "/dev/sda1"
    """Root device of the image: ``/dev/sda1`` for Ubuntu, ``/dev/xvda`` for Amazon Linux."""


class AwsServer(Model):
    """Login instances."""

    type: Annotated[str, HARDWARE, Rollout("drain", "the instance stops and starts again")]
    """Instance type."""
    image: Annotated[
        str,
        Field(pattern=r"^(ami-[0-9a-f]{8,17}|ssm:/.+)$"),
        HARDWARE,
        Rollout("replace", "the instance is replaced, with its root volume"),
    ]
    """An AMI, or the SSM parameter that names one."""
    count: Annotated[
        int,
        Field(gt=0),
        HARDWARE,
        Rollout("in place", "more instances", on="grown"),
        Rollout("drain", "the last instances are removed", on="shrunk"),
    ] = 1
    """Number of instances."""
    root_volume: Annotated[
        Gibibytes,
        HARDWARE,
        Rollout("in place", "the volume grows", on="grown"),
        Rollout("replace", "a volume cannot shrink: the instance is replaced", on="shrunk"),
    ]
    """Size of each root volume."""


KeyArn = Annotated[str, Field(pattern=r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/.+$")]

_HOUR = 3600
SNAPSHOT_HOURS = (1, 2, 3, 4, 6, 8, 12, 24)
"""Hours that may lie between two snapshots (Amazon DLM API Reference, ``CreateRule``)."""


def _check_interval(seconds: float) -> float:
    if seconds not in [hours * _HOUR for hours in SNAPSHOT_HOURS]:
        hours = ", ".join(map(str, SNAPSHOT_HOURS[:-1]))
        raise ValueError(f"snapshots are {hours} or {SNAPSHOT_HOURS[-1]} hours apart")
    return seconds


class Snapshots(Model):
    """Snapshots that Amazon Data Lifecycle Manager makes and removes."""

    every: Annotated[Seconds, AfterValidator(_check_interval), HARDWARE] = 24 * _HOUR
    """Time between two: 1, 2, 3, 4, 6, 8, 12 or 24 hours."""
    at: Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$"), HARDWARE] = "03:30"
    """When the first of a day is due, in UTC; it is made within the hour that follows."""
    keep: Annotated[int, Field(ge=1, le=1000), HARDWARE] = 14
    """How many are kept; the oldest goes."""


MEBIBYTE = 1.048576
"""Megabytes, by definition of the binary prefixes (IEC 80000-13)."""
_LEAST_RATE, _MOST_RATE = 125, 1000
_IOPS_PER_GIB, _IOPS_PER_MEBIBYTE = 500, 4


class DataVolume(Model):
    """A gp3 volume apart from the root, which stays when the instance goes.

    Bounds: Amazon EBS User Guide, "General Purpose SSD volumes". AWS has raised some of them; these hold anywhere.
    """

    size: Annotated[
        Gibibytes,
        Field(ge=1, le=16_384),
        HARDWARE,
        Rollout(
            "in place", "the volume grows, and 'configure' has its file system fill it", on="grown"
        ),
        Rollout("refused", "a volume never shrinks: another one would take its place", on="shrunk"),
    ] = 100.0
    """Size of the volume; it can grow, and never shrinks."""
    iops: Annotated[int, Field(ge=3_000, le=16_000), HARDWARE, Rollout("in place", _MODIFIED)] = (
        3_000
    )
    """Operations a second."""
    throughput: Annotated[MegabytesPerSecond, HARDWARE, Rollout("in place", _MODIFIED)] = (
        _LEAST_RATE * MEBIBYTE
    )
    """Rate, 125 to 1000 MiB/s."""
    encryption_key: Annotated[
        KeyArn | None,
        HARDWARE,
        Rollout("refused", "a volume keeps its key for life: another one would take its place"),
    ] = None
    """Key that encrypts it; absent, that of ``access``, else AWS's own."""
    snapshots: Annotated[
        Snapshots | None,
        PART,
        Rollout("in place", "snapshots that are there stay until they are too many"),
    ] = Snapshots()
    """When snapshots are made; null for none."""
    snapshot: Annotated[
        str | None,
        Field(pattern=r"^snap-[0-9a-f]{8,17}$"),
        HARDWARE,
        Rollout(
            "replace",
            "a volume of the snapshot takes the place of the one that is there, which is retained: what was written since the snapshot is on that one alone",
        ),
    ] = None
    """Snapshot that it is made of; absent, it is blank."""

    @property
    def mebibytes_per_second(self) -> int:
        """The rate as EC2 takes it."""
        return int(self.throughput / MEBIBYTE + 1e-6)

    @model_validator(mode="after")
    def _is_a_volume(self) -> DataVolume:
        rate = self.mebibytes_per_second
        if not _LEAST_RATE <= rate <= _MOST_RATE:
            raise ValueError(
                f"a throughput of {rate} MiB/s; gp3 volumes have {_LEAST_RATE} to {_MOST_RATE} MiB/s"
            )
        if rate * _IOPS_PER_MEBIBYTE > self.iops:
            raise ValueError(
                f"{rate} MiB/s need {rate * _IOPS_PER_MEBIBYTE:,} 'iops', and there are {self.iops:,}"
            )
        if self.iops > max(self.size * _IOPS_PER_GIB, 3_000):
            raise ValueError(
                f"{self.iops:,} 'iops' need {math.ceil(self.iops / _IOPS_PER_GIB)} GiB, and there are {self.size:g}"
            )
        return self


class AwsHead(AwsServer):
    """Head instances, on which Slurm's controller and its database run."""

    image: Annotated[
        str,
        Field(pattern=r"^(ami-[0-9a-f]{8,17}|ssm:/.+)$"),
        HARDWARE,
        Rollout(
            "review",
            "a head node keeps the image that it was made with, since its root volume holds Slurm's state and the accounting database: give it a 'data_volume' first, or bring new packages by 'configure'",
        ),
        Rollout(
            "replace",
            f"{_NEXT_HEAD}; an image that is named by 'ssm:' replaces none",
            given="head.data_volume",
        ),
    ]
    """An AMI, or the SSM parameter that names one."""
    count: Annotated[
        int,
        Field(gt=0),
        HARDWARE,
        Rollout("in place", "more instances", on="grown"),
        Rollout(
            "drain",
            "the last head nodes would be removed, with what their root volumes hold",
            on="shrunk",
            keeps_data=True,
        ),
    ] = 1
    """Number of instances."""
    root_volume: Annotated[
        Gibibytes,
        HARDWARE,
        Rollout("in place", "the volume grows", on="grown"),
        Rollout(
            "replace",
            "a volume cannot shrink: another instance would take its place, without Slurm's state",
            on="shrunk",
            keeps_data=True,
        ),
        Rollout(
            "replace",
            f"a volume cannot shrink: {_NEXT_HEAD}",
            on="shrunk",
            given="head.data_volume",
        ),
    ]
    """Size of each root volume."""
    data_volume: Annotated[
        DataVolume | None,
        PART,
        Rollout(
            "in place",
            "a volume is made and attached; 'configure' stops slurmctld and MariaDB while it copies their files to it",
            on="added",
        ),
        Rollout(
            "refused",
            "Slurm's state and the accounting database are on it, and nothing moves them back",
            on="removed",
        ),
    ] = None
    """Volume of each for Slurm's state and the accounting database; absent, the root volume has them."""

    @model_validator(mode="after")
    def _one_is_restored(self) -> AwsHead:
        if self.data_volume is not None and self.data_volume.snapshot and self.count > 1:
            raise ValueError(
                f"'snapshot' is the state of one head node, and 'count' is {self.count}"
            )
        return self


def _check_bucket(name: str) -> str:
    if "{" not in name and len(name) > 63:
        raise ValueError(
            f"'{name}' has {len(name)} characters; the name of a bucket has 63 at most"
        )
    return name


_FILLED = r"\{account\}|\{region\}"
BucketName = Annotated[
    str,
    Field(
        min_length=3, pattern=rf"^([a-z0-9]|{_FILLED})([a-z0-9.-]|{_FILLED})*([a-z0-9]|{_FILLED})$"
    ),
    AfterValidator(_check_bucket),
]
"""The name of a bucket, in which ``{account}`` and ``{region}`` stand for those of the site."""


_OF_LUSTRE = ("deployment", "capacity", "throughput", "efa")
"""What has to be said of an FSx file system that is made; an existing one has its own."""
_OF_MADE = ("compression", "data_repositories")
"""What may be said of one that is made alone."""


class LustreSize(NamedTuple):
    """How large and fast an FSx file system is; None is unknown."""

    capacity: float | None
    throughput: float | None


class DataRepository(Model):
    """An S3 prefix linked into a file system."""

    bucket: Annotated[BucketName, HARDWARE, Rollout("replace", _LINK)]
    """Its name, which is nobody else's in the world, like ``datasets-{account}-{region}``."""
    prefix: Annotated[MaybeEmpty, HARDWARE, Rollout("replace", _LINK)] = ""
    """Beginning of the keys that are linked; empty, the whole bucket."""
    path: Annotated[str, Field(pattern=r"^/.*$"), KEY]
    """Where it appears in the file system."""
    create_bucket: Annotated[
        bool,
        HARDWARE,
        Rollout("review", "the bucket changes hands between Rackwright and its owner"),
    ] = True
    """Make the bucket (retained); otherwise it exists."""


class LustreFileSystem(Model):
    """An FSx for Lustre file system: one that is made, which has a size, or one that exists."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["existing"]}, {"required": list(_OF_LUSTRE)}]}
    )

    name: Annotated[Name, KEY]
    """How the rest of the blueprint calls it."""
    existing: Annotated[
        ExistingLustre | None,
        PART,
        Rollout(
            "refused",
            "one that is made and one that exists would take each other's place; write one beside the other and move the data",
        ),
    ] = None
    """The file system that is used; absent, one is made."""
    deployment: Annotated[
        Literal["PERSISTENT_2"] | None, HARDWARE, Rollout("refused", _AT_CREATION)
    ] = None
    """Kind of storage; the one that can be served over EFA."""
    capacity: Annotated[
        Gibibytes | None,
        HARDWARE,
        Rollout("in place", "storage is added while it is mounted", on="grown"),
        Rollout(
            "refused",
            "capacity cannot be taken away: another file system would take its place",
            on="shrunk",
        ),
    ] = None
    """Size of the file system that is made."""
    throughput: Annotated[
        MegabytesPerSecondPerTebibyte | None,
        HARDWARE,
        Rollout("in place", "servers are exchanged while it is mounted; input and output pause"),
    ] = None
    """Rate that is bought for each TiB."""
    efa: Annotated[bool, HARDWARE, Rollout("refused", _AT_CREATION)] = False
    """Serve over EFA; can only be chosen at creation, and has to be said there."""
    mount: Annotated[
        str, Field(pattern=r"^/.+$"), HARDWARE, Rollout("drain", "it is unmounted on every node")
    ]
    """Where hosts mount it."""
    compression: Annotated[bool, HARDWARE, Rollout("in place", "holds for what is written")] = True
    """Files are compressed with LZ4."""
    data_repositories: Annotated[
        tuple[DataRepository, ...],
        PART,
        Rollout("in place", "a new link", on="added"),
        Rollout("in place", "the link goes, the bucket and the files stay", on="removed"),
    ] = ()
    workload: Annotated[Workload | None, STATEMENT, POLICIES_ONLY] = None
    """What jobs ask of it."""

    @property
    def size(self) -> LustreSize:
        """What is made, or what is recorded of the one that exists."""
        found = self if self.existing is None else self.existing
        return LustreSize(found.capacity, found.throughput)

    @model_validator(mode="after")
    def _is_made_or_exists(self) -> LustreFileSystem:
        said = self.model_fields_set
        if self.existing is None:
            if missing := [name for name in _OF_LUSTRE if name not in said]:
                raise ValueError(
                    f"'{missing[0]}' is missing of the file system that is made; name the 'existing' one if there is one"
                )
        elif odd := [name for name in (*_OF_LUSTRE[:3], *_OF_MADE) if name in said]:
            where = "'existing'" if odd[0] in {"capacity", "throughput"} else "its owner"
            raise ValueError(f"'{self.name}' exists: its '{odd[0]}' is a matter of {where}")
        return self


SubnetId = Annotated[str, Field(pattern=r"^subnet-[0-9a-f]{8,17}$")]


class ExistingNetwork(Model):
    """A VPC that exists, with its subnets, routes, NAT gateways and endpoints: none of them is made."""

    vpc: Annotated[
        str, Field(pattern=r"^vpc-[0-9a-f]{8,17}$"), HARDWARE, Rollout("replace", _STAYS)
    ]
    """Id of the VPC."""
    private_subnet: Annotated[SubnetId, HARDWARE, Rollout("replace", _STAYS)]
    """Subnet of nodes, head node and file systems, in the first of the availability zones."""
    public_subnet: Annotated[SubnetId | None, HARDWARE, Rollout("replace", _STAYS)] = None
    """Subnet of login nodes that are reached from outside."""
    addresses: Annotated[int | None, Field(ge=0), Claim(looser="higher"), POLICIES_ONLY] = None
    """Free addresses of the private subnet, as recorded; absent where unknown."""
    security_groups: Annotated[
        tuple[SecurityGroupId, ...], Field(max_length=3), HARDWARE, Rollout("rolling", _TEMPLATE)
    ] = ()
    """Groups that every host is in beside those that are made for the cluster."""


class AwsNetwork(Model):
    """The VPC."""

    existing: Annotated[
        ExistingNetwork | None,
        PART,
        Rollout("replace", "hosts and file systems stay in their VPC for life", keeps_data=True),
    ] = None
    """The VPC that is used; absent, one is made. The other fields say then what there is."""
    cidr: Annotated[
        Cidr, HARDWARE, Rollout("replace", "a VPC keeps its addresses for life", keeps_data=True)
    ]
    """Addresses of the VPC."""
    availability_zones: Annotated[
        tuple[str, ...],
        Field(min_length=1),
        HARDWARE,
        Rollout(
            "in place",
            "subnets of zones are made or removed; what that does to them is listed apart",
        ),
    ]
    """Zones that get subnets; the first one holds the cluster."""
    nat: Annotated[
        Literal["single", "per-zone", "none"],
        HARDWARE,
        Rollout("in place", "routes change: traffic to the internet is interrupted for a moment"),
    ]
    """NAT gateways: one, one in each zone, or none."""
    endpoints: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")], ...],
        HARDWARE,
        Rollout("in place", "endpoints are made or removed"),
    ] = ("s3",)
    """AWS services reached without NAT: ``s3`` and ``dynamodb`` by gateways, the others by interfaces."""
    dns_zone: Annotated[
        str,
        Field(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$"),
        HARDWARE,
        Rollout("replace", "the private zone and every name in it are replaced"),
    ]
    """Private DNS zone."""
    ssh_from: Annotated[
        tuple[Cidr, ...], HARDWARE, Rollout("in place", "rules of a security group")
    ] = ()
    """Networks that may reach the login nodes by SSH."""
    on_premises: Annotated[
        tuple[Cidr, ...], HARDWARE, Rollout("in place", "rules of a security group")
    ] = ()
    """Networks of other sites of the cluster, reached by a transit gateway, a VPN or Direct Connect: they may
    reach every host by SSH and on the ports of Slurm's daemons."""
    growth: Annotated[
        Percent,
        Field(le=10_000),
        HARDWARE,
        Rollout("in place", "room in the cluster's subnet; a subnet that changes is listed apart"),
    ] = 25.0
    """Room for more nodes in the cluster's subnet, above the counts of the blueprint."""


class Limits(Model):
    """Service quotas as recorded on a day, so that a pull request needs no credentials."""

    recorded: Annotated[dt.date, Claim(looser="higher")]
    """Day on which the quotas were read."""
    quotas: Annotated[dict[str, int], Claim(looser="higher", absent="elsewhere")]
    """Quota code to value, as Service Quotas shows it: vCPUs for the running-instance quotas, TiB for gp3
    volumes, GiB for file systems, else a number of things."""


ProfileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9+=,.@_-]{1,128}$")]
PolicyArn = Annotated[str, Field(pattern=r"^arn:aws[a-z-]*:iam::(\d{12}|aws):policy/.+$")]


class InstanceProfiles(Model):
    """Instance profiles that exist already, by what the instances are; others are made, with a role each."""

    head: Annotated[ProfileName | None, HARDWARE] = None
    """Of head nodes; absent, one is made."""
    login: Annotated[ProfileName | None, HARDWARE] = None
    """Of login nodes; absent, one is made."""
    node: Annotated[ProfileName | None, HARDWARE] = None
    """Of node groups; absent, one is made."""


class AwsAccess(Model):
    """What an account has already of roles and keys, and what holds for the roles that are made."""

    permissions_boundary: Annotated[
        PolicyArn | None, HARDWARE, Rollout("in place", "roles get another boundary")
    ] = None
    """Policy that bounds every role that is made."""
    instance_profiles: Annotated[InstanceProfiles, PART, Rollout("rolling", _TEMPLATE)] = (
        InstanceProfiles()
    )
    user: Annotated[
        str | None,
        Field(pattern=r"^[a-z_][a-z0-9_-]{0,31}$"),
        HARDWARE,
        Rollout("in place", "how Ansible reaches the hosts"),
    ] = None
    """Account by which Ansible logs in, as the images have it: ``ubuntu``, ``ec2-user``."""
    key_pair: Annotated[
        str | None,
        Field(pattern=r"^[A-Za-z0-9._@+ -]{1,255}$"),
        HARDWARE,
        Rollout(
            "replace",
            "an instance keeps its key pair for life: login nodes are replaced, and head nodes keep theirs",
        ),
        Rollout(
            "replace",
            f"an instance keeps its key pair for life: login nodes are replaced, and {_NEXT_HEAD}",
            given="head.data_volume",
        ),
    ] = None
    """Key pair of EC2 for that account; absent, the image or Session Manager lets in."""
    connect: Annotated[
        Literal["direct", "jump", "session-manager", "instance-connect"],
        HARDWARE,
        Rollout("in place", "how Ansible reaches the hosts"),
    ] = "direct"
    """How Ansible reaches hosts: straight, by way of a login node, through Session Manager, or through an endpoint
    of EC2 Instance Connect that the VPC has."""
    encryption_key: Annotated[
        KeyArn | None,
        HARDWARE,
        Rollout(
            "refused",
            "file systems and root volumes keep their key for life: others would take their place",
        ),
    ] = None
    """Key of root volumes, file systems and buckets; absent, AWS's own and one that is made for file systems."""


class AwsSite(Model):
    """A site on AWS."""

    provider: Annotated[Literal["aws"], HARDWARE]
    """The site is in a region of AWS."""
    name: Annotated[Name, KEY]
    """How the rest of the blueprint calls it."""
    region: Annotated[
        str,
        Field(pattern=REGION),
        HARDWARE,
        Rollout("replace", "nothing moves between regions", keeps_data=True),
    ]
    """AWS region, like ``us-east-1``."""
    network: Annotated[AwsNetwork, PART]
    node_groups: Annotated[
        tuple[AwsNodeGroup, ...],
        PART,
        Rollout("in place", "new instances", on="added"),
        Rollout("drain", _SURPLUS, on="removed"),
    ]
    head: Annotated[AwsHead, PART]
    login: Annotated[
        AwsServer | None,
        PART,
        Rollout("in place", "new instances", on="added"),
        Rollout("drain", "the login nodes are removed", on="removed"),
    ] = None
    file_systems: Annotated[
        tuple[LustreFileSystem, ...],
        PART,
        Rollout("in place", "a new file system", on="added"),
        Rollout("refused", _RETAINED, on="removed"),
        Rollout("drain", _KEPT, on="removed", given="existing"),
    ] = ()
    """File systems of FSx for Lustre."""
    efs: Annotated[
        tuple[ElasticFileSystem, ...],
        PART,
        Rollout("in place", "a file system that hosts mount with the next 'configure'", on="added"),
        Rollout("refused", _RETAINED, on="removed"),
        Rollout("drain", _KEPT, on="removed", given="existing"),
    ] = ()
    """File systems of Amazon EFS, for home directories and software."""
    access: Annotated[AwsAccess, PART] = AwsAccess()
    limits: Annotated[Limits | None, STATEMENT, POLICIES_ONLY] = None
    tags: Annotated[dict[str, MaybeEmpty], HARDWARE, Rollout("in place", "tags")] = Field(
        default_factory=dict
    )
    """Tags of every resource of the site."""

    @model_validator(mode="after")
    def _names_differ(self) -> AwsSite:
        for what, names in (
            ("node group", [group.name for group in self.node_groups]),
            (
                "file system",
                [one.name for one in self.file_systems] + [one.name for one in self.efs],
            ),
            (
                "mount point",
                [one.mount for one in self.file_systems] + [one.mount for one in self.efs],
            ),
            ("availability zone", list(self.network.availability_zones)),
            ("endpoint", list(self.network.endpoints)),
        ):
            twins = sorted(name for name, times in Counter(names).items() if times > 1)
            if twins:
                raise ValueError(f"the {what} '{twins[0]}' is named twice")
        for zone in self.network.availability_zones:
            if not zone.startswith(self.region):
                raise ValueError(f"availability zone '{zone}' is not in region '{self.region}'")
        if self.access.connect == "jump" and self.login is None:
            raise ValueError("'connect: jump' needs 'login' nodes to jump from")
        volume = self.head.data_volume
        volume_key = None if volume is None else volume.encryption_key
        for arn in (self.access.permissions_boundary, self.access.encryption_key, volume_key):
            if arn is not None and partition_of_arn(arn) != partition(self.region):
                here = partition(self.region)
                raise ValueError(f"'{arn}' is not in the partition '{here}' of '{self.region}'")
        return self
