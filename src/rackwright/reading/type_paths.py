"""Following pydantic's locations through types and documents.

Pydantic puts more than keys and indexes into the location of an error: the tag of a
discriminated union, and a label for the member of a plain union that it tried. A tag may be
spelt like a key, so only the types tell which parts lead into the document.
"""

from __future__ import annotations

import collections.abc
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, Discriminator, RootModel, Tag
from pydantic.fields import FieldInfo

from rackwright.reading.tree import Path

_KEY = "[key]"
_UNIONS = (typing.Union, types.UnionType)
_MAPPINGS = frozenset({dict, collections.abc.Mapping, collections.abc.MutableMapping})
_LISTS = frozenset({list, set, frozenset, collections.abc.Sequence, collections.abc.Iterable})
_LABELS = {Literal: "literal[", tuple: "tuple[", list: "list[", dict: "dict[", set: "set["}


@dataclass(frozen=True)
class TypePlace:
    """Target of a location of pydantic.

    Attributes:
        path: its keys and indexes in the document.
        models: the models that can stand there.
        at_key: it is about the last key itself, not its value.
        labels: indexes in the location of the labels of plain unions.
        kind: the type itself, without what wraps it.
    """

    path: Path
    models: tuple[type[BaseModel], ...]
    at_key: bool
    labels: tuple[int, ...]
    kind: Any = None


def walk(annotation: Any, data: Any, loc: tuple[str | int, ...]) -> TypePlace:
    """Return the target of ``loc`` in ``data``, which was validated as ``annotation``."""
    path: list[str | int] = []
    labels: list[int] = []
    here, tagged = _bare(annotation)
    at_key = False
    for index, part in enumerate(loc):
        if _is_union(here):
            if not tagged:
                labels.append(index)
            here, tagged = _bare(_member(here, part, tagged=tagged))
            continue
        if part == _KEY and index == len(loc) - 1 and not _holds(data, part):
            at_key = True
            break
        child, known = _child(here, part)
        if not known and not _holds(data, part) and index < len(loc) - 1:
            continue  # the name of a validator, which leads nowhere
        path.append(part)
        data = data[part] if _holds(data, part) else None
        here, tagged = _bare(child)
    return TypePlace(tuple(path), tuple(_models(here)), at_key, tuple(labels), here)


def fitting(models: tuple[type[BaseModel], ...], data: Any) -> tuple[type[BaseModel], ...]:
    """Return those of ``models`` whose fixed words, such as the kind of a provider, are those of ``data``."""
    if not isinstance(data, Mapping):
        return models
    return tuple(
        model
        for model in models
        if all(
            data[key] in get_args(field.annotation)
            for key, field in model.model_fields.items()
            if get_origin(field.annotation) is Literal and key in data
        )
    )


def names(models: tuple[type[BaseModel], ...]) -> list[str]:
    """Return the keys that ``models`` know, as they are written in a document."""
    found = (_name(key, f) for model in models for key, f in model.model_fields.items())
    return list(dict.fromkeys(found))


def keys_to_write(kind: Any) -> list[str]:
    """Return the keys of a mapping, or of an item of a list, of this type: those it must have, else all."""
    origin, arguments = get_origin(kind), get_args(kind)
    inner = arguments[0] if arguments and (origin in _LISTS or origin is tuple) else kind
    models = tuple(_models(inner))
    required = [
        _name(key, field)
        for model in models[:1]
        for key, field in model.model_fields.items()
        if field.is_required()
    ]
    return required or names(models[:1])


def lists_of_named(model: type[BaseModel]) -> frozenset[str]:
    """Return the keys, in ``model`` and all below it, whose values are lists of items with a ``name``.

    Left out are keys that are a mapping elsewhere, like ``costs.sites``.
    """
    found: set[str] = set()
    mappings: set[str] = set()
    seen = {model}
    below = [model]
    while below:
        for key, field in below.pop().model_fields.items():
            bare, _ = _bare(field)
            listed = get_origin(bare) is tuple or get_origin(bare) in _LISTS
            inner = {one for kind in (get_args(bare) or (bare,)) for one in _models(kind)}
            if listed and any("name" in one.model_fields for one in inner):
                found.add(key)
            if get_origin(bare) in _MAPPINGS:
                mappings.add(key)
            below += inner - seen
            seen |= inner
    return frozenset(found - mappings)


def lists_text(kind: Any) -> bool:
    """Return True for a list of which each item is text."""
    inner = next(iter(get_args(kind)), None)
    while get_origin(inner) is typing.Annotated:
        inner = get_args(inner)[0]
    return inner is str


def tags(kind: Any) -> list[str]:
    """Return the words that tell the members of a discriminated union apart."""
    found = [_tags(option) for option in _members(kind)] if _is_union(kind) else []
    return sorted({str(tag) for member in found for tag in member})


def is_nested(kind: Any, key: str) -> bool | None:
    """Return True if the value of a key has to be a mapping or a list; None if it may be either or is not known."""
    child, known = _child(kind, key)
    if not known:
        return None
    bare, _ = _bare(child)
    if _is_union(bare):
        return None
    nested = isinstance(bare, type) and issubclass(bare, BaseModel)
    return nested or get_origin(bare) in (*_MAPPINGS, *_LISTS, tuple)


def _name(key: str, field: FieldInfo) -> str:
    alias = field.validation_alias
    return (alias if isinstance(alias, str) else field.alias) or key


def _bare(annotation: Any) -> tuple[Any, bool]:
    """Return the type without what wraps it, and whether it is a union with a discriminator."""
    tagged = False
    while True:
        if isinstance(annotation, FieldInfo):
            tagged |= annotation.discriminator is not None or _discriminates(annotation.metadata)
            annotation = annotation.annotation
        elif get_origin(annotation) is typing.Annotated:
            annotation, *metadata = get_args(annotation)
            tagged |= _discriminates(metadata)
        elif hasattr(annotation, "__value__"):
            annotation = annotation.__value__
        elif isinstance(annotation, type) and issubclass(annotation, RootModel):
            annotation = annotation.model_fields["root"]
        elif _is_optional(annotation):
            (annotation,) = _members(annotation)
        else:
            return annotation, tagged


def _discriminates(metadata: Any) -> bool:
    return any(
        isinstance(m, Discriminator) or (isinstance(m, FieldInfo) and m.discriminator is not None)
        for m in metadata
    )


def _members(annotation: Any) -> list[Any]:
    return [option for option in get_args(annotation) if option is not type(None)]


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) in _UNIONS


def _is_optional(annotation: Any) -> bool:
    return _is_union(annotation) and len(_members(annotation)) == 1


def _member(union: Any, part: str | int, *, tagged: bool) -> Any:
    """Return the member of ``union`` that ``part`` stands for."""
    for option in _members(union):
        if (part in _tags(option)) if tagged else _is_label(option, str(part)):
            return option
    return None


def _is_label(option: Any, label: str) -> bool:
    bare, _ = _bare(option)
    origin = get_origin(bare)
    if origin in _LABELS:
        return label.startswith(_LABELS[origin])
    return label.endswith(getattr(bare, "__name__", "?")) or any(
        label == model.__name__ for model in _models(option)
    )


def _tags(option: Any) -> set[Any]:
    """Return the tags under which pydantic knows a member of a discriminated union."""
    if get_origin(option) is typing.Annotated:
        given = {m.tag for m in get_args(option)[1:] if isinstance(m, Tag)}
        if given:
            return given
    return {
        value
        for model in _models(option)
        for field in model.model_fields.values()
        if get_origin(field.annotation) is Literal
        for value in get_args(field.annotation)
    }


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    bare, _ = _bare(annotation)
    if _is_union(bare):
        for option in _members(bare):
            yield from _models(option)
    elif isinstance(bare, type) and issubclass(bare, BaseModel):
        yield bare


def _child(annotation: Any, part: str | int) -> tuple[Any, bool]:
    """Return the type behind ``part``, and whether the type says so."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for key, field in annotation.model_fields.items():
            if part in {key, field.alias, field.validation_alias if _plain(field) else key}:
                return field, True
        return None, False
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in _MAPPINGS and len(arguments) == 2:
        return arguments[1], True
    if origin is tuple and isinstance(part, int):
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return arguments[0], True
        return (arguments[part], True) if part < len(arguments) else (None, False)
    if origin in _LISTS and isinstance(part, int):
        return arguments[0], True
    return None, False


def _plain(field: FieldInfo) -> bool:
    return isinstance(field.validation_alias, str)


def _holds(data: Any, part: str | int) -> bool:
    if isinstance(data, Mapping):
        return part in data
    return isinstance(data, list) and isinstance(part, int) and 0 <= part < len(data)
