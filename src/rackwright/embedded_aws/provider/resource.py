"""What every resource type of the embedded provider shares."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from botocore.exceptions import ClientError

from rackwright.embedded_aws.provider.aws import Aws, is_missing
from rackwright.embedded_aws.provider.wire import UNKNOWN, Props, has_unknown

REGISTRY: dict[str, Resource] = {}
_RANDOM_LENGTH = 7


class Resource:
    """One resource type: how the AWS API makes, reads, changes and deletes it.

    A subclass with a ``token`` is registered. ``create`` makes the one API call that brings the
    resource into being; ``apply`` does the rest, may be repeated, and also serves updates.
    """

    token: ClassVar[str] = ""
    aliases: ClassVar[tuple[str, ...]] = ()
    replace: ClassVar[frozenset[str]] = frozenset()
    required: ClassVar[tuple[str, ...]] = ()
    computed: ClassVar[tuple[str, ...]] = ("arn",)
    inputs: ClassVar[tuple[str, ...]] = ()
    named: ClassVar[str | None] = None
    name_limit: ClassVar[int] = 255
    unordered: ClassVar[frozenset[str]] = frozenset()
    documents: ClassVar[frozenset[str]] = frozenset()
    silent: ClassVar[frozenset[str]] = frozenset()
    """Inputs that stay what they are where the program says nothing of them."""
    taggable: ClassVar[bool] = True
    delete_first: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.token:
            one = cls()
            for token in (cls.token, *cls.aliases):
                REGISTRY[token] = one

    def defaults(self, aws: Aws, inputs: Props) -> Props:
        """Returns the inputs with the type's own defaults filled in."""
        return inputs

    def check(self, inputs: Props) -> list[tuple[str, str]]:
        """Returns what is wrong with the inputs, as property and reason."""
        return []

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        """Returns the id of the resource made."""
        raise NotImplementedError

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        """Brings the resource from the old inputs to the new ones; on Create there are no old."""

    def renewed(self, olds: Props, news: Props) -> tuple[str, ...]:
        """Returns the outputs that an update makes anew; a preview cannot know them."""
        return ()

    def tag(self, aws: Aws, identity: str, put: dict[str, str], drop: list[str]) -> None:
        """Sets and drops tags of the resource."""

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        """Returns what the API says of the resource, None where it is gone."""
        raise NotImplementedError

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        """Deletes the resource."""
        raise NotImplementedError


def wanted_tags(aws: Aws, inputs: Props) -> dict[str, str]:
    """Returns the tags that the program asks for, those of the provider included."""
    tags = inputs.get("tags")
    return {**aws.default_tags, **(tags if isinstance(tags, Mapping) else {})}


def public_tags(tags: Iterable[Mapping[str, str]] | Mapping[str, str]) -> dict[str, str]:
    """Returns tags as a mapping, without those that AWS itself sets."""
    pairs: dict[str, str]
    if isinstance(tags, Mapping):
        pairs = dict(tags)
    else:
        pairs = {}
        for tag in tags:
            key = tag.get("Key", tag.get("TagKey", tag.get("key")))
            value = tag.get("Value", tag.get("TagValue", tag.get("value")))
            pairs[str(key)] = str(value or "")
    return {key: value for key, value in pairs.items() if not key.startswith("aws:")}


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Returns tags as the API's list of keys and values."""
    return [{"Key": key, "Value": str(value)} for key, value in sorted(tags.items())]


def take(inputs: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Returns the inputs that are set, under the API's names."""
    return {api: inputs[name] for name, api in names.items() if inputs.get(name) is not None}


def changed(olds: Props, news: Props, *names: str) -> bool:
    """Returns whether any of the named inputs differs."""
    return any(olds.get(name) != news.get(name) for name in names)


def flag(value: Any) -> bool | None:
    """Returns a boolean that may come as a string; None stays None."""
    if value is None or value == "":
        return None
    return value if isinstance(value, bool) else str(value).lower() == "true"


def same_document(first: Any, second: Any) -> bool:
    """Returns whether two JSON texts say the same."""
    try:
        return bool(json.loads(first) == json.loads(second))
    except (TypeError, ValueError):
        return bool(first == second)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def equal(resource: Resource, name: str, old: Any, new: Any) -> bool:
    """Returns whether two values of an input mean the same."""
    if has_unknown(new) or has_unknown(old):
        return False
    if name in resource.documents:
        return same_document(old, new)
    if name in resource.unordered and isinstance(old, list) and isinstance(new, list):
        return sorted(map(_canonical, old)) == sorted(map(_canonical, new))
    return bool((old in (None, {}, []) and new in (None, {}, [])) or old == new)


def differing(resource: Resource, olds: Props, news: Props) -> list[str]:
    """Returns the names of the inputs that differ, sorted."""
    names = {name for name in {*olds, *news} if not name.startswith("__")}
    return sorted(
        name
        for name in names
        if not (name in resource.silent and news.get(name) is None)
        and not equal(resource, name, olds.get(name), news.get(name))
    )


def autoname(name: str, seed: bytes, limit: int) -> str:
    """Returns a unique name for a resource that was given none."""
    suffix = hashlib.sha256(seed or name.encode()).hexdigest()[:_RANDOM_LENGTH]
    return f"{name[: limit - _RANDOM_LENGTH - 1]}-{suffix}"


def preview_outputs(resource: Resource, inputs: Props) -> Props:
    """Returns the outputs of a resource not yet made: inputs as they are, the rest unknown."""
    outputs = dict.fromkeys(("id", *resource.computed), UNKNOWN)
    outputs.update({name: value for name, value in inputs.items() if not name.startswith("__")})
    return outputs


def read_outputs(resource: Resource, aws: Aws, identity: str, state: Props) -> Props | None:
    """Returns the outputs of a resource as the API has them now, None where it is gone.

    Raises:
        ClientError: the API refuses the call, and not because the resource is gone.
    """
    try:
        live = resource.read(aws, identity, state)
    except ClientError as error:
        if is_missing(error):
            return None
        raise
    if live is None:
        return None
    kept = {name: value for name, value in state.items() if not name.startswith("__")}
    outputs = {**kept, **{k: v for k, v in live.items() if v is not None}, "id": identity}
    outputs.setdefault("region", aws.region)
    if "tagsAll" in outputs:
        tags_all = outputs["tagsAll"]
        outputs["tags"] = {
            key: value
            for key, value in tags_all.items()
            if aws.default_tags.get(key) != value or key in (state.get("tags") or {})
        }
    return outputs


def put_tags(resource: Resource, aws: Aws, identity: str, olds: Props, news: Props) -> None:
    """Brings the tags of a resource from the old inputs to the new ones."""
    if not resource.taggable:
        return
    before, after = wanted_tags(aws, olds), wanted_tags(aws, news)
    before_all = {**(olds.get("tagsAll") or {}), **before}
    put = {key: str(value) for key, value in after.items() if before_all.get(key) != value}
    drop = sorted(set(before_all) - set(after))
    if put or drop:
        resource.tag(aws, identity, put, drop)
