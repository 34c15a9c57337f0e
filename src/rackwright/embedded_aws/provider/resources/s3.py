# ruff: noqa: D102, S105 - Resource describes the methods; a token names a type
"""Buckets and their settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from botocore.exceptions import ClientError

from rackwright.embedded_aws.provider.aws import Aws, is_missing
from rackwright.embedded_aws.provider.resource import Resource, public_tags, tag_list, take
from rackwright.embedded_aws.provider.resources.ec2_template import to_api
from rackwright.embedded_aws.provider.wire import Props

_ENCRYPTION = "aws:s3/bucketServerSideEncryptionConfiguration"
_ZONE_ID = "Z3BJ6K6RIION7M"


class Bucket(Resource):
    """A bucket."""

    token = "aws:s3/bucket:Bucket"
    aliases = ("aws:s3/bucketV2:BucketV2",)
    named = "bucket"
    name_limit = 63
    replace = frozenset({"bucket", "bucketPrefix", "objectLockEnabled"})
    inputs = ("bucket", "forceDestroy", "objectLockEnabled")
    computed = (
        "arn",
        "bucketDomainName",
        "bucketRegion",
        "bucketRegionalDomainName",
        "hostedZoneId",
    )

    def defaults(self, aws: Aws, inputs: Props) -> Props:
        return {"forceDestroy": False, **inputs}

    def _tags(self, aws: Aws, name: str) -> dict[str, str]:
        try:
            tags = aws.client("s3").get_bucket_tagging(Bucket=name)["TagSet"]
        except ClientError as error:
            if error.response["Error"]["Code"] == "NoSuchTagSet":
                return {}
            raise
        return {one["Key"]: one["Value"] for one in tags}

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        client, name = aws.client("s3"), str(inputs["bucket"])
        try:
            client.head_bucket(Bucket=name)
        except ClientError as error:
            if not is_missing(error):
                raise
        else:
            detail = {"Code": "BucketAlreadyExists", "Message": f"the bucket '{name}' exists"}
            raise ClientError({"Error": detail}, "CreateBucket")
        where: dict[str, Any] = {}
        if aws.region != "us-east-1":
            where["CreateBucketConfiguration"] = {"LocationConstraint": aws.region}
        if inputs.get("objectLockEnabled"):
            where["ObjectLockEnabledForBucket"] = True
        client.create_bucket(Bucket=name, **where)
        if tags:
            client.put_bucket_tagging(Bucket=name, Tagging={"TagSet": tag_list(tags)})
        return name

    def tag(self, aws: Aws, identity: str, put: dict[str, str], drop: list[str]) -> None:
        tags = {
            key: value
            for key, value in {**self._tags(aws, identity), **put}.items()
            if key not in drop
        }
        aws.client("s3").put_bucket_tagging(Bucket=identity, Tagging={"TagSet": tag_list(tags)})

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        aws.client("s3").head_bucket(Bucket=identity)
        return {
            "arn": f"arn:{aws.partition}:s3:::{identity}",
            "bucket": identity,
            "bucketDomainName": f"{identity}.s3.amazonaws.com",
            "bucketRegionalDomainName": f"{identity}.s3.{aws.region}.amazonaws.com",
            "bucketRegion": aws.region,
            "hostedZoneId": _ZONE_ID,
            "tagsAll": public_tags(self._tags(aws, identity)),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        client = aws.client("s3")
        if state.get("forceDestroy"):
            for page in client.get_paginator("list_object_versions").paginate(Bucket=identity):
                for one in (*page.get("Versions", []), *page.get("DeleteMarkers", [])):
                    client.delete_object(
                        Bucket=identity, Key=one["Key"], VersionId=one["VersionId"]
                    )
        client.delete_bucket(Bucket=identity)


class _Setting(Resource):
    """A setting of a bucket: making and changing it are the same call."""

    replace = frozenset({"bucket"})
    required: ClassVar[tuple[str, ...]] = ("bucket",)
    computed = ()
    taggable = False

    def put(self, aws: Aws, bucket: str, inputs: Props) -> None:
        raise NotImplementedError

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        self.put(aws, inputs["bucket"], inputs)
        return str(inputs["bucket"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if olds:
            self.put(aws, identity, news)


class BucketVersioning(_Setting):
    """The versioning of a bucket."""

    token = "aws:s3/bucketVersioning:BucketVersioning"
    aliases = ("aws:s3/bucketVersioningV2:BucketVersioningV2",)
    required = inputs = ("bucket", "versioningConfiguration")

    def put(self, aws: Aws, bucket: str, inputs: Props) -> None:
        status = inputs["versioningConfiguration"]["status"]
        if status == "Disabled":
            return
        aws.client("s3").put_bucket_versioning(
            Bucket=bucket, VersioningConfiguration={"Status": status}
        )

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        held = aws.client("s3").get_bucket_versioning(Bucket=identity)
        status = {"status": held.get("Status", "Disabled")}
        extra = {k: v for k, v in state.get("versioningConfiguration", {}).items() if k != "status"}
        return {"bucket": identity, "versioningConfiguration": {**extra, **status}}

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.client("s3").put_bucket_versioning(
            Bucket=identity, VersioningConfiguration={"Status": "Suspended"}
        )


class BucketEncryption(_Setting):
    """The default encryption of a bucket."""

    token = f"{_ENCRYPTION}:BucketServerSideEncryptionConfiguration"
    aliases = (f"{_ENCRYPTION}V2:BucketServerSideEncryptionConfigurationV2",)
    required = inputs = ("bucket", "rules")

    def put(self, aws: Aws, bucket: str, inputs: Props) -> None:
        rules = []
        for rule in inputs["rules"]:
            default = rule.get("applyServerSideEncryptionByDefault") or {}
            names = {"sseAlgorithm": "SSEAlgorithm", "kmsMasterKeyId": "KMSMasterKeyID"}
            entry: dict[str, Any] = take(rule, {"bucketKeyEnabled": "BucketKeyEnabled"})
            if default:
                entry["ApplyServerSideEncryptionByDefault"] = take(default, names)
            rules.append(entry)
        aws.client("s3").put_bucket_encryption(
            Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": rules}
        )

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        held = aws.client("s3").get_bucket_encryption(Bucket=identity)
        rules = []
        for rule in held["ServerSideEncryptionConfiguration"]["Rules"]:
            default = rule.get("ApplyServerSideEncryptionByDefault", {})
            names = {"SSEAlgorithm": "sseAlgorithm", "KMSMasterKeyID": "kmsMasterKeyId"}
            rules.append(
                {
                    "applyServerSideEncryptionByDefault": take(default, names),
                    **({"bucketKeyEnabled": True} if rule.get("BucketKeyEnabled") else {}),
                }
            )
        return {"bucket": identity, "rules": rules}

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.client("s3").delete_bucket_encryption(Bucket=identity)


_BLOCK = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")


class BucketPublicAccessBlock(_Setting):
    """What a bucket refuses of public access."""

    token = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
    inputs = ("bucket", *_BLOCK)

    def put(self, aws: Aws, bucket: str, inputs: Props) -> None:
        settings = {name: bool(inputs.get(name, False)) for name in _BLOCK}
        aws.client("s3").put_public_access_block(
            Bucket=bucket, PublicAccessBlockConfiguration=to_api(settings)
        )

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        held = aws.client("s3").get_public_access_block(Bucket=identity)
        settings = held["PublicAccessBlockConfiguration"]
        return {
            "bucket": identity,
            **{name: settings.get(name[0].upper() + name[1:], False) for name in _BLOCK},
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.client("s3").delete_public_access_block(Bucket=identity)


class BucketPolicy(_Setting):
    """The policy of a bucket."""

    token = "aws:s3/bucketPolicy:BucketPolicy"
    required = inputs = ("bucket", "policy")
    documents = frozenset({"policy"})

    def put(self, aws: Aws, bucket: str, inputs: Props) -> None:
        aws.client("s3").put_bucket_policy(Bucket=bucket, Policy=inputs["policy"])

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        held = aws.client("s3").get_bucket_policy(Bucket=identity)
        return {"bucket": identity, "policy": held["Policy"]}

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.client("s3").delete_bucket_policy(Bucket=identity)
