"""One address in common for the login nodes: a Network Load Balancer with an Elastic IP address."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from rackwright.components.tags import SiteArgs, child_options

SSH = 22


class LoginBalancer(pulumi.ComponentResource):
    """A load balancer that passes SSH on to the login nodes that answer."""

    address: pulumi.Output[str]
    """Its public address, which stays."""

    def __init__(
        self,
        args: SiteArgs,
        instances: Mapping[str, pulumi.Output[str]],
        *,
        vpc_id: pulumi.Input[str],
        subnet_id: pulumi.Input[str],
        group_id: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        name = args.name("login")
        super().__init__("rackwright:aws:LoginBalancer", name, {"count": len(instances)}, opts)
        options = child_options(self, args, name)
        address = aws.ec2.Eip(name, domain="vpc", tags=args.tags(name), opts=options)
        balancer = aws.lb.LoadBalancer(
            name,
            name=name,
            load_balancer_type="network",
            internal=False,
            security_groups=[group_id],
            subnet_mappings=[{"subnet_id": subnet_id, "allocation_id": address.id}],
            tags=args.tags(name),
            opts=options,
        )
        targets = aws.lb.TargetGroup(
            name,
            name=name,
            port=SSH,
            protocol="TCP",
            target_type="instance",
            vpc_id=vpc_id,
            # A user who comes again, or opens a second shell, gets the same host.
            stickiness={"enabled": True, "type": "source_ip"},
            tags=args.tags(name),
            opts=options,
        )
        aws.lb.Listener(
            name,
            load_balancer_arn=balancer.arn,
            port=SSH,
            protocol="TCP",
            default_actions=[{"type": "forward", "target_group_arn": targets.arn}],
            tags=args.tags(name),
            opts=options,
        )
        for host, instance in instances.items():
            target = args.name(host, "target")
            aws.lb.TargetGroupAttachment(
                target,
                target_group_arn=targets.arn,
                target_id=instance,
                port=SSH,
                opts=child_options(self, args, target),
            )
        self.address = address.public_ip
        self.register_outputs({"address": self.address})
