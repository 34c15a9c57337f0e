# ruff: noqa: D102 - Resource describes the methods; a token names a type
"""What the EC2 resource types share: looking up, waiting for none, and tagging."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from botocore.exceptions import ClientError

from rackwright.embedded_aws.provider.aws import Aws, is_missing
from rackwright.embedded_aws.provider.resource import Resource, public_tags, tag_list

_GONE = frozenset({"deleted", "deleting", "terminated", "shutting-down", "cancelled", "failed"})


class Ec2Resource(Resource):
    """A resource of EC2 that is described by its id."""

    kind: ClassVar[str] = ""
    operation: ClassVar[str] = ""
    ids: ClassVar[str] = ""
    items: ClassVar[str] = ""
    key: ClassVar[str] = ""

    def describe(self, aws: Aws, **arguments: Any) -> list[dict[str, Any]]:
        """Returns the live resources that the arguments name."""
        found = getattr(aws.ec2, self.operation)(**arguments)[self.items]
        return [item for item in found if str(_state(item)).lower() not in _GONE]

    def one(self, aws: Aws, identity: str) -> dict[str, Any] | None:
        """Returns a resource by its id, None where it is gone.

        Raises:
            ClientError: the API refuses the call, and not because the resource is gone.
        """
        try:
            found = self.describe(aws, **{self.ids: [identity]})
        except ClientError as error:
            if is_missing(error):
                return None
            raise
        return found[0] if found else None

    def specifications(self, tags: Mapping[str, str]) -> list[dict[str, Any]]:
        """Returns the tag specification for the call that makes the resource."""
        return [{"ResourceType": self.kind, "Tags": tag_list(tags)}] if tags else []

    def tag(self, aws: Aws, identity: str, put: dict[str, str], drop: list[str]) -> None:
        if drop:
            aws.ec2.delete_tags(Resources=[identity], Tags=[{"Key": key} for key in drop])
        if put:
            aws.ec2.create_tags(Resources=[identity], Tags=tag_list(put))

    def tagged(self, item: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        """Returns the tags of a described resource as its output."""
        return {"tagsAll": public_tags(item.get("Tags") or [])}

    def arn(self, aws: Aws, identity: str) -> str:
        """Returns the ARN of a resource of this type."""
        return aws.arn("ec2", f"{self.kind}/{identity}")


def _state(item: Mapping[str, Any]) -> Any:
    state = item.get("State", "")
    return state.get("Name", "") if isinstance(state, Mapping) else state
