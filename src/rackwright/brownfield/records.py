"""What sources say of what stands, in one form whatever they are written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.harmless import visible

Role = Literal["compute", "login", "head", "storage", "management"]
Kind = Literal["node", "switch", "pdu", "shelf", "rack", "other"]

MOST_HOSTS = 100_000
"""Hosts that the files of one blueprint may name: as many as a sheet has rows."""


@dataclass(frozen=True, slots=True)
class SourceNotice:
    """Something that a source says and a blueprint does not, or says in another way."""

    text: str
    at: Location | None = None

    def __str__(self) -> str:
        return visible(self.text) if self.at is None else f"{self.at}: {visible(self.text)}"


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """Where something stands.

    Attributes:
        position: of the rack in its row, counted from 1; None where nobody says it.
    """

    site: str
    hall: str
    row: str
    rack: str
    position: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDevice:
    """A device in a rack.

    Attributes:
        at: where the source says it.
        kind: what it is; None where its product tells it.
        product: what the source calls the product, the best name first.
        names: of its hosts or switches, in order; empty for what has none.
        place: None for what is in no rack.
        low: its lowest unit, counted from 1; None beside the rails and where nobody says it.
        high: its highest unit, where the source says it.
        role: what it is for, where the source says it in a word of ours.
        group: what the source calls the group, role or tier that it is in; empty where it says none.
        supplies: power supplies on each feed of the rack, where the source says it.
    """

    at: Location
    kind: Kind | None
    product: tuple[str, ...]
    names: tuple[str, ...] = ()
    place: FoundPlace | None = None
    low: float | None = None
    high: float | None = None
    role: Role | None = None
    group: str = ""
    supplies: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmNodes:
    """Nodes that one line of a ``slurm.conf`` describes.

    Attributes:
        cpus: logical CPUs of a node.
        memory: MiB of a node.
        gres: accelerators of a node, like ``gpu:h100:8``.
    """

    at: Location
    names: tuple[str, ...]
    cpus: int | None = None
    memory: int | None = None
    gres: str | None = None
    features: tuple[str, ...] = ()
    weight: int | None = None

    @property
    def said(self) -> tuple[object, ...]:
        """All that is said of each node, which nodes of one group have in common."""
        return self.cpus, self.memory, self.gres, self.features, self.weight


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmPartition:
    """A partition with the names of its nodes and what else is said of it, as a blueprint has it."""

    at: Location
    name: str
    nodes: tuple[str, ...]
    fields: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCluster:
    """What a ``slurm.conf`` says.

    Attributes:
        controllers: name and address of each host that runs slurmctld.
        topology: how Slurm sees the network.
        database: host of slurmdbd; None without accounting.
    """

    at: Location
    name: str | None
    controllers: tuple[tuple[str, str | None], ...] = ()
    nodes: tuple[SlurmNodes, ...] = ()
    partitions: tuple[SlurmPartition, ...] = ()
    topology: str = "flat"
    database: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What one file says.

    Attributes:
        devices: in the order of the file.
        slurm: of a ``slurm.conf``.
        notices: what it says beside that.
    """

    devices: tuple[FoundDevice, ...] = ()
    slurm: FoundCluster | None = None
    notices: tuple[SourceNotice, ...] = ()


def refused(message: str, at: Location | None, hint: str | None = None) -> SpecErrors:
    """Why nothing can be made of a file."""
    return SpecErrors([SpecError(message, hint=hint, location=at)])
