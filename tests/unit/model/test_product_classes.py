"""Every field of a product is prose, or says what is milder of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest

from rackwright.catalog.loader import FOLDERS
from rackwright.model.base import Model
from rackwright.model.hardware import Entry, Fact
from rackwright.model.milder import Direction
from rackwright.model.product_classes import PRODUCT_CLASSES, PROSE


def inner_models(annotation: Any) -> Iterator[type[Model]]:
    """The models that a field holds, not in a list."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        if not annotation.__pydantic_generic_metadata__["origin"]:
            yield annotation
        return
    if getattr(annotation, "__origin__", None) is not tuple:
        for part in get_args(annotation):
            yield from inner_models(part)


def models() -> list[type[Model]]:
    """Every kind of product, and what it is made of."""
    found: list[type[Model]] = []
    waiting: list[type[Model]] = list(FOLDERS.values())
    while waiting:
        model = waiting.pop()
        if model in found:
            continue
        found.append(model)
        for name, field in model.model_fields.items():
            if name not in PROSE:
                waiting += inner_models(field.annotation)
    return found


@pytest.mark.parametrize("model", models(), ids=lambda model: str(model.__name__))
def test_every_field_has_a_class(model: type[Model]) -> None:
    prose = PROSE if issubclass(model, Entry) else frozenset[str]()
    assert set(PRODUCT_CLASSES[model]) == set(model.model_fields) - prose


def test_no_class_is_of_a_model_that_is_gone() -> None:
    assert set(PRODUCT_CLASSES) == set(models())
    assert Fact not in PRODUCT_CLASSES


def test_a_direction_is_of_a_number() -> None:
    """What is no number has no more and no less."""
    wrong = [
        f"{model.__name__}.{name}"
        for model, rules in PRODUCT_CLASSES.items()
        for name, rule in rules.items()
        if rule.direction is not Direction.OTHER
        and "Fact[" not in str(model.model_fields[name].annotation)
    ]
    assert wrong == []
