"""Changes of a blueprint, drawn over the whole schema: every field, both ways, and deletion.

The values come from the schema (the other words of a literal, more and less of a number) and from
all examples and templates: what any of them says of a field, another one may say as well.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import zip_longest
from typing import Any, Literal, get_args, get_origin

from omissions import Refused, blocking, changed, plan_of, without
from rackwright.model.base import Model
from rackwright.model.cluster import Blueprint
from rackwright.model.field_kinds import Fields, marked_fields, models_in
from rackwright.policy.authoring.examples import document, load_examples
from rackwright.policy.base_approval.claims import hold_claims
from rackwright.policy.packs.loader import builtin_pack, load_packs
from rackwright.reading.loader import load_tree
from rackwright.reading.tree import Path
from rackwright.render.blueprints import find_template, write_blueprint

_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)( .+)?")
_FACTORS = (0.01, 0.5, 0.9, 1.1, 2, 100)
GONE = object()
"""In the place of a value: the key or the entry is deleted."""


APART = {"policies", "profile", "policy_set"}
"""How a blueprint asks to be judged; what holds of it is tested with ``policy.asked``."""


class FieldClass(StrEnum):
    """Class of a field."""

    HARDWARE = "hardware"
    CLAIM = "claim"
    SETTING = "setting"


def class_of(fields: Fields, name: str) -> FieldClass:
    """Return the class of a field."""
    if name in fields.claims or name in fields.statements:
        return FieldClass.CLAIM
    if name in fields.settings or name in fields.asked:
        return FieldClass.SETTING
    return FieldClass.HARDWARE


@dataclass(frozen=True)
class Change:
    """One value of a document, changed or deleted.

    Attributes:
        fields: the fields on the way to it, from the top; the last one is what changes.
    """

    path: Path
    value: Any
    fields: tuple[tuple[type[Model], str], ...]

    @property
    def name(self) -> str:
        """The field, for people."""
        model, name = self.fields[-1]
        return f"{model.__name__}.{name}"

    @property
    def of_hardware(self) -> bool:
        """Whether the field itself is one of hardware, and no part in which something else changes."""
        model, name = self.fields[-1]
        return name in marked_fields(model).hardware

    def apply(self, data: Any) -> Any:
        """A document with the change."""
        return (
            without(data, self.path) if self.value is GONE else changed(data, self.path, self.value)
        )


def every_change(data: Any) -> Iterator[Change]:
    """All changes of one place that a document can have, of fields that it lacks as well."""
    yield from _of_model(Blueprint, data, (), ())


def changed_fields(before: Any, after: Any) -> set[tuple[str, FieldClass]]:
    """The fields in which two blueprints differ, with their classes."""
    found: set[tuple[str, FieldClass]] = set()

    def compare(model: type[Model], one: Any, other: Any) -> None:
        for name, info in model.model_fields.items():
            here, there = one.get(name), other.get(name)
            if here == there:
                continue
            inner, fields = tuple(models_in(info.annotation)), marked_fields(model)
            scalar = any(isinstance(one, (str, int, float)) for one in (here, there))
            if scalar or not inner or name not in fields.inside:
                found.add((f"{model.__name__}.{name}", class_of(fields, name)))
                continue
            if name in fields.parts and (here is None) != (there is None):
                found.add((f"{model.__name__}.{name}", FieldClass.HARDWARE))
            for part, counterpart in _pairs(here, there):
                if name in fields.parts and not (part and counterpart):
                    found.add((f"{model.__name__}.{name}", FieldClass.HARDWARE))
                compare(pick(inner, part or counterpart), part, counterpart)

    compare(Blueprint, before, after)
    return found


def _pairs(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """What stands at the same place of two lists, of two mappings, or is there just once."""
    if isinstance(one, list) or isinstance(other, list):
        yield from zip_longest(one or [], other or [], fillvalue={})
    else:
        yield one or {}, other or {}


def _of_model(
    model: type[Model], item: Any, path: Path, above: tuple[tuple[type[Model], str], ...]
) -> Iterator[Change]:
    for name, info in model.model_fields.items():
        fields, at = (*above, (model, name)), (*path, name)
        value = item.get(name)
        if value is not None:
            yield Change(at, GONE, fields)
        for other in _others(model, name, value):
            yield Change(at, other, fields)
        inner = tuple(models_in(info.annotation))
        if isinstance(value, list):
            for number, entry in enumerate(value):
                yield Change((*at, number), GONE, fields)
                if inner and isinstance(entry, dict):
                    yield from _of_model(pick(inner, entry), entry, (*at, number), fields)
        elif isinstance(value, dict) and inner and not _is_by_key(info.annotation):
            yield from _of_model(pick(inner, value), value, at, fields)
        elif isinstance(value, dict):
            for key, entry in value.items():
                yield Change((*at, key), GONE, fields)
                if inner and isinstance(entry, dict):
                    yield from _of_model(inner[0], entry, (*at, key), fields)
                for other in _moved(entry):
                    yield Change((*at, key), other, fields)


def _is_by_key(annotation: Any) -> bool:
    return get_origin(annotation) is dict


def pick(models: Sequence[type[Model]], item: Mapping[str, Any]) -> type[Model]:
    """The one of several models that a part of a document is."""
    for model in models:
        for tag in ("provider", "kind"):
            info = model.model_fields.get(tag)
            if info and get_origin(info.annotation) is Literal:
                if item.get(tag) in get_args(info.annotation):
                    return model
                break
    return models[0]


def _others(model: type[Model], name: str, value: Any) -> Iterator[Any]:
    moved = _once(_moved(value))
    yield from (other for other in moved if other != value)
    yield from (o for o in _usual(model, name) if o != value and o not in moved)


@cache
def _usual(model: type[Model], name: str) -> Sequence[Any]:
    """What a field may say in any document."""
    annotation = model.model_fields[name].annotation
    words = [word for part in _literals(annotation) for word in get_args(part)]
    bools = (True, False) if bool in (annotation, *get_args(annotation)) else ()
    return _once([*words, *donated().get((model, name), ()), *bools])


def _once(values: Iterable[Any]) -> Sequence[Any]:
    """The values, each of them once."""
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def _literals(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Literal:
        yield annotation
    elif get_origin(annotation) is not dict:
        for part in get_args(annotation):
            if not (isinstance(part, type) and issubclass(part, Model)):
                yield from _literals(part)


def _moved(value: Any) -> Iterator[Any]:
    """More and less of a number, or of a quantity."""
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield from {value - 1, value + 1, value // 2, value * 2, value * 100}
    elif isinstance(value, float):
        yield from (value * factor for factor in _FACTORS)
    elif isinstance(value, str) and (match := _NUMBER.fullmatch(value.replace(",", ""))):
        number, unit = match.groups()
        yield from (f"{float(number) * factor:.6f}{unit or ''}" for factor in _FACTORS if unit)


@cache
def documents() -> Sequence[Any]:
    """Every blueprint of the examples and the templates."""
    import tempfile
    from pathlib import Path as FilePath

    found = [
        document(example, builtin_pack()).data
        for policy in load_packs()
        for example in load_examples(policy)
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("hybrid-h100", "lab"):
            write_blueprint(find_template(name), FilePath(folder, name), {})
            found.append(load_tree(FilePath(folder, name, "blueprint.yaml")).data)
    return found


@cache
def donated() -> Mapping[tuple[type[Model], str], Sequence[Any]]:
    """What any document says of a field."""
    found: dict[tuple[type[Model], str], list[Any]] = {}

    def collect(model: type[Model], item: Any) -> None:
        for name, info in model.model_fields.items():
            value = item.get(name)
            if value is None:
                continue
            values = found.setdefault((model, name), [])
            if value not in values:
                values.append(value)
            inner = tuple(models_in(info.annotation))
            by_key = _is_by_key(info.annotation)
            for part in value.values() if by_key else value if isinstance(value, list) else [value]:
                if inner and isinstance(part, dict):
                    collect(pick(inner, part), part)

    for data in documents():
        if isinstance(data, dict):
            collect(Blueprint, data)
    return found


def renamed(data: Any, before: str, after: str) -> Any:
    """A document in which a thing has another name, wherever it is named."""
    if isinstance(data, dict):
        return {
            after if key == before else key: renamed(value, before, after)
            for key, value in data.items()
        }
    if isinstance(data, list):
        return [renamed(value, before, after) for value in data]
    return after if data == before else data


def things(data: Any) -> list[str]:
    """The names of sites, node groups, halls and all else that has one."""
    found: list[str] = []
    if isinstance(data, dict):
        if isinstance(data.get("name"), str):
            found.append(data["name"])
        data = list(data.values())
    if isinstance(data, list):
        for part in data:
            found += things(part)
    return list(dict.fromkeys(found))


def several(seeded: random.Random, changes: Sequence[Change]) -> list[Change]:
    """A few changes at places that do not lie in each other."""
    drawn: list[Change] = []
    for change in seeded.sample(changes, min(len(changes), seeded.randint(2, 5))):
        if not any(_overlap(change.path, one.path) for one in drawn):
            drawn.append(change)
    # Deletions last, and the last entries first, so that none moves what another one names.
    return sorted(drawn, key=lambda one: (one.value is GONE, _backwards(one.path)))


def _backwards(path: Path) -> list[tuple[int, str]]:
    return [(-part, "") if isinstance(part, int) else (0, part) for part in path]


def _overlap(one: Path, other: Path) -> bool:
    short = min(len(one), len(other))
    return one[:short] == other[:short]


def accepts(site: Refused, data: Any) -> bool | None:
    """Whether no rule refuses a document that refused the site; None where it is no blueprint."""
    plan = plan_of(data, site.catalogue)
    return None if plan is None else not blocking(plan, site.refusing)


def judged_by_the_base(site: Refused, data: Any) -> bool | None:
    """True if a change of a site passes in a pull request; None where it would, and is no blueprint.

    It is judged with the claims of its base and as it is written.
    """
    held = hold_claims(data, site.data).data
    # Most often nothing of the change holds, and the site was refused.
    if held == site.data or not accepts(site, held):
        return False
    return accepts(site, data)


def by_hardware(site: Refused, data: Any) -> bool:
    """Whether a change changes hardware."""
    return FieldClass.HARDWARE in {kind for _, kind in changed_fields(site.data, data)}


TOO_BOLD = {
    "AWS-020": "AwsAccess.key_for_auto_scaling",  # the stacks make the grant
    "COOL-019": "FacilityWater.warming",
    "COOL-020": "CoolingLoop.facility_temperature",  # colder than outdoor air makes it
    "COOL-021": "FacilityWater.freezing_point CoolingLoop.transfer MechanicalPlant.rides_through",
    "PWR-025": "SitePower.continuous_derate",
    "PWR-026": "PowerSource.redundancy",
    "PWR-027": "NodeGroup.power_cap",
    "PWR-031": "SiteCabling.ambient",
    "PWR-032": "PowerSource.overload",
    "REL-002": "JobProfile.async_save",  # the job then stops until a checkpoint is written
    "RACK-013": "RackGroup.aisle_depth",  # RACK-004 asks for one that is not stated
    "RACK-015": "Shipping.weight",
}
"""By rule the claims that it refuses by themselves, so that a change which takes one back passes."""


def takes_back(site: Refused, data: Any) -> bool:
    """Whether a change takes back a claim that the rule of a site refuses."""
    bold = TOO_BOLD.get(site.name.split()[0], "").split()
    return not {name for name, _ in changed_fields(site.data, data)}.isdisjoint(bold)


def changes_of(site: Refused) -> list[Change]:
    return [change for change in every_change(site.data) if change.path[0] not in APART]
