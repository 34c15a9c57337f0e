"""AWS-017: instance types are offered in their zone."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    AwsSitePlan,
    FieldPath,
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
from rackwright.catalog.offerings import builtin_offerings


@rule(
    "AWS-017",
    "Instance types are offered in their zone",
    Severity.HIGH,
    since="0.4",
    stage="concept",
    profile=Profile.LAB,
)
class OfferedTypes(Policy):
    """EC2 offers each instance type in the zone of the cluster."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each group of nodes and of servers."""
        for site in plan.aws:
            for group in site.groups:
                yield _finding(site, f"{site.name} {group.spec.name}", group.spec.type, group.path)
            for servers in site.servers:
                yield _finding(
                    site, f"{site.name} {servers.role}", servers.server.type, servers.path
                )


def _finding(site: AwsSitePlan, name: str, instance_type: str, path: FieldPath) -> Finding:
    """Return the finding on one instance type."""
    record, network = builtin_offerings(), site.network
    at, where = Subject(name, (*path, "type")), f"'{instance_type}' in {site.region}"
    zone = network.availability_zones[0]
    offered, own = record.zone_ids(instance_type, site.region), network.zone_ids.get(zone)
    told = f"as EC2 told on {record.date}"
    if offered is None:
        missing = f"offerings of {where}: 'aws ec2 describe-instance-type-offerings' shows them"
        return Finding(at, ok=None, message=f"whether EC2 offers {where}", missing=(missing,))
    if not offered:
        regions = ", ".join(record.regions_of(instance_type)) or "no region of the record"
        return Finding(
            at,
            ok=False,
            message=f"EC2 does not offer {where}, {told}",
            fix=f"take another type, or another region: {regions}",
        )
    ids = ", ".join(sorted(offered))
    if own is None and offered != record.all_zone_ids(site.region):
        field = (*site.path, "network", "zone_ids", zone)
        lacking = Missing(
            f"zone id of '{zone}', as 'aws ec2 describe-availability-zones' shows it", field
        )
        return Finding(
            at,
            ok=None,
            message=f"whether '{zone}' is one of {ids} with {where}",
            missing=(lacking,),
        )
    if own is not None and own not in offered:
        return Finding(
            at,
            ok=False,
            message=f"EC2 does not offer {where} in {own}, {told}",
            fix=f"put the zone with one of these ids first in 'availability_zones': {ids}",
        )
    return Finding(at, ok=True, message=f"EC2 offers {where}, {told}")
