"""The beginning of an entry: every field that its kind of product has, to be filled in.

What is to be filled in is no value that a product may have, so that nothing of it can be taken for
one that somebody has read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from rackwright.catalog.loader import FOLDERS
from rackwright.model.base import Model, describe_fields
from rackwright.model.field_kinds import marked_fields
from rackwright.model.hardware import Fact
from rackwright.model.prices import Money
from rackwright.model.units import Quantity

BLANK = "…"
"""Stands for what is to be filled in."""
EMPTY = "''"
"""Stands for a text, which may not be empty."""
OR = " | "
"""Stands between words of which one is chosen."""
SOURCE = "sheet"
"""Key of the source that an example of a number cites."""


def scaffold(folder: str, entry_id: str, today: date) -> str:
    """Return the text of a file for a product of the kind that ``folder`` holds."""
    kind = FOLDERS[folder]
    (word,) = get_args(kind.model_fields["kind"].annotation)
    lines = [
        f"kind: {word}",
        f"id: {entry_id}",
        "vendor: ''  # who makes it",
        "name: ''  # what its maker calls it",
        "",
        "# Take away the '#' before what a document says, and write what it says. Leave out what",
        "# nobody has published: it is unknown then, and no rule passes because of it.",
        *(f"# {line}" for line in _fields(kind)),
        "",
        "# Each number names its source. Confidence: official, secondary, common, computed, estimate.",
        "sources: {}  # instead, when there is a number:",
        "# sources:",
        f"#   {SOURCE}: {{title: {EMPTY}, date: {today}, confidence: {BLANK}}}",
    ]
    return "\n".join(lines) + "\n"


def _fields(model: type[Model]) -> Iterator[str]:
    """Yield the lines of each field, without what every entry has."""
    texts: Mapping[str, str] = describe_fields(model)
    for name, info in model.model_fields.items():
        if name in marked_fields(model).labels:
            continue
        hint: Any = info.annotation
        if info.metadata:
            hint = Annotated[(hint, *info.metadata)]
        text = " ".join(texts.get(name, "").split())
        need = "needed. " if info.is_required() else ""
        note = f"  # {need}{text}".rstrip(" #") if need or text else ""
        yield from _with_key(name, sample(hint), note)


def _with_key(name: str, value: Any, note: str) -> Iterator[str]:
    if isinstance(value, list):
        yield f"{name}:{note}"
        first = True
        for line in value[0]:
            yield f"  {'- ' if first else '  '}{line}"
            first = False
    elif isinstance(value, _Nested):
        yield f"{name}:{note}"
        yield from (f"  {line}" for line in value)
    else:
        yield f"{name}: {value}{note}"


class _Nested(tuple[str, ...]):
    """The lines of a model."""

    __slots__ = ()


def sample(hint: Any) -> Any:
    """Return a sample value of this type: a text, the lines of a model, or a list of these."""
    origin = get_origin(hint)
    if origin in {Union, UnionType}:
        return sample(next(part for part in get_args(hint) if part is not NoneType))
    if origin is Annotated:
        inner, *metadata = get_args(hint)
        for one in metadata:
            if isinstance(one, Quantity):
                return f"{BLANK} {one.dimension.unit}"
            if isinstance(one, Money):
                return f"{BLANK} {one.unit}"
        return sample(inner)
    if origin is Literal:
        return OR.join(map(str, get_args(hint)))
    if origin is tuple:
        inner = sample(get_args(hint)[0])
        return [list(inner)] if isinstance(inner, _Nested) else f"[{inner}]"
    return _of_type(hint)


def _of_type(hint: type[Any]) -> Any:
    if issubclass(hint, Fact):
        value = sample(hint.model_fields["value"].rebuild_annotation())
        if isinstance(value, list):
            parts = (line.partition("  #")[0] for line in value[0])
            value = f"[{{{', '.join(parts)}}}]"
        return f"{{value: {value}, source: {SOURCE}}}"
    if issubclass(hint, Model):
        return _Nested(_fields(hint))
    if issubclass(hint, Enum):
        return OR.join(str(one.value) for one in hint)
    if hint is str:
        return EMPTY
    if hint is date:
        return "YYYY-MM-DD"
    return f"false{OR}true" if hint is bool else BLANK
