"""Values of one field in a change and in its base, and which of them is the strictest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from rackwright.model.base import Model
from rackwright.model.field_kinds import Absent, Direction, Milder

_LEAST, _MOST = float("-inf"), float("inf")


def strictest(model: type[Model], name: str, rule: Milder, head: Any, bases: Sequence[Any]) -> Any:
    """Return the strictest of the values that a field has, each as the document has it.

    The head's where none is stricter, or where either way may be milder and all are equal.

    Args:
        model: the model whose field it is.
        name: the field.
        rule: what is milder.
        head: the value in the change; None where it is absent.
        bases: the values in the base, that of the thing which is most alike first. It decides alone where
            either way may be looser: values of several things would make one that nobody has.
    """
    reading = _reading(model, name)
    if any(isinstance(value, Mapping) for value in (head, *bases)) and reading.entries:
        return _strictest_entries(reading, rule, head, bases)
    return _one(reading, rule, head, bases)


@dataclass(frozen=True)
class _Reading:
    """Ways to read the values of a field.

    Attributes:
        value: reads one; of a mapping, one that stands behind a key.
        default: what an absent one means; None where it means nothing.
        entries: it is a mapping.
    """

    value: TypeAdapter[Any]
    default: Any
    entries: bool

    def read(self, raw: Any) -> Any:
        """Return the value, or None where it is absent, or is none that the field can have."""
        if raw is None:
            return self.default
        try:
            return self.value.validate_python(raw)
        except (ValidationError, UnicodeEncodeError):
            return self.default


@cache
def _reading(model: type[Model], name: str) -> _Reading:
    info: FieldInfo = model.model_fields[name]
    hint = _plain(info.annotation)
    if get_origin(hint) is dict:
        return _Reading(TypeAdapter(get_args(hint)[1]), None, entries=True)
    default = None if info.is_required() or isinstance(info.default, tuple) else info.default
    whole: Any = Annotated[(hint, *info.metadata)]
    return _Reading(TypeAdapter(whole), default, entries=False)


def _plain(hint: Any) -> Any:
    """Return a type without ``None``."""
    if get_origin(hint) in {Union, UnionType}:
        kept = [part for part in get_args(hint) if part is not NoneType]
        return kept[0] if len(kept) == 1 else Union[tuple(kept)]  # noqa: UP007 - made of a list
    return hint


def _strictest_entries(reading: _Reading, rule: Milder, head: Any, bases: Sequence[Any]) -> Any:
    """Return a mapping, each of whose entries is the strictest."""
    versions = [value if isinstance(value, Mapping) else {} for value in (head, *bases)]
    keys = dict.fromkeys(key for version in versions for key in version)
    made = {}
    for key in keys:
        here, *there = [version.get(key) for version in versions]
        value = _one(reading, rule, here, there)
        if value is not None:
            made[key] = value
    return made or None


def _one(reading: _Reading, rule: Milder, head: Any, bases: Sequence[Any]) -> Any:
    values = {id(raw): reading.read(raw) for raw in (head, *bases)}

    def mildness(raw: Any) -> Any:
        return _mildness(values[id(raw)], rule)

    if all(values[id(raw)] == values[id(head)] for raw in bases):
        return head
    if rule.direction is Direction.MORE:
        return _common(head, bases)
    undecided = rule.absent is Absent.ELSEWHERE and any(
        values[id(raw)] is None for raw in (head, *bases)
    )
    if rule.direction is Direction.OTHER or undecided:
        if values[id(head)] is None and rule.absent is not Absent.ELSEWHERE:
            return head
        return head if values[id(bases[0])] == values[id(head)] else bases[0]
    return min((head, *bases), key=mildness)


def _mildness(value: Any, rule: Milder) -> tuple[float, Any]:
    """Return a key that grows with how mild a value is."""
    if value is None:
        if rule.order == (False, True) or (rule.order and rule.absent is Absent.STRICT):
            return (0, 0)  # as strict as the first of them
        return (_MOST if rule.absent is Absent.MILD else _LEAST, 0)
    match rule.direction:
        case Direction.ORDER:
            return (0, rule.order.index(value))
        case Direction.HIGHER:
            return (0, value)
        case _:
            return (0, -value)


def _common(head: Any, bases: Sequence[Any]) -> Any:
    """Return the elements that all of several lists have, in the order of the head's."""
    lists = [raw if isinstance(raw, list) else [] for raw in bases]
    here = head if isinstance(head, list) else []
    kept = [one for one in here if all(one in other for other in lists)]
    return head if len(kept) == len(here) else kept or None
