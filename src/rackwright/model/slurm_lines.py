"""Lines of ``slurm.conf`` that describe nodes and partitions, with what a site sets in each."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from rackwright.model.base import Model
from rackwright.model.job_time import JobTime
from rackwright.model.names import Name, refuse_twins
from rackwright.model.scheduler_settings import PartitionName, Reserve, SlurmName
from rackwright.model.units import Gibibytes

Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/+-]*$")]


def _check_option(text: str) -> str:
    if not text.isprintable() or "#" in text or not text.strip():
        raise ValueError("an option is printable text on one line without '#'")
    return text


Option = Annotated[str, AfterValidator(_check_option)] | int

OptionName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9]*$")]

_SHAPE = frozenset({"corespersocket", "sockets", "threadspercore"})
NODE_KEYS = frozenset({
    "boards", "corespeccount", "cpus", "feature", "features", "gres", "memspeclimit", "nodename", "procs",
    "realmemory", "socketsperboard", "weight",
})  # fmt: skip
"""Options of a line of nodes, in small letters, that follow from other fields."""
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


def _refuse_generated(extra: Iterable[str], generated: Collection[str]) -> None:
    """Refuse an option that is written from other fields, or given twice.

    Raises:
        ValueError: one is.
    """
    names = [key.lower() for key in extra]
    refuse_twins("extra option", names)
    for key in extra:
        if key.lower() in generated:
            raise ValueError(f"'{key}' is generated, it cannot be in 'extra'")


class Partition(Model):
    """Node groups that jobs are sent to together."""

    name: PartitionName
    """How the rest of the blueprint calls it."""
    groups: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Node groups, of any of the cluster's sites."""
    default: bool = False
    """Jobs that name no partition come here."""
    max_time: JobTime = "UNLIMITED"
    """Longest that a job may run: MaxTime."""
    default_time: JobTime | None = None
    """Time of a job that asks for none: DefaultTime."""
    max_nodes: Annotated[int, Field(gt=0)] | None = None
    """Most nodes of a job: MaxNodes."""
    priority_tier: Annotated[int, Field(ge=1, le=65533)] = 1
    """Jobs of a higher tier are looked at first: PriorityTier."""
    priority_factor: Annotated[int, Field(ge=1, le=65533)] | None = None
    """What it adds to the priority of its jobs, against that of the other partitions."""
    preempt_mode: Literal["off", "cancel", "requeue", "suspend"] | None = None
    """What becomes of a job here that makes way; absent, as for the cluster."""
    exclusive: bool = False
    """One job has a node to itself."""
    memory_per_gpu: Annotated[Gibibytes, Field(gt=0)] | None = None
    """Memory of a job for each GPU that it asks for, unless it asks for other memory; absent, the
    GPU's equal share of its node."""
    cpus_per_gpu: Annotated[int, Field(gt=0)] | None = None
    """Logical CPUs, likewise."""
    qos: SlurmName | None = None
    """QOS whose limits hold for the whole partition."""
    allow_qos: tuple[SlurmName, ...] = ()
    """Absent, every QOS."""
    allow_accounts: tuple[SlurmName, ...] = ()
    """Accounts that may use it; empty, all."""
    state: Literal["UP", "DOWN", "DRAIN", "INACTIVE"] = "UP"
    """What it does with jobs: State."""
    topology: Literal["tree", "block", "flat"] | None = None
    """Absent, the cluster's; another one needs Slurm 25.05."""
    extra: dict[OptionName, Option] = {}
    """More options of the partition's line in ``slurm.conf``, like ``AllowGroups: ml``."""

    @model_validator(mode="after")
    def _extra_adds(self) -> Partition:
        _refuse_generated(self.extra, PARTITION_KEYS)
        for key in self.extra:
            field = _PARTITION_FIELDS.get(key.lower())
            if field is not None and getattr(self, field):
                raise ValueError(f"'{key}' is in 'extra' and follows from '{field}': keep one")
        return self


_GRES_TYPE = r"[A-Za-z0-9][A-Za-z0-9_.-]*"

OtherGres = Annotated[
    str, Field(pattern=rf"^[a-z][a-z0-9_]*(:{_GRES_TYPE})?:[1-9]\d{{0,11}}[KMGT]?$")
]
"""Something that Slurm counts on a host: its name, its type where it has one, and how many."""


class NodeSettings(Model):
    """What a site says about its nodes, where the catalogue is silent or they differ from it."""

    groups: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Node groups that it is about."""
    cpus: Annotated[int, Field(gt=0)] | None = None
    """Logical CPUs of one host."""
    sockets: Annotated[int, Field(gt=0)] | None = None
    """Processors of one host. With ``cpus`` and ``threads_per_core`` they tell Slurm its cores."""
    threads_per_core: Annotated[int, Field(gt=0)] | None = None
    """Hardware threads of one core. Without them every CPU is a core to Slurm."""
    memory: Gibibytes | None = None
    """Memory of one host that jobs may have, as slurmd reports it; taken as it is."""
    gres: Annotated[str, Field(pattern=rf"^gpu:({_GRES_TYPE}:)?[1-9]\d{{0,3}}$")] | None = None
    """Accelerators of one host, like ``gpu:h100:8``, or ``gpu:8`` without a type."""
    other_gres: tuple[OtherGres, ...] = ()
    """Further resources of one host that Slurm counts, like ``mps:400`` or MIG instances, ``gpu:1g.10gb:7``."""
    detect: Literal["nvidia", "nvml"] | None = None
    """What slurmd asks for NVIDIA GPUs, and compares with what is written: a node that differs is
    drained. ``nvidia`` needs Slurm 24.11, ``nvml`` a Slurm built with NVIDIA's library; absent,
    nothing is compared."""
    gpus_by_socket: bool = False
    """The first accelerators stand at the first socket, as many at the next: their jobs get its
    cores rather than others."""
    features: tuple[Word, ...] = ()
    """Words by which jobs choose nodes: Features."""
    weight: Annotated[int, Field(ge=1)] | None = None
    """Nodes of a low weight are used first."""
    reserve: Reserve | None = None
    """What its hosts keep for the system; absent, as the cluster's."""
    extra: dict[OptionName, Option] = {}
    """More options of the line of the nodes in ``slurm.conf``, like ``TmpDisk: 64000``."""

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> NodeSettings:
        _refuse_generated(self.extra, NODE_KEYS)
        if self.sockets is not None and _SHAPE & {key.lower() for key in self.extra}:
            raise ValueError("the shape is in 'extra' and follows from 'sockets': keep one")
        if (self.sockets is None) != (self.threads_per_core is None):
            raise ValueError("'sockets' and 'threads_per_core' are given together or not at all")
        if self.sockets is None or self.threads_per_core is None or self.cpus is None:
            return self
        if self.cpus % (self.sockets * self.threads_per_core):
            raise ValueError(
                f"{self.cpus} CPUs are not a whole number of cores in {self.sockets} sockets with "
                f"{self.threads_per_core} threads a core"
            )
        return self
