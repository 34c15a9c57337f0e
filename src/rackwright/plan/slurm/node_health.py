"""Expectations of a plan for health checks of running nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.catalog.fault_signals import faults_left_to_loop, faults_of_node
from rackwright.plan.expansion import Expansion
from rackwright.plan.slurm.devices import device_files, device_pattern
from rackwright.plan.slurm.nodes import NodeSet

EPILOG = "/usr/local/sbin/rackwright-epilog"
"""Path of the epilog that comes with the health checks; any other one is a team's own."""

LIBRARY = "/usr/local/lib/rackwright/node_health.py"
"""Program of the role ``health_check`` that all others run."""

VERDICT_INTERVALS = 3
"""Intervals of the health check for which the prolog trusts a verdict. Judgement: a check may be late."""

LUSTRE = "lustre"
NFS = "nfs4"


@dataclass(frozen=True, slots=True, order=True)
class MountPoint:
    """Mount point of a shared file system.

    Attributes:
        kind: as the kernel calls it in ``/proc/self/mountinfo``.
    """

    path: str
    kind: str
    read_only: bool = False


def mount_points(plan: Expansion, site: str, group: str, role: str) -> tuple[MountPoint, ...]:
    """Return the mount points of shared file systems on the hosts of a group, sorted."""
    found: set[MountPoint] = set()
    for planned in plan.onprem:
        for system in planned.spec.file_systems if planned.name == site else ():
            if group in {client.group for client in system.clients or ()}:
                found.add(MountPoint(system.mount, LUSTRE))
        for share in planned.nfs if planned.name == site else ():
            if group in share.clients:
                found.add(MountPoint(share.mount, NFS, share.read_only))
    for cloud in plan.aws:
        if cloud.spec.name == site and role in {"compute", "login"}:
            found |= {MountPoint(system.mount, LUSTRE) for system in cloud.spec.file_systems}
        if cloud.spec.name == site:
            found |= {
                MountPoint(system.mount, NFS)
                for system in cloud.efs
                if role in {"compute", "login"} or (role == "head" and system.on_head)
            }
    return tuple(sorted(found))


def health_programs(plan: Expansion) -> Mapping[str, Any]:
    """Return variables of the role ``health_check`` that all nodes share.

    Nothing where the blueprint does not say that the checks are generated: the programs that its
    scheduler names are a team's own then, and are not to be overwritten.
    """
    scheduler, operations = plan.scheduler, plan.operations
    if scheduler is None or operations is None or not operations.health_checks:
        return {}
    found: dict[str, Any] = {}
    if scheduler.health_check is not None:
        found["health_check_program"] = scheduler.health_check.program
    if scheduler.prolog is not None:
        found["health_check_prolog"] = scheduler.prolog
    if scheduler.epilog == EPILOG:
        found["health_check_epilog"] = EPILOG
    if scheduler.health_check is not None:
        found["health_check_verdict_s"] = VERDICT_INTERVALS * scheduler.health_check.interval
    if found and scheduler.auth != "munge":
        found["health_check_services"] = []
    if found:
        found["health_check_faults"] = faults_of_node(plan.faults, operations.drain_on_xids or ())
    if found and operations.repair is not None:
        found["health_check_shared"] = faults_left_to_loop(plan.faults)
    return found


def health_of_group(plan: Expansion, nodes: NodeSet) -> Mapping[str, Any]:
    """Return variables of the role ``health_check`` for the nodes of one group."""
    if not health_programs(plan):
        return {}
    places = mount_points(plan, nodes.site, nodes.group, "compute")
    starts = health_programs(plan).get("health_check_program") and nodes.gres is not None
    return {
        **({"slurm_compute_before": f"{LIBRARY} --start"} if starts else {}),
        "health_check_device_pattern": device_pattern(nodes),
        "health_check_devices": list(device_files(nodes)),
        "health_check_mounts": [
            {"path": place.path, "type": place.kind}
            | ({"read_only": True} if place.read_only else {})
            for place in places
        ],
    }
