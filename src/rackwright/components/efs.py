"""File systems of Amazon EFS, with a mount target each in the subnet of the hosts."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from rackwright.components.tags import SiteArgs, child_options, retained_options
from rackwright.model.aws_storage import ElasticFileSystem
from rackwright.plan.aws.file_systems.efs import backup_args, efs_args, existing_efs_output


class ElasticFileSystems(pulumi.ComponentResource):
    """The file systems of EFS of a site.

    Args:
        args: the site.
        subnet_id: that of all hosts' zone: EFS has one mount target in a zone.
        group_id: the security group of the mount targets; None where none is made.
        key: what encrypts those that are made; None where none is.
        protect: they are protected from deletion; they are retained in any case.
    """

    mounts: dict[str, dict[str, pulumi.Input[object]]]
    """How to mount each, by name; one that exists is told as one that is made."""

    def __init__(
        self,
        args: SiteArgs,
        *,
        subnet_id: pulumi.Input[str],
        group_id: pulumi.Output[str] | None,
        key: pulumi.Input[str] | None,
        protect: bool = True,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        site = args.plan
        names = [system.name for system in site.efs]
        super().__init__(
            "rackwright:aws:ElasticFileSystems", args.name("efs"), {"names": names}, opts
        )
        self._args = args
        self._protected = protect
        self.mounts = {}
        for system in site.efs:
            if system.existing is not None:
                told = existing_efs_output(system, system.existing, site.region)
                self.mounts[system.name] = told
            elif group_id is not None and key is not None:
                self.mounts[system.name] = self._made(system, subnet_id, group_id, key)
        self.register_outputs({"mounts": self.mounts})

    def _made(
        self,
        system: ElasticFileSystem,
        subnet_id: pulumi.Input[str],
        group_id: pulumi.Output[str],
        key: pulumi.Input[str],
    ) -> dict[str, pulumi.Input[object]]:
        args = self._args
        name = args.name(system.name)
        made = aws.efs.FileSystem(
            name,
            **efs_args(system, name),
            kms_key_id=key,
            tags=args.tags(name),
            opts=retained_options(self, args, name, "FileSystem", protect=self._protected),
        )
        # Without its policy a file system that is retained would lose its backups with the stack.
        aws.efs.BackupPolicy(
            name,
            file_system_id=made.id,
            **backup_args(system),
            opts=retained_options(self, args, name, protect=self._protected),
        )
        aws.efs.MountTarget(
            name,
            file_system_id=made.id,
            subnet_id=subnet_id,
            security_groups=[group_id],
            opts=child_options(self, args, name),
        )
        return {"id": made.id, "dns_name": made.dns_name, "mount": system.mount}
