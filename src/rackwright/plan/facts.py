"""The catalogue together with the numbers that a blueprint states of products.

A number fills what the catalogue lacks, or replaces one that no one read in a document; what the
catalogue has from a document is never changed. A fact about such a number has no effect: it may agree or be
more careful, and is refused where it is bolder (docs/decisions/0018-facts-the-catalogue-learns.md).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from rackwright.catalog.approved import is_looser
from rackwright.catalog.loader import Catalogue, Key
from rackwright.model.base import Model
from rackwright.model.connections import Connector
from rackwright.model.facts import ProductFact
from rackwright.model.field_kinds import marked_fields
from rackwright.model.hardware import Confidence, Entry, Fact, Source
from rackwright.plan.problems import PlanProblem
from rackwright.reading.suggest import did_you_mean

_KEY = "facts of the blueprint: {}"
"""Name of the source of a number that a fact fills."""
CONNECTOR = "liquid.connector"
"""The field whose value is the id of another product."""
ROUNDING = 0.005
"""Share by which a fact may differ from the catalogue and agree: a number in other units, rounded."""
UNREAD = frozenset({Confidence.COMMON, Confidence.ESTIMATE, Confidence.EXAMPLE})
"""Confidence of numbers that no one read in a document, measured or computed."""


def with_stated(
    facts: Sequence[ProductFact], catalogue: Catalogue
) -> tuple[Catalogue, list[PlanProblem]]:
    """Return ``catalogue`` with ``facts``, and those that cannot be used.

    Raises:
        SpecErrors: the entry of a product is wrong.
    """
    catalogue = catalogue.bare
    if not facts:
        return catalogue, []
    filled: dict[Key, Entry] = {}
    problems = []
    for number, fact in enumerate(facts):
        key = catalogue.keys.get(fact.product)
        if key is None:
            text = f"there is no product '{fact.product}' in the catalogue"
            hint = did_you_mean(fact.product, catalogue.keys)
            problems.append(PlanProblem(("facts", number, "product"), text, hint))
            continue
        if fact.field == CONNECTOR and fact.value not in (known := catalogue.ids(Connector)):
            text = f"there is no connector '{fact.value}' in the catalogue"
            hint = did_you_mean(str(fact.value), known)
            problems.append(PlanProblem(("facts", number, "value"), text, hint))
            continue
        try:
            filled[key] = fill(filled.get(key) or catalogue.get(*key), fact)
        except UnfitError as error:
            problems.append(PlanProblem(("facts", number, error.key), error.text, error.hint))
    return replace(catalogue, filled=filled, _read={}), problems


def knows(entry: Entry, field: str) -> bool:
    """Return True if an entry has a number by this name."""
    value: Any = entry
    for part in field.split("."):
        value = getattr(value, part, None) if isinstance(value, Model) else None
    return value is not None


def takes(entry: Entry, field: str) -> bool:
    """Return True if a fact may fill a field of an entry: one number that no one read, of a part that it has."""
    return fact_type(entry, field) is not None


def fact_type(entry: Entry, field: str) -> tuple[type[Model], Any] | None:
    """Return the model that a field of an entry is in, and the type of the value by which a fact fills it.

    None where a fact cannot fill it.
    """
    *parts, last = field.split(".")
    model: Any = entry
    for part in parts:
        model = getattr(model, part, None)
    if not isinstance(model, Model) or last not in type(model).model_fields:
        return None
    known = getattr(model, last)
    if known is not None and not (isinstance(known, Fact) and known.source in _unread(entry)):
        return None
    hint: Any = type(model).model_fields[last].annotation
    for one in _parts(hint):
        value = one.model_fields["value"] if _is_fact(one) else None
        if value is not None and get_origin(value.annotation) is not tuple:
            return type(model), value.rebuild_annotation()
    return None


def fill(entry: Entry, fact: ProductFact) -> Entry:
    """Return ``entry`` with one value more, or with a better one for a value that no one read.

    It is returned as it is where it has the number, and the fact agrees or is more careful.

    Raises:
        UnfitError: the number of the entry is more careful, it has none by this name, or the value is none.
    """
    key = _KEY.format(fact.field)
    replaced = _unread(entry) if fact.confidence not in UNREAD else set()
    made = _put(entry, fact.field.split("."), fact, key, replaced)
    if made is entry:
        return entry
    source = Source(title=fact.source, date=fact.date, confidence=fact.confidence)
    assert isinstance(made, Entry)  # noqa: S101 - a model stays what it is
    return made.model_copy(update={"sources": {**entry.sources, key: source}})


def superseded(fact: ProductFact, catalogue: Catalogue) -> str | None:
    """Return the words about a fact whose number the catalogue has; None where the fact is used.

    Args:
        fact: fact of a blueprint.
        catalogue: catalogue with the facts of that blueprint.
    """
    entry = catalogue.get(*catalogue.keys[fact.product])
    known: Any = entry
    for part in fact.field.split("."):
        known = getattr(known, part)
    if isinstance(known, Fact) and known.source == _KEY.format(fact.field):
        return None
    text = f"'{fact.value}' has no effect: the catalogue has '{_shown(known)}'"
    if isinstance(known, Fact):
        source = entry.sources[known.source]
        text += f" from '{source.title.strip()}' ({source.date}, {source.confidence})"
    return f"{text}; remove the fact"


def _unread(entry: Entry) -> set[str]:
    """Return the names of the sources of numbers that no one read in a document."""
    return {name for name, source in entry.sources.items() if source.confidence in UNREAD}


class UnfitError(Exception):
    """Reason why a fact cannot be used."""

    def __init__(self, key: str, text: str, hint: str | None = None) -> None:
        super().__init__(text)
        self.key, self.text, self.hint = key, text, hint


def _put(
    model: Model, parts: list[str], fact: ProductFact, key: str, replaced: Collection[str]
) -> Model:
    first, *rest = parts
    info = type(model).model_fields.get(first)
    names = [name for name, one in type(model).model_fields.items() if _holds(one.annotation)]
    if info is None or first not in names:
        text = f"a {type(model).__name__} has no value '{first}'"
        raise UnfitError("field", text, did_you_mean(first, names) or f"it has: {', '.join(names)}")
    value = getattr(model, first)
    if rest:
        if not isinstance(value, Model) or isinstance(value, Fact):
            text = f"'{fact.product}' has no '{first}' that '{rest[0]}' could be a value of"
            raise UnfitError("field", text, "write an entry of your own: 'catalogue new'")
        inner = _put(value, rest, fact, key, replaced)
        return model if inner is value else model.model_copy(update={first: inner})
    annotation: Any = info.annotation
    if not _is_fact(annotation):
        raise UnfitError("field", f"'{fact.field}' is more than one value; name one of it")
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        made = adapter.validate_python({"value": fact.value, "source": key})
    except ValidationError as error:
        raise UnfitError("value", error.errors()[0]["msg"]) from None
    if value is None or (isinstance(value, Fact) and value.source in replaced):
        return model.model_copy(update={first: made})
    rule = marked_fields(type(model)).milder(first)
    if not _agree(value, made) and is_looser(rule, made, value):
        known = f"the catalogue knows '{fact.field}' of '{fact.product}': {_shown(value)}"
        hint = "remove the fact, or write an entry of your own: 'rackwright catalogue new'"
        raise UnfitError("field", f"{known}; the fact says {fact.value}", hint)
    return model


def _agree(known: Any, made: Fact[Any]) -> bool:
    """Return True if a fact says what the catalogue has, but for rounding."""
    there, here = known.value if isinstance(known, Fact) else known, made.value
    if isinstance(there, float) and isinstance(here, float):
        return math.isclose(there, here, rel_tol=ROUNDING)
    return bool(there == here)


def _shown(known: Any) -> Any:
    """Return a value of the catalogue with its unit."""
    return known.model_dump(mode="json")["value"] if isinstance(known, Fact) else known


def _parts(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) in {Union, UnionType}:
        return tuple(part for part in get_args(hint) if part is not NoneType)
    return (get_args(hint)[0],) if get_origin(hint) is Annotated else (hint,)


def _is_fact(hint: Any) -> bool:
    return any(isinstance(one, type) and issubclass(one, Fact) for one in _parts(hint))


def _holds(hint: Any) -> bool:
    """Return True if a field is a number, or a model with numbers."""
    return any(
        isinstance(one, type) and issubclass(one, Model) and not issubclass(one, Source)
        for one in _parts(hint)
    )
