"""What rules about storage compare: file systems, checkpoints, networks of LNet."""

from __future__ import annotations

from rackwright.plan.storage.filesystem import (
    Rate,
    checkpoint_size,
    file_systems,
    files_of_target,
    fsx_capacity,
    throughput_for,
    write_time,
)
from rackwright.plan.storage.lnet import judge_networks

__all__ = [
    "Rate",
    "checkpoint_size",
    "file_systems",
    "files_of_target",
    "fsx_capacity",
    "judge_networks",
    "throughput_for",
    "write_time",
]
