"""Partitions, QOS and preemption of Slurm."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import HARDWARE, KEY
from rackwright.model.job_time import JobTime
from rackwright.model.names import DISTINCT, Name
from rackwright.model.scheduler_settings import PartitionName, SlurmName
from rackwright.model.slurm_lines import Option, OptionName, refuse_generated
from rackwright.model.units import Gibibytes, Seconds

PARTITION_KEYS = frozenset({
    "default", "maxtime", "nodes", "partitionname", "priority", "prioritytier", "shared", "state",
})  # fmt: skip
"""Options of a line of partitions, likewise."""
_PARTITION_FIELDS = {
    "allowaccounts": "allow_accounts",
    "allowqos": "allow_qos",
    "defaulttime": "default_time",
    "defcpupergpu": "cpus_per_gpu",
    "defmempergpu": "memory_per_gpu",
    "maxnodes": "max_nodes",
    "oversubscribe": "exclusive",
    "preemptmode": "preempt_mode",
    "priorityjobfactor": "priority_factor",
    "qos": "qos",
    "topology": "topology",
}
"""Options that ``extra`` of a partition may give instead of the field that they belong to."""


class Qos(Model):
    """A quality of service; it lives in the accounting database."""

    name: Annotated[SlurmName, KEY]
    """Name of the QOS, by which the rest of the blueprint refers to it."""
    priority: Annotated[int, Field(ge=0), HARDWARE] = 0
    """Addition to the priority of its jobs, after it is weighed."""
    preempts: Annotated[tuple[SlurmName, ...], DISTINCT, HARDWARE] = ()
    """QOS whose jobs give way to this one."""
    preempt_mode: Annotated[Literal["cancel", "requeue"] | None, HARDWARE] = None
    """Treatment of a job of this QOS that gives way. The cluster's mode if omitted."""
    grace: Annotated[Seconds | None, HARDWARE] = None
    """Time between the warning and the end of a job that gives way, in s. With it Slurm 22.05 was seen
    to end such a job for good, also where it was to be queued again."""
    max_wall: Annotated[JobTime | None, HARDWARE] = None
    """Longest that a job may run: MaxWall."""
    max_nodes_per_user: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Number of nodes that a user may have at a time."""
    max_gpus_per_user: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Accelerators that a user may have at a time."""


class Preemption(Model):
    """Preemption: the jobs that yield, and how they do."""

    by: Annotated[Literal["qos", "partition"], HARDWARE]
    """Criterion by which a job precedes another one: PreemptType."""
    mode: Annotated[Literal["cancel", "requeue", "suspend"], HARDWARE]
    """Treatment of a job that gives way: PreemptMode."""
    exempt: Annotated[JobTime | None, HARDWARE] = None
    """Time that a job runs before it may be preempted."""


class Partition(Model):
    """Node groups that jobs are sent to together."""

    name: Annotated[PartitionName, KEY]
    """Name of the partition, by which the rest of the blueprint refers to it."""
    groups: Annotated[tuple[Name, ...], DISTINCT, Field(min_length=1), HARDWARE]
    """Node groups, of any of the cluster's sites."""
    default: Annotated[bool, HARDWARE] = False
    """True if jobs that name no partition come here."""
    max_time: Annotated[JobTime, HARDWARE] = "UNLIMITED"
    """Longest that a job may run: MaxTime."""
    default_time: Annotated[JobTime | None, HARDWARE] = None
    """Time of a job that asks for none: DefaultTime."""
    max_nodes: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Most nodes of a job: MaxNodes."""
    priority_tier: Annotated[int, Field(ge=0, le=65533), HARDWARE] = 1
    """Tier of the partition; jobs of a higher tier are considered first: PriorityTier."""
    priority_factor: Annotated[int | None, Field(ge=0, le=65533), HARDWARE] = None
    """Addition to the priority of its jobs, against that of the other partitions."""
    preempt_mode: Annotated[Literal["off", "cancel", "requeue", "suspend"] | None, HARDWARE] = None
    """Treatment of a job here that gives way. The cluster's mode if omitted."""
    exclusive: Annotated[bool, HARDWARE] = False
    """True if one job has a node to itself."""
    memory_per_gpu: Annotated[Annotated[Gibibytes, Field(gt=0)] | None, HARDWARE] = None
    """Memory of a job for each GPU that it asks for, unless it asks for other memory, in GiB. The GPU's
    equal share of its node if omitted."""
    cpus_per_gpu: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Logical CPUs of a job for each GPU that it asks for, unless it asks for other CPUs. The GPU's
    equal share of its node if omitted."""
    qos: Annotated[SlurmName | None, HARDWARE] = None
    """QOS whose limits hold for the whole partition."""
    allow_qos: Annotated[tuple[SlurmName, ...], DISTINCT, HARDWARE] = ()
    """QOS that may be used here. Every QOS if omitted."""
    allow_accounts: Annotated[tuple[SlurmName, ...], DISTINCT, HARDWARE] = ()
    """Accounts that may use it; empty, all."""
    spot: Annotated[bool, HARDWARE] = False
    """True if jobs here may run on spot instances, and are queued again when AWS takes one back."""
    state: Annotated[Literal["UP", "DOWN", "DRAIN", "INACTIVE"], HARDWARE] = "UP"
    """Treatment of new jobs: State."""
    topology: Annotated[Literal["tree", "block", "flat"] | None, HARDWARE] = None
    """Topology plugin of its jobs; another one than the cluster's needs Slurm 25.05. The cluster's if
    omitted."""
    extra: Annotated[dict[OptionName, Option], HARDWARE] = {}
    """More options of the partition's line in ``slurm.conf``, like ``AllowGroups: ml``."""

    @model_validator(mode="after")
    def _extra_adds(self) -> Partition:
        refuse_generated(self.extra, PARTITION_KEYS)
        for key in self.extra:
            field = _PARTITION_FIELDS.get(key.lower())
            if field is not None and getattr(self, field):
                raise ValueError(f"'{key}' is in 'extra' and follows from '{field}': keep one")
        return self
