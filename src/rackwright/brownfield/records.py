"""Installed hardware as other tools record it, in one format for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.harmless import visible
from rackwright.model.standing import UnitShare

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
    """Place of a device: site, rack and units.

    Attributes:
        position: of the rack in its row, counted from 1; None if unknown.
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
        face: front, rear, left or right, where the source states it.
        share: part of its units that it takes, as a blueprint has it; None for all of them.
        low: its lowest unit, counted from 1; None beside the rails and if unknown.
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
    face: str = ""
    share: UnitShare | None = None
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
        sockets: of a node, where the shape makes up its CPUs.
        threads: of a core, likewise.
        memory: MiB of a node.
        gres: accelerators of a node, like ``gpu:h100:8``.
        other_gres: what else is counted on it.
        reserved_cores: that jobs do not get.
        reserved_memory: MiB that jobs do not get.
        detect: what slurmd asks for its GPUs.
        type_hint: type of its accelerators, where another file has it.
        extra: more options, which all of the nodes have.
        each: more options by the name of the node, which differ: addresses, ports.
    """

    at: Location
    names: tuple[str, ...]
    cpus: int | None = None
    sockets: int | None = None
    threads: int | None = None
    memory: int | None = None
    gres: str | None = None
    other_gres: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    weight: int | None = None
    reserved_cores: int = 0
    reserved_memory: int = 0
    detect: str | None = None
    type_hint: str | None = None
    extra: tuple[tuple[str, str], ...] = ()
    each: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def said(self) -> tuple[object, ...]:
        """All that is said of each node, which nodes of one group have in common."""
        return (
            *(self.cpus, self.sockets, self.threads, self.memory, self.gres, self.other_gres),
            *(self.features, self.weight, self.reserved_cores, self.reserved_memory, self.detect),
            *(self.extra, tuple(self.each)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmPartition:
    """A partition with the names of its nodes and what else is said of it, as a blueprint has it."""

    at: Location
    name: str
    nodes: tuple[str, ...]
    fields: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCluster:
    """Cluster of a ``slurm.conf``.

    Attributes:
        controllers: name and address of each host that runs slurmctld.
        topology: how Slurm sees the network.
        database: host of slurmdbd; None without accounting.
        enforced: what slurmctld refuses jobs for.
        switches: of a topology that is written by hand.
        settings: fields of a scheduler that follow from options of the cluster.
    """

    at: Location
    name: str | None
    controllers: tuple[tuple[str, str | None], ...] = ()
    nodes: tuple[SlurmNodes, ...] = ()
    partitions: tuple[SlurmPartition, ...] = ()
    topology: str = "flat"
    database: str | None = None
    enforced: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    switches: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmBeside:
    """Contents of a file beside a ``slurm.conf``.

    Attributes:
        types: types of accelerators by the nodes that have them; None stands for all nodes.
        detect: what slurmd asks for GPUs, likewise.
        switches: of a ``topology.conf``, as a blueprint has them.
        cgroup: of a ``cgroup.conf``, as a blueprint has it.
        topology: kind of a ``topology.yaml``, which goes before ``TopologyPlugin``; None of other files.
    """

    at: Location
    types: tuple[tuple[frozenset[str] | None, str], ...] = ()
    detect: tuple[tuple[frozenset[str] | None, str], ...] = ()
    switches: tuple[Mapping[str, Any], ...] = ()
    cgroup: Mapping[str, Any] = field(default_factory=dict)
    topology: str | None = None


@dataclass(frozen=True, slots=True)
class FoundCable:
    """A cable between two devices, with the names of their ports."""

    device: str
    port: str
    far: str
    far_port: str


@dataclass(frozen=True, slots=True)
class FoundNetwork:
    """Cables of a network as a tool has seen them.

    Attributes:
        technology: ``infiniband`` or ``ethernet``; None where the products of its switches tell it.
        switches: models by the names of switches; empty where the source states none.
        notices: devices that are left out.
        occupied: switches with cables to devices that are left out, since they state no name.
    """

    at: Location
    technology: str | None
    switches: Mapping[str, str]
    cables: tuple[FoundCable, ...]
    notices: tuple[SourceNotice, ...] = ()
    occupied: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Found:
    """Content of one file.

    Attributes:
        devices: in the order of the file.
        slurm: of a ``slurm.conf``.
        beside: of the files beside it.
        networks: of a dump of cables.
        notices: what it says beside that.
    """

    devices: tuple[FoundDevice, ...] = ()
    slurm: FoundCluster | None = None
    beside: tuple[SlurmBeside, ...] = ()
    networks: tuple[FoundNetwork, ...] = ()
    notices: tuple[SourceNotice, ...] = ()


def refused(message: str, at: Location | None, hint: str | None = None) -> SpecErrors:
    """Return the error for a file that cannot be read as any known format."""
    return SpecErrors([SpecError(message, hint=hint, location=at)])
