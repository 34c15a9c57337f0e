"""Settings of node lines in ``slurm.conf``, and options of lines that have no field."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import HARDWARE, KEY, PART
from rackwright.model.names import DISTINCT, Name, refuse_twins
from rackwright.model.scheduler_settings import Reserve
from rackwright.model.units import Gibibytes

Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/+-]*$")]


_VALUE = re.compile(r'"[^"]*"|\S+')
"""A value as Slurm's parser takes it: up to a blank, or in double quotes."""


def _check_option(text: str) -> str:
    if not text.isprintable() or "#" in text or not text.strip():
        raise ValueError("an option is printable text on one line without '#'")
    # Lists are taken apart and written again.
    if not _VALUE.fullmatch(re.sub(r"\s*,\s*", ",", text).strip()) or text.endswith("\\"):
        raise ValueError(
            f"Slurm reads '{text}' as more than one value: put it into double quotes, and no others in it"
        )
    return text


Option = Annotated[str, AfterValidator(_check_option)] | int

OptionName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9]*$")]

_SHAPE = frozenset({"corespersocket", "sockets", "threadspercore"})
NODE_KEYS = frozenset({
    "boards", "corespeccount", "cpus", "feature", "features", "gres", "memspeclimit", "nodename", "procs",
    "realmemory", "socketsperboard", "weight",
})  # fmt: skip
"""Options of a line of nodes, in small letters, that follow from other fields."""


def refuse_generated(extra: Iterable[str], generated: Collection[str]) -> None:
    """Refuse an option that is written from other fields, or given twice.

    Raises:
        ValueError: one is.
    """
    names = [key.lower() for key in extra]
    refuse_twins("extra option", names)
    for key in extra:
        if key.lower() in generated:
            raise ValueError(f"'{key}' is generated, it cannot be in 'extra'")


_GRES_TYPE = r"[A-Za-z0-9][A-Za-z0-9_.-]*"

OtherGres = Annotated[
    str, Field(pattern=rf"^[a-z][a-z0-9_]*(:{_GRES_TYPE})?:[1-9]\d{{0,11}}[KMGT]?$")
]
"""Something that Slurm counts on a host: its name, its type where it has one, and how many."""


class NodeSettings(Model):
    """Settings of nodes that the catalogue lacks, or that differ from it."""

    groups: Annotated[tuple[Name, ...], DISTINCT, Field(min_length=1), KEY]
    """Node groups that it is about."""
    cpus: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Logical CPUs of one host."""
    sockets: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Processors of one host. With ``cpus`` and ``threads_per_core`` they tell Slurm its cores."""
    threads_per_core: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Hardware threads of one core. Every CPU is a core to Slurm if omitted and not in the catalogue."""
    memory: Annotated[Gibibytes | None, HARDWARE] = None
    """Memory of one host that jobs may have, as slurmd reports it, in GiB; taken as it is."""
    gres: Annotated[
        str | None, Field(pattern=rf"^gpu:({_GRES_TYPE}:)?[1-9]\d{{0,3}}$"), HARDWARE
    ] = None
    """Accelerators of one host, like ``gpu:h100:8``, or ``gpu:8`` without a type."""
    other_gres: Annotated[tuple[OtherGres, ...], HARDWARE] = ()
    """Further resources of one host that Slurm counts, like ``mps:400`` or MIG instances, ``gpu:1g.10gb:7``."""
    detect: Annotated[Literal["nvidia", "nvml"] | None, HARDWARE] = None
    """Library that slurmd asks for NVIDIA GPUs and compares with the configuration: a node that differs
    is drained. ``nvidia`` needs Slurm 24.11, ``nvml`` a Slurm built with NVIDIA's library. Nothing is
    compared if omitted."""
    gpus_by_socket: Annotated[bool, HARDWARE] = False
    """True if the first accelerators are at the first socket, as many at the next: their jobs get its
    cores rather than others."""
    features: Annotated[tuple[Word, ...], HARDWARE] = ()
    """Words by which jobs choose nodes: Features."""
    weight: Annotated[int | None, Field(ge=1), HARDWARE] = None
    """Weight of the nodes; nodes of a low weight are used first."""
    reserve: Annotated[Reserve | None, PART] = None
    """Cores and memory that its hosts keep for the system. The cluster's if omitted."""
    extra: Annotated[dict[OptionName, Option], HARDWARE] = {}
    """More options of the line of the nodes in ``slurm.conf``, like ``TmpDisk: 64000``."""

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> NodeSettings:
        refuse_generated(self.extra, NODE_KEYS)
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
