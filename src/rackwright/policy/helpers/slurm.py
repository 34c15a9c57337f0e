"""What rules about scheduling compare: node sets, partitions, topology."""

from __future__ import annotations

from rackwright.model.job_time import job_seconds
from rackwright.plan.slurm.checks import (
    Cabling,
    blocked,
    cabling,
    defaults,
    difference,
    idle_sets,
    right_sizes,
    shared_tiers,
    wrong_sizes,
)
from rackwright.plan.slurm.nodes import SCHEDULER, node_sets, partition_sets
from rackwright.plan.slurm.topology import TOPOLOGY, base_block, declared_tree, members, tree_faults

__all__ = [
    "SCHEDULER",
    "TOPOLOGY",
    "Cabling",
    "base_block",
    "blocked",
    "cabling",
    "declared_tree",
    "defaults",
    "difference",
    "idle_sets",
    "job_seconds",
    "members",
    "node_sets",
    "partition_sets",
    "right_sizes",
    "shared_tiers",
    "tree_faults",
    "wrong_sizes",
]
