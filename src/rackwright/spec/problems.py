"""Pydantic's errors as messages for people, each at its place in the file."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError

from rackwright.errors import SpecError, SpecErrors
from rackwright.spec.suggest import did_you_mean
from rackwright.spec.tree import Path, Tree

_EXPECTED: Mapping[str, str] = {
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), "a mapping"),
    **dict.fromkeys(("tuple_type", "list_type"), "a list"),
    "string_type": "text",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    "greater_than": "above {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "less_than": "below {lt:g}",
    "less_than_equal": "{le:g} or less",
}
"""What pydantic wanted, by the kind of its error."""


def to_spec_errors(
    error: ValidationError, tree: Tree, model: type[BaseModel], prefix: Path = ()
) -> SpecErrors:
    """Every error of ``error`` with its position in ``tree``, below ``prefix``."""
    found: dict[tuple[object, str], SpecError] = {}
    details = [(tuple(d["loc"]), d) for d in error.errors(include_url=False)]
    broken = {loc[:depth] for loc, _ in details for depth in range(len(loc))}
    for loc, detail in details:
        if detail["type"] == "too_short" and loc in broken:
            continue  # pydantic does not count the items that are wrong themselves
        path = prefix + _yaml_path(_value_at(tree.data, prefix), loc)
        spec_error = _convert(detail, path, loc, tree, model)
        found.setdefault((spec_error.location, spec_error.summary), spec_error)
    return SpecErrors(list(found.values()))


def _convert(
    detail: Any, path: Path, loc: tuple[str | int, ...], tree: Tree, model: type[BaseModel]
) -> SpecError:
    kind = detail["type"]
    at_key = kind == "extra_forbidden"
    message, hint = _explain(detail, loc, model)
    where = tree.describe(path[:-1] if at_key else path)
    text = f"{where}: {message}" if where else message
    if kind == "union_tag_invalid":
        path = (*path, str(detail["ctx"]["discriminator"]).strip("'"))
    return SpecError(text, hint=hint, location=tree.locate(path, key=at_key))


def _explain(
    detail: Any, loc: tuple[str | int, ...], model: type[BaseModel]
) -> tuple[str, str | None]:
    kind = detail["type"]
    context = detail.get("ctx") or {}
    given = detail.get("input")
    last = str(loc[-1]) if loc else ""
    if kind == "extra_forbidden":
        fields = _field_names(model, loc[:-1])
        hint = did_you_mean(last, fields)
        return f"unknown key '{last}'", hint or f"known are: {', '.join(fields)}"
    if kind == "missing":
        return f"'{last}' is missing", None
    if kind in {"literal_error", "enum"}:
        allowed = str(context.get("expected", ""))
        words = [word.strip(" '") for word in allowed.replace(" or ", ", ").split(",")]
        near = did_you_mean(given, words) if isinstance(given, str) else None
        return f"{_quote(given)} is not one of {allowed}", near
    if kind == "union_tag_invalid":
        words = [word.strip(" '") for word in str(context["expected_tags"]).split(",")]
        key = str(context["discriminator"]).strip("'")
        return (
            f"{key} '{context['tag']}' is not one of {', '.join(words)}",
            did_you_mean(str(context["tag"]), words),
        )
    if kind == "union_tag_not_found":
        return f"{context['discriminator']} is missing", None
    if kind == "string_pattern_mismatch":
        return f"{_quote(given)} does not match {context['pattern']}", None
    if kind in _EXPECTED:
        return f"{_quote(given)} is not {_EXPECTED[kind].format(**context)}", None
    if kind == "too_short":
        return f"{context['actual_length']} given, at least {context['min_length']} needed", None
    text = str(detail["msg"])
    for noise in ("Value error, ", "Assertion failed, "):
        text = text.removeprefix(noise)
    if text.startswith("Input should be"):
        text = f"{_quote(given)} {text[6:]}" if _is_scalar(given) else text
    return text[:1].lower() + text[1:].rstrip("."), None


def _is_scalar(value: object) -> bool:
    return isinstance(value, (str, int, float, bool)) or value is None


def _quote(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, (Mapping, list)):
        return "a mapping" if isinstance(value, Mapping) else "a list"
    if isinstance(value, bool):
        return f"'{str(value).lower()}'"
    text = f"'{value}'"
    return text if len(text) <= 80 else text[:76] + "...'"


def _value_at(data: Any, path: Path) -> Any:
    for part in path:
        data = data[part]
    return data


def _yaml_path(data: Any, loc: tuple[str | int, ...]) -> Path:
    """``loc`` without the tags and validator names that pydantic puts between the keys."""
    path: list[str | int] = []
    for index, part in enumerate(loc):
        if isinstance(data, Mapping):
            if part in data:
                data = data[part]
                path.append(part)
            elif index == len(loc) - 1:
                break
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
            path.append(part)
    return tuple(path)


def _field_names(model: type[BaseModel], loc: tuple[str | int, ...]) -> list[str]:
    """The keys that the model at ``loc`` knows."""
    candidates: list[Any] = [model]
    for part in loc:
        candidates = [n for c in candidates for n in _step(c, part)] or candidates
    names: dict[str, None] = {}
    for candidate in candidates:
        for found in _models(candidate):
            names.update(dict.fromkeys(f.alias or n for n, f in found.model_fields.items()))
    return list(names)


def _step(annotation: Any, part: str | int) -> Iterator[Any]:
    """What ``part`` of a location leads to from a type."""
    for option in _options(annotation):
        if isinstance(option, type) and issubclass(option, BaseModel):
            if isinstance(part, str) and part in option.model_fields:
                yield option.model_fields[part].annotation
            elif isinstance(part, str) and part in _tags(option):
                yield option
        elif get_origin(option) in {tuple, list} and isinstance(part, int):
            yield get_args(option)[0]
        elif get_origin(option) is dict and isinstance(part, str):
            yield get_args(option)[1]


def _options(annotation: Any) -> Iterator[Any]:
    origin = get_origin(annotation)
    if origin is typing.Annotated:
        yield from _options(get_args(annotation)[0])
    elif origin in {typing.Union, types.UnionType}:
        for option in get_args(annotation):
            yield from _options(option)
    elif annotation is not type(None):
        yield annotation


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    for option in _options(annotation):
        if isinstance(option, type) and issubclass(option, BaseModel):
            yield option


def _tags(model: type[BaseModel]) -> set[str]:
    return {
        str(value)
        for field in model.model_fields.values()
        if get_origin(field.annotation) is Literal
        for value in get_args(field.annotation)
    }
