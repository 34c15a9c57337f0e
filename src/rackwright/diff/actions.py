"""How a changed field reaches a running cluster: in place, rolling, drain, replace, or not at all.

The table of ``action_rules`` says it for each field; a field that no rule knows is for review.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from rackwright.diff.changes import Change
from rackwright.errors import UsageError
from rackwright.reading.suggest import did_you_mean


class Action(StrEnum):
    """What a change does to what is running, mildest first."""

    IN_PLACE = "in place"
    """Nothing that runs is disturbed."""
    ROLLING = "rolling"
    """Node by node (or service by service), while the others go on."""
    DRAIN = "drain"
    """The nodes concerned finish their jobs first and take no new ones."""
    REPLACE = "replace"
    """It is removed and made anew; it keeps nothing."""
    REVIEW = "review"
    """No rule knows: somebody has to look."""
    REFUSED = "refused"
    """It would destroy data; nobody has accepted that."""


Event = Literal["any", "added", "removed", "changed", "grown", "shrunk"]


@dataclass(frozen=True, slots=True)
class ActionRule:
    """How changes of some fields are rolled out.

    Attributes:
        pattern: as ``Change.pattern``; ``*`` stands for one part, a final ``**`` for everything
            at and below it.
        event: ``grown`` and ``shrunk`` are changes of a number.
        reason: why, in words that follow the action.
        data: the same for something that holds data is refused.
        owner_has: where the owner must have something for the rule to be about it.
    """

    pattern: str
    event: Event
    action: Action
    reason: str
    data: bool = False
    owner_has: tuple[str, ...] = ()

    def fits(self, change: Change, events: Iterable[str]) -> bool:
        """Whether the rule is about ``change``."""
        found: Any = change.owner
        for name in self.owner_has:
            found = found.get(name) if isinstance(found, Mapping) else None
        about = _matches(self.pattern.split("/"), change.pattern.split("/"))
        return about and self.event in events and (not self.owner_has or found is not None)

    @property
    def weight(self) -> tuple[bool, int, bool, bool]:
        """The larger, the more exactly the rule says what it is about."""
        parts = self.pattern.split("/")
        return parts[-1] != "**", len(parts), bool(self.owner_has), self.event != "any"


@dataclass(frozen=True, slots=True)
class FieldUpdate:
    """A change and how it is rolled out."""

    change: Change
    action: Action
    reason: str


UNKNOWN = "no rule says how this field reaches a running cluster"
KEEPS_DATA = "what it would replace holds data: make the new one beside it and move the data"
STATED = "it was not stated before: see that it says what is built already"

_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?", re.ASCII)


def decide(changes: Iterable[Change], rules: Sequence[ActionRule]) -> tuple[FieldUpdate, ...]:
    """The action of every change, by the rule that fits it most exactly."""
    return tuple(_decide(change, rules) for change in changes)


def accept(updates: Iterable[FieldUpdate], paths: Collection[str]) -> tuple[FieldUpdate, ...]:
    """The updates, with the refused ones at ``paths`` as replacements that somebody accepts.

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


def _decide(change: Change, rules: Sequence[ActionRule]) -> FieldUpdate:
    events = events_of(change)
    fitting = [rule for rule in rules if rule.fits(change, events)]
    if not fitting:
        return FieldUpdate(change, Action.REVIEW, UNKNOWN)
    rule = max(fitting, key=lambda rule: rule.weight)
    if rule.data and holds_data(change.owner):
        return FieldUpdate(change, Action.REFUSED, f"{rule.reason}; {KEEPS_DATA}")
    if rule.action is Action.REFUSED and change.kind == "changed" and change.before is None:
        return FieldUpdate(change, Action.REVIEW, STATED)
    return FieldUpdate(change, rule.action, rule.reason)


def events_of(change: Change) -> tuple[str, ...]:
    """What happened to the field, as rules name it."""
    if change.kind == "changed":
        before, after = _size(change.before), _size(change.after)
        if before is not None and after is not None and before != after:
            return "any", "changed", "grown" if after > before else "shrunk"
    return "any", change.kind


def holds_data(item: Mapping[str, Any]) -> bool:
    """Whether a site, a whole blueprint or a node group keeps data that cannot be made anew."""
    head = item.get("head")
    if isinstance(head, Mapping) and head.get("data_volume") is not None:
        return True
    systems = [*(item.get("file_systems") or ()), *(item.get("efs") or ())]
    if item.get("role") == "storage" or any(not system.get("existing") for system in systems):
        return True
    inside = [*(item.get("sites") or ()), *(item.get("node_groups") or ())]
    return any(holds_data(part) for part in inside if isinstance(part, Mapping))


def _size(value: Any) -> float | None:
    """The number of a quantity such as ``38400 GiB``; canonical units make it comparable."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        return None
    number, _, unit = value.partition(" ")
    return float(number) if unit and _NUMBER.fullmatch(number) else None


def _matches(pattern: Sequence[str], path: Sequence[str]) -> bool:
    if pattern[-1] == "**":
        pattern = pattern[:-1]
        path = path[: len(pattern)]
    return len(pattern) == len(path) and all(
        mine in ("*", theirs) for mine, theirs in zip(pattern, path, strict=True)
    )
