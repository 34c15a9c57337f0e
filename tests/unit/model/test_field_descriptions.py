"""Descriptions of fields stand alone in an editor's hover: a noun first, and its unit."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from rackwright import model as package
from rackwright.model.base import Model, describe_fields
from rackwright.model.field_kinds import models_in
from rackwright.model.units import Dimension, Quantity

FRAGMENTS = {
    "Above", "Absent", "Accept", "Added", "After", "Along", "As", "At", "Attach", "Before",
    "Behind", "Below", "Beside", "Between", "Bought", "By", "Decides", "For", "From", "How",
    "If", "In", "Inside", "It", "Its", "Judged", "Just", "Like", "Locked", "Make", "Of", "On",
    "Outside", "Reserved", "Says", "Serve", "Spread", "That", "The_same", "There", "They",
    "Those", "To", "Under", "Until", "What", "When", "Where", "Whether", "Which", "While", "Who",
    "Whoever", "Whose", "Why", "With", "Without",
}  # fmt: skip
"""First words that need the name of the field, or its neighbour, to be understood."""


def find_models() -> list[type[Model]]:
    """Every model of the package, generic ones without their instances."""
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    found: list[type[Model]] = []
    waiting: list[type[Model]] = [Model]
    while waiting:
        for model in waiting.pop().__subclasses__():
            if model.__module__.startswith(package.__name__) and model not in found:
                waiting.append(model)
                found.append(model)
    plain = [m for m in found if not m.__pydantic_generic_metadata__["args"]]
    return sorted(plain, key=lambda model: model.__name__)


MODELS = find_models()


def dimensions(annotation: Any, metadata: tuple[Any, ...] = ()) -> Iterator[Dimension]:
    """The dimensions of the quantities in a type."""
    for marker in (*metadata, *getattr(annotation, "__metadata__", ())):
        if isinstance(marker, Quantity):
            yield marker.dimension
    generic = getattr(annotation, "__pydantic_generic_metadata__", {"args": ()})["args"]
    for part in (*get_args(annotation), *generic):
        yield from dimensions(part)


def faults(text: str, wanted: list[Dimension]) -> list[str]:
    """What is wrong with a description of a field with these dimensions."""
    words = text.replace("The same", "The_same").split()
    found = [f"begins with '{words[0]}'"] if words[0].rstrip(",;:.") in FRAGMENTS else []
    if not text[:1].isupper():
        found.append("does not begin with a capital letter")
    if not text.endswith("."):
        found.append("does not end with a full stop")
    units = {unit for dimension in wanted for unit in dimension.factors}
    units |= {"Share"} if "%" in units else set()
    if units and not any(re.search(rf"(?<![\w/]){re.escape(u)}(?![\w/])", text) for u in units):
        found.append(f"names no unit ({wanted[0].usual or wanted[0].unit})")
    return found


@pytest.mark.parametrize("model", MODELS)
def test_a_description_begins_with_a_noun_and_names_the_unit(model: type[Model]) -> None:
    wrong = {}
    for name, text in describe_fields(model).items():
        info = model.model_fields[name]
        wanted = list(dimensions(info.annotation, tuple(info.metadata)))
        if found := faults(" ".join(text.split()), wanted):
            wrong[name] = found
    assert wrong == {}


@pytest.mark.parametrize("model", MODELS)
def test_a_field_without_models_has_a_description(model: type[Model]) -> None:
    """A field of models is described by the model."""
    texts = describe_fields(model)
    bare = [
        name
        for name, info in model.model_fields.items()
        if name not in texts and not any(models_in(info.annotation))
    ]
    assert bare == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Of one, with its coolant.", "begins with 'Of'"),
        ("The same at no flow.", "begins with 'The_same'"),
        ("Weight of one unit.", "names no unit (kg)"),
        ("weight in kg", "does not begin with a capital letter"),
    ],
)
def test_fragments_are_found(text: str, fault: str) -> None:
    from rackwright.model.units import MASS

    assert fault in faults(text, [MASS])
    assert (
        faults("Weight of one unit filled with coolant, in kg. Unknown if omitted.", [MASS]) == []
    )
