"""A creation whose end nobody has recorded, and what was found of it in AWS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.provision.aws.cloud import Cloud


@dataclass(frozen=True, slots=True)
class LostCreation:
    """A creation that an engine began.

    Attributes:
        type: the resource's type, like ``aws:ec2/vpc:Vpc``.
        inputs: what it was to be made of, secrets left out.
        entry: the resource as the engine's checkpoint has it, without an id.
        known: ids of the resources of this type that are recorded; none of them is what is sought.
    """

    urn: str
    type: str
    inputs: Mapping[str, Any]
    entry: Mapping[str, Any]
    known: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Its name in the stack program."""
        return self.urn.rsplit("::", 1)[-1]

    @property
    def tags(self) -> dict[str, str]:
        """The tags that it was to get."""
        tags = self.inputs.get("tags") or {}
        if isinstance(tags, Mapping):
            return {str(key): str(value) for key, value in tags.items()}
        return {str(one["key"]): str(one["value"]) for one in tags}


@dataclass(frozen=True, slots=True)
class FoundResource:
    """Something in AWS that may be what was made.

    Attributes:
        id: as the AWS provider of Pulumi calls it.
        making: AWS is still at work on it.
    """

    id: str
    making: bool = False


class UnclearError(Exception):
    """Error: it is unclear if AWS has the resource.

    Attributes:
        why: what is not clear, with ids.
        remedy: what a person can do.
    """

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.why = why
        self.remedy = remedy


Finder = Callable[[Cloud, LostCreation], list[FoundResource]]
"""Finds everything in AWS that may have been made by a creation."""


def own(lost: LostCreation, identity: str, tags: Mapping[str, str]) -> list[FoundResource]:
    """Return the resource with the only name that the creation may use, if its tags are those of the site.

    Raises:
        UnclearError: it has other tags.
    """
    if identity in lost.known or carries(tags, lost.tags):
        return [FoundResource(identity)]
    raise UnclearError(
        f"'{identity}' exists in AWS without the tags that '{lost.name}' gets",
        "rename or remove it if it is somebody else's; give it the tags "
        f"{_words(lost.tags)} if it is this site's",
    )


def carries(tags: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Return True if a resource has all the wanted tags; it may have more."""
    return all(tags.get(key) == value for key, value in wanted.items())


def tags_of(item: Mapping[str, Any], key: str = "Tags") -> dict[str, str]:
    """Return the tags of what AWS describes."""
    return {str(one["Key"]): str(one.get("Value", "")) for one in item.get(key) or ()}


def _words(tags: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(tags.items())) or "(none)"
