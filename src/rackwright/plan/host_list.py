"""The hosts that are configured: what each is, where it stands, and its name in the inventory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from rackwright.model.names import expand_hostlist
from rackwright.plan.aws.site import AwsSitePlan
from rackwright.plan.expansion import Expansion, SitePlan
from rackwright.plan.hosts import filled
from rackwright.plan.records.nodes import HostHardware, describe_host


@dataclass(frozen=True, slots=True)
class RackPlace:
    """Position of a host in its rack.

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
    """A host with what it is grouped by.

    Attributes:
        name: its own, unique in the site.
        inventory_name: the same, with the site where two sites have a group of that name.
        hardware: catalogue id of its product.
        place: where it stands; None in the cloud.
        zone: availability zone; None outside the cloud.
        equipment: what it has by the catalogue; None for a server type without a description.
        efa_devices: interfaces of EFA; None where it is no instance of a group, or its layout is
            not known.
    """

    name: str
    inventory_name: str
    site: str
    group: str
    role: str
    hardware: str
    place: RackPlace | None = None
    zone: str | None = None
    equipment: HostHardware | None = field(default=None, compare=False, repr=False)
    efa_devices: int | None = field(default=None, compare=False, repr=False)


def list_hosts(plan: Expansion) -> tuple[Host, ...]:
    """Return every host of every site, in the order of the plan."""
    sites = _sites_of_groups(plan)
    found = [host for planned in plan.onprem for host in _bare_metal(planned, sites)]
    found += [host for planned in plan.aws for host in _cloud(planned, sites)]
    return tuple(found)


def _sites_of_groups(plan: Expansion) -> Mapping[str, Collection[str]]:
    """Return the sites that have hosts of a group, by its name."""
    found: dict[str, set[str]] = {}
    for planned in plan.onprem:
        for group in planned.groups:
            found.setdefault(group.name, set()).add(planned.name)
    for cloud in plan.aws:
        groups: list[str] = [servers.role for servers in cloud.servers if servers.names]
        groups += [nodes.spec.name for nodes in cloud.groups if nodes.spec.least]
        for name in groups:
            found.setdefault(name, set()).add(cloud.spec.name)
    return found


def _in_inventory(name: str, site: str, sites: Collection[str]) -> str:
    return name if len(sites) == 1 else f"{name}.{site}"


def _bare_metal(planned: SitePlan, sites: Mapping[str, Collection[str]]) -> Iterator[Host]:
    places = {
        rack: (hall.name, row.name)
        for hall in planned.spec.halls
        for row in hall.rows
        for group in row.rack_groups
        for rack in expand_hostlist(group.racks)
    }
    site = planned.name
    for planned_group in planned.groups:
        group, hosts = planned_group.spec, planned_group.product.hosts
        slots = [(rack, slot) for rack, units in filled(group) for slot in range(1, units + 1)]
        equipment = describe_host(planned_group.product)
        for index, name in enumerate(planned_group.host_names):
            unit, tray = divmod(index, hosts)
            rack, slot = slots[unit]
            hall, row = places[rack]
            numbers = (slot, tray + 1 if hosts > 1 else None)
            yield Host(
                name=name,
                inventory_name=_in_inventory(name, site, sites[group.name]),
                site=site,
                group=group.name,
                role=group.role,
                hardware=group.type,
                place=RackPlace(hall, row, rack, *numbers),
                equipment=equipment,
            )


def _cloud(planned: AwsSitePlan, sites: Mapping[str, Collection[str]]) -> Iterator[Host]:
    site, zone = planned.spec.name, planned.spec.network.availability_zones[0]
    for servers in planned.servers:
        known = servers.instance
        for name in servers.names:
            yield Host(
                name=name,
                inventory_name=_in_inventory(name, site, sites[servers.role]),
                site=site,
                group=servers.role,
                role=servers.role,
                hardware=servers.server.type,
                zone=zone,
                equipment=None if known is None else describe_host(known),
            )
    for nodes in planned.groups:
        group, equipment = nodes.spec, describe_host(nodes.instance)
        for name in nodes.host_names:
            yield Host(
                name=name,
                inventory_name=_in_inventory(name, site, sites[group.name]),
                site=site,
                group=group.name,
                role="compute",
                hardware=group.type,
                zone=zone,
                equipment=equipment,
                efa_devices=nodes.efa_interfaces,
            )
