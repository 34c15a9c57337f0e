"""Storage of slurmctld's state, and the controllers that see it.

A backup controller goes on with the primary's state and takes over only where it finds its heartbeat file
(manual of ``slurm.conf``, StateSaveLocation and SlurmctldHost): all controllers need one folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rackwright.model.scheduler import Scheduler
from rackwright.plan.expansion import Expansion, SitePlan
from rackwright.plan.slurm.nodes import covers

LUSTRE = "lustre"
NFS = "nfs4"


@dataclass(frozen=True, slots=True)
class StateStorage:
    """Storage of StateSaveLocation.

    Attributes:
        folder: StateSaveLocation.
        controllers: hosts that run slurmctld, the primary first.
        mount: mount point of the shared storage; None where the blueprint has none for the folder.
        kind: its file system as the kernel names it; None if any.
        server: host that serves it; None where that is unknown.
        without: controllers that do not mount it.
        outside: some controller is not a host of the blueprint.
    """

    folder: str
    controllers: tuple[str, ...]
    mount: str | None = None
    kind: str | None = None
    server: str | None = None
    without: tuple[str, ...] = ()
    outside: bool = False

    @property
    def server_is_controller(self) -> bool:
        """True if one loss takes a controller and the state of all."""
        return self.server in self.controllers


def state_storage(plan: Expansion, scheduler: Scheduler) -> StateStorage:
    """Return the storage of the controllers' state."""
    folder = scheduler.folders.state
    names = tuple(controller.host for controller in scheduler.controllers)
    stated = scheduler.shared_state
    if stated is not None:
        addresses = {one.address: one.host for one in scheduler.controllers if one.address}
        server = None if stated.server is None else addresses.get(stated.server, stated.server)
        return StateStorage(folder, names, stated.mount, stated.type, server)
    groups = dict(_groups_of(plan, scheduler))
    outside = any(name not in groups for name in names)
    holding = [one for one in _mounts(plan, scheduler) if f"{folder}/".startswith(f"{one[0]}/")]
    if not holding:
        return StateStorage(folder, names, outside=outside)
    mount, kind, server, clients = max(holding, key=lambda one: len(one[0]))
    without = tuple(name for name in names if name in groups and groups[name] not in clients)
    return StateStorage(folder, names, mount, kind, server, without, outside)


def _sites(plan: Expansion, scheduler: Scheduler) -> list[SitePlan]:
    return [planned for planned in plan.onprem if covers(scheduler, planned.name)]


def _groups_of(plan: Expansion, scheduler: Scheduler) -> Iterator[tuple[str, str]]:
    """Yield each controller with its node group, on AWS with its site."""
    names = {controller.host for controller in scheduler.controllers}
    for planned in _sites(plan, scheduler):
        for group in planned.groups:
            if group.spec.role != "compute":  # whose many names need not be looked at
                yield from ((name, group.name) for name in names.intersection(group.host_names))
    for cloud in plan.aws:
        if covers(scheduler, cloud.name):
            heads = {name for servers in cloud.servers for name in servers.names}
            yield from ((name, cloud.name) for name in names.intersection(heads))


def _mounts(
    plan: Expansion, scheduler: Scheduler
) -> Iterator[tuple[str, str, str | None, frozenset[str]]]:
    """Yield mount point, type, server and client groups of each writable shared file system."""
    for planned in _sites(plan, scheduler):
        for share in planned.nfs:
            if not share.read_only:
                host = planned.groups_by_name[share.server].host_names[0]
                yield share.mount, NFS, host, frozenset(share.clients)
        for system in planned.spec.file_systems:
            clients = frozenset(client.group for client in system.clients or ())
            yield system.mount, LUSTRE, None, clients
    for cloud in plan.aws:
        if covers(scheduler, cloud.name):
            for shared in cloud.efs:
                if shared.on_head:
                    yield shared.mount, NFS, None, frozenset({cloud.name})
