"""Parallel file systems: throughput, capacity, inodes and networks.

Throughputs are in MB/s, sizes in GiB, times in seconds; None is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from rackwright.model.aws import AwsSite
from rackwright.model.aws_storage import LustreFileSystem
from rackwright.model.onprem import OnPremSite
from rackwright.model.storage import (
    Checkpoint,
    MetadataTargets,
    ObjectTargets,
    ParallelFileSystem,
    Workload,
    lnet_name,
    split_nids,
)
from rackwright.plan.aws.file_systems.fsx import CAPACITY_STEP, efa_unit, next_capacity
from rackwright.plan.base import Path
from rackwright.plan.expansion import Expansion, SitePlan
from rackwright.plan.missing import Missing
from rackwright.plan.problems import PlanProblem
from rackwright.reading.suggest import did_you_mean

GIB = 2**30
"""Bytes (IEC 80000-13)."""
MOST_FILES = {"ldiskfs": 4_000_000_000, "zfs": 64_000_000_000}
"""Files that one metadata target holds at most, whatever its size (Lustre manual, table of
practical ranges, quoted second-hand)."""


def aggregate(targets: int, servers: int, per_target: float, per_server: float) -> float:
    """Return the rate of all servers together with targets spread evenly over them, in MB/s."""
    each, more = divmod(targets, servers)
    return more * min((each + 1) * per_target, per_server) + (servers - more) * min(
        each * per_target, per_server
    )


def aggregate_after_loss(
    targets: int, servers: int, per_target: float, per_server: float, *, pairs: bool
) -> float:
    """Return the same after the loss of the one server that is missed most.

    With pairs the partner takes over the targets, at its own rate. Nothing is left without them,
    or for a last server that has no partner: a file is striped over targets of all servers.
    """
    if not pairs or servers % 2:
        return 0.0
    each, more = divmod(targets, servers)
    kinds = [(each, each)] if more + more % 2 < servers else []
    if more > 1:
        kinds.append((each + 1, each + 1))
    if more % 2:
        kinds.append((each + 1, each))

    def moved(held: int) -> float:
        return min(held * per_target, per_server)

    lost = max(moved(one) + moved(two) - moved(one + two) for one, two in kinds)
    return aggregate(targets, servers, per_target, per_server) - lost


def enough(
    demand: float, targets: int, servers: int, per_target: float, per_server: float
) -> tuple[int, int]:
    """Return the targets and servers, no fewer than there are, that move ``demand`` together."""
    servers = max(servers, math.ceil(demand / per_server - 1e-9))
    targets = max(targets, math.ceil(demand / per_target - 1e-9))
    return -(-targets // servers) * servers, servers


def checkpoint_size(checkpoint: Checkpoint) -> float | None:
    """Return the GiB of one checkpoint: as stated, or from the parameters of the model."""
    if checkpoint.size is not None or checkpoint.parameters is None:
        return checkpoint.size
    if checkpoint.bytes_per_parameter is None:
        return None
    return checkpoint.parameters * checkpoint.bytes_per_parameter / GIB


def write_time(size: float, throughput: float) -> float:
    """Return the seconds in which ``size`` GiB are written.

    Raises:
        ZeroDivisionError: the throughput is zero.
    """
    return size * GIB / 1e6 / throughput


def throughput_for(size: float, seconds: float) -> float:
    """Return the MB/s that write ``size`` GiB in ``seconds``: the inverse of ``write_time``."""
    return size * GIB / 1e6 / seconds


def files_of_target(targets: MetadataTargets, inode_bytes: int, factor: float) -> int | None:
    """Return the files that one metadata target holds.

    A file takes an inode of ``inode_bytes``, ``factor`` times for directories, logs and growth
    (Lustre wiki, sizing guide: 2 KiB × 2), and its first part where data is kept here too.
    """
    if targets.size is None:
        return None
    by_size = math.floor(targets.size * GIB / file_bytes(targets, inode_bytes, factor) + 1e-6)
    if targets.backend is None:
        return by_size if by_size <= min(MOST_FILES.values()) else None
    return min(by_size, MOST_FILES[targets.backend])


def file_bytes(targets: MetadataTargets, inode_bytes: int, factor: float) -> float:
    """Return the bytes of a metadata target that one file takes."""
    return inode_bytes * factor + (targets.data_on_metadata or 0.0) * GIB


def fsx_throughput(system: LustreFileSystem) -> float | None:
    """Return the MB/s of an FSx file system, read or written: its capacity times the throughput of a TiB.

    Unknown for an existing one unless both are recorded.
    """
    capacity, throughput = system.size
    return None if capacity is None or throughput is None else capacity / 1024 * throughput


def fsx_capacity(system: LustreFileSystem, capacity: float) -> int:
    """Return the smallest capacity in GiB that AWS offers and that is at least ``capacity``."""
    step: float = CAPACITY_STEP
    if system.efa and system.size.throughput:
        step = max(step, efa_unit(system.size.throughput))
    return next_capacity(capacity, step)


@dataclass(frozen=True, slots=True)
class Rate:
    """The throughput of a file system in one direction.

    Attributes:
        value: with every server alive.
        most: what it cannot exceed, known where one of its parts is.
        after_loss: after the loss of one server; for FSx unknown, AWS replaces its servers.
        missing: what would have to be known for ``value``.
    """

    value: float | None
    most: float | None
    after_loss: float | None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class FileSystem:
    """A file system of either provider, with what the policies compare.

    Attributes:
        name: site and file system, like ``sjc1 scratch``.
        site: name of the site.
        system: its own name, unique in the site.
        capacity: size in GiB; None when unknown.
        servers: number of object servers, None when unknown.
        management_hosts: hosts of the node group that runs the MGS; None if it is not stated.
        lustre: the system of a bare-metal site.
        fsx: the system of a site on AWS.
    """

    name: str
    site: str
    system: str
    path: Path
    workload: Workload
    read: Rate
    write: Rate
    capacity: float | None
    servers: int | None = None
    management_hosts: int | None = None
    lustre: ParallelFileSystem | None = None
    fsx: LustreFileSystem | None = None

    def remedy(self, direction: str, demand: float) -> str | None:
        """Return the purchase by which ``direction`` moves ``demand`` MB/s; None if unknown."""
        if self.fsx is not None:
            throughput = self.fsx.size.throughput
            if throughput is None:
                return None
            if not throughput:
                return "choose a throughput above zero"
            needed = fsx_capacity(self.fsx, demand / throughput * 1024)
            return f"use a capacity of {needed:,} GiB, or a higher throughput"
        objects = self.lustre.objects if self.lustre else None
        if objects is None or objects.count is None or self.servers is None:
            return None
        per_target, per_server = _rates(objects, direction)
        if not per_target or not per_server:
            return None
        targets, servers = enough(demand, objects.count, self.servers, per_target, per_server)
        return f"use {targets:,} targets on {servers:,} servers"


def file_systems(plan: Expansion) -> Iterator[FileSystem]:
    """Yield every file system of the plan, those of bare-metal sites first."""
    for site in plan.onprem:
        for index, system in enumerate(site.spec.file_systems):
            yield _lustre(site, system, (*site.path, "file_systems", index))
    for aws in plan.aws:
        for index, fsx in enumerate(aws.spec.file_systems):
            yield _fsx(aws.spec, fsx, (*aws.path, "file_systems", index))


def _fsx(site: AwsSite, system: LustreFileSystem, path: Path) -> FileSystem:
    moved = fsx_throughput(system)
    missing = () if system.existing is None else tuple(_unrecorded(system, path))
    rate = Rate(moved, moved, after_loss=None, missing=missing)
    return FileSystem(
        name=f"{site.name} {system.name}",
        site=site.name,
        system=system.name,
        path=path,
        workload=system.workload or Workload(),
        read=rate,
        write=rate,
        capacity=system.size.capacity,
        fsx=system,
    )


def _unrecorded(system: LustreFileSystem, path: Path) -> Iterator[Missing]:
    """Yield the facts of an existing FSx file system that are not recorded."""
    for name, value in system.size._asdict().items():
        if value is None:
            yield Missing(
                f"'{name}' of the existing file system, as recorded", (*path, "existing", name)
            )


def serves_lustre(plan: Expansion, site: str, group: str) -> bool:
    """Return True if the hosts of a node group of a bare-metal site serve a Lustre file system there."""
    return any(
        service is not None and service.servers == group
        for planned in plan.onprem
        if planned.name == site
        for system in planned.spec.file_systems
        for service in (system.management, system.metadata, system.objects)
    )


def _lustre(site: SitePlan, system: ParallelFileSystem, path: Path) -> FileSystem:
    objects, management = system.objects, system.management
    servers = None if objects is None else _count_hosts(site, objects.servers)
    capacity = None
    if objects and objects.count is not None and objects.size is not None:
        capacity = objects.count * objects.size
    return FileSystem(
        name=f"{site.name} {system.name}",
        site=site.name,
        system=system.name,
        path=path,
        workload=system.workload or Workload(),
        read=_rate(objects, "read", servers, path),
        write=_rate(objects, "write", servers, path),
        capacity=capacity,
        servers=servers,
        management_hosts=None if management is None else _count_hosts(site, management.servers),
        lustre=system,
    )


def _count_hosts(site: SitePlan, group: str) -> int | None:
    """Return the hosts of a node group of the site, None where there is no such group."""
    found = site.groups_by_name.get(group)
    return None if found is None else found.hosts


def _rates(objects: ObjectTargets, direction: str) -> tuple[float | None, float | None]:
    if direction == "read":
        return objects.target_read, objects.server_read
    return objects.target_write, objects.server_write


def _rate(objects: ObjectTargets | None, direction: str, servers: int | None, path: Path) -> Rate:
    if objects is None or servers is None:
        what = "'objects': the servers and targets that hold the data"
        return Rate(None, None, None, (Missing(what, (*path, "objects")),))
    per_target, per_server = _rates(objects, direction)
    missing = tuple(
        Missing(f"'{name}' of the objects", (*path, "objects", name))
        for name, value in (
            ("count", objects.count),
            (f"target_{direction}", per_target),
            (f"server_{direction}", per_server),
        )
        if value is None
    )
    if objects.count is None or per_target is None or per_server is None:
        bounds = []
        if per_server is not None:
            bounds.append(servers * per_server)
        if objects.count is not None and per_target is not None:
            bounds.append(objects.count * per_target)
        return Rate(None, min(bounds, default=None), None, missing)
    moved = aggregate(objects.count, servers, per_target, per_server)
    after = None
    if objects.failover is not None:
        pairs = objects.failover == "pairs"
        after = aggregate_after_loss(objects.count, servers, per_target, per_server, pairs=pairs)
    return Rate(moved, moved, after)


def check_file_systems(site: OnPremSite, path: Path) -> list[PlanProblem]:
    """Return the references of the site's file systems that lead nowhere."""
    groups = [group.name for group in site.node_groups]
    fabrics = [fabric.name for fabric in site.fabrics]
    problems = []
    for index, system in enumerate(site.file_systems):
        where = (*path, "file_systems", index)
        for place, group in _group_references(system):
            if group not in groups:
                message = f"there is no node group '{group}' in this site"
                hint = did_you_mean(group, groups)
                problems.append(PlanProblem((*where, *place), message, hint))
        for number, network in enumerate(system.networks):
            if network.fabric is not None and network.fabric not in fabrics:
                message = f"there is no fabric '{network.fabric}' in this site"
                hint = did_you_mean(network.fabric, fabrics)
                place = ("networks", number, "fabric")
                problems.append(PlanProblem((*where, *place), message, hint))
        known = [network.name for network in system.networks]
        for place, names in _network_references(system):
            for number, name in enumerate(names):
                if lnet_name(name) not in map(lnet_name, known):
                    message = f"the file system has no network '{name}'"
                    at = (*where, *place, number)
                    problems.append(PlanProblem(at, message, did_you_mean(name, known)))
    return problems


def _group_references(system: ParallelFileSystem) -> Iterator[tuple[Path, str]]:
    for name in ("management", "metadata", "objects"):
        part = getattr(system, name)
        if part is not None:
            yield (name, "servers"), part.servers
    for index, clients in enumerate(system.clients or ()):
        yield ("clients", index, "group"), clients.group


def _network_references(system: ParallelFileSystem) -> Iterator[tuple[Path, tuple[str, ...]]]:
    for name in ("metadata", "objects"):
        part = getattr(system, name)
        if part is not None and part.networks is not None:
            yield (name, "networks"), part.networks
    for index, clients in enumerate(system.clients or ()):
        if clients.networks is not None:
            yield ("clients", index, "networks"), clients.networks


def mount_source(system: ParallelFileSystem) -> str | None:
    """Return the source of a client's mount, like ``10.1.0.1@o2ib:10.1.0.2@o2ib:/scratch``; None if unknown.

    Commas part the NIDs of one server, colons the servers (mount.lustre).
    """
    if system.management is None or not system.management.nids:
        return None
    servers = [
        ",".join(f"{address}@{lnet_name(network)}" for address, network in split_nids(nids))
        for nids in system.management.nids
    ]
    return ":".join([*servers, f"/{system.name}"])
