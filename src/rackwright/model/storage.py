"""Parallel file systems: servers, targets, networks, and what jobs ask of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from rackwright.model.base import Model
from rackwright.model.directories import DirectoryPath, MountPath
from rackwright.model.field_kinds import (
    FOR_REVIEW,
    HARDWARE,
    KEY,
    PART,
    POLICIES_ONLY,
    STATEMENT,
    Claim,
    OnChange,
    Setting,
)
from rackwright.model.names import DISTINCT, Name, refuse_twins
from rackwright.model.networks import Cidr
from rackwright.model.quotas import FileSystemQuota
from rackwright.model.units import Gibibytes, MegabytesPerSecond, Seconds

_FORMATTED = "fixed when the target is formatted: its data would go"
_IN_SERVERS = "the targets with their data stand in the servers"
_LNET = "clients and servers are unmounted: LNet starts again"
_REMOUNTED = "the targets are mounted again with other partners"
_TARGET = "a target with its data would go"
_TARGETS = "the targets with their data would go"

_NETWORK = r"(tcp|o2ib)([1-9]\d{0,2}|0)?"
_NID = re.compile(rf"([0-9.]{{7,15}})@({_NETWORK})", re.ASCII)

MOST_TARGETS = 65_536
"""Lustre numbers the targets of a file system with sixteen bits."""

InterfaceName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$")]
"""A network interface of Linux."""

LnetName = Annotated[str, Field(pattern=rf"^{_NETWORK}$")]
"""Name of an LNet network, like ``o2ib`` or ``tcp1``; ``o2ib0`` is ``o2ib``."""


def split_nids(text: str) -> tuple[tuple[str, str], ...]:
    """Return the address and network of each NID in ``10.1.0.1@o2ib,10.2.0.1@tcp``.

    Raises:
        ValueError: a part is no NID.
    """
    found = []
    for part in text.split(","):
        match = _NID.fullmatch(part)
        if match is None:
            raise ValueError(f"'{part}' is not a NID; write it like '10.1.0.1@o2ib'")
        found.append((str(IPv4Address(match.group(1))), match.group(2)))
    return tuple(found)


def _check_nids(text: str) -> str:
    split_nids(text)
    return text


ServerNids = Annotated[str, AfterValidator(_check_nids)]
"""The NIDs of one server, separated by commas as in a mount command."""
_DEVICE = r"/dev/(disk/by-(id|path)|mapper)/[A-Za-z0-9][A-Za-z0-9_.:+-]*"
StableDevice = Annotated[str, Field(pattern=rf"^{_DEVICE}$")]
"""A block device by a name that a reboot does not change; ``/dev/sda`` is none."""
StableDevices = Annotated[str, Field(pattern=rf"^{_DEVICE}(\[\d{{1,6}}-\d{{1,6}}\])?$")]
"""The same, or several with a range at the end, like ``/dev/mapper/ost[0000-0015]``."""
Failover = Literal["pairs", "none"]
"""``pairs``: servers 1 and 2, 3 and 4, … of the group reach each other's targets."""


def expand_devices(written: Iterable[str]) -> tuple[str, ...]:
    """Return the devices that ``written`` stands for, in the order written.

    Raises:
        ValueError: a range runs backwards or stands for too many.
    """
    found: list[str] = []
    for text in written:
        stem, bracket, rest = text.partition("[")
        low, _, high = rest.rstrip("]").partition("-")
        if not bracket:
            found.append(text)
        elif not 0 <= int(high) - int(low) < MOST_TARGETS:
            raise ValueError(f"the range '{low}-{high}' of '{text}' runs backwards or is too long")
        else:
            found += [f"{stem}{n:0{len(low)}d}" for n in range(int(low), int(high) + 1)]
    return tuple(found)


def _check_devices(devices: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse devices that are named twice."""
    refuse_twins("device", expand_devices(devices))
    return devices


class LocalScratch(Model):
    """Space of a node's own for files that may be lost; RAID 0 over its local drives."""

    mount: Annotated[MountPath, HARDWARE]
    """Directory at which it is mounted."""
    keep: Annotated[Seconds | None, HARDWARE] = None
    """Time since the last access after which files are removed, in d. No file is removed if omitted."""


class Checkpoint(Model):
    """Checkpoint that a job writes in order to restart; absent is unknown."""

    size: Annotated[Gibibytes | None, Setting(looser="either")] = None
    """Size of one checkpoint, in GiB."""
    parameters: Annotated[int | None, Field(gt=0, le=10**18), Setting(looser="either")] = None
    """Parameters of the model, in place of a size."""
    bytes_per_parameter: Annotated[float | None, Field(gt=0, le=1000), Setting(looser="either")] = (
        None
    )
    """Bytes of a checkpoint for each parameter: 12 to 16 for weights with the state of an Adam optimiser."""
    write_time: Annotated[Seconds | None, Setting(looser="either")] = None
    """Longest time that writing a checkpoint may take, in s."""

    @model_validator(mode="after")
    def _one_size(self) -> Checkpoint:
        if self.size is not None and self.parameters is not None:
            raise ValueError("give either 'size' or 'parameters', not both")
        return self


class Workload(Model):
    """Requirements on a file system; absent is unknown."""

    read: Annotated[MegabytesPerSecond | None, Setting(looser="lower")] = None
    """Rate at which all clients together read, in MB/s."""
    write: Annotated[MegabytesPerSecond | None, Setting(looser="lower")] = None
    """Rate at which all clients together write, in MB/s."""
    data: Annotated[Gibibytes | None, Setting(looser="lower")] = None
    """Data expected at the fullest, in GiB."""
    files: Annotated[int | None, Field(ge=0, le=10**18), Setting(looser="lower")] = None
    """Files and directories expected at the most."""
    checkpoint: Annotated[Checkpoint | Literal["none"] | None, Setting(looser="either")] = None
    """Checkpoints that jobs write to it, or ``none``. Unknown if omitted."""


class LnetNetwork(Model):
    """A network that Lustre speaks over."""

    name: Annotated[LnetName, KEY]
    """Name of the network in LNet, like ``o2ib0``."""
    fabric: Annotated[str | None, HARDWARE] = None
    """Fabric of the site that carries it."""
    subnet: Annotated[Cidr | None, HARDWARE] = None
    """Addresses of the NIDs."""
    interfaces: Annotated[tuple[InterfaceName, ...], HARDWARE] = ()
    """Interfaces on each host, like ``ib0``; several are used at once (multi-rail)."""


class ManagementService(Model):
    """The MGS: where clients and servers learn of all others."""

    servers: Annotated[str, HARDWARE, OnChange("refused", _IN_SERVERS)]
    """Node group it runs on."""
    nids: Annotated[tuple[ServerNids, ...] | None, HARDWARE, OnChange("drain", _LNET)] = None
    """The NIDs of each server that may run it, one text a server."""
    device: Annotated[StableDevice | None, HARDWARE, FOR_REVIEW] = None
    """Device of its target, as each of these servers sees it."""


class MetadataTargets(Model):
    """The MDTs; they hold one inode for each file."""

    servers: Annotated[str, HARDWARE, OnChange("refused", _IN_SERVERS)]
    """Node group that serves them."""
    count: Annotated[
        int | None,
        Field(gt=0, le=MOST_TARGETS),
        HARDWARE,
        OnChange("in place", "new targets", event="grown"),
        OnChange("refused", _TARGET, event="shrunk"),
    ] = None
    """Number of targets."""
    size: Annotated[Gibibytes | None, HARDWARE, OnChange("refused", _FORMATTED)] = None
    """Usable size of one target, in GiB."""
    backend: Annotated[
        Literal["ldiskfs", "zfs"] | None, HARDWARE, OnChange("refused", _FORMATTED)
    ] = None
    """File system on the targets."""
    data_on_metadata: Annotated[
        Gibibytes | None, HARDWARE, OnChange("in place", "holds for new files")
    ] = None
    """First part of every file that is kept here (Data-on-MDT), in GiB. The feature is not used if omitted."""
    networks: Annotated[tuple[LnetName, ...] | None, HARDWARE, OnChange("drain", _LNET)] = None
    """LNet networks of its servers."""
    failover: Annotated[Failover | None, HARDWARE, OnChange("drain", _REMOUNTED)] = None
    """Partners that take over the targets of a server."""
    nids: Annotated[tuple[ServerNids, ...] | None, HARDWARE, FOR_REVIEW] = None
    """The NIDs of each server of the group, one text a server, in their order."""
    devices: Annotated[
        Annotated[tuple[StableDevices, ...], AfterValidator(_check_devices)] | None,
        HARDWARE,
        FOR_REVIEW,
    ] = None
    """Device of each target, in their order, as its server and the partner of that see it. The
    first server has the first targets."""


class ObjectTargets(Model):
    """The OSTs; they hold the data."""

    servers: Annotated[str, HARDWARE, OnChange("refused", _IN_SERVERS)]
    """Node group that serves them; targets are spread evenly, in order."""
    count: Annotated[
        int | None,
        Field(gt=0, le=MOST_TARGETS),
        HARDWARE,
        OnChange("in place", "new targets", event="grown"),
        OnChange("refused", _TARGET, event="shrunk"),
    ] = None
    """Number of targets."""
    size: Annotated[Gibibytes | None, HARDWARE, OnChange("refused", _FORMATTED)] = None
    """Usable size of one target after parity and formatting, in GiB."""
    target_read: Annotated[MegabytesPerSecond | None, Claim(looser="higher"), POLICIES_ONLY] = None
    """Read throughput of one target, in MB/s, as measured through its server."""
    target_write: Annotated[MegabytesPerSecond | None, Claim(looser="higher"), POLICIES_ONLY] = None
    """Write throughput of one target, in MB/s, as measured through its server."""
    server_read: Annotated[MegabytesPerSecond | None, Claim(looser="higher"), POLICIES_ONLY] = None
    """Read throughput of one server, in MB/s, whatever the number of its targets: its network and its
    controllers."""
    server_write: Annotated[MegabytesPerSecond | None, Claim(looser="higher"), POLICIES_ONLY] = None
    """Write throughput of one server, in MB/s, whatever the number of its targets."""
    networks: Annotated[tuple[LnetName, ...] | None, HARDWARE, OnChange("drain", _LNET)] = None
    """LNet networks of its servers."""
    failover: Annotated[Failover | None, HARDWARE, OnChange("drain", _REMOUNTED)] = None
    """Partners that take over the targets of a server."""
    nids: Annotated[tuple[ServerNids, ...] | None, HARDWARE, FOR_REVIEW] = None
    """The NIDs of each server of the group, one text a server, in their order."""
    devices: Annotated[
        Annotated[tuple[StableDevices, ...], AfterValidator(_check_devices)] | None,
        HARDWARE,
        FOR_REVIEW,
    ] = None
    """Device of each target, in their order, as its server and the partner of that see it. The
    first server has the first targets."""


class Clients(Model):
    """A node group that mounts the file system."""

    group: Annotated[str, KEY]
    """Node group of the site."""
    networks: Annotated[tuple[LnetName, ...] | None, HARDWARE] = None
    """LNet networks that its hosts are on."""


class ParallelFileSystem(Model):
    """A Lustre file system served by node groups of the site; absent is unknown."""

    name: Annotated[Name, Field(max_length=8), KEY]
    """Name of the file system; Lustre keeps eight characters of a disk label for it."""
    kind: Annotated[
        Literal["lustre"], HARDWARE, OnChange("refused", "another file system would take its place")
    ]
    """Kind of file system."""
    mount: Annotated[MountPath, HARDWARE, OnChange("drain", "it is unmounted on every node")]
    """Directory at which hosts mount it."""
    networks: Annotated[tuple[LnetNetwork, ...], PART, OnChange("drain", _LNET)] = ()
    management: Annotated[
        ManagementService | None,
        PART,
        OnChange("in place", "new targets", event="added"),
        OnChange("refused", _TARGETS, event="removed"),
    ] = None
    metadata: Annotated[
        MetadataTargets | None,
        PART,
        OnChange("in place", "new targets", event="added"),
        OnChange("refused", _TARGETS, event="removed"),
    ] = None
    objects: Annotated[
        ObjectTargets | None,
        PART,
        OnChange("in place", "new targets", event="added"),
        OnChange("refused", _TARGETS, event="removed"),
    ] = None
    clients: Annotated[
        tuple[Clients, ...] | None, PART, OnChange("rolling", "mounted or unmounted node by node")
    ] = None
    locks: Annotated[Literal["flock", "localflock", "noflock"] | None, HARDWARE, FOR_REVIEW] = None
    """Reach of ``flock`` locks: the whole file system, one client, or nowhere. The default of the
    client's version if omitted."""
    workload: Annotated[Workload | None, STATEMENT, POLICIES_ONLY] = None
    quota: Annotated[FileSystemQuota | None, PART, FOR_REVIEW] = None
    """Limits of each account. No limits if omitted."""

    @model_validator(mode="after")
    def _networks_differ(self) -> ParallelFileSystem:
        refuse_twins("network", (lnet_name(network.name) for network in self.networks))
        return self


class NfsShare(Model):
    """A directory that a host exports over NFS version 4, like the home directories."""

    name: Annotated[Name, KEY]
    """Name of the share, by which the rest of the blueprint refers to it."""
    server: Annotated[Name, HARDWARE]
    """Node group whose first host exports it."""
    export: Annotated[DirectoryPath, HARDWARE]
    """Directory of the server, like ``/export/home``."""
    mount: Annotated[MountPath, HARDWARE]
    """Directory at which clients mount it, like ``/home``."""
    clients: Annotated[tuple[Name, ...], DISTINCT, HARDWARE]
    """Node groups that mount it."""
    networks: Annotated[tuple[Cidr, ...], Field(min_length=1), HARDWARE]
    """Addresses of the clients; other hosts may not mount it."""
    address: Annotated[str | None, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.-]*$"), HARDWARE] = None
    """Name or address by which clients reach the server. The name of the host if omitted."""
    read_only: Annotated[bool, HARDWARE] = False
    """True if clients cannot write to it."""
    quota: Annotated[FileSystemQuota | None, PART] = None
    """Limits of each account in the file system of the server that ``export`` is on."""

    @model_validator(mode="after")
    def _no_client_of_itself(self) -> NfsShare:
        if self.read_only and self.quota is not None:
            raise ValueError(f"'{self.name}' is 'read_only': its clients write nothing to limit")
        if self.server in self.clients:
            raise ValueError(f"'{self.server}' both exports and mounts '{self.name}'")
        if wide := [net for net in self.networks if IPv4Network(net).prefixlen == 0]:
            raise ValueError(f"'{wide[0]}' is everybody; name the networks of the clients")
        return self


def lnet_name(name: str) -> str:
    """Return the name as Lustre prints it: ``o2ib0`` is ``o2ib``."""
    return name[:-1] if name in {"o2ib0", "tcp0"} else name
