"""Security groups of a site, each rule a resource of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws

from rackwright.components.tags import SiteArgs, child_options
from rackwright.plan.aws.security_groups import SecurityRule


def security_group(
    parent: pulumi.Resource,
    args: SiteArgs,
    group: str,
    vpc_id: pulumi.Input[str],
    description: str,
    *,
    protect: bool = False,
) -> aws.ec2.SecurityGroup:
    """Return a security group without rules."""
    name = args.name(group)
    return aws.ec2.SecurityGroup(
        name,
        name=name,
        description=description,
        vpc_id=vpc_id,
        tags=args.tags(name),
        opts=child_options(parent, args, name, protect=protect),
    )


def declare_rules(
    parent: pulumi.Resource,
    args: SiteArgs,
    rules: Sequence[SecurityRule],
    groups: Mapping[str, pulumi.Output[str]],
) -> list[pulumi.Resource]:
    """Return one ingress or egress rule resource for each of ``rules``.

    Args:
        parent: the component that owns them.
        args: the site.
        rules: what is allowed.
        groups: security group ids by name.
    """
    declared: list[pulumi.Resource] = []
    for rule in rules:
        name = args.name(rule.name)
        kind = (
            aws.vpc.SecurityGroupIngressRule
            if rule.direction == "ingress"
            else aws.vpc.SecurityGroupEgressRule
        )
        peer = rule.peer_group
        declared.append(
            kind(
                name,
                security_group_id=groups[rule.group],
                ip_protocol="-1" if rule.protocol == "all" else rule.protocol,
                from_port=None if rule.ports is None else rule.ports[0],
                to_port=None if rule.ports is None else rule.ports[1],
                cidr_ipv4=rule.peer if peer is None else None,
                referenced_security_group_id=None if peer is None else groups[peer],
                description=rule.why,
                tags=args.tags(name),
                opts=child_options(parent, args, name),
            )
        )
    return declared
