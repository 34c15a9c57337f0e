"""The roles that instances run under."""

from __future__ import annotations

import json

import pulumi
import pulumi_aws as aws

from rackwright.components.tags import SiteArgs, child_options
from rackwright.plan.aws import access


class InstanceRole(pulumi.ComponentResource):
    """Permissions of instances of one role; an existing instance profile is used as it is.

    Args:
        role: what the instances are.
        args: the site.
        account: number of its account.
        existing: name of the profile that exists; None makes one.
    """

    profile: pulumi.Input[str]
    """Name of the instance profile."""
    profile_arn: pulumi.Output[str] | None
    """Its ARN; None where it exists already."""

    def __init__(
        self,
        role: access.InstanceRole,
        args: SiteArgs,
        account: pulumi.Input[str],
        existing: str | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        name = args.name(role)
        super().__init__("rackwright:aws:InstanceRole", name, {"role": role}, opts)
        if existing is None:
            made = self._make(role, args, account)
            self.profile, self.profile_arn = made.name, made.arn
        else:
            self.profile, self.profile_arn = existing, None
        self.register_outputs({"profile": self.profile})

    def _make(
        self, role: access.InstanceRole, args: SiteArgs, account: pulumi.Input[str]
    ) -> aws.iam.InstanceProfile:
        name, site = args.name(role), args.plan
        identity = aws.iam.Role(
            name,
            name=name,
            assume_role_policy=json.dumps(access.assume_role_policy()),
            permissions_boundary=site.access.permissions_boundary,
            tags=args.tags(name),
            opts=child_options(self, args, name),
        )
        document = pulumi.Output.from_input(account).apply(
            lambda number: json.dumps(args.plan.instance_policy(args.cluster, number, role))
        )
        aws.iam.RolePolicy(
            f"{name}-parameters",
            name="parameters",
            role=identity.name,
            policy=document,
            opts=child_options(self, args, f"{name}-parameters"),
        )
        return aws.iam.InstanceProfile(
            f"{name}-profile",
            name=name,
            role=identity.name,
            tags=args.tags(name),
            opts=child_options(self, args, f"{name}-profile"),
        )
