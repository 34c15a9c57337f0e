"""Node groups: a launch template and one Auto Scaling group of fixed size each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pulumi
import pulumi_aws as aws

from rackwright.components.tags import SLOW_END, SiteArgs, child_options
from rackwright.plan.aws.launch_template import Wiring
from rackwright.plan.aws.site import GroupPlan


class NodeGroup(pulumi.ComponentResource):
    """Equal nodes in one zone, one resource for all of them however many there are."""

    group_name: pulumi.Output[str]
    """Name of the Auto Scaling group."""
    template_id: pulumi.Output[str]

    def __init__(
        self,
        args: SiteArgs,
        group: GroupPlan,
        subnet_ids: Sequence[pulumi.Input[str]],
        wiring: Wiring,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        name = args.name(group.spec.name)
        super().__init__(
            "rackwright:aws:NodeGroup",
            name,
            {"type": group.spec.type, "count": group.spec.least},
            opts,
        )
        tags = args.common_tags() | {"rackwright:node-group": group.spec.name}
        placed = group.placement
        if placed.group == "cluster":
            placement_group = aws.ec2.PlacementGroup(
                name,
                name=name,
                strategy="cluster",
                tags=args.tags(name),
                opts=child_options(self, args, name),
            )
            wiring = replace(wiring, placement_group=placement_group.name)
        template = aws.ec2.LaunchTemplate(
            name,
            **group.launch_template(name, tags, wiring),
            opts=child_options(self, args, name),
        )
        count = group.spec.least  # Slurm launches those of an elastic group above it
        fleet = aws.autoscaling.Group(
            name,
            name=name,
            min_size=count,
            max_size=count,
            desired_capacity=count,
            vpc_zone_identifiers=list(subnet_ids),
            placement_group=(
                wiring.placement_group if placed.group == "cluster" else placed.group_name
            ),
            launch_template={
                "id": template.id,
                "version": template.latest_version.apply(str),
            },
            health_check_type="EC2",
            # A fixed fleet in one zone: a node that fails is drained first. The provider suspends these
            # after it has waited for capacity, which may not be there for days.
            suspended_processes=["AZRebalance", "ReplaceUnhealthy"],
            # Which node goes is said by name, after its jobs have ended, and never chosen by the group.
            protect_from_scale_in=True,
            wait_for_capacity_timeout="0",  # 'up' waits for nodes, and names those that come
            tags=[
                {"key": key, "value": value, "propagate_at_launch": True}
                for key, value in sorted({**tags, "Name": name}.items())
            ],
            opts=child_options(self, args, name, custom_timeouts=SLOW_END),
        )
        self.group_name = fleet.name
        self.template_id = template.id
        self.register_outputs({"group_name": self.group_name, "template_id": self.template_id})
