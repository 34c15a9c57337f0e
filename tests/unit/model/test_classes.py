"""Every field of a blueprint is hardware, a claim or a setting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from rackwright.diff.action_rules import RULES as ACTIONS
from rackwright.diff.actions import decide
from rackwright.diff.changes import Change
from rackwright.model.base import Model
from rackwright.model.classes import CLASSES, FieldClass
from rackwright.model.cluster import Blueprint
from rackwright.model.milder import Absent, Direction, Milder
from rackwright.policy.base_approval.things import granting, models_in
from weakenings import models_of


def reached(model: type[Model], seen: set[type[Model]]) -> set[type[Model]]:
    """Every model that a blueprint is made of."""
    if model not in seen:
        seen.add(model)
        for info in model.model_fields.values():
            for inner in models_of(info.annotation):
                reached(inner, seen)
    return seen


MODELS = sorted(reached(Blueprint, set()), key=lambda model: model.__name__)


def test_every_model_has_classes() -> None:
    assert set(CLASSES) == set(MODELS)


@pytest.mark.parametrize("model", MODELS)
def test_every_field_has_one_class(model: type[Model]) -> None:
    times = Counter(CLASSES[model].names())
    assert set(times) == set(model.model_fields)
    assert [name for name, count in times.items() if count > 1] == []


@pytest.mark.parametrize("model", MODELS)
def test_what_holds_models_is_looked_into(model: type[Model]) -> None:
    """Else claims inside of it would be the change's."""
    fields = CLASSES[model]
    inside = {*fields.parts.split(), *fields.statements.split(), *fields.asked.split()}
    whole = {"policies", "reasons", "checkpoint"}  # compared as one, here or apart
    holding = {n for n, info in model.model_fields.items() if any(models_in(info.annotation))}
    assert inside == holding - whole


def rules() -> Iterator[tuple[type[Model], str, Milder]]:
    for model in MODELS:
        for name, rule in {**CLASSES[model].claims, **CLASSES[model].settings}.items():
            yield model, name, rule


RULES = [rule for rule in rules() if rule[2].direction is not Direction.APART]


def test_what_is_milder_of_words_names_them_all() -> None:
    hints = {
        (model, name): (get_type_hints(model)[name], rule.order)
        for model, name, rule in RULES
        if rule.direction is Direction.ORDER
    }
    words = {
        place: {word for part in (hint, *get_args(hint)) for word in _words(part)}
        for place, (hint, _) in hints.items()
    }
    assert words == {place: set(order) for place, (_, order) in hints.items()}


def _words(hint: Any) -> tuple[Any, ...]:
    if hint is bool:
        return (True, False)
    return get_args(hint) if get_origin(hint) is Literal else ()


def test_a_field_whose_absence_grants_nothing_need_not_be_given() -> None:
    optional = [
        (model, name) for model, name, rule in RULES if rule.absent in {Absent.STRICT, Absent.MILD}
    ]
    assert optional
    assert not [name for model, name in optional if model.model_fields[name].is_required()]


def test_entries_of_lists_are_told_apart_by_fields_that_they_have() -> None:
    entries = {
        inner
        for model in MODELS
        for name, info in model.model_fields.items()
        if get_origin(info.annotation) is tuple
        for inner in granting(model, name)
    }
    assert entries
    assert not [one for one in entries if set(CLASSES[one].identity) - set(one.model_fields)]


def hardware() -> Iterator[str]:
    """Every field of hardware but those that tell entries apart, by the patterns of its changes."""

    def walk(model: type[Model], above: str) -> Iterator[str]:
        fields = CLASSES[model]
        for name, info in model.model_fields.items():
            here = f"{above}{name}"
            if name in fields.hardware.split() and name not in fields.identity:
                yield here
            item = "/*" if get_origin(info.annotation) is tuple else ""
            for inner in models_in(info.annotation):
                place = f"{here}{item}"
                if here == "sites":
                    place = f"sites/{get_args(inner.model_fields['provider'].annotation)[0]}"
                yield from walk(inner, f"{place}/")

    yield from walk(Blueprint, "")


def test_no_field_is_hardware_of_which_the_diff_says_that_nothing_changes() -> None:
    """Altitude, bandwidth of a line between sites and role of a fabric approved themselves."""
    changes = [Change(p, p, "changed", 1, 2, "", "", None, {}) for p in hardware()]
    nothing = "read by the policies only"
    updates = decide(changes, ACTIONS)
    assert any(nothing in rule.reason for rule in ACTIONS)
    assert [u.change.path for u in updates if u.reason.startswith(nothing)] == []


@pytest.mark.parametrize(
    ("model", "name", "expected"),
    [
        ("NodeGroup", "power_cap", FieldClass.CLAIM),
        ("PowerSource", "redundancy", FieldClass.CLAIM),
        ("SitePower", "capping", FieldClass.CLAIM),
        ("OnPremSite", "allow_estimates", FieldClass.CLAIM),
        ("Blueprint", "policies", FieldClass.SETTING),
        ("Blueprint", "profile", FieldClass.SETTING),
        ("Costs", "budget_per_year", FieldClass.SETTING),
        ("NodeGroup", "count", FieldClass.HARDWARE),
        ("OnPremSite", "altitude", FieldClass.CLAIM),
        ("Interconnect", "bandwidth", FieldClass.CLAIM),
        ("Fabric", "role", FieldClass.CLAIM),
        ("CableRoute", "tray", FieldClass.CLAIM),
        ("Cables", "length", FieldClass.CLAIM),
        ("Cables", "cable", FieldClass.HARDWARE),
        ("CableTrays", "row_pitch", FieldClass.CLAIM),
        ("Conductors", "length", FieldClass.CLAIM),
        ("Conductors", "cross_section", FieldClass.HARDWARE),
        ("PowerSource", "capacity", FieldClass.CLAIM),
        ("PowerSource", "product", FieldClass.HARDWARE),
        ("Modules", "capacity", FieldClass.CLAIM),
        ("MechanicalPlant", "capacity", FieldClass.CLAIM),
        ("RackCooling", "rear_door_capacity", FieldClass.CLAIM),
        ("Manifolds", "weight", FieldClass.CLAIM),
    ],
)
def test_classes_that_were_decided(model: str, name: str, expected: FieldClass) -> None:
    (found,) = (one for one in MODELS if one.__name__ == model)
    assert CLASSES[found].class_of(name) is expected
