"""Data volumes of head nodes, and the snapshots that are made of them."""

from __future__ import annotations

import json

import pulumi
import pulumi_aws as aws

from rackwright.components.tags import SiteArgs, child_options, retained_options
from rackwright.model.aws_instances import DataVolume, Snapshots
from rackwright.plan.aws.access import snapshot_trust_policy
from rackwright.plan.aws.data_volume import lifecycle_args


class DataVolumes(pulumi.ComponentResource):
    """The volume of each head node, and the lifecycle policy with its role where snapshots are wanted.

    Args:
        args: the site.
        volume: what each volume is.
        protect: they are protected from deletion; they are retained in any case.
    """

    ids: dict[str, pulumi.Output[str]]
    """By host name, like ``head-1``."""

    def __init__(
        self,
        args: SiteArgs,
        volume: DataVolume,
        *,
        protect: bool = True,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        hosts = args.plan.data_hosts
        name = args.name("data-volumes")
        super().__init__("rackwright:aws:DataVolumes", name, {"hosts": list(hosts)}, opts)
        self.ids = {host: self._volume(args, host, volume, protect=protect) for host in hosts}
        if volume.snapshots is not None:
            self._snapshots(args, volume.snapshots)
        self.register_outputs({"ids": self.ids})

    def _volume(
        self, args: SiteArgs, host: str, volume: DataVolume, *, protect: bool
    ) -> pulumi.Output[str]:
        name = args.name(host, "data")
        made = aws.ebs.Volume(
            name,
            **args.plan.data_volume_args(volume, args.prefix, args.tags(name)),
            opts=retained_options(self, args, name, "Volume", protect=protect),
        )
        return made.id

    def _snapshots(self, args: SiteArgs, snapshots: Snapshots) -> None:
        name = args.name("snapshots")
        role = aws.iam.Role(
            name,
            name=name,
            assume_role_policy=json.dumps(snapshot_trust_policy()),
            permissions_boundary=args.plan.access.permissions_boundary,
            tags=args.tags(name),
            opts=child_options(self, args, name),
        )
        allowed = aws.iam.RolePolicy(
            name,
            name="snapshots",
            role=role.name,
            policy=json.dumps(args.plan.snapshot_policy(args.prefix)),
            opts=child_options(self, args, name),
        )
        aws.dlm.LifecyclePolicy(
            name,
            **lifecycle_args(snapshots, prefix=args.prefix, tags=args.tags(name)),
            execution_role_arn=role.arn,
            opts=child_options(self, args, name, depends_on=[allowed]),
        )
