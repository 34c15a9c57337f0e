"""The role that instances run under."""

from __future__ import annotations

import json

import pulumi
import pulumi_aws as aws

from rackwright.components.tags import SiteArgs, child_options
from rackwright.plan.aws.security_groups import assume_role_policy, partition


class InstanceRole(pulumi.ComponentResource):
    """A role with Session Manager and read access to the cluster's own parameters, no more."""

    profile_arn: pulumi.Output[str]
    profile_name: pulumi.Output[str]

    def __init__(
        self,
        role: str,
        args: SiteArgs,
        account: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        name = args.name(role)
        super().__init__("rackwright:aws:InstanceRole", name, {"role": role}, opts)
        options = child_options(self, args, name)
        site = args.plan
        identity = aws.iam.Role(
            name,
            name=name,
            assume_role_policy=json.dumps(assume_role_policy()),
            tags=args.tags(name),
            opts=options,
        )
        aws.iam.RolePolicyAttachment(
            f"{name}-ssm",
            role=identity.name,
            policy_arn=(
                f"arn:{partition(site.region)}:iam::aws:policy/AmazonSSMManagedInstanceCore"
            ),
            opts=child_options(self, args, f"{name}-ssm"),
        )
        document = pulumi.Output.from_input(account).apply(
            lambda number: json.dumps(args.plan.instance_policy(args.cluster, number))
        )
        aws.iam.RolePolicy(
            f"{name}-parameters",
            name="parameters",
            role=identity.name,
            policy=document,
            opts=child_options(self, args, f"{name}-parameters"),
        )
        profile = aws.iam.InstanceProfile(
            f"{name}-profile",
            name=name,
            role=identity.name,
            tags=args.tags(name),
            opts=child_options(self, args, f"{name}-profile"),
        )
        self.profile_arn = profile.arn
        self.profile_name = profile.name
        self.register_outputs({"profile_arn": self.profile_arn, "profile_name": self.profile_name})
