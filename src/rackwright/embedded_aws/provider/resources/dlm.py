# ruff: noqa: D102, S105 - Resource describes the methods; a token names a type
"""Lifecycle policies, which make and remove snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.embedded_aws.provider.aws import Aws
from rackwright.embedded_aws.provider.resource import Resource, changed, public_tags, take
from rackwright.embedded_aws.provider.wire import Props

_FIELDS = {
    "description": "Description",
    "executionRoleArn": "ExecutionRoleArn",
    "state": "State",
}
_ONE = frozenset({"times"})
"""Lists of the API that have one item, and are that item for the provider."""


class LifecyclePolicy(Resource):
    """A lifecycle policy of Amazon Data Lifecycle Manager."""

    token = "aws:dlm/lifecyclePolicy:LifecyclePolicy"
    required = ("description", "executionRoleArn", "policyDetails")
    inputs = (*required, "state")

    def defaults(self, aws: Aws, inputs: Props) -> Props:
        return {"state": "ENABLED", **inputs}

    @staticmethod
    def _fields(inputs: Props) -> dict[str, Any]:
        return take(inputs, _FIELDS) | {"PolicyDetails": _to_api(inputs["policyDetails"])}

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        made = aws.client("dlm").create_lifecycle_policy(Tags=dict(tags), **self._fields(inputs))
        return str(made["PolicyId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if olds and changed(olds, news, "policyDetails", *_FIELDS):
            aws.client("dlm").update_lifecycle_policy(PolicyId=identity, **self._fields(news))

    def tag(self, aws: Aws, identity: str, put: dict[str, str], drop: list[str]) -> None:
        client, arn = aws.client("dlm"), aws.arn("dlm", f"policy/{identity}")
        if drop:
            client.untag_resource(ResourceArn=arn, TagKeys=drop)
        if put:
            client.tag_resource(ResourceArn=arn, Tags=put)

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        held = aws.client("dlm").get_lifecycle_policy(PolicyId=identity)["Policy"]
        return {
            "arn": held["PolicyArn"],
            **{name: held[api] for name, api in _FIELDS.items()},
            "policyDetails": _from_api(held["PolicyDetails"]),
            "tagsAll": public_tags(held["Tags"]),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.client("dlm").delete_lifecycle_policy(PolicyId=identity)


def _to_api(value: Any, name: str = "") -> Any:
    """A value of the provider as the API has it."""
    if name == "targetTags":
        return [{"Key": key, "Value": text} for key, text in value.items()]
    if isinstance(value, Mapping):
        return {key[:1].upper() + key[1:]: _to_api(one, key) for key, one in value.items()}
    if name in _ONE:
        return [value]
    return [_to_api(one) for one in value] if isinstance(value, list) else value


def _from_api(value: Any, name: str = "") -> Any:
    """A value of the API as the provider has it."""
    if name == "targetTags":
        return {one["Key"]: one["Value"] for one in value}
    if isinstance(value, Mapping):
        names = {key: key[:1].lower() + key[1:] for key in value}
        return {names[key]: _from_api(one, names[key]) for key, one in value.items()}
    if name in _ONE:
        return value[0]
    return [_from_api(one) for one in value] if isinstance(value, list) else value
