"""NFS shares and file systems of EFS as variables of the roles ``nfs_server`` and ``nfs_client``.

Sources for EFS: Amazon EFS User Guide, "Recommended NFS mount options". Where clients find those that AWS makes
is known once they are made: it is an output of a stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rackwright.inventory.role_variables.users import quota_of_all
from rackwright.plan.model import Plan
from rackwright.plan.slurm.node_health import NFS, mount_points

EFS_OPTIONS = (
    "nfsvers=4.1",
    "rsize=1048576",
    "wsize=1048576",
    "hard",
    "timeo=600",
    "retrans=2",
    "noresvport",
)
"""As AWS recommends them."""


def nfs_servers(plan: Plan) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the exports of each host, by site and host."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for planned in plan.onprem:
        for share in planned.nfs:
            host = planned.groups_by_name[share.server].host_names[0]
            entry = found.setdefault((planned.name, host), {"nfs_server_exports": []})
            exported: dict[str, Any] = {
                "path": share.export,
                "networks": list(share.networks),
                "writable": not share.read_only,
            }
            if share.quota is not None and plan.users is not None:
                exported["quota"] = quota_of_all(share.quota, plan.users)
            entry["nfs_server_exports"].append(exported)
    return found


def nfs_clients(plan: Plan) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the mounts of the hosts of each group, by site and node group."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for planned in plan.onprem:
        for share in planned.nfs:
            host = planned.groups_by_name[share.server].host_names[0]
            for client in share.clients:
                entry = found.setdefault((planned.name, client), {"nfs_client_mounts": []})
                mounted = {
                    "server": share.address or host,
                    "export": share.export,
                    "path": share.mount,
                    "writable": not share.read_only,
                }
                entry["nfs_client_mounts"].append(mounted)
    return found


def efs_variables(
    plan: Plan, site: str, names: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the variables of each group of hosts of an AWS site that mounts its file systems of EFS.

    Args:
        plan: the cluster.
        site: the AWS site.
        names: the DNS names of its file systems, by name.

    Returns:
        Pairs of a group, a node group or a role of servers, and its variables. File systems of which the
        outputs tell nothing are listed in ``nfs_client_unknown``, which stops the role.
    """
    systems = [system for one in plan.aws if one.name == site for system in one.efs]
    kinds = {(host.group, host.role): None for host in plan.hosts if host.site == site}
    for group, role in kinds:
        places = {one.path for one in mount_points(plan, site, group, role) if one.kind == NFS}
        mine = [system for system in systems if system.mount in places]
        if not mine:
            continue
        variables: dict[str, Any] = {
            "nfs_client_mounts": [
                {
                    "server": names[system.name],
                    "export": "/",
                    "path": system.mount,
                    "writable": True,
                    "options": list(EFS_OPTIONS),
                }
                for system in mine
                if system.name in names
            ]
        }
        if lost := [system.name for system in mine if system.name not in names]:
            variables["nfs_client_unknown"] = [
                f"the address of '{name}' in the outputs" for name in lost
            ]
        yield group, variables
