"""Every field has one class, and every field of a blueprint a roll-out, at the field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from model_walk import BLUEPRINT_MODELS, PRODUCT_MODELS, Place, places
from rackwright.diff.rollouts import choose, stated_rollouts
from rackwright.model.base import Model
from rackwright.model.field_kinds import (
    APART,
    ASKED,
    HARDWARE,
    KEY,
    LABEL,
    PART,
    POLICIES_ONLY,
    STATEMENT,
    Absent,
    Claim,
    Direction,
    Milder,
    OnChange,
    Setting,
    marked_fields,
    models_in,
    rollouts_of,
)
from rackwright.model.hardware import Fact
from rackwright.policy.base_approval.things import granting
from weakenings import FieldClass, class_of

CLASSES = (HARDWARE, KEY, PART, STATEMENT, ASKED, LABEL)


def classes_of(model: type[Model], name: str) -> list[Any]:
    """The markers of a field that say its class."""
    metadata = model.model_fields[name].metadata
    return [m for m in metadata if m in CLASSES or isinstance(m, (Claim, Setting))]


@pytest.mark.parametrize("model", [*BLUEPRINT_MODELS, *PRODUCT_MODELS])
def test_every_field_has_one_class(model: type[Model]) -> None:
    wrong = {name: n for name in model.model_fields if (n := len(classes_of(model, name))) != 1}
    assert wrong == {}


@pytest.mark.parametrize("model", PRODUCT_MODELS)
def test_a_product_has_labels_and_claims_only(model: type[Model]) -> None:
    fields = marked_fields(model)
    assert {*fields.labels, *fields.claims} == set(model.model_fields)


@pytest.mark.parametrize("model", BLUEPRINT_MODELS)
def test_a_blueprint_has_no_labels(model: type[Model]) -> None:
    assert marked_fields(model).labels == ()


@pytest.mark.parametrize("model", BLUEPRINT_MODELS)
def test_models_inside_of_a_field_are_compared(model: type[Model]) -> None:
    """Else claims inside of it would be the change's."""
    holding = {n for n, info in model.model_fields.items() if any(models_in(info.annotation))}
    whole = {"policies", "reasons", "checkpoint", "layout"}  # compared as one, here or apart
    assert set(marked_fields(model).inside) == holding - whole


def is_stated(place: Place) -> bool:
    """True if a field, or one around it, says how a change reaches a running cluster."""
    if any(rollout.event == "any" for info in place.around for rollout in rollouts_of(info)):
        return True
    events = {rollout.event for rollout in rollouts_of(place.info)}
    if place.is_list:
        return "any" in events or {"added", "removed"} <= events
    inside = any(models_in(place.info.annotation))
    return bool(events) or (inside and place.info.is_required())


def test_every_field_of_a_blueprint_says_how_a_change_is_rolled_out() -> None:
    """A key cannot change: with another value it is another entry."""
    silent = [p.pattern for p in places() if KEY not in p.info.metadata and not is_stated(p)]
    assert silent == SILENT


SILENT = ["sites/aws/provider", "sites/aws/access", "sites/onprem/provider"]
"""The word that tells providers apart, and a model of fields whose roll-out is stated, which is always there."""


def test_no_field_is_hardware_of_which_the_diff_says_that_nothing_changes() -> None:
    """Altitude, bandwidth of a line between sites and role of a fabric approved themselves."""
    nearest = {p.pattern: choose(stated_rollouts(p.pattern), ["any"], {}) for p in places()}
    assert POLICIES_ONLY in nearest.values()
    hardware = [p.pattern for p in places() if HARDWARE in p.info.metadata]
    assert [pattern for pattern in hardware if nearest[pattern] == POLICIES_ONLY] == []


def test_a_field_without_a_rollout_is_found() -> None:
    class Silent(Model):
        height: int

    assert not is_stated(Place("height", Silent.model_fields["height"], ()))


def test_an_action_is_one_of_diff() -> None:
    from rackwright.diff.actions import Action

    actions = get_args(get_type_hints(OnChange)["action"])
    assert actions == tuple(action.value for action in Action)


def rules() -> Iterator[tuple[type[Model], str, Milder]]:
    for model in BLUEPRINT_MODELS:
        fields = marked_fields(model)
        for name, rule in {**fields.claims, **fields.settings}.items():
            if rule != APART:
                yield model, name, rule


RULES = list(rules())


def test_words_in_order_are_all_words_of_the_field() -> None:
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


def test_entries_of_lists_have_a_key() -> None:
    entries = {
        inner
        for model in BLUEPRINT_MODELS
        for name, info in model.model_fields.items()
        if get_origin(info.annotation) is tuple
        for inner in granting(model, name)
    }
    assert entries
    assert not [model for model in entries if not marked_fields(model).identity]


def test_a_direction_of_a_product_is_of_a_number() -> None:
    wrong = [
        f"{model.__name__}.{name}"
        for model in PRODUCT_MODELS
        for name, rule in marked_fields(model).claims.items()
        if rule.direction is not Direction.OTHER
        and "Fact[" not in str(model.model_fields[name].annotation)
    ]
    assert wrong == []
    assert Fact not in PRODUCT_MODELS


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
    (found,) = (one for one in BLUEPRINT_MODELS if one.__name__ == model)
    assert class_of(marked_fields(found), name) is expected


def test_a_field_states_one_rollout_for_each_event() -> None:
    keys = [[(r.event, r.given) for r in rollouts_of(place.info)] for place in places()]
    assert [key for key in keys if len(set(key)) < len(key)] == []
