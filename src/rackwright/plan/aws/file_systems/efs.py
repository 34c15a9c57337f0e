"""Amazon EFS: the arguments of file systems as plain data, and what stacks tell of them."""

from __future__ import annotations

from typing import Any

from rackwright.model.aws import AwsSite
from rackwright.model.aws_storage import ElasticFileSystem, ExistingElastic, Tiering
from rackwright.plan.aws.file_systems.fsx import dns_name

NFS_PORT = 2049
"""Port of a mount target (Amazon EFS User Guide, "Using VPC security groups")."""
_DAY = 86_400
"""Seconds."""


def made_efs(site: AwsSite) -> tuple[ElasticFileSystem, ...]:
    """Return the file systems of EFS that the site makes, in order: those that exist already are left out."""
    return tuple(system for system in site.efs if system.existing is None)


def efs_args(system: ElasticFileSystem, name: str) -> dict[str, Any]:
    """Return a file system that is made, its key and tags aside.

    Its creation token is its name, which no other of the account and region has.
    """
    return {
        "creation_token": name,
        "encrypted": True,
        "performance_mode": "generalPurpose",
        "throughput_mode": system.throughput,
        "lifecycle_policies": None if system.tiering is None else _lifecycle(system.tiering),
    }


def backup_args(system: ElasticFileSystem) -> dict[str, Any]:
    """Return its backup policy, the file system aside."""
    return {"backup_policy": {"status": "ENABLED" if system.backups else "DISABLED"}}


def _lifecycle(tiering: Tiering) -> list[dict[str, str]]:
    """Return one entry for each transition, as EFS wants them."""
    moves = {
        "transition_to_ia": _after(tiering.infrequent_access),
        "transition_to_archive": _after(tiering.archive),
        "transition_to_primary_storage_class": "AFTER_1_ACCESS" if tiering.back_on_access else None,
    }
    return [{name: after} for name, after in moves.items() if after is not None]


def _after(seconds: float | None) -> str | None:
    """Return an age as EFS calls it."""
    if seconds is None:
        return None
    days = round(seconds / _DAY)
    return "AFTER_1_DAY" if days == 1 else f"AFTER_{days}_DAYS"


def existing_efs_output(
    system: ElasticFileSystem, existing: ExistingElastic, region: str
) -> dict[str, Any]:
    """Return the stack outputs of an existing file system, equal to those of one that the stack makes."""
    return {
        "id": existing.id,
        "dns_name": dns_name(existing.id, "efs", region),
        "mount": system.mount,
    }
