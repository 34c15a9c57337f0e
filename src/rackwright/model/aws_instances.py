"""Instances of a site on AWS: how they are bought, node groups, head and login nodes."""

from __future__ import annotations

import datetime as dt
import math
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import (
    HARDWARE,
    KEY,
    PART,
    POLICIES_ONLY,
    Claim,
    OnChange,
)
from rackwright.model.names import Name, NameDigits
from rackwright.model.prices import DollarsPerHour
from rackwright.model.units import (
    Gibibytes,
    MegabytesPerSecond,
    Seconds,
)

_FOR_LIFE = "an instance keeps it for life, and a placement group goes with its last instance"
_MODIFIED = "the volume is modified as it is used"
NEXT_HEAD = (
    "another head node takes its place, once 'up --replace-head' is given: snapshots are made, it is stopped, and its "
    "data volume is detached, stays as it is and goes to the new one"
)
_GROWN = "more instances; where AWS lacks capacity, 'up' keeps those that came, ends with 10, and the group asks again"
SURPLUS = "'up' terminates no nodes: 'rackwright replace --surplus' drains and ends them before"
TEMPLATE = (
    "a new version of the launch template: nodes stay what they are until 'rackwright replace --outdated' drains and "
    "replaces them in turn, and launches first where capacity allows"
)


def _in_utc(moment: dt.datetime) -> dt.datetime:
    return (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)


Moment = Annotated[dt.datetime, AfterValidator(_in_utc)]
"""A point in time, in UTC, as which one without a zone is read."""


class OnDemand(Model):
    """Capacity bought when it is launched."""

    kind: Annotated[Literal["on-demand"], HARDWARE]
    """Capacity bought by the hour, where there is some."""


class Reservation(Model):
    """A targeted on-demand capacity reservation (ODCR)."""

    kind: Annotated[Literal["reservation"], Claim(looser="either")]
    """An on-demand capacity reservation."""
    id: Annotated[str, Field(pattern=r"^cr-[0-9a-f]{8,17}$"), KEY]
    """Id of the reservation."""
    placement_group: Annotated[str | None, Claim(looser="either", absent="elsewhere")] = None
    """Placement group that the reservation was made in; nodes may use no other."""
    instances: Annotated[int | None, Field(gt=0), Claim(looser="higher"), POLICIES_ONLY] = None
    """Instances it reserves, as recorded. Unknown if omitted."""
    availability_zone: Annotated[str | None, Claim(looser="either"), POLICIES_ONLY] = None
    """Zone it lies in, as recorded. Unknown if omitted."""
    ends: Annotated[Moment | Literal["never"] | None, Claim(looser="either"), POLICIES_ONLY] = None
    """Time at which the reservation is cancelled and launches no more, or ``never``. Unknown if omitted."""


ULTRASERVERS = ("p6e-", "trn2u.")
"""Beginnings of instance types that are bought as UltraServers."""
BLOCKS_ALONE = ("p6e-",)
"""Beginnings of those that EC2 sells in capacity blocks alone (Amazon EKS User Guide, "Use P6e-GB200 UltraServers with
Amazon EKS"). No document that was read says so of ``trn2u.``."""


class CapacityBlock(Model):
    """A capacity block for machine learning."""

    kind: Annotated[Literal["capacity-block"], Claim(looser="either")]
    """A capacity block, bought for some days."""
    id: Annotated[str, Field(pattern=r"^cr-[0-9a-f]{8,17}$"), KEY]
    """Id of the block's capacity reservation."""
    instances: Annotated[int | None, Field(gt=0), Claim(looser="either"), POLICIES_ONLY] = None
    """Instances in the block, as recorded. Unknown if omitted."""
    availability_zone: Annotated[str | None, Claim(looser="either"), POLICIES_ONLY] = None
    """Zone it lies in, as recorded. Unknown if omitted."""
    starts: Annotated[Moment | None, Claim(looser="either"), POLICIES_ONLY] = None
    """Time from which instances of the block can be launched, as recorded. Unknown if omitted."""
    ends: Annotated[Moment, Claim(looser="higher"), POLICIES_ONLY]
    """Time at which AWS takes the instances back; termination starts 30 minutes before, of UltraServers 60."""

    def terminates(self, instance_type: str) -> dt.datetime:
        """Return the moment at which AWS begins to end instances of a type.

        Amazon EC2 User Guide, "Capacity Blocks for ML": 30 minutes before the end. UltraServers: 60 minutes,
        by a secondary source; the earlier moment loses less if it is wrong.
        """
        early = 60 if instance_type.startswith(ULTRASERVERS) else 30
        return self.ends - dt.timedelta(minutes=early)

    @model_validator(mode="after")
    def _ends_after_its_start(self) -> CapacityBlock:
        if self.starts is not None and self.starts >= self.ends:
            raise ValueError(
                f"'{self.id}' starts at {self.starts}, which is not before {self.ends}"
            )
        return self


class Spot(Model):
    """Spare capacity of EC2, which AWS takes back two minutes after a notice."""

    kind: Annotated[Literal["spot"], HARDWARE]
    """Spare capacity, which AWS may take back at any time, two minutes after a notice."""
    max_price: Annotated[
        DollarsPerHour,
        Field(gt=0),
        HARDWARE,
        OnChange("in place", "a limit of instances that are launched from then on"),
    ]
    """Most that an instance may cost, in USD/h. While spare capacity is dearer, EC2 launches none, and takes
    back those that run."""


Capacity = Annotated[OnDemand | Reservation | CapacityBlock | Spot, Field(discriminator="kind")]


_JOIN = "slurmctld starts again with the nodes that it may launch; jobs go on"
_LEAVE = (
    "hosts leave slurm.conf, or are run by the Auto Scaling group instead of Slurm: drain them, and have Slurm power "
    "them down, before 'up'"
)


class CountRange(Model):
    """Bounds of the number of instances of an elastic node group."""

    min: Annotated[int, Field(ge=0), HARDWARE, OnChange("drain", _LEAVE)] = 0
    """Number of instances that always run, the first ones by name. None if omitted."""
    max: Annotated[
        int,
        Field(gt=0),
        HARDWARE,
        OnChange("in place", _JOIN, event="grown"),
        OnChange("drain", _LEAVE, event="shrunk"),
    ]
    """Largest number of instances. Slurm launches those above ``min`` for jobs and ends them when they are idle."""

    @model_validator(mode="after")
    def _grows(self) -> CountRange:
        if self.min >= self.max:
            raise ValueError(
                f"'min' is {self.min} and 'max' is {self.max}: write a plain number for a group that never changes"
            )
        return self


class AwsNodeGroup(Model):
    """Equal instances of one launch template."""

    name: Annotated[Name, KEY]
    """Name of the node group, by which the rest of the blueprint refers to it."""
    type: Annotated[str, HARDWARE, OnChange("rolling", TEMPLATE)]
    """EC2 instance type."""
    count: Annotated[
        Annotated[int, Field(ge=0)] | CountRange,
        PART,
        OnChange("in place", _GROWN, event="grown"),
        OnChange("drain", SURPLUS, event="shrunk"),
        OnChange("drain", _LEAVE),
    ]
    """Number of instances; or its bounds, ``{min: 0, max: 16}``, between which Slurm launches and ends them."""
    name_digits: Annotated[
        NameDigits,
        HARDWARE,
        OnChange("in place", "hosts that it renames are listed with the group's hosts"),
    ] = 1
    """Least number of digits in its host names: with 4, the first is ``train-0001``. A group that grows
    renames no host. 1 if omitted: numbers have no leading zeros."""
    capacity: Annotated[Capacity, PART, OnChange("replace", _FOR_LIFE)]
    """Way in which the instances are bought."""
    image: Annotated[
        str,
        Field(pattern=r"^(ami-[0-9a-f]{8,17}|ssm:/.+)$"),
        HARDWARE,
        OnChange("rolling", TEMPLATE),
    ]
    """AMI id, or ``ssm:/path`` of the public parameter that holds it."""
    efa: Annotated[bool, HARDWARE, OnChange("replace", _FOR_LIFE)] = True
    """True to attach every EFA interface that the type has; the type must have some."""
    placement_group: Annotated[str | None, HARDWARE, OnChange("replace", _FOR_LIFE)] = None
    """Existing placement group to use. The kind of capacity decides if omitted."""
    metadata_hops: Annotated[int, Field(ge=1, le=64), HARDWARE, OnChange("rolling", TEMPLATE)] = 1
    """Network hops that answers of the instance metadata service travel; containers behind a bridge need 2."""
    root_volume: Annotated[Gibibytes, HARDWARE, OnChange("rolling", TEMPLATE)]
    """Size of each root volume, in GiB."""
    root_device: Annotated[
        str, Field(pattern=r"^/dev/[a-z0-9]+$"), HARDWARE, OnChange("rolling", TEMPLATE)
    ] = "/dev/sda1"
    """Root device of the image: ``/dev/sda1`` for Ubuntu, ``/dev/xvda`` for Amazon Linux."""

    @model_validator(mode="after")
    def _spot_is_elastic(self) -> AwsNodeGroup:
        if isinstance(self.capacity, Spot) and (self.least or not self.is_elastic):
            raise ValueError(
                f"'{self.name}' has spot instances, which AWS takes back: write 'count: {{min: 0, max: "
                f"{max(1, self.most)}}}', so that Slurm launches them for jobs"
            )
        return self

    @property
    def least(self) -> int:
        """Number of instances that always run."""
        return self.count.min if isinstance(self.count, CountRange) else self.count

    @property
    def most(self) -> int:
        """Largest number of instances."""
        return self.count.max if isinstance(self.count, CountRange) else self.count

    @property
    def is_elastic(self) -> bool:
        """True if Slurm launches and ends instances of the group."""
        return isinstance(self.count, CountRange)


class AwsServer(Model):
    """Login instances."""

    type: Annotated[str, HARDWARE, OnChange("drain", "the instance stops and starts again")]
    """Instance type."""
    image: Annotated[
        str,
        Field(pattern=r"^(ami-[0-9a-f]{8,17}|ssm:/.+)$"),
        HARDWARE,
        OnChange("replace", "the instance is replaced, with its root volume"),
    ]
    """An AMI, or the SSM parameter that names one."""
    count: Annotated[
        int,
        Field(gt=0),
        HARDWARE,
        OnChange("in place", "more instances", event="grown"),
        OnChange("drain", "the last instances are removed", event="shrunk"),
    ] = 1
    """Number of instances."""
    root_volume: Annotated[
        Gibibytes,
        HARDWARE,
        OnChange("in place", "the volume grows", event="grown"),
        OnChange("replace", "a volume cannot shrink: the instance is replaced", event="shrunk"),
    ]
    """Size of each root volume, in GiB."""


class AwsLogin(AwsServer):
    """Login instances, where users have shells."""

    address: Annotated[
        Literal["elastic", "load-balancer"] | None,
        HARDWARE,
        OnChange(
            "in place",
            "users reach the login nodes by other addresses; login nodes that move to another subnet are listed apart",
        ),
    ] = None
    """Public address that stays when login nodes are stopped or replaced: ``elastic`` gives each node one of its own,
    ``load-balancer`` all of them one in common, and none of their own. Applies where ``ssh_from`` names public
    networks. EC2 gives another address at each start if omitted."""


class ImageRecord(Model):
    """An image without a public parameter, as ``aws ec2 describe-images`` and a host of it show it."""

    id: Annotated[str, Field(pattern=r"^(ami-[0-9a-f]{8,17}|ssm:/.+)$"), KEY]
    """AMI id, or ``ssm:/path``, as hosts name the image."""
    architecture: Annotated[
        Literal["x86_64", "arm64"] | None, Claim(looser="either"), POLICIES_ONLY
    ] = None
    """Architecture of the CPUs that the image is built for. Unknown if omitted."""
    root_device: Annotated[
        str | None, Field(pattern=r"^/dev/[a-z0-9]+$"), Claim(looser="either"), POLICIES_ONLY
    ] = None
    """Name of the root device of the image (``RootDeviceName``). Unknown if omitted."""
    kernel: Annotated[str | None, Claim(looser="either"), POLICIES_ONLY] = None
    """Kernel that a host of the image starts, as ``uname -r`` prints it. Unknown if omitted."""


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
    """Time between two snapshots: 1, 2, 3, 4, 6, 8, 12 or 24 h."""
    at: Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$"), HARDWARE] = "03:30"
    """Time of day at which the first snapshot of a day is due, in UTC; it is made within the hour that
    follows."""
    keep: Annotated[int, Field(ge=1, le=1000), HARDWARE] = 14
    """Number of snapshots that are kept; the oldest one is removed."""


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
        OnChange(
            "in place",
            "the volume grows, and 'configure' has its file system fill it",
            event="grown",
        ),
        OnChange(
            "refused", "a volume never shrinks: another one would take its place", event="shrunk"
        ),
    ] = 100.0
    """Size of the volume, in GiB; it can grow, and never shrinks."""
    iops: Annotated[int, Field(ge=3_000, le=16_000), HARDWARE, OnChange("in place", _MODIFIED)] = (
        3_000
    )
    """Number of operations a second."""
    throughput: Annotated[MegabytesPerSecond, HARDWARE, OnChange("in place", _MODIFIED)] = (
        _LEAST_RATE * MEBIBYTE
    )
    """Rate, 125 to 1000 MiB/s."""
    encryption_key: Annotated[
        KeyArn | None,
        HARDWARE,
        OnChange("refused", "a volume keeps its key for life: another one would take its place"),
    ] = None
    """Key that encrypts the volume. The key of ``access``, else AWS's own, if omitted."""
    snapshots: Annotated[
        Snapshots | None,
        PART,
        OnChange("in place", "snapshots that are there stay until they are too many"),
    ] = Snapshots()
    """Schedule of snapshots; null for none."""
    snapshot: Annotated[
        str | None,
        Field(pattern=r"^snap-[0-9a-f]{8,17}$"),
        HARDWARE,
        OnChange(
            "replace",
            "a volume of the snapshot takes the place of the one that is there, which is retained: what was written since the snapshot is on that one alone",
        ),
    ] = None
    """Snapshot that the volume is made of. A blank volume if omitted."""

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
        OnChange(
            "review",
            "a head node keeps the image that it was made with, since its root volume holds Slurm's state and the accounting database: give it a 'data_volume' first, or bring new packages by 'configure'",
        ),
        OnChange(
            "replace",
            f"{NEXT_HEAD}; an image that is named by 'ssm:' replaces none",
            given="head.data_volume",
        ),
    ]
    """An AMI, or the SSM parameter that names one."""
    count: Annotated[
        int,
        Field(gt=0),
        HARDWARE,
        OnChange("in place", "more instances", event="grown"),
        OnChange(
            "drain",
            "the last head nodes would be removed, with what their root volumes hold",
            event="shrunk",
            keeps_data=True,
        ),
    ] = 1
    """Number of instances."""
    root_volume: Annotated[
        Gibibytes,
        HARDWARE,
        OnChange("in place", "the volume grows", event="grown"),
        OnChange(
            "replace",
            "a volume cannot shrink: another instance would take its place, without Slurm's state",
            event="shrunk",
            keeps_data=True,
        ),
        OnChange(
            "replace",
            f"a volume cannot shrink: {NEXT_HEAD}",
            event="shrunk",
            given="head.data_volume",
        ),
    ]
    """Size of each root volume, in GiB."""
    data_volume: Annotated[
        DataVolume | None,
        PART,
        OnChange(
            "in place",
            "a volume is made and attached; 'configure' stops slurmctld and MariaDB while it copies their files to it",
            event="added",
        ),
        OnChange(
            "refused",
            "Slurm's state and the accounting database are on it, and nothing moves them back",
            event="removed",
        ),
    ] = None
    """Volume of each head node for Slurm's state and the accounting database. They are on the root
    volume if omitted."""

    @model_validator(mode="after")
    def _one_is_restored(self) -> AwsHead:
        if self.data_volume is not None and self.data_volume.snapshot and self.count > 1:
            raise ValueError(
                f"'snapshot' is the state of one head node, and 'count' is {self.count}"
            )
        return self
