"""File systems of FSx for Lustre and EFS, the buckets linked into them, and the data volumes of head nodes.

What holds data is protected from deletion and, even when the protection is lifted, retained.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from rackwright.components.data_volumes import DataVolumes
from rackwright.components.efa import declare_rules, security_group
from rackwright.components.efs import ElasticFileSystems
from rackwright.components.tags import (
    SLOW,
    SiteArgs,
    child_options,
    member,
    retained_options,
)
from rackwright.model.aws_storage import DataRepository, LustreFileSystem
from rackwright.plan.aws.access import tls_only_policy
from rackwright.plan.aws.file_systems.fsx import (
    association_args,
    association_slug,
    bucket_name,
    bucket_slug,
    existing_output,
    file_system_args,
    lifecycle_rule,
    repository_path,
)


class Storage(pulumi.ComponentResource):
    """The file systems of a site."""

    file_systems: dict[str, aws.fsx.LustreFileSystem]
    """Those that are made, by name."""
    buckets: dict[str, pulumi.Output[str]]
    """Names of the buckets made here, by name."""
    efs: dict[str, dict[str, pulumi.Input[object]]]
    """How to mount each file system of EFS, by name."""
    data_volumes: dict[str, pulumi.Output[str]]
    """Ids of the data volumes of head nodes, by host name."""

    def __init__(
        self,
        args: SiteArgs,
        *,
        vpc_id: pulumi.Input[str],
        subnet_id: pulumi.Input[str],
        group_ids: pulumi.Output[dict[str, str]],
        protect: bool = True,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(
            "rackwright:aws:Storage",
            args.name("storage"),
            {"names": [one.name for one in args.plan.file_systems]},
            opts,
        )
        self._args = args
        self._protected = protect
        self.file_systems = {}
        self.buckets = {}
        site = args.plan
        # Groups that exist are called by their ids.
        groups = {rule.group: pulumi.Output.from_input(rule.group) for rule in site.storage_rules}
        for name in site.client_groups:
            groups[name] = member(group_ids, name)
        for name, there, what in (
            ("lustre", site.made_file_systems, "Lustre among clients and servers"),
            ("efs", site.made_efs, "NFS from hosts to EFS"),
        ):
            if there:
                groups[name] = security_group(self, args, name, vpc_id, what).id
        rules = declare_rules(self, args, site.storage_rules, groups)
        named = site.access.encryption_key
        key = self._key() if site.makes_key else named
        if site.made_file_systems and key is not None:
            self._lustre(subnet_id, groups, key, rules)
        self.efs = {}
        if site.efs:
            self.efs = ElasticFileSystems(
                args,
                subnet_id=subnet_id,
                group_id=groups.get("efs"),
                key=key,
                protect=protect,
                opts=pulumi.ResourceOptions(parent=self),
            ).mounts
        self.data_volumes = {}
        if site.data_volume is not None:
            options = pulumi.ResourceOptions(parent=self)
            self.data_volumes = DataVolumes(
                args, site.data_volume, protect=protect, opts=options
            ).ids
        self.register_outputs(self.outputs())

    def _lustre(
        self,
        subnet_id: pulumi.Input[str],
        groups: Mapping[str, pulumi.Output[str]],
        key: pulumi.Input[str],
        rules: list[pulumi.Resource],
    ) -> None:
        """Return the file systems of FSx that are made, with their buckets."""
        site = self._args.plan
        made = {name: self._bucket(name) for name in site.bucket_names}
        self.buckets = {name: bucket.bucket for name, bucket in made.items()}
        for system in site.made_file_systems:
            names = ("lustre", "cluster") if system.efa else ("lustre",)
            group_ids = [groups[name] for name in names]
            declared = self._file_system(system, subnet_id, group_ids, key, rules)
            self.file_systems[system.name] = declared
            for repository in system.data_repositories:
                self._association(system, declared, repository, made.get(repository.bucket))

    def outputs(self) -> dict[str, pulumi.Input[object]]:
        """Return the outputs that the cluster's stack and the configuration step read."""
        more = {"data_volumes": self.data_volumes, "efs": self.efs}
        some = {name: told for name, told in more.items() if told}
        return {"file_systems": self.mounts(), "buckets": self.buckets, **some}

    def mounts(self) -> dict[str, dict[str, pulumi.Input[object]]]:
        """Return how each file system is mounted, by name, whether it is new or existing."""
        site = self._args.plan
        found: dict[str, dict[str, pulumi.Input[object]]] = {}
        for system in site.file_systems:
            if system.existing is not None:
                found[system.name] = existing_output(system, system.existing, site.region)
                continue
            declared = self.file_systems[system.name]
            found[system.name] = {
                "id": declared.id,
                "dns_name": declared.dns_name,
                "mount_name": declared.mount_name,
                "mount": system.mount,
                "efa": system.efa,
            }
        return found

    def _retained(self, name: str, kind: str = "", **more: Any) -> pulumi.ResourceOptions:
        return retained_options(self, self._args, name, kind, protect=self._protected, **more)

    def _key(self) -> pulumi.Output[str]:
        name = self._args.name("storage")
        key = aws.kms.Key(
            name,
            description=f"file systems of {self._args.prefix}",
            enable_key_rotation=True,
            deletion_window_in_days=30,
            tags=self._args.tags(name),
            opts=self._retained(name, "Key"),
        )
        aws.kms.Alias(
            name,
            name=f"alias/{name}",
            target_key_id=key.key_id,
            opts=self._retained(name, "Alias"),
        )
        return key.arn

    def _named(self, bucket: str) -> pulumi.Output[str]:
        """Return the name of a bucket of the blueprint; the account is asked for where the name has it."""
        region = self._args.plan.region
        if "{account}" not in bucket:
            return pulumi.Output.from_input(bucket_name(bucket, "", region))
        known = aws.get_caller_identity_output(opts=pulumi.InvokeOptions(parent=self))
        return known.account_id.apply(lambda account: bucket_name(bucket, account, region))

    def _file_system(
        self,
        system: LustreFileSystem,
        subnet_id: pulumi.Input[str],
        group_ids: Sequence[pulumi.Output[str]],
        key: pulumi.Input[str],
        rules: list[pulumi.Resource],
    ) -> aws.fsx.LustreFileSystem:
        name = self._args.name(system.name)
        # FSx tries the ports while it creates: the rules have to be there.
        return aws.fsx.LustreFileSystem(
            name,
            **file_system_args(system),
            subnet_ids=subnet_id,
            security_group_ids=group_ids,
            kms_key_id=key,
            tags=self._args.tags(name),
            opts=self._retained(
                name,
                "LustreFileSystem",
                depends_on=rules,
                # FSx neither changes nor tells them: one that was taken over would be made again.
                ignore_changes=["securityGroupIds"],
                custom_timeouts=SLOW,
            ),
        )

    def _association(
        self,
        system: LustreFileSystem,
        declared: aws.fsx.LustreFileSystem,
        repository: DataRepository,
        bucket: aws.s3.Bucket | None,
    ) -> None:
        name = self._args.name(system.name, association_slug(repository))
        aws.fsx.DataRepositoryAssociation(
            name,
            file_system_id=declared.id,
            data_repository_path=self._named(repository.bucket).apply(
                lambda known: repository_path(repository, known)
            ),
            **association_args(repository),
            tags=self._args.tags(name),
            opts=self._retained(
                name,
                "DataRepositoryAssociation",
                depends_on=[] if bucket is None else [bucket],
                custom_timeouts=SLOW,
            ),
        )

    def _bucket(self, named: str) -> aws.s3.Bucket:
        args, region = self._args, self._args.plan.region
        key = args.plan.access.encryption_key
        name = args.name(bucket_slug(named))
        called = self._named(named)
        bucket = aws.s3.Bucket(
            name,
            bucket=called,
            force_destroy=False,
            tags=args.tags(name),
            opts=self._retained(name, "Bucket"),
        )
        versioning = aws.s3.BucketVersioning(
            name,
            bucket=bucket.id,
            versioning_configuration={"status": "Enabled"},
            opts=self._retained(name),
        )
        kept = args.plan.kept_versions(named)
        if kept is not None and kept != "forever":
            rule: Any = lifecycle_rule(kept)
            aws.s3.BucketLifecycleConfiguration(
                name,
                bucket=bucket.id,
                rules=[rule],
                # It goes when the blueprint no longer states a time: nothing more is removed then.
                opts=child_options(self, args, name, depends_on=[versioning]),
            )
        aws.s3.BucketServerSideEncryptionConfiguration(
            name,
            bucket=bucket.id,
            rules=[
                {
                    "apply_server_side_encryption_by_default": (
                        {"sse_algorithm": "AES256"}
                        if key is None
                        else {"sse_algorithm": "aws:kms", "kms_master_key_id": key}
                    ),
                    "bucket_key_enabled": None if key is None else True,
                }
            ],
            opts=self._retained(name),
        )
        block = aws.s3.BucketPublicAccessBlock(
            name,
            bucket=bucket.id,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=self._retained(name),
        )
        aws.s3.BucketPolicy(
            name,
            bucket=bucket.id,
            policy=called.apply(lambda known: json.dumps(tls_only_policy(region, known))),
            opts=self._retained(name, depends_on=[block]),
        )
        return bucket
