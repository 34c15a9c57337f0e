"""The table of update actions against the model: no rule is about what cannot change."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel

from rackwright.diff.action_rules import RULES
from rackwright.diff.actions import ActionRule
from rackwright.diff.changes import ORDER, Change
from rackwright.diff.implied_changes import CLOUD_HOSTS, CLUSTER_SUBNET, HOSTS, SUBNETS
from rackwright.model.cluster import Blueprint


def models_in(kind: Any) -> Iterator[tuple[type[BaseModel], bool]]:
    """The models in an annotation, and whether they are items of a list or mapping."""
    origin = get_origin(kind)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind, False
    elif origin in (tuple, list, dict):
        for argument in get_args(kind):
            yield from ((model, True) for model, _ in models_in(argument))
    elif origin in (Annotated, Union, types.UnionType):
        for argument in get_args(kind):
            yield from models_in(argument)


def patterns(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Every pattern that a change of a blueprint can have."""
    for name, field in model.model_fields.items():
        path = f"{prefix}{name}"
        yield path
        for inside, is_item in models_in(field.annotation):
            here = f"{path}/*" if is_item else path
            if path == "sites":
                here = f"sites/{get_args(inside.model_fields['provider'].annotation)[0]}"
            yield here
            if is_item:
                yield f"{path}/{ORDER}"
            yield from patterns(inside, f"{here}/")


PATTERNS = sorted({*patterns(Blueprint), CLUSTER_SUBNET, SUBNETS, HOSTS, CLOUD_HOSTS})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.pattern}-{rule.event}")
def test_every_rule_is_about_a_field_of_the_model(rule: ActionRule) -> None:
    owner: dict[str, Any] = {}
    for name in reversed(rule.owner_has):
        owner = {name: owner}
    changes = (Change(p, p, "changed", 1, 2, "", "", None, owner) for p in PATTERNS)
    assert any(rule.fits(change, [rule.event]) for change in changes), rule.pattern


def test_the_walk_finds_fields_at_every_depth() -> None:
    assert {
        "name",
        "sites/aws/network/cidr",
        "sites/onprem/halls/*/rows/*/rack_groups/*/feeds/*/source",
        "sites/aws/node_groups/*/capacity/kind",
    } <= set(PATTERNS)
