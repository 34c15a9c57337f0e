"""Use of the service quotas that AWS sets for an account in a region.

Quotas of vCPUs are not here: they belong to instance types, whose entries in the catalogue name them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackwright.plan.aws.endpoints import interface_endpoints
from rackwright.plan.aws.file_systems.efs import made_efs
from rackwright.plan.aws.file_systems.fsx import made_file_systems, made_size
from rackwright.plan.aws.site import AwsSitePlan
from rackwright.plan.aws.subnets import file_system_interfaces, nat_zones
from rackwright.plan.base import Contributor
from rackwright.plan.missing import of_product

GIB_PER_TIB = 1024
"""By definition of the binary prefixes (IEC 80000-13)."""


@dataclass(frozen=True, slots=True)
class Quota:
    """A service quota of an account in a region.

    Attributes:
        code: as Service Quotas has it.
        default: what AWS grants without being asked, in the unit of Service Quotas.
        scale: by which a value of Service Quotas is multiplied to be in ``unit``.
    """

    code: str
    what: str
    unit: str
    default: int
    scale: int = 1


INTERFACES = Quota("L-DF5E4CA3", "network interfaces", "interfaces", 5_000)
VPCS = Quota("L-F678F1CE", "VPCs", "VPCs", 5)
ADDRESSES = Quota("L-0263D0A3", "Elastic IP addresses", "addresses", 5)
VOLUMES = Quota("L-7A658B76", "storage of gp3 volumes", "GiB", 50, GIB_PER_TIB)
FILE_SYSTEMS = Quota("L-FD6F2F22", "Lustre file systems (PERSISTENT_2)", "file systems", 100)
LUSTRE_STORAGE = Quota("L-8F1B9C74", "storage of Lustre (PERSISTENT_2)", "GiB", 100_800)
ELASTIC = Quota("L-848C634D", "file systems of EFS", "file systems", 1_000)

QUOTAS = (INTERFACES, VPCS, ADDRESSES, VOLUMES, FILE_SYSTEMS, LUSTRE_STORAGE, ELASTIC)
"""Defaults of VPCs, addresses and interfaces: Amazon VPC User Guide, "Amazon VPC quotas"; of volumes: Amazon
EBS User Guide, "Quotas for Amazon EBS" (50 TiB); of Lustre: FSx for Lustre User Guide, "Service quotas"; of EFS:
Amazon EFS User Guide, "Amazon EFS quotas"."""


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """Use of one quota by the sites of a region.

    Attributes:
        sites: those that take some of it, with their places in the blueprint.
        recorded: the least value that their ``limits`` record, in the unit of the quota; None without.
        taken: what takes it; of a site with unknown numbers what is known.
        missing: what is not known of those that take it.
    """

    region: str
    quota: Quota
    sites: tuple[AwsSitePlan, ...]
    recorded: float | None
    taken: tuple[Contributor, ...]
    missing: tuple[str, ...]

    @property
    def total(self) -> float | None:
        """All that is taken; None where some of it is unknown."""
        return None if self.missing else sum(one.total for one in self.taken)

    @property
    def limit(self) -> float:
        """Limit of the quota: the recorded one, otherwise AWS's default."""
        default = self.quota.default * self.quota.scale
        return default if self.recorded is None else self.recorded


def quota_uses(sites: Sequence[AwsSitePlan]) -> Iterator[QuotaUse]:
    """Yield the use of each quota by ``sites``, region by region; unused quotas are left out.

    Sites of one blueprint in one region are taken to be in one account.
    """
    for region in dict.fromkeys(planned.spec.region for planned in sites):
        near = tuple(planned for planned in sites if planned.spec.region == region)
        for quota in QUOTAS:
            rows: list[Contributor] = []
            missing: list[str] = []
            drawing: list[AwsSitePlan] = []
            for planned in near:
                named = f"{planned.spec.name} " if len(near) > 1 else ""
                found, lacks = _taken(planned, quota)
                rows += [Contributor(named + row.name, row.count, row.each) for row in found]
                missing += lacks
                if found or lacks:
                    drawing.append(planned)
            if drawing:
                rows.sort(key=lambda row: (-row.total, row.name))
                limits = [p.spec.limits.quotas.get(quota.code) for p in near if p.spec.limits]
                recorded = min((value for value in limits if value is not None), default=None)
                yield QuotaUse(
                    region,
                    quota,
                    tuple(drawing),
                    None if recorded is None else float(recorded * quota.scale),
                    tuple(rows),
                    tuple(missing),
                )


def _taken(planned: AwsSitePlan, quota: Quota) -> tuple[list[Contributor], list[str]]:
    """Return the use of a quota by a site, and the missing facts of it."""
    if quota is INTERFACES:
        return _interfaces(planned)
    return [row for row in _things(planned, quota) if row.total], []


def _interfaces(planned: AwsSitePlan) -> tuple[list[Contributor], list[str]]:
    """Return the interfaces, each of which counts, with an address or without: 33 of a p5 with 32 cards."""
    site = planned.spec
    rows: list[Contributor] = []
    missing: list[str] = []
    for group in planned.groups:
        if group.nics is None:
            missing.append(of_product(group.instance.id, "cards", "network cards"))
        else:
            rows.append(Contributor(group.spec.name, group.spec.most, len(group.nics)))
    zones = len(site.network.availability_zones)
    rows += [Contributor(plan.role, plan.server.count, 1) for plan in planned.servers]
    rows += [Contributor(s.name, 1, file_system_interfaces(s)) for s in made_file_systems(site)]
    rows.append(Contributor("mount target of EFS", len(made_efs(site)), 1))
    rows.append(Contributor("NAT gateway", len(nat_zones(site.network)), 1))
    rows.append(Contributor("endpoint", len(interface_endpoints(site.network)), zones))
    rows.append(Contributor("load balancer", int(planned.login_address == "load-balancer"), 1))
    return [row for row in rows if row.total], missing


def _things(planned: AwsSitePlan, quota: Quota) -> Iterator[Contributor]:
    site = planned.spec
    if quota is VPCS:
        yield Contributor(site.name, int(site.network.existing is None), 1)
    elif quota is ADDRESSES:
        yield Contributor("NAT gateway", len(nat_zones(site.network)), 1)
        if planned.login is not None and planned.login_address == "elastic":
            yield Contributor("login", planned.login.count, 1)
        yield Contributor("load balancer", int(planned.login_address == "load-balancer"), 1)
    elif quota is ELASTIC:
        yield from (Contributor(system.name, 1, 1) for system in made_efs(site))
    elif quota is VOLUMES:
        for group in planned.groups:
            yield Contributor(group.spec.name, group.spec.most, math.ceil(group.spec.root_volume))
        for plan in planned.servers:
            yield Contributor(plan.role, plan.server.count, math.ceil(plan.server.root_volume))
        if planned.data_volume is not None:
            size = math.ceil(planned.data_volume.size)
            yield Contributor("head data volume", len(planned.data_hosts), size)
    else:
        for system in made_file_systems(site):
            capacity, _ = made_size(system)
            yield Contributor(system.name, 1, 1 if quota is FILE_SYSTEMS else capacity)
