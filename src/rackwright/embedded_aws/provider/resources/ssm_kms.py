# ruff: noqa: D102, S105 - Resource describes the methods; a token names a type
"""Parameters, keys and log groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from rackwright.embedded_aws.provider.aws import Aws, code_of, is_missing
from rackwright.embedded_aws.provider.resource import Resource, changed, public_tags, tag_list, take
from rackwright.embedded_aws.provider.wire import Props


class Parameter(Resource):
    """A parameter, in clear or encrypted."""

    token = "aws:ssm/parameter:Parameter"
    named = "name"
    name_limit = 1011
    replace = frozenset({"name", "dataType"})
    required = ("type",)
    inputs = ("allowedPattern", "description", "keyId", "name", "tier", "type", "value")
    computed = ("arn", "version")

    def check(self, inputs: Props) -> list[tuple[str, str]]:
        if inputs.get("value") is None and inputs.get("insecureValue") is None:
            return [("value", "a parameter needs a value")]
        return []

    def _put(self, aws: Aws, name: str, inputs: Props, **extra: Any) -> None:
        names = {
            "allowedPattern": "AllowedPattern",
            "dataType": "DataType",
            "description": "Description",
            "keyId": "KeyId",
            "tier": "Tier",
        }
        value = inputs.get("value", inputs.get("insecureValue"))
        aws.client("ssm").put_parameter(
            Name=name, Type=inputs["type"], Value=value, **take(inputs, names), **extra
        )

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        if inputs.get("overwrite"):
            self._put(aws, inputs["name"], inputs, Overwrite=True)
            self.tag(aws, inputs["name"], dict(tags), [])
        else:
            self._put(aws, inputs["name"], inputs, Tags=tag_list(tags))
        return str(inputs["name"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        names = ("allowedPattern", "description", "insecureValue", "keyId", "tier", "type", "value")
        if olds and changed(olds, news, *names):
            self._put(aws, identity, news, Overwrite=True)

    def tag(self, aws: Aws, identity: str, put: dict[str, str], drop: list[str]) -> None:
        client, subject = aws.client("ssm"), {"ResourceType": "Parameter", "ResourceId": identity}
        if drop:
            client.remove_tags_from_resource(**subject, TagKeys=drop)
        if put:
            client.add_tags_to_resource(**subject, Tags=tag_list(put))

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        client = aws.client("ssm")
        item = client.get_parameter(Name=identity, WithDecryption=True)["Parameter"]
        tags = client.list_tags_for_resource(ResourceType="Parameter", ResourceId=identity)
        return {
            "arn": item["ARN"],
            "name": item["Name"],
            "type": item["Type"],
            "value": item["Value"],
            "version": item["Version"],
            "dataType": item.get("DataType"),
            "hasValueWo": False,
            "tagsAll": public_tags(tags.get("TagList", [])),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.client("ssm").delete_parameter(Name=identity)


class Key(Resource):
    """A KMS key."""

    token = "aws:kms/key:Key"
    replace = frozenset({"customerMasterKeySpec", "keyUsage", "multiRegion"})
    inputs = ("deletionWindowInDays", "description", "enableKeyRotation", "isEnabled", "policy")
    documents = frozenset({"policy"})
    computed = ("arn", "keyId", "policy")

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        names = {
            "customerMasterKeySpec": "KeySpec",
            "description": "Description",
            "keyUsage": "KeyUsage",
            "multiRegion": "MultiRegion",
            "policy": "Policy",
        }
        made = aws.client("kms").create_key(
            Tags=[{"TagKey": key, "TagValue": value} for key, value in tags.items()],
            **take(inputs, names),
        )
        return str(made["KeyMetadata"]["KeyId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        client = aws.client("kms")
        if changed(olds, news, "enableKeyRotation") and (olds or news.get("enableKeyRotation")):
            verb = "enable" if news.get("enableKeyRotation") else "disable"
            getattr(client, f"{verb}_key_rotation")(KeyId=identity)
        if changed(olds, news, "isEnabled") and (olds or news.get("isEnabled") is False):
            verb = "disable" if news.get("isEnabled") is False else "enable"
            getattr(client, f"{verb}_key")(KeyId=identity)
        if olds and changed(olds, news, "description"):
            client.update_key_description(KeyId=identity, Description=news.get("description", ""))
        if olds and changed(olds, news, "policy") and news.get("policy"):
            client.put_key_policy(KeyId=identity, PolicyName="default", Policy=news["policy"])

    def tag(self, aws: Aws, identity: str, put: dict[str, str], drop: list[str]) -> None:
        client = aws.client("kms")
        if drop:
            client.untag_resource(KeyId=identity, TagKeys=drop)
        if put:
            tags = [{"TagKey": key, "TagValue": value} for key, value in put.items()]
            client.tag_resource(KeyId=identity, Tags=tags)

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        client = aws.client("kms")
        item = client.describe_key(KeyId=identity)["KeyMetadata"]
        if item["KeyState"] == "PendingDeletion":
            return None
        rotation = client.get_key_rotation_status(KeyId=identity)["KeyRotationEnabled"]
        tags = client.list_resource_tags(KeyId=identity)["Tags"]
        policy = client.get_key_policy(KeyId=identity, PolicyName="default")["Policy"]
        return {
            "arn": item["Arn"],
            "keyId": item["KeyId"],
            "description": item.get("Description") or state.get("description"),
            "enableKeyRotation": rotation,
            "isEnabled": item["Enabled"],
            "policy": policy,
            "tagsAll": public_tags(tags),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        days = int(state.get("deletionWindowInDays") or 30)
        try:
            aws.client("kms").schedule_key_deletion(KeyId=identity, PendingWindowInDays=days)
        except ClientError as error:
            if code_of(error) != "KMSInvalidStateException":
                raise


class Alias(Resource):
    """A name of a KMS key."""

    token = "aws:kms/alias:Alias"
    named = "name"
    replace = frozenset({"name", "namePrefix"})
    required = ("targetKeyId",)
    inputs = ("name", "targetKeyId")
    computed = ("arn", "targetKeyArn")
    taggable = False

    def defaults(self, aws: Aws, inputs: Props) -> Props:
        name = inputs.get("name")
        if isinstance(name, str) and inputs.get("__defaults") and not name.startswith("alias/"):
            return {**inputs, "name": f"alias/{name}"}
        return inputs

    def check(self, inputs: Props) -> list[tuple[str, str]]:
        name = inputs.get("name")
        if isinstance(name, str) and not name.startswith("alias/"):
            return [("name", f"the alias '{name}' does not begin with 'alias/'")]
        return []

    def _held(self, aws: Aws, name: str) -> dict[str, Any] | None:
        for page in aws.client("kms").get_paginator("list_aliases").paginate():
            for one in page["Aliases"]:
                if one["AliasName"] == name:
                    return dict(one)
        return None

    @staticmethod
    def _key(target: str) -> str:
        return target.rsplit("/", 1)[-1]

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        aws.client("kms").create_alias(
            AliasName=inputs["name"], TargetKeyId=self._key(inputs["targetKeyId"])
        )
        return str(inputs["name"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if olds and changed(olds, news, "targetKeyId"):
            aws.client("kms").update_alias(
                AliasName=identity, TargetKeyId=self._key(news["targetKeyId"])
            )

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        held = self._held(aws, identity)
        if held is None:
            return None
        key = held.get("TargetKeyId", "")
        target = state.get("targetKeyId", key)
        return {
            "arn": held["AliasArn"],
            "name": identity,
            "targetKeyId": target if self._key(str(target)) == key else key,
            "targetKeyArn": aws.arn("kms", f"key/{key}"),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.client("kms").delete_alias(AliasName=identity)


class LogGroup(Resource):
    """A log group."""

    token = "aws:cloudwatch/logGroup:LogGroup"
    named = "name"
    name_limit = 512
    replace = frozenset({"logGroupClass", "name", "namePrefix"})
    inputs = ("kmsKeyId", "name", "retentionInDays")

    def _arn(self, aws: Aws, name: str) -> str:
        return aws.arn("logs", f"log-group:{name}")

    def _tags(self, aws: Aws, name: str) -> dict[str, str]:
        reply = aws.client("logs").list_tags_for_resource(resourceArn=self._arn(aws, name))
        tags: dict[str, str] = reply["tags"]
        return tags

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        aws.client("logs").create_log_group(
            logGroupName=inputs["name"], tags=dict(tags), **take(inputs, {"kmsKeyId": "kmsKeyId"})
        )
        return str(inputs["name"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if not changed(olds, news, "retentionInDays"):
            return
        client, days = aws.client("logs"), news.get("retentionInDays")
        if days:
            client.put_retention_policy(logGroupName=identity, retentionInDays=int(days))
        elif olds:
            client.delete_retention_policy(logGroupName=identity)

    def tag(self, aws: Aws, identity: str, put: dict[str, str], drop: list[str]) -> None:
        client, arn = aws.client("logs"), self._arn(aws, identity)
        if drop:
            client.untag_resource(resourceArn=arn, tagKeys=drop)
        if put:
            client.tag_resource(resourceArn=arn, tags=put)

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        reply = aws.client("logs").describe_log_groups(logGroupNamePrefix=identity)
        held = [one for one in reply["logGroups"] if one["logGroupName"] == identity]
        if not held:
            return None
        return {
            "arn": self._arn(aws, identity),
            "name": identity,
            "retentionInDays": held[0].get("retentionInDays", 0),
            "tagsAll": public_tags(self._tags(aws, identity)),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        try:
            aws.client("logs").delete_log_group(logGroupName=identity)
        except ClientError as error:
            if not is_missing(error):
                raise
