"""The engine's checkpoint: which operations were cut off in it, and how a found resource gets in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from rackwright.crossguard.decode import SECRET, SIGNATURE_KEY
from rackwright.provision.lost_creations.creation import LostCreation

UNREAD = "found in AWS after a run that was cut off, and not read yet"
"""Why a resource counts as half made: until the provider has read it, the checkpoint has no outputs."""

State = Mapping[str, Any]
"""A resource in the checkpoint."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Operations that a run has begun and not ended.

    Attributes:
        creations: creations of resources of the cloud.
        changes: URNs of resources that were being changed.
        deletions: URNs of resources that were being deleted.
        unread: resources with their ids that are recorded and not whole: by an earlier settlement, or by
            a provider that could not end or read what it had just made.
        rest: the checkpoint has other operations that did not end; repeating them is all they need.
        recorded: ids of all resources of the checkpoint.
    """

    creations: tuple[LostCreation, ...]
    changes: tuple[str, ...]
    deletions: tuple[str, ...]
    unread: tuple[tuple[LostCreation, str], ...]
    rest: bool
    recorded: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.creations or self.changes or self.deletions or self.unread or self.rest)


def read_interrupted(content: Mapping[str, Any], failed: Iterable[State] = ()) -> Interrupted:
    """Return the operations that did not end, from a checkpoint.

    Args:
        content: the checkpoint, as the engine exports it.
        failed: resources whose creation failed while the engine lived: it drops them from its
            checkpoint, whether AWS has made them or not.
    """
    resources: Sequence[State] = content.get("resources") or ()
    pending: Sequence[Mapping[str, Any]] = content.get("pending_operations") or ()
    living = {str(one["urn"]) for one in resources if not _replaced(one)}
    creating = {
        str(one["resource"]["urn"]): one["resource"] for one in pending if one["type"] == "creating"
    }
    for one in failed:
        if one["urn"] not in living:
            creating.setdefault(str(one["urn"]), one)
    return Interrupted(
        creations=tuple(_lost(one, resources) for one in creating.values() if _in_cloud(one)),
        changes=tuple(_urns(pending, "updating", living)),
        deletions=tuple(_urns(pending, "deleting", living)),
        # Of what it never read, AWS's provider knows too little to change it.
        unread=tuple(
            (_lost(one, resources), str(one.get("id", "")))
            for one in resources
            if _errors(one) and _in_cloud(one) and not _replaced(one)
        ),
        rest=bool(pending),
        recorded=frozenset(str(one["id"]) for one in resources if one.get("id")),
    )


def record(
    content: Mapping[str, Any],
    found: Mapping[str, tuple[LostCreation, str]],
    changed: Iterable[str] = (),
) -> dict[str, Any]:
    """Return the checkpoint with what was found in it, and without operations that are not ended.

    Args:
        content: the checkpoint.
        found: creations with the ids of what was found, by URN.
        changed: URNs of resources that may be other than they are recorded.
    """
    unread = set(changed)
    resources = [
        {**one, "initErrors": [*_errors(one), UNREAD]}
        if one["urn"] in unread and not one.get("delete") and UNREAD not in _errors(one)
        else dict(one)
        for one in content.get("resources") or ()
    ]
    for lost, identity in found.values():
        _insert(resources, lost, identity)
    return {**content, "resources": resources, "pending_operations": []}


def _insert(resources: list[dict[str, Any]], lost: LostCreation, identity: str) -> None:
    """Put a resource where its predecessor stands, or at the end.

    A predecessor that is to be replaced and still exists is left for the engine to delete; one that
    was deleted first goes.
    """
    inputs = lost.entry.get("inputs") or {}
    outputs = {key: deepcopy(one) for key, one in inputs.items() if not key.startswith("__")}
    new = {
        **lost.entry,
        "custom": True,
        "id": identity,
        "outputs": {**outputs, "id": identity},
        "initErrors": [UNREAD],
    }
    new["provider"] = _reference(resources, str(lost.entry.get("provider", "")))
    for place, one in enumerate(resources):
        if one["urn"] != lost.urn or one.get("delete"):
            continue
        if one.get("pendingReplacement"):
            resources[place] = new
        else:
            resources[place : place + 1] = [new, {**one, "delete": True}]
        return
    resources.append(new)


def _reference(resources: Iterable[State], provider: str) -> str:
    """Return the reference of a provider, ``URN::ID``; events give it, and where they give the URN it is found."""
    for one in resources:
        if one["urn"] == provider and one.get("id"):
            return f"{provider}::{one['id']}"
    return provider


def _lost(entry: State, resources: Iterable[State]) -> LostCreation:
    known = frozenset(
        str(one["id"])
        for one in resources
        # What was deleted to make room for its successor may have had the same id.
        if one["type"] == entry["type"] and one.get("id") and not one.get("pendingReplacement")
    )
    inputs = _plain(entry.get("inputs") or {})
    return LostCreation(str(entry["urn"]), str(entry["type"]), inputs, entry, known)


def _plain(value: Any) -> Any:
    """Return inputs with secrets opened; those that stay closed are left out."""
    if isinstance(value, Mapping):
        if value.get(SIGNATURE_KEY) == SECRET:
            return json.loads(value["plaintext"]) if "plaintext" in value else None
        opened = {key: _plain(one) for key, one in value.items()}
        return {key: one for key, one in opened.items() if one is not None}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _urns(pending: Iterable[Mapping[str, Any]], kind: str, living: set[str]) -> Iterator[str]:
    for one in pending:
        urn = str(one["resource"]["urn"])
        if one["type"] == kind and urn in living and _in_cloud(one["resource"]):
            yield urn


def _errors(resource: State) -> list[str]:
    return list(resource.get("initErrors") or ())


def _replaced(resource: State) -> bool:
    return bool(resource.get("delete") or resource.get("pendingReplacement"))


def _in_cloud(resource: State) -> bool:
    """Return True if a resource exists outside Pulumi: components, providers and references do not."""
    return bool(resource.get("custom")) and not str(resource["type"]).startswith("pulumi:")
