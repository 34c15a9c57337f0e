"""A layer to fill in: an entry for each unset field.

Nothing in it is a value: a layer with a key that has none is refused, so that what is not filled in
is never taken for something that is known.
"""

from __future__ import annotations

import datetime as dt
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from rackwright.catalog.loader import Catalogue
from rackwright.catalog.scaffold import BLANK, EMPTY, sample
from rackwright.harmless import visible
from rackwright.model.base import Model, describe_fields
from rackwright.model.cluster import Blueprint
from rackwright.model.hardware import Confidence
from rackwright.model.intents import RackIntent
from rackwright.plan.base import Path
from rackwright.plan.facts import fact_type
from rackwright.plan.missing import Field, ProductField, fields_of
from rackwright.plan.model import Plan
from rackwright.policy.questions import owner_of
from rackwright.policy.unknowns import Owner
from rackwright.reading.edits import scalar_text
from rackwright.render.full_form import flow

_WIDTH = 98
_SAMPLES = {BLANK: "a number", EMPTY: "text"}
_SCALARS = (str, int, float, bool, Decimal, dt.date, Enum)

_SOURCES: Mapping[str, str] = {
    "costs": "See offers, contracts and invoices.",
    "limits": "See the console or the API of AWS.",
    "power": "See the single-line diagram, the breaker schedule and the contract of the utility.",
    "pue": "See the design of the building, or what is measured in it.",
    "halls": "See the design of the hall and of its cooling.",
    "loops": "See the design of the coolant loop and the selection of its CDUs.",
    "plant": "See the design of the cooling plant and the selection of its machines.",
    "facility_water": "See the design of the cooling plant and the selection of its machines.",
    "altitude": "See a map.",
    "fabrics": "See the cabling plan and the settings of the switches.",
    "interconnects": "See the contract of the line, or a measurement.",
    "file_systems": "See the sizing of the file system, or a measurement.",
}
"""Where such a thing is found, by a key on the way to it."""
_ELSEWHERE = "Ask the operators of the cluster: what is so counts, not what should be."


@dataclass(frozen=True, slots=True)
class Wanted:
    """Something that is not known.

    Attributes:
        missing: what, in words; a ``Missing`` where its fields are known.
        needed_by: rules or costs that need it.
        remedy: which field of which file would make it known; empty if unknown.
    """

    missing: str
    needed_by: tuple[str, ...]
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Todo:
    """The text of a layer, and how many fields it asks for and names as being said elsewhere."""

    text: str
    fields: int
    elsewhere: int


@dataclass(frozen=True, slots=True)
class ListItem:
    """An item of a list on the way to a field, told from the others by one of its keys.

    Attributes:
        value: of the key; a list of names as ``[a, b]``.
        given: what else the item says already. A list whose items have no names is replaced by the
            one of a layer, which has to say all of it.
    """

    key: str
    value: str
    given: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Blank:
    """A required field of the blueprint that is not set.

    Attributes:
        path: keys to what has the field, from the top of the blueprint.
        model: what has the field.
        name: of the field; empty for an item of a list that is stated again beside others.
        sample: what may stand there; empty, as its type says.
    """

    path: tuple[str | ListItem, ...]
    model: type[Model]
    name: str
    sample: str = ""


@dataclass(slots=True)
class _Leaf:
    """A field of the layer."""

    words: dict[str, None] = field(default_factory=dict)
    needed_by: dict[str, None] = field(default_factory=dict)
    text: str = ""
    sample: str = ""
    source: str = ""


@dataclass(slots=True)
class _Node:
    """A mapping of the layer, or a list of things that are told apart by ``told_by``.

    ``given`` is what is said already of such a thing.
    """

    children: dict[str, _Node | _Leaf] = field(default_factory=dict)
    told_by: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Step:
    """A key on the way to a field.

    Attributes:
        key: as the document has it; the name of an item of a list.
        needed: the other fields that a new thing needs, with what may stand there and their texts.
    """

    key: str
    in_list: bool
    text: str = ""
    needed: tuple[tuple[str, str, str], ...] = ()


def make_todo(
    plan: Plan, wanted: Sequence[Wanted], head: Sequence[str], written: Any = None
) -> Todo:
    """Return the layer that asks for what is wanted.

    Args:
        plan: of the blueprint without the layer.
        wanted: what is not known.
        head: lines of its first comment, before how to fill it in.
        written: the document of the blueprint as it is written, which may be in the short form.
    """
    layer = _Layer(plan.blueprint, plan.catalogue, written)
    rest = [one for one in wanted if not layer.add(one)]
    lines = [*_comment([*head, "", _HOW]), *layer.lines()]
    elsewhere = _merged(rest)
    if elsewhere:
        lines += ["", *_comment([_REST]), *(line for one in elsewhere for line in _listed(one))]
    return Todo("\n".join(lines) + "\n", layer.fields, len(elsewhere))


def describe_field(plan: Plan, one: Field, written: Any = None) -> tuple[str, str]:
    """Return the meaning of a field and a sample of its value with the unit; empty if no layer can state it.

    Args:
        plan: of the blueprint.
        one: the field.
        written: the document of the blueprint as it is written.
    """
    leaf = _Layer(plan.blueprint, plan.catalogue, written).leaf(one)
    return (leaf.text, leaf.sample) if leaf else ("", "")


def blank_layer(blanks: Sequence[Blank], head: Sequence[str]) -> Todo:
    """Return the layer that asks for what makes a blueprint, in the form of ``make_todo``.

    Args:
        blanks: fields that nobody has told.
        head: lines of its first comment, before how to fill it in.
    """
    root = _Node()
    for blank in blanks:
        node = root
        for part in blank.path:
            key = part if isinstance(part, str) else part.value
            inner = node.children.setdefault(key, _Node())
            assert isinstance(inner, _Node)  # noqa: S101 - a field with a value has no fields
            if isinstance(part, ListItem):
                node.told_by, inner.given = part.key, part.given
            node = inner
        if not blank.name:
            continue
        hint = blank.model.model_fields[blank.name].rebuild_annotation()
        node.children[blank.name] = _Leaf(
            words={f"'{blank.name}'": None},
            text=_text(blank.model, blank.name),
            sample=blank.sample or _sample(hint),
            source=_from(tuple(part for part in blank.path if isinstance(part, str))),
        )
    lines = [*_comment([*head, "", _HOW])]
    for key, child in root.children.items():
        lines += ["", *_entry(key, child, "")]
    return Todo("\n".join(lines) + "\n", sum(1 for blank in blanks if blank.name), 0)


_HOW = (
    "Write the value behind each colon, as its comment shows. A key that is left empty changes nothing: "
    "'check' counts it, and what it asks for stays unknown."
)
_REST = (
    "Not in this layer, since it is no single value, is said already, or stands in a list without "
    "names or in the catalogue:"
)


class _Layer:
    """The entries of a layer."""

    def __init__(self, blueprint: Blueprint, catalogue: Catalogue, written: Any = None) -> None:
        self._blueprint, self._catalogue, self._written = blueprint, catalogue, written
        self._facts: dict[ProductField, _Leaf] = {}
        self._root = _Node()
        self.fields = 0

    def add(self, wanted: Wanted) -> bool:
        """Add the entry that would make it known, and return True if there is one."""
        for one in fields_of(wanted.missing):
            leaf = self.leaf(one)
            if leaf is not None:
                leaf.words[str(wanted.missing)] = None
                leaf.needed_by.update(dict.fromkeys(wanted.needed_by))
                return True
        return False

    def leaf(self, one: Field) -> _Leaf | None:
        """Return the entry of a field, which is added; None if a layer cannot state it."""
        if not isinstance(one, ProductField):
            return self._place(one)
        key = self._catalogue.keys.get(one.product)
        entry = None if key is None else self._catalogue.get(*key)
        found = None if entry is None else fact_type(entry, one.name)
        if entry is None or found is None:
            return None
        if one not in self._facts:
            model, hint = found
            source = f"See the data sheet or manual of {entry.vendor} for {entry.name}."
            self._facts[one] = _Leaf(
                text=_text(model, one.name), sample=_sample(hint), source=source
            )
            self.fields += 1
        return self._facts[one]

    def _place(self, path: Path) -> _Leaf | None:
        found = _way(self._blueprint, path) or _short_way(self._blueprint, path, self._written)
        if found is None:
            return None
        steps, hint = found
        node = self._root
        for step in steps[:-1]:
            node.told_by = node.told_by or ("name" if step.in_list else "")
            inner = node.children.setdefault(step.key, _Node())
            assert isinstance(inner, _Node)  # noqa: S101 - a field with a value has no fields
            node = inner
            for name, shown, text in step.needed:
                if name not in node.children:
                    node.children[name] = _Leaf({f"'{name}'": None}, {}, text, shown, _from(path))
                    self.fields += 1
        last = steps[-1]
        leaf = node.children.get(last.key)
        if leaf is None:
            owner = owner_of(path)
            source = _from(path)
            if owner is not Owner.YOU:
                source = f"{source} Ask the {owner}."
            leaf = _Leaf(text=last.text, sample=_sample(hint), source=source)
            node.children[last.key] = leaf
            self.fields += 1
        assert isinstance(leaf, _Leaf)  # noqa: S101 - the same
        return leaf

    def lines(self) -> Iterator[str]:
        """Yield the layer, facts first."""
        if self._facts:
            yield from ("", "facts:")
        for one, leaf in self._facts.items():
            yield from _explained(leaf, "  ")
            yield f"  - product: {scalar_text(one.product, '')}"
            yield f"    field: {one.name}"
            yield f"    value:  # {leaf.sample}"
            yield "    source:  # the document or measurement, to be found again"
            yield "    date:  # when it was published, read or measured: YYYY-MM-DD"
            yield f"    confidence:  # {' | '.join(Confidence)}"
        for key, child in self._root.children.items():
            yield ""
            yield from _entry(key, child, "")


def _entry(key: str, child: _Node | _Leaf, indent: str) -> Iterator[str]:
    name = scalar_text(key, "")
    if isinstance(child, _Leaf):
        yield from _explained(child, indent)
        yield f"{indent}{name}:  # {child.sample}"
        return
    yield f"{indent}{name}:"
    inner = f"{indent}  "
    for inside, one in child.children.items():
        if not child.told_by:
            yield from _entry(inside, one, inner)
            continue
        told = inside if inside.startswith("[") else scalar_text(inside, "")
        yield f"{inner}- {child.told_by}: {told}"
        assert isinstance(one, _Node)  # noqa: S101 - an item of such a list is a mapping
        yield from (f"{inner}  {key}: {flow(value)}" for key, value in one.given.items())
        for deeper, item in one.children.items():
            yield from _entry(deeper, item, f"{inner}  ")


def _explained(leaf: _Leaf, indent: str) -> Iterator[str]:
    """Yield the text about a field: its meaning, the rules that need it, and its source."""
    text = f"{'; '.join(leaf.words)}. {leaf.text}".rstrip()
    who = f"Needed by {', '.join(leaf.needed_by)}. " if leaf.needed_by else ""
    return _comment([text, f"{who}{leaf.source}"], indent)


def _comment(paragraphs: Iterable[str], indent: str = "") -> Iterator[str]:
    for text in paragraphs:
        if text.startswith("  "):  # a command, as it is typed
            yield f"{indent}# {visible(text)}"
            continue
        plain = visible(" ".join(text.split()))
        width = max(40, _WIDTH - len(indent))
        lines = textwrap.wrap(plain, width, break_on_hyphens=False, break_long_words=False)
        for line in lines or [""]:
            yield f"{indent}# {line}".rstrip()


def _listed(one: Wanted) -> Iterator[str]:
    remedy = f": {one.remedy}" if one.remedy else ""
    text = f"{one.missing}{remedy}. Needed by {', '.join(one.needed_by)}."
    first, *more = _comment([text], "  ")
    return iter([f"# -{first[3:]}", *(f"#  {line[3:]}" for line in more)])


def _merged(rest: Iterable[Wanted]) -> list[Wanted]:
    """Return the same, each thing once with all that need it."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for one in rest:
        needed_by = found.setdefault((str(one.missing), one.remedy), {})
        needed_by.update(dict.fromkeys(one.needed_by))
    return [Wanted(text, tuple(by), remedy) for (text, remedy), by in found.items()]


def _from(path: Path) -> str:
    return next((_SOURCES[str(part)] for part in path if part in _SOURCES), _ELSEWHERE)


def _text(model: type[Model], name: str) -> str:
    """Return the schema's text about a field; a field inside another one by its dotted name."""
    text = describe_fields(model).get(name.rsplit(".", maxsplit=1)[-1], "")
    return " ".join(text.replace("``", "'").split())


def _sample(hint: Any) -> str:
    text = str(sample(hint))
    return _SAMPLES.get(text, text).replace("''", "text")


def _way(blueprint: Blueprint, path: Path) -> tuple[list[_Step], Any] | None:
    """Return the keys to a place, and the type of what stands there.

    None where a layer cannot say it: it is said already, it is more than one value, or an item of
    a list on the way has no name to be told by.
    """
    value: Any = blueprint
    hint: Any = Blueprint
    steps: list[_Step] = []
    for part in path:
        inside = _inside(hint, value, part, steps)
        if inside is None:
            return None
        hint, value = inside
    said = value is not None and value != ()
    return None if said or not _is_plain(hint) else (steps, hint)


def _short_way(blueprint: Blueprint, path: Path, written: Any) -> tuple[list[_Step], Any] | None:
    """Return keys and type of a field of rack groups that follow from ``racks`` of the short form.

    Rack groups have no names that a layer could tell them by; what their site says of its racks applies
    to all of them.
    """
    match path:
        case ("sites", int(index), "halls", _, "rows", _, "rack_groups", _, *rest):
            pass
        case _:
            return None
    sites = written.get("sites") if isinstance(written, Mapping) else None
    site = sites[index] if isinstance(sites, list) and index < len(sites) else None
    if not isinstance(site, Mapping) or "racks" not in site:
        return None
    steps = [
        _Step("sites", in_list=False),
        _Step(blueprint.sites[index].name, in_list=True),
        _Step("racks", in_list=False),
    ]
    hint: Any = RackIntent
    for part in rest:
        model = _model(hint)
        if model is None or part not in model.model_fields:
            return None
        steps.append(_Step(str(part), in_list=False, text=_text(model, str(part))))
        hint = model.model_fields[str(part)].rebuild_annotation()
    return (steps, hint) if _is_plain(hint) else None


def _inside(hint: Any, value: Any, part: str | int, steps: list[_Step]) -> tuple[Any, Any] | None:
    """Return type and value behind a key or an index, whose step is noted; None where there is no way."""
    model = type(value) if isinstance(value, Model) else _model(hint)
    if isinstance(part, int):
        items = value if isinstance(value, tuple) else ()
        names = [name for item in items if isinstance(name := getattr(item, "name", None), str)]
        if part >= len(items) or len(names) < len(items):
            return None
        steps.append(_Step(names[part], in_list=True))
        return None, items[part]
    if model is not None:
        if part not in model.model_fields:
            return None
        new = not isinstance(value, Model)
        needed = _needed(model, part) if new else ()
        if needed is None:
            return None
        if steps and needed:
            last = steps[-1]
            steps[-1] = _Step(last.key, last.in_list, last.text, needed)
        text = _text(model, part)
        steps.append(_Step(part, in_list=False, text=text))
        return model.model_fields[part].rebuild_annotation(), getattr(value, part, None)
    for option in _options(hint):
        if get_origin(option) is dict:
            key, inner = get_args(option)
            words = [get_args(one) for one in _options(key) if get_origin(one) is Literal]
            if words and part not in words[0]:
                return None
            steps.append(_Step(part, in_list=False))
            return inner, value.get(part) if isinstance(value, Mapping) else None
    return None


def _needed(model: type[Model], part: str) -> tuple[tuple[str, str, str], ...] | None:
    """Return the other fields that a new thing needs; None where one is more than a value."""
    found = []
    for name, info in model.model_fields.items():
        if name == part or not info.is_required():
            continue
        hint = info.rebuild_annotation()
        if not _is_plain(hint):
            return None
        found.append((name, _sample(hint), _text(model, name)))
    return tuple(found)


def _options(hint: Any) -> list[Any]:
    """Return the types of a union, without what wraps them."""
    origin = get_origin(hint)
    if origin is Annotated:
        return _options(get_args(hint)[0])
    if origin in {Union, UnionType}:
        return [one for part in get_args(hint) for one in _options(part)]
    return [] if hint is NoneType else [hint]


def _model(hint: Any) -> type[Model] | None:
    options = [one for one in _options(hint) if isinstance(one, type) and issubclass(one, Model)]
    return options[0] if options else None


def _is_plain(hint: Any) -> bool:
    """Return True if a value, or a list of values, may be written there."""
    options = _options(hint)
    return bool(options) and all(
        _is_plain(get_args(one)[0])
        if get_origin(one) is tuple
        else get_origin(one) is Literal or (isinstance(one, type) and issubclass(one, _SCALARS))
        for one in options
    )
