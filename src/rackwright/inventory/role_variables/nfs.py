"""NFS shares as variables of the roles ``nfs_server`` and ``nfs_client``."""

from __future__ import annotations

from typing import Any

from rackwright.inventory.role_variables.users import quota_of_all
from rackwright.plan.model import Plan


def nfs_servers(plan: Plan) -> dict[tuple[str, str], dict[str, Any]]:
    """What each host exports, by site and host."""
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
    """What the hosts of each group mount, by site and node group."""
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
