"""Data volumes of head nodes: what Slurm and its database must not lose, apart from the root volume.

The stacks deploy these arguments and the rules judge them; none is written anywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rackwright.model.aws import AwsSite
from rackwright.model.aws_instances import DataVolume, Snapshots
from rackwright.plan.aws.tags import SNAPSHOT_TAG

DEVICE = "/dev/sdf"
"""Name that EC2 knows the attachment by (Amazon EC2 User Guide, "Device names for volumes on Amazon EC2
instances"); an instance of the Nitro System sees an NVMe device."""

_VOLUME = re.compile(r"vol-[0-9a-f]{8,17}")
_HOUR = 3600
"""Seconds."""


def volume_args(
    site: AwsSite, volume: DataVolume, *, prefix: str, tags: Mapping[str, str]
) -> dict[str, Any]:
    """Return an encrypted gp3 volume in the zone of the cluster."""
    key = volume.encryption_key or site.access.encryption_key
    watched = {} if volume.snapshots is None else {SNAPSHOT_TAG: prefix}
    return {
        "availability_zone": site.network.availability_zones[0],
        "size": int(-(-volume.size // 1)),
        "type": "gp3",
        "iops": volume.iops,
        "throughput": volume.mebibytes_per_second,
        "encrypted": True,
        "tags": {**tags, **watched},
        **({} if key is None else {"kms_key_id": key}),
        **({} if volume.snapshot is None else {"snapshot_id": volume.snapshot}),
    }


def lifecycle_args(snapshots: Snapshots, *, prefix: str, tags: Mapping[str, str]) -> dict[str, Any]:
    """Return the lifecycle policy that makes and removes snapshots, its role aside."""
    hours = round(snapshots.every / _HOUR)
    return {
        # Letters, digits, blanks, '_' and '-' only (Amazon DLM API Reference, CreateLifecyclePolicy).
        "description": f"data volumes of {prefix}",
        "state": "ENABLED",
        "policy_details": {
            "policy_type": "EBS_SNAPSHOT_MANAGEMENT",
            "resource_types": ["VOLUME"],
            "target_tags": {SNAPSHOT_TAG: prefix},
            "schedules": [
                {
                    "name": f"every {hours} h",
                    "copy_tags": True,
                    "create_rule": {
                        "interval": hours,
                        "interval_unit": "HOURS",
                        "times": snapshots.at,
                    },
                    "retain_rule": {"count": snapshots.keep},
                }
            ],
        },
        "tags": dict(tags),
    }


def by_id(volume: str) -> str:
    """Return the device path of a volume on a Nitro instance, as udev names it by its serial number.

    Source: Amazon EBS User Guide, "Map Amazon EBS volumes to NVMe device names".

    Raises:
        ValueError: ``volume`` is no id of a volume.
    """
    if not _VOLUME.fullmatch(volume):
        raise ValueError(f"'{volume}' is no id of a volume")
    return f"/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_{volume.replace('-', '')}"
