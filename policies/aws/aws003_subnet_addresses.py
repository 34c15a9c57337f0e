"""AWS-003: the cluster subnet has spare addresses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    AwsSitePlan,
    Contributor,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    rule,
)
from rackwright.model.aws import ExistingNetwork
from rackwright.model.units import Percent
from rackwright.plan.missing import of_product


@rule(
    "AWS-003",
    "The cluster subnet has spare addresses",
    Severity.HIGH,
    since="0.1",
    stage="design",
    profile=Profile.LAB,
)
class SubnetAddresses(Policy):
    """Everything that takes an address fits in the cluster's subnet, with some to spare."""

    headroom: Annotated[Percent, Field(ge=0, le=90)] = 10.0
    """Part of the usable addresses that stays free, for nodes that are replaced while they run."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each site."""
        for site in plan.aws:
            at = Subject(f"{site.name} cluster subnet", (*site.path, "network", "cidr"))
            subnet, demand = site.cluster_subnet, site.demand
            if site.network.existing is not None:
                yield self._existing(site, site.network.existing)
                continue
            if subnet is None or demand is None:
                yield Measure(
                    at,
                    value=None,
                    limit=None,
                    unit="addresses",
                    what="addresses in the cluster's subnet",
                    missing=_unknown_types(site),
                )
                continue
            usable = sum(one.usable for one in site.cluster_subnets)
            limit = int(usable * (100 - self.headroom) / 100)
            where = ", ".join(one.cidr for one in site.cluster_subnets)
            yield Measure(
                at,
                value=demand.present,
                limit=limit,
                unit="addresses",
                what=f"addresses in {where}, keeping {self.headroom:g} % of {usable}",
                contributors=_contributors(site),
                fix="add a subnet to 'network.cluster_subnets', which keeps those that are there",
            )

    def _existing(self, site: AwsSitePlan, existing: ExistingNetwork) -> Measure:
        """Return the same of a subnet that exists, whose free addresses are recorded."""
        path = (*site.path, "network", "existing", "addresses")
        missing = list(_unknown_types(site))
        if existing.addresses is None:
            words = "free addresses, as DescribeSubnets shows them"
            missing.append(Missing(f"{existing.private_subnet}: {words}", path))
        free = existing.addresses
        return Measure(
            Subject(f"{site.name} cluster subnet", path),
            value=None if site.demand is None else site.demand.present,
            limit=None if free is None else int(free * (100 - self.headroom) / 100),
            unit="addresses",
            what=f"addresses in {existing.private_subnet}, keeping {self.headroom:g} % of those free",
            contributors=_contributors(site),
            fix="name a larger 'private_subnet'",
            missing=tuple(missing),
        )


def _unknown_types(site: AwsSitePlan) -> tuple[str, ...]:
    return tuple(
        of_product(group.instance.id, "cards", "network cards")
        for group in site.groups
        if group.addresses_per_node is None
    )


def _contributors(site: AwsSitePlan) -> tuple[Contributor, ...]:
    rows = [
        Contributor(
            group.spec.name,
            group.spec.most,
            group.addresses_per_node,
        )
        for group in site.groups
        if group.addresses_per_node is not None
    ]
    elastic = len(site.made_efs)
    if elastic:
        rows.append(Contributor("mount target of EFS", elastic, 1))
    if site.demand is not None and site.demand.file_systems > elastic:
        count = len(site.made_file_systems)
        each = (site.demand.file_systems - elastic) / count
        rows.append(Contributor("file system", count, each))
    if site.demand is not None and site.demand.servers:
        rows.append(Contributor("head and login", site.demand.servers, 1))
    return tuple(sorted(rows, key=lambda row: (-row.total, row.name)))
