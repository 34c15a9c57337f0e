"""The hosts that are configured: what each is, where it stands, and its name in the inventory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rackwright.model.hardware import Node
from rackwright.model.names import expand_hostlist
from rackwright.model.onprem import OnPremSite
from rackwright.plan.aws.site import AwsSitePlan
from rackwright.plan.hosts import node_names, numbered
from rackwright.plan.model import Plan


@dataclass(frozen=True, slots=True)
class RackPlace:
    """Where a host stands.

    Attributes:
        unit: number of its server, or rack-scale system, among those of its group in the rack.
        tray: number of the host in a rack-scale system; None for a server.
    """

    hall: str
    row: str
    rack: str
    unit: int
    tray: int | None


@dataclass(frozen=True, slots=True)
class Host:
    """A host with what it is grouped by; ``place`` is None in the cloud."""

    name: str
    site: str
    group: str
    role: str
    hardware: str
    place: RackPlace | None = None
    zone: str | None = None


def list_hosts(plan: Plan) -> tuple[Host, ...]:
    """Every host of every site, in the order of the plan."""
    found = [host for planned in plan.onprem for host in _bare_metal(plan, planned.site)]
    found += [host for planned in plan.aws for host in _cloud(planned)]
    return tuple(found)


def _bare_metal(plan: Plan, site: OnPremSite) -> Iterator[Host]:
    places = {
        rack: (hall.name, row.name)
        for hall in site.halls
        for row in hall.rows
        for group in row.rack_groups
        for rack in expand_hostlist(group.racks)
    }
    for group in site.node_groups:
        hosts = plan.catalogue.get(Node, group.type).hosts
        racks = expand_hostlist(group.racks)
        for index, name in enumerate(node_names(group, plan.catalogue)):
            unit, tray = divmod(index, hosts)
            rack = racks[unit // group.per_rack]  # racks are filled in the order written
            hall, row = places[rack]
            numbers = (unit % group.per_rack + 1, tray + 1 if hosts > 1 else None)
            place = RackPlace(hall, row, rack, *numbers)
            yield Host(name, site.name, group.name, group.role, group.type, place)


def _cloud(planned: AwsSitePlan) -> Iterator[Host]:
    site = planned.site
    zone = site.network.availability_zones[0]
    for servers in planned.servers:
        for name in servers.names:
            yield Host(name, site.name, servers.role, servers.role, servers.server.type, zone=zone)
    for nodes in planned.groups:
        for name in numbered(nodes.group.name, nodes.group.count):
            yield Host(name, site.name, nodes.group.name, "compute", nodes.group.type, zone=zone)


def inventory_names(plan: Plan) -> list[tuple[Host, str]]:
    """Every host with its name in the inventory.

    That is its own name, with its site where two sites have a group of that name.
    """
    hosts = list_hosts(plan)
    sites: dict[str, set[str]] = {}
    for host in hosts:
        sites.setdefault(host.group, set()).add(host.site)
    return [(h, h.name if len(sites[h.group]) == 1 else f"{h.name}.{h.site}") for h in hosts]
