"""Addresses of the management controllers of hosts that are provisioned."""

from __future__ import annotations

from dataclasses import dataclass

from rackwright.model.addresses import split_span
from rackwright.plan.expansion import SitePlan
from rackwright.plan.records.names import NamePlan


@dataclass(frozen=True, slots=True)
class ControllerAddresses:
    """Controllers of the provisioned hosts of one site.

    Attributes:
        hosts: number of provisioned hosts.
        addresses: number of addresses in which their controllers are looked for; None where neither
            ranges nor a network of kind ``bmc`` state them.
        unnamed: node groups that no network of kind ``bmc`` has addresses of, which ranges do not need.
    """

    hosts: int
    addresses: int | None
    unnamed: tuple[str, ...]


def controller_addresses(site: SitePlan, names: NamePlan) -> ControllerAddresses | None:
    """Return the addresses of the controllers of a site; None where it provisions no hosts."""
    provisioning = site.provisioning
    if provisioning is None or not provisioning.groups:
        return None
    wanted = {one.group for one in provisioning.groups}
    hosts = {group.name: group.hosts for group in site.groups if group.name in wanted}
    total = sum(hosts.values())
    if provisioning.bmc.ranges:
        spans = [split_span(span) for span in provisioning.bmc.ranges]
        count = sum(int(last) - int(first) + 1 for first, last in spans)
        return ControllerAddresses(total, count, ())
    named = {
        part.of: part.count
        for network in names.networks
        if network.site == site.name and network.kind == "bmc"
        for part in network.ranges
        if part.of in hosts
    }
    unnamed = tuple(group for group in hosts if group not in named)
    return ControllerAddresses(total, None if unnamed else sum(named.values()), unnamed)
