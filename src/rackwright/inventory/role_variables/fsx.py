"""FSx for Lustre on the instances of an AWS site, as variables of the role ``lustre_client``.

Sources: FSx for Lustre User Guide, "Mounting from an Amazon EC2 instance" and "Mounting your Amazon
FSx file system automatically" (source ``<dns name>@tcp:/<mount name>``, options ``relatime,flock``
and ``_netdev``); "Installing the Lustre client" (names of packages: those of Lustre's own build).
The names of the servers are known once AWS has made the file systems: they are outputs of a stack.

Data moves over TCP, also where a file system serves EFA: LNet over EFA is not configured here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.inventory.role_variables.filesystems import client_software
from rackwright.plan.model import Plan
from rackwright.plan.slurm.node_health import LUSTRE, mount_points

NETWORK = {"name": "tcp", "interfaces": ["default"]}
"""LNet over the interface of the default route, an instance's first."""

_DNS_NAME = re.compile(r"[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){2,9}")
_MOUNT_NAME = re.compile(r"[A-Za-z0-9_-]{1,8}")


@dataclass(frozen=True, slots=True)
class FileSystemAddress:
    """Where clients find a file system."""

    dns_name: str
    mount_name: str

    @property
    def source(self) -> str:
        """What is mounted."""
        return f"{self.dns_name}@tcp:/{self.mount_name}"


def address_of(output: Mapping[str, Any]) -> FileSystemAddress:
    """The address that a stack tells of a file system.

    Raises:
        ValueError: it is none.
    """
    found = FileSystemAddress(output["dns_name"], output["mount_name"])
    known = _DNS_NAME.fullmatch(found.dns_name) and _MOUNT_NAME.fullmatch(found.mount_name)
    if not known:
        raise ValueError(f"'{found.source}' is no file system")
    return found


def efs_name(output: Mapping[str, Any]) -> str:
    """The DNS name that a stack tells of a file system of EFS.

    Raises:
        ValueError: it is none.
    """
    found = str(output["dns_name"])
    if not _DNS_NAME.fullmatch(found):
        raise ValueError(f"'{found}' is no file system")
    return found


def fsx_variables(
    plan: Plan, site: str, addresses: Mapping[str, FileSystemAddress]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The variables of each group of hosts of an AWS site that mounts its file systems.

    Args:
        plan: the cluster.
        site: the AWS site.
        addresses: where its file systems are, by name.

    Returns:
        Pairs of a group, a node group or a role of servers, and its variables. What the outputs or
        the software bill do not say is listed in ``lustre_client_unknown``, which stops the role.
    """
    systems = [one.fsx for one in plan.file_systems if one.site == site and one.fsx is not None]
    kinds = {(host.group, host.role): None for host in plan.hosts if host.site == site}
    for group, role in kinds:
        places = {one.path for one in mount_points(plan, site, group, role) if one.kind == LUSTRE}
        mine = [system for system in systems if system.mount in places]
        if not mine:
            continue
        variables = client_software(plan, site)
        variables["lustre_client_unknown"] += [
            f"the address of '{system.name}' in the outputs"
            for system in mine
            if system.name not in addresses
        ]
        variables["lustre_lnet_networks"] = [NETWORK]
        variables["lustre_client_mounts"] = [
            {
                "source": addresses[system.name].source,
                "folder": system.mount,
                "locks": "flock",
                "options": ["relatime"],
            }
            for system in mine
            if system.name in addresses
        ]
        yield group, variables
