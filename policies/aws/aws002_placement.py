"""AWS-002: placement group and zone match the kind of capacity."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    AwsSitePlan,
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
from rackwright.model.aws_instances import CapacityBlock, Reservation
from rackwright.plan.aws.launch_template import required_group
from rackwright.plan.aws.site import GroupPlan


@rule(
    "AWS-002",
    "Placement group and zone match the kind of capacity",
    Severity.HIGH,
    since="0.1",
    stage="design",
    profile=Profile.LAB,
)
class PlacementRule(Policy):
    """Nodes stand in the zone of their capacity, in the placement group that it allows."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for the placement group and one for the zone of each node group."""
        for site in plan.aws:
            for group in site.groups:
                name = f"{site.name} {group.spec.name}"
                yield _judge_group(group, Subject(name, (*group.path, "capacity")))
                zone = _judge_zone(site, group, Subject(name, (*group.path, "capacity")))
                if zone is not None:
                    yield zone


def _judge_group(member: GroupPlan, at: Subject) -> Finding:
    group, required = member.spec, required_group(member.spec)
    named = group.placement_group
    if named is None or (required.group == "existing" and named == required.group_name):
        return Finding(at, ok=True, message=f"placement suits {group.capacity.kind} capacity")
    if group.capacity.kind == "capacity-block":
        return Finding(
            at,
            ok=False,
            message=f"a capacity block allows no placement group, got '{named}'",
            fix="remove 'placement_group'",
        )
    if group.capacity.kind == "reservation":
        allowed = f"only '{required.group_name}'" if required.group_name else "none"
        return Finding(
            at,
            ok=False,
            message=f"the reservation allows {allowed} as placement group, got '{named}'",
            fix="remove 'placement_group', or record the group the reservation was made in",
        )
    return Finding(
        at,
        ok=None,
        message=f"the placement group '{named}' is not managed here",
        missing=(
            Missing(
                f"strategy of the placement group '{named}': "
                "without 'placement_group' a cluster placement group is made",
                (*member.path, "placement_group"),
            ),
        ),
    )


def _judge_zone(site: AwsSitePlan, member: GroupPlan, at: Subject) -> Finding | None:
    capacity = member.spec.capacity
    if not isinstance(capacity, (Reservation, CapacityBlock)):
        return None
    cluster_zone = site.network.availability_zones[0]
    zone = capacity.availability_zone
    if zone is None:
        return Finding(
            at,
            ok=None,
            message=f"the zone of '{capacity.id}' is not recorded",
            missing=(
                Missing(
                    f"availability zone of {capacity.id}, as DescribeCapacityReservations shows it",
                    (*at.path, "availability_zone"),
                ),
            ),
        )
    if zone != cluster_zone:
        return Finding(
            at,
            ok=False,
            message=f"'{capacity.id}' is in '{zone}', but the cluster's subnet is in '{cluster_zone}'",
            fix=f"name '{zone}' first in 'availability_zones'",
        )
    return Finding(at, ok=True, message=f"'{capacity.id}' is in the cluster's zone '{zone}'")
