"""The models and fields that a blueprint and a catalogue entry are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from rackwright.catalog.loader import FOLDERS
from rackwright.model.base import Model
from rackwright.model.cluster import Blueprint
from rackwright.model.field_kinds import marked_fields, models_in


@dataclass(frozen=True)
class Place:
    """A field of the blueprint.

    Attributes:
        pattern: fields on the way to it, ``*`` for an entry of a list.
        around: the fields that it is in.
    """

    pattern: str
    info: FieldInfo
    around: tuple[FieldInfo, ...]

    @property
    def is_list(self) -> bool:
        """True if it has several models."""
        return _is_list(self.info.annotation) and any(models_in(self.info.annotation))


def places(
    model: type[Model] = Blueprint, prefix: str = "", around: tuple[FieldInfo, ...] = ()
) -> Iterator[Place]:
    """Every field at every place that a blueprint can have."""
    for name, info in model.model_fields.items():
        place = Place(f"{prefix}{name}", info, around)
        yield place
        for inner in models_in(info.annotation):
            mark = "/*" if place.is_list else ""
            if place.pattern == "sites":
                mark = f"/{get_args(inner.model_fields['provider'].annotation)[0]}"
            yield from places(inner, f"{place.pattern}{mark}/", (*around, info))


def _is_list(annotation: Any) -> bool:
    return get_origin(annotation) in {tuple, dict} or any(map(_is_list, get_args(annotation)))


def _reached(*models: type[Model], in_lists: bool, labels: bool) -> Sequence[type[Model]]:
    found: list[type[Model]] = []
    waiting = [*models]
    while waiting:
        model = waiting.pop()
        if model in found or model.__pydantic_generic_metadata__["origin"]:
            continue
        found.append(model)
        for name, info in model.model_fields.items():
            if (in_lists or not _is_list(info.annotation)) and (
                labels or name not in marked_fields(model).labels
            ):
                waiting += models_in(info.annotation)
    return sorted(found, key=lambda model: model.__name__)


BLUEPRINT_MODELS = _reached(Blueprint, in_lists=True, labels=True)
"""Every model that a blueprint is made of."""

PRODUCT_MODELS = _reached(*FOLDERS.values(), in_lists=False, labels=False)
"""Every kind of product and what it is made of; entries of lists are compared as a whole."""
