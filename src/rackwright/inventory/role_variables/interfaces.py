"""Addresses of interfaces on fabrics as variables of the role ``fabric_interfaces``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rackwright.model.fabric import Fabric
from rackwright.plan.fabric.layout import Hosts
from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan
from rackwright.plan.records.names import PlannedNetwork, Range

FIRST_TABLE = 101
"""Routing table of a host's first interface; the numbers up to 252 are free on every distribution."""


def interface_variables(plan: Plan, hosts: Iterable[Host]) -> dict[str, dict[str, Any]]:
    """Return the variables of hosts whose interfaces ``configure`` sets, by name in the inventory."""
    set_here = [one for one in plan.names.networks if one.set_by not in {None, "others"}]
    if not set_here:
        return {}
    attached = {
        (site.name, layout.fabric.name, entry.group.name): (layout.fabric, entry)
        for site in plan.onprem
        for layout in site.layouts
        for entry in layout.hosts
    }
    ranges: dict[tuple[str, str], list[tuple[PlannedNetwork, Range]]] = {}
    for network in set_here:
        for one in network.ranges:
            ranges.setdefault((network.site, one.of), []).append((network, one))
    found: dict[str, dict[str, Any]] = {}
    for host in hosts:
        links: list[dict[str, Any]] = []
        for network, one in ranges.get((host.site, host.group), ()):
            index = one.index_of(host.name)
            if index is not None:
                fabric, entry = attached[host.site, network.fabric or "", host.group]
                links += _links(network, one, index, fabric, entry)
        if links:
            found[host.inventory_name] = {
                "fabric_interfaces_set_by": set_here[0].set_by,
                "fabric_interfaces_links": [
                    {**link, "table": FIRST_TABLE + number} for number, link in enumerate(links)
                ],
            }
    return found


def _links(
    network: PlannedNetwork, one: Range, index: int, fabric: Fabric, entry: Hosts
) -> Iterator[dict[str, Any]]:
    """Yield each interface of a host in a network, without its routing table."""
    for number, label in enumerate(one.labels(index)):
        interface = number if network.interface is None else network.interface - 1
        devices = entry.attachment.devices
        known = {
            "name": label,
            "pci": devices[interface] if devices else None,
            "mac": None if devices else network.macs.get(label),
            "address": str(one.address(index, number)),
            "prefix": network.prefix.prefixlen,
            "network": str(network.prefix),
            "gateway": None if network.gateway is None else str(network.gateway),
            "mtu": fabric.mtu,
            "rdma": fabric.role != "management",
        }
        yield {key: value for key, value in known.items() if value is not None}
