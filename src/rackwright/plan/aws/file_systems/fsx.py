"""FSx for Lustre: sizes that AWS offers, and the arguments of file systems as plain data."""

from __future__ import annotations

from typing import Any, Literal

from rackwright.model.aws import AwsSite
from rackwright.model.aws_partitions import dns_suffix
from rackwright.model.aws_storage import DataRepository, ExistingLustre, LustreFileSystem

THROUGHPUTS = (125, 250, 500, 1000)
"""MB/s per TiB that a PERSISTENT_2 file system may have."""
FIRST_CAPACITY = 1200
"""GiB of the smallest SSD file system (FSx for Lustre user guide)."""
CAPACITY_STEP = 2400
"""GiB of which the capacity of every larger one is a multiple (the same)."""
EFA_MINIMUM = 19200
"""GiB that an EFA file system has at least, at ``EFA_MINIMUM_AT``."""
EFA_MINIMUM_AT = 250
"""Throughput of that minimum, in MB/s per TiB."""
ANY_ACCOUNT = "111122223333"
"""An account for names in a plan, which has no credentials; all numbers have twelve digits."""
_DAY = 86_400  # s
_BROKEN_UPLOADS_DAYS = 7  # of a multipart upload that no one ends, which is paid for until then
MOST_ASSOCIATIONS = 8
"""Data repository associations that one file system may have."""


def efa_unit(throughput: float) -> float:
    """Return the GiB of which the capacity of an EFA file system is a multiple.

    FSx for Lustre User Guide, "Increasing storage capacity": 38,400 GiB at 125 MB/s/TiB, 19,200 at 250, 9,600 at 500
    and 4,800 at 1000.
    """
    return EFA_MINIMUM * EFA_MINIMUM_AT / throughput


def is_capacity(capacity: float) -> bool:
    """Return True if FSx offers an SSD file system of ``capacity`` GiB."""
    return capacity == FIRST_CAPACITY or (capacity > 0 and capacity % CAPACITY_STEP == 0)


def next_capacity(capacity: float, step: float = CAPACITY_STEP) -> int:
    """Return the smallest capacity that is offered and holds ``capacity`` GiB."""
    if step == CAPACITY_STEP and capacity <= FIRST_CAPACITY:
        return FIRST_CAPACITY
    return int(max(1, -(-capacity // step)) * step)


def made_file_systems(site: AwsSite) -> tuple[LustreFileSystem, ...]:
    """Return the file systems of FSx that the site makes, in order: those that exist already are left out."""
    return tuple(system for system in site.file_systems if system.existing is None)


def made_size(system: LustreFileSystem) -> tuple[float, float]:
    """Return the capacity and throughput of a file system that is made.

    Raises:
        ValueError: it is not made, but exists.
    """
    if system.existing is not None or system.capacity is None or system.throughput is None:
        raise ValueError(f"'{system.name}' exists already")
    return system.capacity, system.throughput


def dns_name(identity: str, service: str, region: str) -> str:
    """Return the name by which clients find a file system of ``service``, ``fsx`` or ``efs``."""
    return f"{identity}.{service}.{region}.{dns_suffix(region)}"


def existing_output(
    system: LustreFileSystem, existing: ExistingLustre, region: str
) -> dict[str, Any]:
    """Return the stack outputs of an existing file system, equal to those of one that the stack makes."""
    return {
        "id": existing.id,
        "dns_name": dns_name(existing.id, "fsx", region),
        "mount_name": existing.mount_name,
        "mount": system.mount,
        "efa": system.efa,
    }


def file_system_args(system: LustreFileSystem) -> dict[str, Any]:
    """Return a file system that is made, its network and key aside."""
    capacity, throughput = made_size(system)
    return {
        "deployment_type": system.deployment,
        "storage_type": "SSD",
        "storage_capacity": int(capacity),
        "per_unit_storage_throughput": int(throughput),
        "file_system_type_version": "2.15",
        "efa_enabled": system.efa,
        "metadata_configuration": {"mode": "AUTOMATIC"},
        "data_compression_type": "LZ4" if system.compression else "NONE",
        # A file system linked to a bucket cannot be backed up: the bucket is its copy.
        "automatic_backup_retention_days": 0 if system.data_repositories else 7,
        "copy_tags_to_backups": not system.data_repositories,
    }


def association_args(repository: DataRepository) -> dict[str, Any]:
    """Return a data repository association, its file system and its bucket aside: both directions, all events."""
    events = ["NEW", "CHANGED", "DELETED"]
    return {
        "file_system_path": repository.path,
        "batch_import_meta_data_on_create": True,
        "delete_data_in_filesystem": False,
        "s3": {
            "auto_import_policy": {"events": events},
            "auto_export_policy": {"events": events},
        },
    }


def repository_path(repository: DataRepository, bucket: str) -> str:
    """Return the URI of a repository in ``bucket``, like ``s3://datasets/images``."""
    prefix = repository.prefix.strip("/")
    return f"s3://{bucket}" + (f"/{prefix}" if prefix else "")


def association_slug(repository: DataRepository) -> str:
    """Return the name of a data repository association, unique within its file system."""
    return repository.path.strip("/").replace("/", "-") or "root"


def bucket_slug(template: str) -> str:
    """Return the name of a bucket among the resources of its site."""
    return template.replace("{", "").replace("}", "")


def bucket_name(template: str, account: str, region: str) -> str:
    """Return the name of a bucket as the blueprint has it, with what stands for account and region filled in."""
    return template.replace("{account}", account).replace("{region}", region)


def unlinked(system: LustreFileSystem) -> bool:
    """Return True if a file system that is made has directories outside its data repositories, and no backup."""
    linked = [one.path.rstrip("/") for one in system.data_repositories]
    return system.existing is None and bool(linked) and "" not in linked


def kept_versions(site: AwsSite, bucket: str) -> float | Literal["forever"] | None:
    """Return the longest time that any link of a bucket keeps old versions, in s; None if one states none."""
    stated = [
        repository.keep_versions
        for system in site.file_systems
        for repository in system.data_repositories
        if repository.create_bucket and repository.bucket == bucket
    ]
    if None in stated or not stated:
        return None
    if "forever" in stated:
        return "forever"
    return max(one for one in stated if isinstance(one, float | int))


def lifecycle_rule(kept: float) -> dict[str, Any]:
    """Return the lifecycle rule of a versioned bucket whose old versions are removed after ``kept`` seconds."""
    return {
        "id": "old-versions",
        "status": "Enabled",
        "filter": {"prefix": ""},
        "noncurrent_version_expiration": {"noncurrent_days": round(kept / _DAY)},
        # A marker of a file whose versions are all gone, and the parts of uploads that broke off.
        "expiration": {"expired_object_delete_marker": True},
        "abort_incomplete_multipart_upload": {"days_after_initiation": _BROKEN_UPLOADS_DAYS},
    }


def bucket_names(site: AwsSite) -> tuple[str, ...]:
    """Return the buckets that the site makes as the blueprint names them, each once, in order."""
    names = (
        repository.bucket
        for system in site.file_systems
        for repository in system.data_repositories
        if repository.create_bucket
    )
    return tuple(dict.fromkeys(names))
