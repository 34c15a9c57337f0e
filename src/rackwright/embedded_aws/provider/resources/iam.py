# ruff: noqa: D102, S105 - Resource describes the methods; a token names a type
"""Roles, policies and instance profiles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import unquote

from botocore.exceptions import ClientError

from rackwright.embedded_aws.provider.aws import Aws, is_missing
from rackwright.embedded_aws.provider.resource import (
    Resource,
    changed,
    public_tags,
    tag_list,
    take,
)
from rackwright.embedded_aws.provider.wire import Props


def _text(document: Any) -> str:
    return document if isinstance(document, str) else json.dumps(document)


def _plain(document: Any) -> str:
    """Returns a policy document as JSON text; boto3 hands it over parsed."""
    return json.dumps(document) if isinstance(document, Mapping) else unquote(str(document))


class IamResource(Resource):
    """An IAM resource that is named and carries tags."""

    noun: ClassVar[str] = ""
    argument: ClassVar[str] = ""

    def tags_of(self, aws: Aws, identity: str) -> list[dict[str, str]]:
        """Returns the tags of a resource, a list of keys and values."""
        reply = getattr(aws.client("iam"), f"list_{self.noun}_tags")(**{self.argument: identity})
        tags: list[dict[str, str]] = reply["Tags"]
        return tags

    def tag(self, aws: Aws, identity: str, put: dict[str, str], drop: list[str]) -> None:
        client = aws.client("iam")
        if drop:
            getattr(client, f"untag_{self.noun}")(**{self.argument: identity}, TagKeys=drop)
        if put:
            getattr(client, f"tag_{self.noun}")(**{self.argument: identity}, Tags=tag_list(put))


class Role(IamResource):
    """A role, its inline and attached policies."""

    token = "aws:iam/role:Role"
    noun, argument = "role", "RoleName"
    named = "name"
    name_limit = 64
    replace = frozenset({"name", "namePrefix", "path"})
    required = ("assumeRolePolicy",)
    documents = frozenset({"assumeRolePolicy"})
    unordered = frozenset({"managedPolicyArns", "inlinePolicies"})
    inputs = (
        "assumeRolePolicy",
        "description",
        "maxSessionDuration",
        "name",
        "path",
        "permissionsBoundary",
    )
    computed = ("arn", "createDate", "uniqueId")

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        names = {
            "description": "Description",
            "maxSessionDuration": "MaxSessionDuration",
            "path": "Path",
            "permissionsBoundary": "PermissionsBoundary",
        }
        made = aws.client("iam").create_role(
            RoleName=inputs["name"],
            AssumeRolePolicyDocument=_text(inputs["assumeRolePolicy"]),
            Tags=tag_list(tags),
            **take(inputs, names),
        )
        return str(made["Role"]["RoleName"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        client = aws.client("iam")
        if olds and changed(olds, news, "assumeRolePolicy"):
            client.update_assume_role_policy(
                RoleName=identity, PolicyDocument=_text(news["assumeRolePolicy"])
            )
        if olds and changed(olds, news, "description", "maxSessionDuration"):
            client.update_role(
                RoleName=identity,
                Description=news.get("description", ""),
                MaxSessionDuration=news.get("maxSessionDuration", 3600),
            )
        before, after = (
            set(olds.get("managedPolicyArns") or ()),
            set(news.get("managedPolicyArns") or ()),
        )
        for arn in sorted(after - before):
            client.attach_role_policy(RoleName=identity, PolicyArn=arn)
        for arn in sorted(before - after):
            client.detach_role_policy(RoleName=identity, PolicyArn=arn)
        held = {one["name"] for one in olds.get("inlinePolicies") or () if one.get("name")}
        for one in news.get("inlinePolicies") or ():
            client.put_role_policy(
                RoleName=identity, PolicyName=one["name"], PolicyDocument=_text(one["policy"])
            )
            held.discard(one["name"])
        for name in sorted(held):
            client.delete_role_policy(RoleName=identity, PolicyName=name)

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = aws.client("iam").get_role(RoleName=identity)["Role"]
        return {
            "arn": item["Arn"],
            "name": item["RoleName"],
            "path": item["Path"],
            "assumeRolePolicy": _plain(item["AssumeRolePolicyDocument"]),
            "description": item.get("Description"),
            "maxSessionDuration": item.get("MaxSessionDuration", 3600),
            "createDate": item["CreateDate"],
            "uniqueId": item["RoleId"],
            "tagsAll": public_tags(self.tags_of(aws, identity)),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        client = aws.client("iam")
        for page in client.get_paginator("list_instance_profiles_for_role").paginate(
            RoleName=identity
        ):
            for one in page["InstanceProfiles"]:
                client.remove_role_from_instance_profile(
                    InstanceProfileName=one["InstanceProfileName"], RoleName=identity
                )
        forced = state.get("forceDetachPolicies")
        arns = [
            one["PolicyArn"]
            for one in client.list_attached_role_policies(RoleName=identity)["AttachedPolicies"]
        ]
        for arn in arns:
            if forced or arn in (state.get("managedPolicyArns") or ()):
                client.detach_role_policy(RoleName=identity, PolicyArn=arn)
        inline = {one.get("name") for one in state.get("inlinePolicies") or ()}
        for name in client.list_role_policies(RoleName=identity)["PolicyNames"]:
            if forced or name in inline:
                client.delete_role_policy(RoleName=identity, PolicyName=name)
        client.delete_role(RoleName=identity)


class RolePolicy(Resource):
    """An inline policy of a role."""

    token = "aws:iam/rolePolicy:RolePolicy"
    named = "name"
    name_limit = 128
    replace = frozenset({"name", "namePrefix", "role"})
    required = ("policy", "role")
    inputs = ("name", "policy", "role")
    documents = frozenset({"policy"})
    computed = ()
    taggable = False

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        aws.client("iam").put_role_policy(
            RoleName=inputs["role"],
            PolicyName=inputs["name"],
            PolicyDocument=_text(inputs["policy"]),
        )
        return f"{inputs['role']}:{inputs['name']}"

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if olds and changed(olds, news, "policy"):
            role, name = identity.split(":", 1)
            aws.client("iam").put_role_policy(
                RoleName=role, PolicyName=name, PolicyDocument=_text(news["policy"])
            )

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        role, name = identity.split(":", 1)
        item = aws.client("iam").get_role_policy(RoleName=role, PolicyName=name)
        return {"role": role, "name": name, "policy": _plain(item["PolicyDocument"])}

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        role, name = identity.split(":", 1)
        aws.client("iam").delete_role_policy(RoleName=role, PolicyName=name)


class RolePolicyAttachment(Resource):
    """A managed policy attached to a role."""

    token = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
    replace = frozenset({"policyArn", "role"})
    required = inputs = ("policyArn", "role")
    computed = ()
    taggable = False

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        aws.client("iam").attach_role_policy(RoleName=inputs["role"], PolicyArn=inputs["policyArn"])
        return f"{inputs['role']}/{inputs['policyArn']}"

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        role, arn = identity.split("/", 1)
        attached = aws.client("iam").list_attached_role_policies(RoleName=role)["AttachedPolicies"]
        if not any(one["PolicyArn"] == arn for one in attached):
            return None
        return {"role": role, "policyArn": arn}

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        role, arn = identity.split("/", 1)
        aws.client("iam").detach_role_policy(RoleName=role, PolicyArn=arn)


class Policy(IamResource):
    """A managed policy of the account."""

    token = "aws:iam/policy:Policy"
    noun, argument = "policy", "PolicyArn"
    named = "name"
    name_limit = 128
    replace = frozenset({"description", "name", "namePrefix", "path"})
    required = ("policy",)
    inputs = ("description", "name", "path", "policy")
    documents = frozenset({"policy"})
    computed = ("arn", "attachmentCount", "policyId")

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        made = aws.client("iam").create_policy(
            PolicyName=inputs["name"],
            PolicyDocument=_text(inputs["policy"]),
            Tags=tag_list(tags),
            **take(inputs, {"description": "Description", "path": "Path"}),
        )
        return str(made["Policy"]["Arn"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if not olds or not changed(olds, news, "policy"):
            return
        client = aws.client("iam")
        versions = client.list_policy_versions(PolicyArn=identity)["Versions"]
        spare = sorted(
            (one for one in versions if not one["IsDefaultVersion"]),
            key=lambda one: one["CreateDate"],
        )
        if len(versions) >= 5 and spare:
            client.delete_policy_version(PolicyArn=identity, VersionId=spare[0]["VersionId"])
        client.create_policy_version(
            PolicyArn=identity, PolicyDocument=_text(news["policy"]), SetAsDefault=True
        )

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        client = aws.client("iam")
        item = client.get_policy(PolicyArn=identity)["Policy"]
        version = client.get_policy_version(PolicyArn=identity, VersionId=item["DefaultVersionId"])[
            "PolicyVersion"
        ]
        return {
            "arn": item["Arn"],
            "name": item["PolicyName"],
            "path": item["Path"],
            "policy": _plain(version["Document"]),
            "policyId": item["PolicyId"],
            "attachmentCount": item.get("AttachmentCount", 0),
            "tagsAll": public_tags(self.tags_of(aws, identity)),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        client = aws.client("iam")
        for one in client.list_policy_versions(PolicyArn=identity)["Versions"]:
            if not one["IsDefaultVersion"]:
                client.delete_policy_version(PolicyArn=identity, VersionId=one["VersionId"])
        client.delete_policy(PolicyArn=identity)


class InstanceProfile(IamResource):
    """An instance profile and its role."""

    token = "aws:iam/instanceProfile:InstanceProfile"
    noun, argument = "instance_profile", "InstanceProfileName"
    named = "name"
    name_limit = 128
    replace = frozenset({"name", "namePrefix", "path"})
    inputs = ("name", "path", "role")
    computed = ("arn", "createDate", "uniqueId")

    def tags_of(self, aws: Aws, identity: str) -> list[dict[str, str]]:
        item = aws.client("iam").get_instance_profile(InstanceProfileName=identity)
        tags: list[dict[str, str]] = item["InstanceProfile"].get("Tags", [])
        return tags

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        made = aws.client("iam").create_instance_profile(
            InstanceProfileName=inputs["name"],
            Tags=tag_list(tags),
            **take(inputs, {"path": "Path"}),
        )
        return str(made["InstanceProfile"]["InstanceProfileName"])

    def _roles(self, aws: Aws, identity: str) -> list[str]:
        item = aws.client("iam").get_instance_profile(InstanceProfileName=identity)
        return [one["RoleName"] for one in item["InstanceProfile"]["Roles"]]

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        client, wanted = aws.client("iam"), news.get("role")
        held = self._roles(aws, identity)
        for role in held:
            if role != wanted:
                client.remove_role_from_instance_profile(
                    InstanceProfileName=identity, RoleName=role
                )
        if wanted and wanted not in held:
            client.add_role_to_instance_profile(InstanceProfileName=identity, RoleName=wanted)

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = aws.client("iam").get_instance_profile(InstanceProfileName=identity)[
            "InstanceProfile"
        ]
        return {
            "arn": item["Arn"],
            "name": item["InstanceProfileName"],
            "path": item["Path"],
            "role": next((one["RoleName"] for one in item["Roles"]), ""),
            "createDate": item["CreateDate"],
            "uniqueId": item["InstanceProfileId"],
            "tagsAll": public_tags(item.get("Tags", [])),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        client = aws.client("iam")
        try:
            for role in self._roles(aws, identity):
                client.remove_role_from_instance_profile(
                    InstanceProfileName=identity, RoleName=role
                )
        except ClientError as error:
            if is_missing(error):
                return
            raise
        client.delete_instance_profile(InstanceProfileName=identity)
