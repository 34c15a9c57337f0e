"""FSx for Lustre on the instances of an AWS site, as variables of the role ``lustre_client``.

Sources: FSx for Lustre User Guide, "Mounting from an Amazon EC2 instance" and "Mounting your Amazon
FSx file system automatically" (source ``<dns name>@tcp:/<mount name>``, options ``relatime,flock``
and ``_netdev``); "Installing the Lustre client" (names of packages: those of Lustre's own build).
The names of the servers are known once AWS has made the file systems: they are outputs of a stack.

A group whose instances have EFA moves the data of a file system that serves it over EFA; the source
stays the same, for clients meet the file system over TCP and learn of its EFA by LNet's discovery.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.inventory.role_variables.filesystems import client_software
from rackwright.model.aws_storage import LustreFileSystem
from rackwright.plan.aws.lustre_efa import lines_of_efa, lnet_over_efa
from rackwright.plan.aws.site import AwsSitePlan
from rackwright.plan.model import Plan
from rackwright.plan.slurm.node_health import LUSTRE, mount_points

NETWORK = {"name": "tcp", "interfaces": ["default"]}
"""LNet over the interface of the default route, an instance's first."""

_DNS_NAME = re.compile(r"[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){2,9}")
_MOUNT_NAME = re.compile(r"[A-Za-z0-9_-]{1,8}")


@dataclass(frozen=True, slots=True)
class FileSystemAddress:
    """Address of a file system for its clients."""

    dns_name: str
    mount_name: str

    @property
    def source(self) -> str:
        """Source of the mount."""
        return f"{self.dns_name}@tcp:/{self.mount_name}"


def address_of(output: Mapping[str, Any]) -> FileSystemAddress:
    """Return the address that a stack tells of a file system.

    Raises:
        ValueError: it is none.
    """
    found = FileSystemAddress(output["dns_name"], output["mount_name"])
    known = _DNS_NAME.fullmatch(found.dns_name) and _MOUNT_NAME.fullmatch(found.mount_name)
    if not known:
        raise ValueError(f"'{found.source}' is no file system")
    return found


def efs_name(output: Mapping[str, Any]) -> str:
    """Return the DNS name that a stack tells of a file system of EFS.

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
    """Yield the variables of each group of hosts of an AWS site that mounts its file systems.

    Args:
        plan: the cluster.
        site: the AWS site.
        addresses: where its file systems are, by name.

    Returns:
        Pairs of a group, a node group or a role of servers, and its variables. What the outputs or
        the software entry do not say is listed in ``lustre_client_unknown``, which stops the role.
    """
    groups = {nodes.spec.name: nodes for nodes in _planned(plan, site).groups}
    for group, mine in _mounted(plan, site):
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
        if group in groups and any(system.efa for system in mine):
            over_efa = lnet_over_efa(groups[group])
            if over_efa is not None:
                variables["lustre_lnet_efa"] = over_efa
        yield group, variables


def fsx_lines(plan: Plan, site: str) -> Iterator[str]:
    """Yield the lines of a listing about the mounts of an AWS site's file systems."""
    clients = {
        group: [system for system in mine if system.efa] for group, mine in _mounted(plan, site)
    }
    return lines_of_efa(_planned(plan, site), clients)


def _planned(plan: Plan, site: str) -> AwsSitePlan:
    (planned,) = (one for one in plan.aws if one.name == site)
    return planned


def _mounted(plan: Plan, site: str) -> Iterator[tuple[str, list[LustreFileSystem]]]:
    """Yield the file systems that each group of hosts mounts, of those that mount any."""
    systems = [one.fsx for one in plan.file_systems if one.site == site and one.fsx is not None]
    kinds = {(host.group, host.role): None for host in plan.hosts if host.site == site}
    for group, role in kinds:
        places = {one.path for one in mount_points(plan, site, group, role) if one.kind == LUSTRE}
        mine = [system for system in systems if system.mount in places]
        if mine:
            yield group, mine
