"""Finds what an earlier stack of a site has left in the account on purpose, so that ``up`` takes it over.

Keys, buckets, file systems and data volumes are retained when their stack is removed. A stack that has no record of
them would meet "already exists", or make others beside them. What is taken over carries the tags of the site; what
has its name and not its tags belongs to somebody else, and is left alone.

Takes ``kms:ListAliases``, ``kms:ListResourceTags``, ``s3:GetBucketTagging``, ``fsx:DescribeFileSystems``,
``fsx:DescribeDataRepositoryAssociations``, ``elasticfilesystem:DescribeFileSystems`` and ``ec2:DescribeVolumes``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.errors import UsageError
from rackwright.plan.aws.file_systems.fsx import association_slug, bucket_name, bucket_slug
from rackwright.plan.aws.names import site_prefix
from rackwright.plan.aws.site import AwsSitePlan
from rackwright.provision.access.errors import error_code, refusals
from rackwright.provision.aws.cloud import Cloud

_NO_BUCKET = frozenset({"NoSuchBucket", "404"})
_OTHERS = "rename it in the blueprint, or remove the other one if nobody needs it"
_LIVING = ["creating", "available", "in-use"]

Found = Iterator[tuple[str, str]]
"""Pairs of type and name, like ``Bucket atlas-use1-data``, and an id."""


@dataclass(frozen=True)
class Retained:
    """Resources of a site that an account has.

    Attributes:
        cloud: the account.
        say: takes a line about each thing that is taken over.
    """

    cluster: str
    plan: AwsSitePlan
    cloud: Cloud
    say: Callable[[str], None]

    def __call__(self, recorded: Collection[str]) -> dict[str, str]:
        """Return the ids of what the stack would make and is there already, by type and name.

        Args:
            recorded: what the stack has a record of, by the same words; it is not looked for.

        Raises:
            UsageError: it belongs to somebody else, or it is not clear which one it is.
            ExternalToolError: AWS refuses, or cannot be asked.
        """
        found = {
            name: identity
            for look in (self._key, self._file_systems, self._associations, self._efs, self._buckets, self._volumes)
            for name, identity in look(recorded)
        }  # fmt: skip
        for name, identity in found.items():
            self.say(f"aws-storage: {name} is there already as {identity}: it is taken over")
        return found

    def _name(self, *parts: str) -> str:
        return "-".join((site_prefix(self.cluster, self.plan.name), *parts))

    def _is_own(self, tags: Iterable[Mapping[str, str]]) -> bool:
        held = {
            one.get("Key", one.get("TagKey")): one.get("Value", one.get("TagValue")) for one in tags
        }
        own = self.plan.tags(self.cluster)
        return all(held.get(key) == own[key] for key in ("rackwright:cluster", "rackwright:site"))

    def _key(self, recorded: Collection[str]) -> Found:
        name = self._name("storage")
        wanted = [one for one in (f"Key {name}", f"Alias {name}") if one not in recorded]
        if not wanted or not self.plan.makes_key:
            return
        alias = f"alias/{name}"
        keys = [
            one.get("TargetKeyId")
            for one in self.cloud.listed("kms", "list_aliases", "Aliases")
            if one["AliasName"] == alias
        ]
        if not keys:
            return
        if not self._is_own(self.cloud.listed("kms", "list_resource_tags", "Tags", KeyId=keys[0])):
            raise UsageError(
                f"the alias '{alias}' names the key {keys[0]}, which is not of this site by its tags",
                hint="name a key in 'encryption_key' of 'access', or remove the alias if nobody needs it",
            )
        ids = {f"Key {name}": str(keys[0]), f"Alias {name}": alias}
        yield from ((one, ids[one]) for one in wanted)

    def _file_systems(self, recorded: Collection[str]) -> Found:
        names = {self._name(system.name) for system in self.plan.made_file_systems}
        lacking = {name for name in names if f"LustreFileSystem {name}" not in recorded}
        if lacking:
            there = self.cloud.listed("fsx", "describe_file_systems", "FileSystems")
            yield from self._named("LustreFileSystem", there, "FileSystemId", lacking)

    def _associations(self, recorded: Collection[str]) -> Found:
        names = {
            self._name(system.name, association_slug(one))
            for system in self.plan.made_file_systems
            for one in system.data_repositories
        }
        lacking = {name for name in names if f"DataRepositoryAssociation {name}" not in recorded}
        if lacking:
            operation = "describe_data_repository_associations"
            there = self.cloud.listed("fsx", operation, "Associations")
            yield from self._named("DataRepositoryAssociation", there, "AssociationId", lacking)

    def _efs(self, recorded: Collection[str]) -> Found:
        for name in (self._name(system.name) for system in self.plan.made_efs):
            if f"FileSystem {name}" in recorded:
                continue
            for one in self.cloud.listed(
                "efs", "describe_file_systems", "FileSystems", CreationToken=name
            ):
                if one["LifeCycleState"] in {"deleting", "deleted"}:
                    continue
                if not self._is_own(one.get("Tags") or ()):
                    raise UsageError(
                        f"the file system {one['FileSystemId']} of EFS has the creation token '{name}', and is not"
                        " of this site by its tags",
                        hint=_OTHERS,
                    )
                yield f"FileSystem {name}", str(one["FileSystemId"])

    def _volumes(self, recorded: Collection[str]) -> Found:
        volume, zone = self.plan.data_volume, self.plan.network.availability_zones[0]
        names = {self._name(host, "data") for host in self.plan.data_hosts}
        lacking = {name for name in names if f"Volume {name}" not in recorded}
        if volume is None or not lacking:
            return
        living = [{"Name": "status", "Values": _LIVING}]
        there = list(self.cloud.listed("ec2", "describe_volumes", "Volumes", Filters=living))
        if volume.snapshot is not None:  # one of another snapshot is not what the blueprint wants
            there = [one for one in there if one.get("SnapshotId") == volume.snapshot]
        zones = {str(one["VolumeId"]): one["AvailabilityZone"] for one in there}
        for name, identity in self._named("Volume", there, "VolumeId", lacking):
            if zones[identity] != zone:
                raise UsageError(
                    f"{name} is there already as {identity}, in the zone '{zones[identity]}' and not in '{zone}'",
                    hint="make a snapshot of it and name it as 'snapshot' of 'data_volume'",
                )
            yield name, identity

    def _named(
        self, kind: str, there: Iterable[Mapping[str, Any]], key: str, names: Collection[str]
    ) -> Found:
        """Return the resources among ``there`` that have the tags of the site and one of ``names``.

        Raises:
            UsageError: several have one name.
        """
        found: dict[str, list[str]] = {}
        for one in there:
            tags = one.get("Tags") or []
            name = next((str(tag["Value"]) for tag in tags if tag["Key"] == "Name"), None)
            if name in names and self._is_own(tags):
                found.setdefault(str(name), []).append(str(one[key]))
        for name, ids in found.items():
            if len(ids) > 1:
                raise UsageError(
                    f"{kind} {name} is there {len(ids)} times: {', '.join(sorted(ids))}",
                    hint="take the tag 'Name' away from those that are not to be taken over",
                )
            yield f"{kind} {name}", ids[0]

    def _buckets(self, recorded: Collection[str]) -> Found:
        lacking = {
            bucket: f"Bucket {self._name(bucket_slug(bucket))}" for bucket in self.plan.bucket_names
        }
        for bucket, name in lacking.items():
            if name not in recorded and (there := self._bucket(bucket)) is not None:
                yield name, there

    def _bucket(self, template: str) -> str | None:
        """Return the bucket if it is there.

        Raises:
            UsageError: it belongs to somebody else.
            ExternalToolError: AWS refuses, or cannot be asked.
        """  # noqa: DOC501 - refusals() turns ClientError into it
        from botocore.exceptions import ClientError

        account = ""
        if "{account}" in template:
            told = self.cloud.call("sts", "get_caller_identity") or {}
            account = told["Account"]
        name = bucket_name(template, account, self.plan.region)
        tags: Any = []
        with refusals("s3:GetBucketTagging"):
            try:
                tags = self.cloud.client("s3").get_bucket_tagging(Bucket=name)["TagSet"]
            except ClientError as error:
                code = error_code(error)
                if code in _NO_BUCKET:
                    return None
                if code not in {"NoSuchTagSet", "AccessDenied", "403", "PermanentRedirect", "301"}:
                    raise
        if not self._is_own(tags):
            raise UsageError(
                f"the bucket '{name}' is there already, and is not of this site by its tags",
                hint=_OTHERS,
            )
        return name
