"""Effect of a changed field on a running cluster: in place, rolling, drain, replace, or none at all.

Fields of the model state it (``rackwright.model.field_kinds.OnChange``); a change that no field
covers is for review.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from rackwright.diff.changes import Change
from rackwright.diff.implied_changes import IMPLIED_ROLLOUTS
from rackwright.diff.rollouts import ORDER, choose, stated_rollouts
from rackwright.errors import UsageError
from rackwright.model.names import expand_hostlist
from rackwright.reading.suggest import did_you_mean


class Action(StrEnum):
    """Effect of a change on the running cluster, mildest first."""

    IN_PLACE = "in place"
    """Nothing that runs is disturbed."""
    ROLLING = "rolling"
    """Node by node (or service by service), while the others go on."""
    DRAIN = "drain"
    """The nodes concerned finish their jobs first and take no new ones."""
    REPLACE = "replace"
    """It is removed and made again; it keeps nothing."""
    REVIEW = "review"
    """The blueprint does not tell: an operator has to look."""
    REFUSED = "refused"
    """It would destroy data; nobody has accepted that."""


@dataclass(frozen=True, slots=True)
class FieldUpdate:
    """A change and how it is rolled out."""

    change: Change
    action: Action
    reason: str


KEEPS_DATA = "what it would replace holds data: make the new one beside it and move the data"
STATED = "it was not stated before: see that it says what is built already"

_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?", re.ASCII)


def decide(changes: Iterable[Change]) -> tuple[FieldUpdate, ...]:
    """Return the update of every change, by the roll-out that applies most exactly."""
    return tuple(map(_decide, changes))


def accept(updates: Iterable[FieldUpdate], paths: Collection[str]) -> tuple[FieldUpdate, ...]:
    """Return the updates, with the refused ones at ``paths`` as replacements that somebody accepts.

    Raises:
        UsageError: nothing is refused at a path; an acceptance is for one change, never a habit.
    """
    found = tuple(updates)
    refused = [update.change.path for update in found if update.action is Action.REFUSED]
    for path in paths:
        if path not in refused:
            hint = did_you_mean(path, refused) or "leave it out"
            raise UsageError(f"nothing is refused at '{path}'", hint=hint)
    return tuple(
        replace(update, action=Action.REPLACE, reason=f"accepted: {update.reason}")
        if update.action is Action.REFUSED and update.change.path in paths
        else update
        for update in found
    )


def _decide(change: Change) -> FieldUpdate:
    implied = IMPLIED_ROLLOUTS.get(change.pattern)
    levels = [[implied]] if implied else stated_rollouts(change.pattern)
    rollout = choose(levels, events_of(change), change.owner)
    action = Action(rollout.action)
    if rollout.keeps_data and holds_data(change.owner):
        return FieldUpdate(change, Action.REFUSED, f"{rollout.reason}; {KEEPS_DATA}")
    if action is Action.REFUSED and change.kind == "changed" and change.before is None:
        return FieldUpdate(change, Action.REVIEW, STATED)
    return FieldUpdate(change, action, rollout.reason)


def events_of(change: Change) -> tuple[str, ...]:
    """Return the events of a change, as roll-outs name them."""
    if change.pattern.endswith(ORDER):
        return "any", change.kind, "reordered"
    if change.kind == "changed":
        before, after = _size(change.before), _size(change.after)
        if before is not None and after is not None and before != after:
            return "any", "changed", "grown" if after > before else "shrunk"
        if _is_extended(change.before, change.after):
            return "any", "changed", "grown"
    return "any", change.kind


def holds_data(item: Mapping[str, Any]) -> bool:
    """Return True if a site, a whole blueprint or a node group keeps data that cannot be made again."""
    head = item.get("head")
    if isinstance(head, Mapping) and head.get("data_volume") is not None:
        return True
    systems = [*(item.get("file_systems") or ()), *(item.get("efs") or ())]
    if item.get("role") == "storage" or any(not system.get("existing") for system in systems):
        return True
    inside = [*(item.get("sites") or ()), *(item.get("node_groups") or ())]
    return any(holds_data(part) for part in inside if isinstance(part, Mapping))


def _is_extended(before: Any, after: Any) -> bool:
    """Return True if a host list has all its former names first, and more behind them."""
    if not isinstance(before, str) or not isinstance(after, str):
        return False
    try:
        names = expand_hostlist(before)
        return len(more := expand_hostlist(after)) > len(names) and more[: len(names)] == names
    except ValueError:  # another text
        return False


def _size(value: Any) -> float | None:
    """Return the number of a quantity such as ``38400 GiB``; canonical units make it comparable."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        return None
    number, _, unit = value.partition(" ")
    return float(number) if unit and _NUMBER.fullmatch(number) else None
