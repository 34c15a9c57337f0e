"""Partitions, QOS and preemption of Slurm."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rackwright.model.base import Model
from rackwright.model.field_kinds import HARDWARE, KEY
from rackwright.model.names import Name
from rackwright.model.scheduler_settings import (
    SlurmName,
)
from rackwright.model.units import Gibibytes, Seconds

JobTime = Annotated[str, Field(pattern=r"^(UNLIMITED|(\d{1,5}-)?\d{1,2}:\d{2}:\d{2})$")]
"""A time limit in Slurm's own form: ``2-00:00:00`` is two days."""


def job_minutes(limit: JobTime) -> int | None:
    """A time limit in minutes, rounded up as Slurm does; None where there is no limit."""
    if limit == "UNLIMITED":
        return None
    days, _, clock = limit.rpartition("-")
    hours, minutes, seconds = map(int, clock.split(":"))
    return int(days or 0) * 1440 + hours * 60 + minutes + (seconds > 0)


class Qos(Model):
    """A quality of service; it lives in the accounting database."""

    name: Annotated[SlurmName, KEY]
    """Name of the QOS, by which the rest of the blueprint refers to it."""
    priority: Annotated[int, Field(ge=0), HARDWARE] = 0
    """Added to the priority of its jobs, after it is weighed."""
    preempts: Annotated[tuple[SlurmName, ...], HARDWARE] = ()
    """QOS whose jobs give way to this one."""
    preempt_mode: Annotated[Literal["cancel", "requeue"] | None, HARDWARE] = None
    """Treatment of a job of this QOS that gives way. The cluster's mode if omitted."""
    grace: Annotated[Seconds | None, HARDWARE] = None
    """Time between the warning and the end of a job that gives way, in s. With it Slurm 22.05 was seen
    to end such a job for good, also where it was to be queued again."""
    max_wall: Annotated[JobTime | None, HARDWARE] = None
    """Longest that a job may run: MaxWall."""
    max_nodes_per_user: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Nodes that a user may have at a time."""
    max_gpus_per_user: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Accelerators that a user may have at a time."""


class Preemption(Model):
    """Which jobs give way, and how."""

    by: Annotated[Literal["qos", "partition"], HARDWARE]
    """Criterion by which a job precedes another one: PreemptType."""
    mode: Annotated[Literal["cancel", "requeue", "suspend"], HARDWARE]
    """Treatment of a job that gives way: PreemptMode."""
    exempt: Annotated[JobTime | None, HARDWARE] = None
    """Time that a job runs before it may be preempted."""


class Partition(Model):
    """Node groups that jobs are sent to together."""

    name: Annotated[SlurmName, KEY]
    """Name of the partition, by which the rest of the blueprint refers to it."""
    groups: Annotated[tuple[Name, ...], Field(min_length=1), HARDWARE]
    """Node groups, of any of the cluster's sites."""
    default: Annotated[bool, HARDWARE] = False
    """Jobs that name no partition come here."""
    max_time: Annotated[JobTime, HARDWARE] = "UNLIMITED"
    """Longest that a job may run: MaxTime."""
    default_time: Annotated[JobTime | None, HARDWARE] = None
    """Time of a job that asks for none: DefaultTime."""
    max_nodes: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Most nodes of a job: MaxNodes."""
    priority_tier: Annotated[int, Field(ge=1, le=65533), HARDWARE] = 1
    """Jobs of a higher tier are looked at first: PriorityTier."""
    priority_factor: Annotated[int | None, Field(ge=1, le=65533), HARDWARE] = None
    """Addition to the priority of its jobs, against that of the other partitions."""
    preempt_mode: Annotated[Literal["off", "cancel", "requeue", "suspend"] | None, HARDWARE] = None
    """Treatment of a job here that gives way. The cluster's mode if omitted."""
    exclusive: Annotated[bool, HARDWARE] = False
    """One job has a node to itself."""
    memory_per_gpu: Annotated[Annotated[Gibibytes, Field(gt=0)] | None, HARDWARE] = None
    """Memory of a job for each GPU that it asks for, unless it asks for other memory, in GiB. The GPU's
    equal share of its node if omitted."""
    cpus_per_gpu: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Logical CPUs, likewise."""
    qos: Annotated[SlurmName | None, HARDWARE] = None
    """QOS whose limits hold for the whole partition."""
    allow_qos: Annotated[tuple[SlurmName, ...], HARDWARE] = ()
    """QOS that may be used here. Every QOS if omitted."""
    allow_accounts: Annotated[tuple[SlurmName, ...], HARDWARE] = ()
    """Accounts that may use it; empty, all."""
    state: Annotated[Literal["UP", "DOWN", "DRAIN", "INACTIVE"], HARDWARE] = "UP"
    """Treatment of new jobs: State."""
    topology: Annotated[Literal["tree", "block", "flat"] | None, HARDWARE] = None
    """Topology plugin of its jobs; another one than the cluster's needs Slurm 25.05. The cluster's if
    omitted."""
