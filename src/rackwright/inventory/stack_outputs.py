"""Outputs of the stacks of an AWS site: addresses of its hosts and file systems.

Head and login nodes are single instances whose addresses a stack knows. The instances of node
groups come and go; ``rackwright status`` asks AWS for them and tells which hosts have one. A host
without an instance gets a name that cannot be looked up (``.invalid``, RFC 6761), so that nobody
reaches another machine by an old record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from rackwright.harmless import counted
from rackwright.inventory.aws_connection import (
    INSTANCE,
    PUBLIC,
    SHARED,
    connections,
    unreachable,
)
from rackwright.inventory.expectations import group_name
from rackwright.inventory.inventory import Inventory, InventoryError
from rackwright.inventory.role_variables.filesystems import DEVICE
from rackwright.inventory.role_variables.fsx import (
    FileSystemAddress,
    address_of,
    efs_name,
    fsx_lines,
    fsx_variables,
)
from rackwright.inventory.role_variables.nfs import efs_variables
from rackwright.model.names import compress_hostlist
from rackwright.plan.aws.data_volume import by_id
from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan

SCHEMA = "rackwright.stack/v1"
"""What ``rackwright status --json`` prints."""

NOWHERE = "invalid"
"""Top-level domain in which no name is ever found."""

CLIENTS = "lustre_client"
"""Group of the hosts that mount Lustre."""

NFS_CLIENTS = "nfs_clients"
"""Group of the hosts that mount shares of NFS, as those of EFS are."""

_INSTANCE = re.compile(r"i-[0-9a-f]{8,17}")

Address = dict[str, str]
"""The variables of a host that say where it is."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """Content of the outputs of an AWS site.

    Attributes:
        servers: the addresses of each head and login node.
        nodes: the address of each host of the node groups that has one; None where AWS has not been
            asked.
        file_systems: where the file systems are, by name.
        efs: the DNS names of those of EFS, by name.
    """

    servers: Mapping[str, Address] = field(default_factory=dict)
    nodes: Mapping[str, Address] | None = None
    file_systems: Mapping[str, FileSystemAddress] = field(default_factory=dict)
    efs: Mapping[str, str] = field(default_factory=dict)


def read_outputs(path: Path) -> Outputs:
    """Read the outputs that ``rackwright status --json`` has written to a file.

    Raises:
        InventoryError: the file cannot be read, or says nothing about servers.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InventoryError(f"cannot read '{path}': {str(error.strerror).lower()}") from None
    except ValueError:
        raise InventoryError(
            f"'{path}' is not JSON", hint="write it with 'rackwright status --json'"
        ) from None
    try:
        found = outputs_of(document)
    except (AttributeError, KeyError, TypeError, ValueError):
        found = Outputs()
    if not found.servers:
        raise InventoryError(
            f"'{path}' holds no servers of a stack with their addresses",
            hint="write it with 'rackwright status --json'",
        )
    return found


def outputs_of(document: Any) -> Outputs:
    """Return the outputs in a document of ``rackwright status --json``; none of another document.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: it is not in that form.
    """
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        return Outputs()
    stacks = document["stacks"]
    systems = {
        name: address_of(output)
        for stack in stacks
        for name, output in stack["outputs"].get("file_systems", {}).items()
    }
    elastic = {
        name: efs_name(output)
        for stack in stacks
        for name, output in stack["outputs"].get("efs", {}).items()
    }
    return Outputs(dict(_servers(stacks)), _nodes(document.get("nodes")), systems, elastic)


def _servers(stacks: Any) -> Iterator[tuple[str, Address]]:
    for stack in stacks:
        for servers in stack["outputs"].get("servers", {}).values():
            public, instances = servers["public_ips"], servers.get("instance_ids", {})
            volumes = servers.get("data_volumes", {})
            for name, address in servers["private_ips"].items():
                found = _address(address, instances.get(name))
                if name in volumes:
                    found[DEVICE] = by_id(volumes[name])
                if name in public:
                    found[PUBLIC] = str(ip_address(public[name]))
                if "shared_ip" in servers:
                    found[SHARED] = str(ip_address(servers["shared_ip"]))
                yield name, found


def _nodes(groups: Any) -> Mapping[str, Address] | None:
    if groups is None:
        return None
    return {
        name: _address(address, group.get("instance_ids", {}).get(name))
        for group in groups.values()
        for name, address in group["private_ips"].items()
    }


def _address(address: str, instance: str | None) -> Address:
    """Return the address of a host, checked, since others have written the file.

    Raises:
        ValueError: it is no address, or no id of an instance.
    """
    found = {"ansible_host": str(ip_address(address))}
    if instance is not None:
        if not _INSTANCE.fullmatch(instance):
            raise ValueError(instance)
        found[INSTANCE] = instance
    return found


def add_outputs(
    inventory: Inventory, plan: Plan, outputs: Outputs, site: str | None = None
) -> tuple[str, ...]:
    """Tell ``inventory`` where the hosts of the plan's AWS site and its file systems are.

    Args:
        inventory: what ``build_inventory`` has made; it is changed.
        plan: the cluster.
        outputs: as ``read_outputs`` returns them.
        site: the AWS site that they belong to, where there are several.

    Returns:
        What is missing, for people: the hosts that have no instance or whose address is not known,
        and what keeps Lustre from EFA.

    Raises:
        InventoryError: it is not clear which site they belong to, or a host is not of that site.
    """
    sites = [planned.name for planned in plan.aws if site in {None, planned.name}]
    if len(sites) != 1:
        problem = "there are several AWS sites" if sites else "there is no AWS site"
        raise InventoryError(f"{problem} that the outputs could belong to", hint="name the site")
    hosts = [host for host in plan.hosts if host.site == sites[0]]
    known = {host.name: host.inventory_name for host in hosts}
    found = {**outputs.servers, **(outputs.nodes or {})}
    for host in found:
        if host not in known:
            raise InventoryError(
                f"the outputs have a host '{host}', but the site '{sites[0]}' has none",
                hint="use the outputs of the same blueprint, as it is now",
            )
    (cloud,) = (planned for planned in plan.aws if planned.name == sites[0])
    for host, reached in connections(cloud, {host: found.get(host, {}) for host in known}):
        inventory["_meta"]["hostvars"][known[host]].update({**found.get(host, {}), **reached})
    groups = {group.spec.name for one in plan.aws for group in one.groups}
    lost = [host for host in hosts if host.group in groups and host.name not in found]
    if outputs.nodes is not None:
        for missing in lost:
            hostvars = inventory["_meta"]["hostvars"][missing.inventory_name]
            hostvars["ansible_host"] = f"{missing.name}.{NOWHERE}"
    _add_file_systems(inventory, plan, outputs, sites[0])
    lacking = unreachable(cloud, found)
    mounting = fsx_lines(plan, sites[0])
    return (*_missing(lost, known=outputs.nodes is not None), *lacking, *mounting)


def _add_file_systems(inventory: Inventory, plan: Plan, outputs: Outputs, site: str) -> None:
    """Put the groups that mount file systems among the clients of Lustre and NFS."""
    for clients, listed in (
        (CLIENTS, fsx_variables(plan, site, outputs.file_systems)),
        (NFS_CLIENTS, efs_variables(plan, site, outputs.efs)),
    ):
        for group, variables in listed:
            nodes = group_name("nodes", site, group)
            inventory[nodes].setdefault("vars", {}).update(variables)
            if clients not in inventory:
                inventory[clients] = {"hosts": []}
                inventory["all"]["children"].append(clients)
            inventory[clients].setdefault("children", []).append(nodes)


def _missing(lost: Sequence[Host], *, known: bool) -> Iterator[str]:
    names = compress_hostlist([host.inventory_name for host in lost])
    if lost and known:
        yield (
            f"no instance with an address for {counted(len(lost), 'host')} of node groups:"
            f" {names}; see 'rackwright hosts'"
        )
    elif lost:
        yield (
            f"the outputs do not tell the addresses of {counted(len(lost), 'host')} of node groups, which"
            f" are reached by name: {names}"
        )
