"""Addresses of the servers of an AWS site, from the outputs of its stacks.

Head and login nodes are single instances whose addresses a stack knows. The instances of a node
group come and go with their Auto Scaling group, and nothing here knows their addresses: they are
reached by their names, once somebody has put these into the private zone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from rackwright.configure.hosts import inventory_names
from rackwright.configure.inventory import Inventory, InventoryError
from rackwright.plan.model import Plan

SCHEMA = "rackwright.stack/v1"
"""What ``rackwright status --json`` prints."""

Address = dict[str, str]
"""The variables of a host that say where it is."""


def read_addresses(path: Path) -> Mapping[str, Address]:
    """The addresses of each server in a file that ``rackwright status --json`` has written.

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
        found = _addresses(document)
    except (AttributeError, KeyError, TypeError, ValueError):
        found = {}
    if not found:
        raise InventoryError(
            f"'{path}' holds no servers of a stack with their addresses",
            hint="write it with 'rackwright status --json'",
        )
    return found


def _addresses(document: Any) -> Mapping[str, Address]:
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        return {}
    found: dict[str, Address] = {}
    for stack in document["stacks"]:
        for servers in stack["outputs"].get("servers", {}).values():
            for name, address in servers["private_ips"].items():
                found.setdefault(name, {})["ansible_host"] = str(ip_address(address))
            for name, address in servers["public_ips"].items():
                found.setdefault(name, {})["rackwright_public_address"] = str(ip_address(address))
    return found


def add_addresses(
    inventory: Inventory, plan: Plan, addresses: Mapping[str, Address], site: str | None = None
) -> None:
    """Tell ``inventory`` where the servers of the plan's AWS site are.

    Args:
        inventory: what ``build_inventory`` has made; it is changed.
        plan: the cluster.
        addresses: by host, as ``read_addresses`` returns them.
        site: the AWS site that they belong to, where there are several.

    Raises:
        InventoryError: it is not clear which site they belong to, or a server is not of that site.
    """
    sites = [planned.site.name for planned in plan.aws if site in {None, planned.site.name}]
    if len(sites) != 1:
        problem = "there are several AWS sites" if sites else "there is no AWS site"
        raise InventoryError(f"{problem} that the outputs could belong to", hint="name the site")
    names = {host.name: name for host, name in inventory_names(plan) if host.site == sites[0]}
    for host, variables in addresses.items():
        if host not in names:
            raise InventoryError(
                f"the outputs have a server '{host}', but the site '{sites[0]}' has none",
                hint="use the outputs of the same blueprint, as it is now",
            )
        inventory["_meta"]["hostvars"][names[host]].update(variables)
