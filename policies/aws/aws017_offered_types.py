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
from rackwright.model.aws_instances import BLOCKS_ALONE, CapacityBlock, Reservation
from rackwright.plan.aws.site import GroupPlan


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
                yield _bought(site, group)
            for servers in site.servers:
                yield _finding(
                    site, f"{site.name} {servers.role}", servers.server.type, servers.path
                )


def _bought(site: AwsSitePlan, group: GroupPlan) -> Finding:
    """Return the finding on the type of a node group, by the way in which it is bought."""
    spec, capacity = group.spec, group.spec.capacity
    name, path = f"{site.name} {spec.name}", (*group.path, "capacity")
    if spec.type.startswith(BLOCKS_ALONE) and not isinstance(capacity, CapacityBlock):
        return Finding(
            Subject(name, (*path, "kind")),
            ok=False,
            message=f"EC2 sells '{spec.type}' as UltraServers in capacity blocks alone, not as '{capacity.kind}'",
            fix="buy a capacity block, and set 'capacity: {kind: capacity-block, id: cr-…}'",
        )
    recorded = builtin_offerings().zone_ids(spec.type, site.region) is not None
    if recorded or not isinstance(capacity, (Reservation, CapacityBlock)):
        return _finding(site, name, spec.type, group.path)
    # Of a type that the record lacks, the reservation shows where EC2 has it.
    zone, own = site.network.availability_zones[0], capacity.availability_zone
    at = Subject(name, (*path, "availability_zone"))
    missing = () if own else (Missing(f"zone of '{capacity.id}'", at.path),)
    return Finding(
        at,
        ok=None if own is None else own == zone,
        message=f"'{capacity.id}' of '{spec.type}' is in {own or 'an unknown zone'}, and nodes are in {zone}",
        fix=f"put '{own}' first in 'availability_zones'" if own else None,
        missing=missing,
    )


def _finding(site: AwsSitePlan, name: str, instance_type: str, path: FieldPath) -> Finding:
    """Return the finding on one instance type."""
    record, network = builtin_offerings(), site.network
    at, where = Subject(name, (*path, "type")), f"'{instance_type}' in {site.region}"
    zone = network.availability_zones[0]
    offered, own = record.zone_ids(instance_type, site.region), network.zone_ids.get(zone)
    told = f"according to EC2 on {record.date}"
    if offered is None:
        missing = f"offerings of {where}: 'aws ec2 describe-instance-type-offerings' shows them"
        return Finding(at, ok=None, message=f"whether EC2 offers {where}", missing=(missing,))
    if not offered:
        regions = ", ".join(record.regions_of(instance_type)) or "no region of the record"
        return Finding(
            at,
            ok=False,
            message=f"EC2 does not offer {where}, {told}",
            fix=f"choose another type, or another region: {regions}",
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
