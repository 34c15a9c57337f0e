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
from rackwright.model.names import Name, NameDigits
from rackwright.model.storage import Workload
from rackwright.model.units import (
    Gibibytes,
    MegabytesPerSecond,
    MegabytesPerSecondPerTebibyte,
    Percent,
    Seconds,
)


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

    kind: Literal["on-demand"]
    """Bought by the hour, where there is capacity."""


class Reservation(Model):
    """A targeted on-demand capacity reservation (ODCR)."""

    kind: Literal["reservation"]
    """An on-demand capacity reservation."""
    id: Annotated[str, Field(pattern=r"^cr-[0-9a-f]{8,17}$")]
    """Id of the reservation."""
    placement_group: str | None = None
    """Placement group that the reservation was made in; nodes may use no other."""
    instances: Annotated[int, Field(gt=0)] | None = None
    """Instances it reserves, as recorded; absent where unknown."""
    availability_zone: str | None = None
    """Zone it lies in, as recorded; absent where unknown."""
    ends: Moment | Literal["never"] | None = None
    """When it is cancelled and launches no more; ``never`` until somebody does, absent where unknown."""


class CapacityBlock(Model):
    """A capacity block for machine learning."""

    kind: Literal["capacity-block"]
    """A capacity block, bought for some days."""
    id: Annotated[str, Field(pattern=r"^cr-[0-9a-f]{8,17}$")]
    """Id of the block's capacity reservation."""
    instances: Annotated[int, Field(gt=0)] | None = None
    """Instances in the block, as recorded; absent where unknown."""
    availability_zone: str | None = None
    """Zone it lies in, as recorded; absent where unknown."""
    starts: Moment | None = None
    """When its instances can be launched, as recorded."""
    ends: Moment
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

    name: Name
    """How the rest of the blueprint calls it."""
    type: str
    """EC2 instance type."""
    count: Annotated[int, Field(ge=0)]
    """Number of instances."""
    name_digits: NameDigits = 1
    """Least number of digits in its host names: with 4, the first is ``train-0001``. A group that grows
    renames no host. 1 if omitted: numbers have no leading zeros."""
    capacity: Capacity
    """How the instances are bought."""
    image: Annotated[str, Field(pattern=r"^(ami-[0-9a-f]{8,17}|ssm:/.+)$")]
    """AMI id, or ``ssm:/path`` of the public parameter that holds it."""
    efa: bool = True
    """Attach every EFA interface that the type has; the type must have some."""
    placement_group: str | None = None
    """Existing placement group to use; absent, the kind of capacity decides."""
    metadata_hops: Annotated[int, Field(ge=1, le=64)] = 1
    """How far the instance metadata service answers; containers behind a bridge need 2."""
    root_volume: Gibibytes
    """Size of each root volume."""
    root_device: Annotated[str, Field(pattern=r"^/dev/[a-z0-9]+$")] = "/dev/sda1"
    """Root device of the image: ``/dev/sda1`` for Ubuntu, ``/dev/xvda`` for Amazon Linux."""


class AwsServer(Model):
    """Head or login instances."""

    type: str
    """Instance type."""
    image: Annotated[str, Field(pattern=r"^(ami-[0-9a-f]{8,17}|ssm:/.+)$")]
    """An AMI, or the SSM parameter that names one."""
    count: Annotated[int, Field(gt=0)] = 1
    """Number of instances."""
    root_volume: Gibibytes
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

    every: Annotated[Seconds, AfterValidator(_check_interval)] = 24 * _HOUR
    """Time between two: 1, 2, 3, 4, 6, 8, 12 or 24 hours."""
    at: Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")] = "03:30"
    """When the first of a day is due, in UTC; it is made within the hour that follows."""
    keep: Annotated[int, Field(ge=1, le=1000)] = 14
    """How many are kept; the oldest goes."""


MEBIBYTE = 1.048576
"""Megabytes, by definition of the binary prefixes (IEC 80000-13)."""
_LEAST_RATE, _MOST_RATE = 125, 1000
_IOPS_PER_GIB, _IOPS_PER_MEBIBYTE = 500, 4


class DataVolume(Model):
    """A gp3 volume apart from the root, which stays when the instance goes.

    Bounds: Amazon EBS User Guide, "General Purpose SSD volumes". AWS has raised some of them; these hold anywhere.
    """

    size: Annotated[Gibibytes, Field(ge=1, le=16_384)] = 100.0
    """Size of the volume; it can grow, and never shrinks."""
    iops: Annotated[int, Field(ge=3_000, le=16_000)] = 3_000
    """Operations a second."""
    throughput: MegabytesPerSecond = _LEAST_RATE * MEBIBYTE
    """Rate, 125 to 1000 MiB/s."""
    encryption_key: KeyArn | None = None
    """Key that encrypts it; absent, that of ``access``, else AWS's own."""
    snapshots: Snapshots | None = Snapshots()
    """When snapshots are made; null for none."""
    snapshot: Annotated[str, Field(pattern=r"^snap-[0-9a-f]{8,17}$")] | None = None
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

    data_volume: DataVolume | None = None
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

    bucket: BucketName
    """Its name, which is nobody else's in the world, like ``datasets-{account}-{region}``."""
    prefix: MaybeEmpty = ""
    """Beginning of the keys that are linked; empty, the whole bucket."""
    path: Annotated[str, Field(pattern=r"^/.*$")]
    """Where it appears in the file system."""
    create_bucket: bool = True
    """Make the bucket (retained); otherwise it exists."""


class LustreFileSystem(Model):
    """An FSx for Lustre file system: one that is made, which has a size, or one that exists."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["existing"]}, {"required": list(_OF_LUSTRE)}]}
    )

    name: Name
    """How the rest of the blueprint calls it."""
    existing: ExistingLustre | None = None
    """The file system that is used; absent, one is made."""
    deployment: Literal["PERSISTENT_2"] | None = None
    """Kind of storage; the one that can be served over EFA."""
    capacity: Gibibytes | None = None
    """Size of the file system that is made."""
    throughput: MegabytesPerSecondPerTebibyte | None = None
    """Rate that is bought for each TiB."""
    efa: bool = False
    """Serve over EFA; can only be chosen at creation, and has to be said there."""
    mount: Annotated[str, Field(pattern=r"^/.+$")]
    """Where hosts mount it."""
    compression: bool = True
    """Files are compressed with LZ4."""
    data_repositories: tuple[DataRepository, ...] = ()
    workload: Workload | None = None
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

    vpc: Annotated[str, Field(pattern=r"^vpc-[0-9a-f]{8,17}$")]
    """Id of the VPC."""
    private_subnet: SubnetId
    """Subnet of nodes, head node and file systems, in the first of the availability zones."""
    public_subnet: SubnetId | None = None
    """Subnet of login nodes that are reached from outside."""
    addresses: Annotated[int, Field(ge=0)] | None = None
    """Free addresses of the private subnet, as recorded; absent where unknown."""
    security_groups: Annotated[tuple[SecurityGroupId, ...], Field(max_length=3)] = ()
    """Groups that every host is in beside those that are made for the cluster."""


class AwsNetwork(Model):
    """The VPC."""

    existing: ExistingNetwork | None = None
    """The VPC that is used; absent, one is made. The other fields say then what there is."""
    cidr: Cidr
    """Addresses of the VPC."""
    availability_zones: Annotated[tuple[str, ...], Field(min_length=1)]
    """Zones that get subnets; the first one holds the cluster."""
    nat: Literal["single", "per-zone", "none"]
    """NAT gateways: one, one in each zone, or none."""
    endpoints: tuple[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")], ...] = ("s3",)
    """AWS services reached without NAT: ``s3`` and ``dynamodb`` by gateways, the others by interfaces."""
    dns_zone: Annotated[str, Field(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$")]
    """Private DNS zone."""
    ssh_from: tuple[Cidr, ...] = ()
    """Networks that may reach the login nodes by SSH."""
    on_premises: tuple[Cidr, ...] = ()
    """Networks of other sites of the cluster, reached by a transit gateway, a VPN or Direct Connect: they may
    reach every host by SSH and on the ports of Slurm's daemons."""
    growth: Annotated[Percent, Field(le=10_000)] = 25.0
    """Room for more nodes in the cluster's subnet, above the counts of the blueprint."""


class Limits(Model):
    """Service quotas as recorded on a day, so that a pull request needs no credentials."""

    recorded: dt.date
    """Day on which the quotas were read."""
    quotas: dict[str, int]
    """Quota code to value, as Service Quotas shows it: vCPUs for the running-instance quotas, TiB for gp3
    volumes, GiB for file systems, else a number of things."""


ProfileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9+=,.@_-]{1,128}$")]
PolicyArn = Annotated[str, Field(pattern=r"^arn:aws[a-z-]*:iam::(\d{12}|aws):policy/.+$")]


class InstanceProfiles(Model):
    """Instance profiles that exist already, by what the instances are; others are made, with a role each."""

    head: ProfileName | None = None
    """Of head nodes; absent, one is made."""
    login: ProfileName | None = None
    """Of login nodes; absent, one is made."""
    node: ProfileName | None = None
    """Of node groups; absent, one is made."""


class AwsAccess(Model):
    """What an account has already of roles and keys, and what holds for the roles that are made."""

    permissions_boundary: PolicyArn | None = None
    """Policy that bounds every role that is made."""
    instance_profiles: InstanceProfiles = InstanceProfiles()
    user: Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_-]{0,31}$")] | None = None
    """Account by which Ansible logs in, as the images have it: ``ubuntu``, ``ec2-user``."""
    key_pair: Annotated[str, Field(pattern=r"^[A-Za-z0-9._@+ -]{1,255}$")] | None = None
    """Key pair of EC2 for that account; absent, the image or Session Manager lets in."""
    connect: Literal["direct", "jump", "session-manager", "instance-connect"] = "direct"
    """How Ansible reaches hosts: straight, by way of a login node, through Session Manager, or through an endpoint
    of EC2 Instance Connect that the VPC has."""
    encryption_key: KeyArn | None = None
    """Key of root volumes, file systems and buckets; absent, AWS's own and one that is made for file systems."""


class AwsSite(Model):
    """A site on AWS."""

    provider: Literal["aws"]
    """The site is in a region of AWS."""
    name: Name
    """How the rest of the blueprint calls it."""
    region: Annotated[str, Field(pattern=REGION)]
    """AWS region, like ``us-east-1``."""
    network: AwsNetwork
    node_groups: tuple[AwsNodeGroup, ...]
    head: AwsHead
    login: AwsServer | None = None
    file_systems: tuple[LustreFileSystem, ...] = ()
    """File systems of FSx for Lustre."""
    efs: tuple[ElasticFileSystem, ...] = ()
    """File systems of Amazon EFS, for home directories and software."""
    access: AwsAccess = AwsAccess()
    limits: Limits | None = None
    tags: dict[str, MaybeEmpty] = Field(default_factory=dict)
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
