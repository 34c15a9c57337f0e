"""Roll-outs of changes, read from the fields of the blueprint.

A change is named by a pattern like ``sites/onprem/node_groups/*/count``. The roll-outs that may
apply to it are those at the field itself and those around it, the nearest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, get_args, get_origin

from rackwright.model.base import Model
from rackwright.model.cluster import Blueprint
from rackwright.model.field_kinds import FOR_REVIEW, OnChange, models_in, rollouts_of

ORDER = "(order)"
"""Last part of the pattern of a list whose entries are in another order."""

_ENTRIES = ("added", "removed")
"""Events that are about entries, where a field is a list of models."""


@lru_cache(maxsize=4096)
def stated_rollouts(pattern: str) -> Sequence[Sequence[OnChange]]:
    """Return the roll-outs of a field and of all that is around it, nearest first."""
    levels: list[Sequence[OnChange]] = []
    own: Sequence[OnChange] = ()
    models: Sequence[type[Model]] = (Blueprint,)
    in_list = False
    for part in pattern.split("/"):
        if part == ORDER:
            levels.append([rollout for rollout in own if rollout.event == "reordered"])
        elif in_list:
            in_list = False
            models = [model for model in models if _is_tagged(model, part)] or models
            levels.append([rollout for rollout in own if rollout.event in _ENTRIES])
        else:
            found = [model.model_fields[part] for model in models if part in model.model_fields]
            own = [] if not found else rollouts_of(found[0])
            models = [model for info in found for model in models_in(info.annotation)]
            in_list = any(_is_collection(info.annotation) for info in found)
            away = (*_ENTRIES, "reordered") if models and in_list else ()
            levels.append([rollout for rollout in own if rollout.event not in away])
    levels.reverse()
    around = [[rollout for rollout in level if rollout.event == "any"] for level in levels[1:]]
    return levels[:1] + around


def is_ordered(pattern: str) -> bool:
    """Return True if the order of the entries of a list says which device goes where."""
    return bool(stated_rollouts(f"{pattern}/{ORDER}")[0])


def choose(levels: Iterable[Sequence[OnChange]], events: Iterable[str], owner: Any) -> OnChange:
    """Return the nearest roll-out that applies, and of several the one that says most.

    Args:
        levels: roll-outs, nearest first.
        events: events of the change.
        owner: list entry around the field, as it was before the change.
    """
    for level in levels:
        applying = [r for r in level if r.event in events and (not r.given or _has(owner, r.given))]
        if applying:
            return max(applying, key=lambda rollout: (bool(rollout.given), rollout.event != "any"))
    return FOR_REVIEW


def _has(owner: Any, path: str) -> bool:
    for name in path.split("."):
        owner = owner.get(name) if isinstance(owner, dict) else None
    return owner is not None


def _is_tagged(model: type[Model], word: str) -> bool:
    info = model.model_fields.get("provider")
    return info is not None and word in get_args(info.annotation)


def _is_collection(annotation: Any) -> bool:
    return get_origin(annotation) in {tuple, dict} or any(map(_is_collection, get_args(annotation)))
