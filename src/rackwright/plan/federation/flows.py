"""Connections between the sites of a federation, for the firewalls and routers between them.

Ports are the defaults of ``slurm.conf(5)``, ``slurmdbd.conf(5)`` and MariaDB, unless the scheduler sets others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rackwright.plan.expansion import Expansion
from rackwright.plan.federation.checks import site_networks
from rackwright.plan.federation.members import members
from rackwright.plan.records.names import NamePlan

SLURMCTLD, SLURMDBD, MARIADB, SSH = 6817, 6819, 3306, 22


@dataclass(frozen=True, slots=True)
class SiteFlow:
    """TCP connections from one site to a host of another site.

    Attributes:
        source: site that opens the connections.
        prefix: source network; empty if the site has no planned one.
        target: site of the host.
        address: address of the host, or its name without a planned address.
        port: TCP port of the host.
        reason: service behind the port.
    """

    source: str
    prefix: str
    target: str
    address: str
    port: int
    reason: str


def flows(plan: Expansion, names: NamePlan) -> Iterator[SiteFlow]:
    """Yield the connections between the sites of the federation."""
    found = members(plan, names)
    prefixes = {one.site: one.prefixes or () for one in site_networks(plan, names)}

    def to(source: str, target: str, address: str, port: int, reason: str) -> Iterator[SiteFlow]:
        for prefix in prefixes[source] or ("",):
            yield SiteFlow(source, str(prefix), target, address, port, reason)

    for one in found:
        membership, scheduler = one.plan.membership, one.plan.scheduler
        if membership is None or scheduler is None:
            continue
        site = one.spec.site
        ports = {key.lower(): value for key, value in scheduler.extra.items()}
        port = int(str(ports.get("slurmctldport", SLURMCTLD)).partition("-")[0])
        for other in found:
            if other.spec.site == site:
                continue
            for controller in scheduler.controllers:
                address = controller.address or names.address_of(site, controller.host)
                source = other.spec.site
                yield from to(
                    source, site, address or controller.host, port, "slurmctld and commands"
                )
        for database in membership.database:
            if database.site != site:
                yield from to(site, database.site, database.reached_by, SLURMDBD, "slurmdbd")
    if not found or found[0].plan.membership is None:
        return
    databases = found[0].plan.membership.database
    for one_host in databases:
        for other_host in databases:
            if one_host.site != other_host.site:
                yield from to(
                    one_host.site, other_host.site, other_host.reached_by, MARIADB, "MariaDB"
                )
