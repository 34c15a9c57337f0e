"""File systems of a site on AWS: FSx for Lustre and Amazon EFS, made or existing."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from rackwright.model.base import MaybeEmpty, Model
from rackwright.model.directories import MountPath
from rackwright.model.field_kinds import (
    GRANTED,
    HARDWARE,
    KEY,
    PART,
    POLICIES_ONLY,
    STATEMENT,
    Claim,
    OnChange,
    Setting,
)
from rackwright.model.names import Name
from rackwright.model.storage import Workload
from rackwright.model.units import (
    Gibibytes,
    MegabytesPerSecondPerTebibyte,
    Seconds,
)

_ANOTHER = "another file system is mounted on every node"
_LET_IN = "rules come and go that let the cluster in"
_LIVE = "changed while it is mounted"

FileSystemId = Annotated[str, Field(pattern=r"^fs-([0-9a-f]{8}|[0-9a-f]{17})$")]
"""Id of a file system, of FSx or EFS."""
SecurityGroupId = Annotated[str, Field(pattern=r"^sg-[0-9a-f]{8,17}$")]


class ExistingLustre(Model):
    """An FSx for Lustre file system that is managed elsewhere."""

    id: Annotated[FileSystemId, KEY, OnChange("drain", _ANOTHER)]
    """Id of the file system."""
    mount_name: Annotated[
        str, Field(pattern=r"^[A-Za-z0-9_-]{1,8}$"), HARDWARE, OnChange("drain", _ANOTHER)
    ]
    """Mount name of the file system, as DescribeFileSystems reports it."""
    security_group: Annotated[SecurityGroupId | None, HARDWARE, OnChange("in place", _LET_IN)] = (
        None
    )
    """Security group of the file system, which gets rules that let the cluster in. Its owner lets the
    cluster in if omitted."""
    capacity: Annotated[Gibibytes | None, Claim(looser="higher"), POLICIES_ONLY] = None
    """Size of the file system in GiB, as recorded. Unknown if omitted."""
    throughput: Annotated[
        MegabytesPerSecondPerTebibyte | None, Claim(looser="higher"), POLICIES_ONLY
    ] = None
    """Throughput of each TiB in MB/s/TiB, as recorded. Unknown if omitted."""


DAY = 86_400
TIER_DAYS = (1, 7, 14, 30, 60, 90, 180, 270, 365)
"""Days without access after which EFS moves a file (Amazon EFS API Reference, ``LifecyclePolicy``)."""


def _check_days(seconds: float) -> float:
    if seconds not in [days * DAY for days in TIER_DAYS]:
        days = ", ".join(map(str, TIER_DAYS[:-1]))
        raise ValueError(f"files move after {days} or {TIER_DAYS[-1]} days")
    return seconds


Idle = Annotated[Seconds, AfterValidator(_check_days)]
"""Time without access to a file: 1, 7, 14, 30, 60, 90, 180, 270 or 365 days."""


class Tiering(Model):
    """Time after which unused files move to cheaper storage."""

    infrequent_access: Annotated[Idle | None, HARDWARE] = None
    """Time without access after which a file moves to Infrequent Access, in d. Files stay if omitted."""
    archive: Annotated[Idle | None, HARDWARE] = None
    """Time without access after which a file moves to Archive, in d. Files never do if omitted."""
    back_on_access: Annotated[bool, HARDWARE] = False
    """True if a file that is used again moves back to Standard."""

    @model_validator(mode="after")
    def _in_order(self) -> Tiering:
        first, last = self.infrequent_access, self.archive
        if first is None and last is None:
            raise ValueError("nothing moves: give 'infrequent_access', 'archive' or both")
        if first is not None and last is not None and last <= first:
            raise ValueError("files move to 'archive' later than to 'infrequent_access'")
        return self


class ExistingElastic(Model):
    """A file system of EFS that is managed elsewhere, with its mount targets."""

    id: Annotated[FileSystemId, KEY, OnChange("drain", _ANOTHER)]
    """Id of the file system."""
    security_group: Annotated[SecurityGroupId | None, HARDWARE, OnChange("in place", _LET_IN)] = (
        None
    )
    """Security group of its mount targets, which gets a rule that lets the cluster in. Its owner lets
    the cluster in if omitted."""


_OF_MADE_EFS = ("throughput", "tiering", "backups", "data")
"""What is said of one that is made alone."""


class ElasticFileSystem(Model):
    """A file system of Amazon EFS, like that of home directories: one that is made, or one that exists."""

    name: Annotated[Name, KEY]
    """Name of the file system, by which the rest of the blueprint refers to it."""
    mount: Annotated[MountPath, HARDWARE, OnChange("drain", "it is unmounted on every node")]
    """Directory at which hosts mount it, like ``/home``."""
    existing: Annotated[
        ExistingElastic | None,
        PART,
        OnChange(
            "refused",
            "one that is made and one that exists would take each other's place; write one beside the other and move the data",
        ),
    ] = None
    """Existing file system to use. One is made if omitted."""
    on_head: Annotated[
        bool,
        HARDWARE,
        OnChange(
            "in place",
            "head nodes mount it with the next 'configure', or keep it until it is unmounted by hand",
        ),
    ] = False
    """True if head nodes mount it as well; compute and login nodes always do."""
    throughput: Annotated[Literal["elastic", "bursting"], HARDWARE, OnChange("in place", _LIVE)] = (
        "elastic"
    )
    """Throughput mode: ``elastic`` is billed by transferred data, ``bursting`` grows with stored data."""
    tiering: Annotated[Tiering | None, PART, OnChange("in place", _LIVE)] = None
    """Rules that move files to cheaper storage. All files stay in Standard if omitted."""
    backups: Annotated[bool, HARDWARE, OnChange("in place", _LIVE)] = True
    """True if AWS Backup makes a backup each day and keeps it for 35 days."""
    data: Annotated[Gibibytes | None, Setting(looser="lower"), POLICIES_ONLY] = None
    """Data expected at the fullest, by which its cost goes, in GiB. Unknown if omitted."""

    @model_validator(mode="after")
    def _is_made_or_exists(self) -> ElasticFileSystem:
        odd = [name for name in _OF_MADE_EFS if name in self.model_fields_set]
        if self.existing is not None and odd:
            raise ValueError(f"'{self.name}' exists: its '{odd[0]}' is a matter of its owner")
        if self.tiering is not None and self.tiering.archive and self.throughput != "elastic":
            raise ValueError("only file systems with 'throughput: elastic' have an 'archive'")
        return self


_AT_CREATION = "chosen at creation: another file system would take its place; make one beside it and move the data"


_LINK = "the link is replaced; the bucket and the files stay"


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


_OF_MADE = ("compression", "data_repositories", "scratch")
"""What may be said of one that is made alone."""


class LustreSize(NamedTuple):
    """Capacity and throughput of an FSx file system; None is unknown."""

    capacity: float | None
    throughput: float | None


def _check_whole_days(seconds: float) -> float:
    if seconds < DAY or seconds % DAY:
        raise ValueError("a time of whole days is expected, at least one")
    return seconds


Days = Annotated[Seconds, AfterValidator(_check_whole_days)]
"""A time of whole days, at least one."""


class DataRepository(Model):
    """An S3 prefix linked into a file system."""

    bucket: Annotated[BucketName, HARDWARE, OnChange("replace", _LINK)]
    """Name of the bucket, unique in the world, like ``datasets-{account}-{region}``."""
    prefix: Annotated[MaybeEmpty, HARDWARE, OnChange("replace", _LINK)] = ""
    """Beginning of the keys that are linked; empty, the whole bucket."""
    path: Annotated[str, Field(pattern=r"^/.*$"), KEY]
    """Directory of the file system at which the bucket appears."""
    create_bucket: Annotated[
        bool,
        HARDWARE,
        OnChange("review", "the bucket changes hands between Rackwright and its owner"),
    ] = True
    """True to make the bucket, which is retained; it exists otherwise."""
    keep_versions: Annotated[
        Days | Literal["forever"] | None,
        HARDWARE,
        OnChange("in place", "versions older than it are removed for good"),
    ] = None
    """Time for which overwritten and deleted files stay in the bucket that is made, in d, or ``forever``.
    Every version is kept and paid for if omitted."""

    @model_validator(mode="after")
    def _has_versions(self) -> DataRepository:
        if not self.create_bucket and self.keep_versions is not None:
            raise ValueError(f"'{self.bucket}' exists: its versions are a matter of its owner")
        return self


class LustreFileSystem(Model):
    """An FSx for Lustre file system: one that is made, which has a size, or one that exists."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["existing"]}, {"required": list(_OF_LUSTRE)}]}
    )

    name: Annotated[Name, KEY]
    """Name of the file system, by which the rest of the blueprint refers to it."""
    existing: Annotated[
        ExistingLustre | None,
        PART,
        OnChange(
            "refused",
            "one that is made and one that exists would take each other's place; write one beside the other and move the data",
        ),
    ] = None
    """Existing file system to use. One is made if omitted."""
    deployment: Annotated[
        Literal["PERSISTENT_2"] | None, HARDWARE, OnChange("refused", _AT_CREATION)
    ] = None
    """Kind of storage; the one that can be served over EFA."""
    capacity: Annotated[
        Gibibytes | None,
        HARDWARE,
        OnChange("in place", "storage is added while it is mounted", event="grown"),
        OnChange(
            "refused",
            "capacity cannot be taken away: another file system would take its place",
            event="shrunk",
        ),
    ] = None
    """Size of the file system that is made, in GiB."""
    throughput: Annotated[
        MegabytesPerSecondPerTebibyte | None,
        HARDWARE,
        OnChange("in place", "servers are exchanged while it is mounted; input and output pause"),
    ] = None
    """Throughput that is bought for each TiB, in MB/s/TiB."""
    efa: Annotated[bool, HARDWARE, OnChange("refused", _AT_CREATION)] = False
    """True to serve over EFA; must be set at creation."""
    mount: Annotated[MountPath, HARDWARE, OnChange("drain", "it is unmounted on every node")]
    """Directory at which hosts mount it."""
    compression: Annotated[bool, HARDWARE, OnChange("in place", "holds for what is written")] = True
    """True if files are compressed with LZ4."""
    data_repositories: Annotated[
        tuple[DataRepository, ...],
        PART,
        OnChange("in place", "a new link", event="added"),
        OnChange("in place", "the link goes, the bucket and the files stay", event="removed"),
    ] = ()
    scratch: Annotated[bool, GRANTED, POLICIES_ONLY] = False
    """True if files outside the linked directories may be lost with the file system: FSx makes no backup
    of a file system with data repositories."""
    workload: Annotated[Workload | None, STATEMENT, POLICIES_ONLY] = None
    """Load that jobs put on it. Unknown if omitted."""

    @property
    def size(self) -> LustreSize:
        """Size of the file system that is made, or the recorded size of an existing one."""
        found = self if self.existing is None else self.existing
        return LustreSize(found.capacity, found.throughput)

    @model_validator(mode="after")
    def _is_made_or_exists(self) -> LustreFileSystem:
        said = self.model_fields_set
        if self.existing is None:
            if missing := [
                name for name in _OF_LUSTRE if name not in said or getattr(self, name) is None
            ]:
                raise ValueError(
                    f"'{missing[0]}' is missing: a file system that is made needs it; one that exists is named by 'existing'"
                )
        elif odd := [name for name in (*_OF_LUSTRE[:3], *_OF_MADE) if name in said]:
            where = "'existing'" if odd[0] in {"capacity", "throughput"} else "its owner"
            raise ValueError(f"'{self.name}' exists: its '{odd[0]}' is a matter of {where}")
        return self
