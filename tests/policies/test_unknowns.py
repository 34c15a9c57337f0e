"""Every unknown of every built-in policy says which field of which file would make it known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path as FilePath
from typing import Any, Literal, get_args, get_origin

import pytest

from examples import MANY
from omissions import configured, field_of, paths, plan_of, without
from rackwright.catalog.loader import FOLDERS, load_catalogue
from rackwright.model.base import Model
from rackwright.model.cluster import Blueprint
from rackwright.model.field_kinds import marked_fields
from rackwright.model.hardware import Fact
from rackwright.model.instances import Instance
from rackwright.plan.audit.catalogue_usage import used_entries
from rackwright.plan.base import Path
from rackwright.plan.facts import knows
from rackwright.plan.load import load_plan
from rackwright.plan.missing import Field, ProductField, fields_of
from rackwright.policy.api import Outcome, Policy
from rackwright.policy.authoring.examples import judge, load_examples
from rackwright.policy.engine import Result, evaluate
from rackwright.policy.packs.loader import builtin_pack, load_packs
from rackwright.reading.loader import load_tree
from rackwright.render.blueprints import find_template, write_blueprint

POLICIES = {policy.id: policy for policy in load_packs()}
CATALOGUE = load_catalogue()


def unknowns(policy: type[Policy]) -> Iterator[Result]:
    """The unknown results of all examples of a policy, whatever kind they are of."""
    for example in load_examples(policy):
        for result in judge(policy, example, builtin_pack()):
            if result.outcome is Outcome.UNKNOWN:
                yield result


def models_of(hint: Any, part: str | int) -> Iterator[Any]:
    """The types behind a key or an index of a type; none where it has no such thing."""
    if isinstance(hint, type) and issubclass(hint, Model):
        if part in hint.model_fields:
            yield hint.model_fields[str(part)].annotation
        return
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is dict:
        words = get_args(arguments[0]) if get_origin(arguments[0]) is Literal else (part,)
        if part in words:
            yield arguments[1]
    elif origin is tuple:
        if isinstance(part, int):
            yield arguments[0]
    elif origin is not Literal:
        for one in arguments:
            yield from models_of(one, part)


def inner_fields(hint: Any) -> Iterator[str]:
    """The fields that a part of a catalogue entry may lack."""
    for one in (hint, *get_args(hint)):
        if isinstance(one, type) and issubclass(one, Model) and not issubclass(one, Fact):
            yield from (name for name, info in one.model_fields.items() if not info.is_required())


def may_lose(product: str, *names: str) -> bool:
    """Whether the catalogue says something of a product that it may be without."""
    kind, _ = key = CATALOGUE.keys[product]
    known = knows(CATALOGUE.get(*key), ".".join(names))
    return known and not kind.model_fields[names[0]].is_required()


def is_in_the_schema(model: type[Model], path: Path) -> bool:
    hints: list[Any] = [model]
    for part in path:
        hints = [inner for hint in hints for inner in models_of(hint, part)]
    return bool(hints)


def exists(field: Field) -> bool:
    """Whether the model of blueprints, or that of the product, has the field."""
    if isinstance(field, ProductField):
        kind = CATALOGUE.keys.get(field.product, (Instance,))[0]
        return is_in_the_schema(kind, tuple(field.name.split(".")))
    match field:
        case ("policies", policy, "parameters", name):
            return name in POLICIES[str(policy)].model_fields
        case _:
            return is_in_the_schema(Blueprint, field)


def faults_of(result: Result) -> Iterator[object]:
    """What an unknown does not say of what is missing, or says wrongly."""
    fix = result.fix or ""
    for text in result.missing:
        if not fields_of(text):
            yield "no field", result.policy, text
        for field in fields_of(text):
            if not exists(field) or f"{last_of(field)}'" not in fix:
                yield "no such field, or not told", result.policy, field, fix
    for way in fix.split("; "):
        places = (
            f"{builtin_pack().name}/fixtures/",
            " in the blueprint",
            "a catalogue of your own",
        )
        if not any(place in way for place in places):
            yield "no file", result.policy, way


def last_of(field: Field) -> str:
    return field.name if isinstance(field, ProductField) else str(field[-1])


@pytest.mark.parametrize("policy", POLICIES.values(), ids=lambda policy: policy.id)
def test_an_unknown_says_which_field_of_which_file_would_make_it_known(
    policy: type[Policy],
) -> None:
    assert [fault for result in unknowns(policy) for fault in faults_of(result)] == []


FIELDS = sorted(
    {
        (name,) if inner is None else (name, inner)
        for kind in FOLDERS.values()
        for name, info in kind.model_fields.items()
        if not info.is_required() and name not in marked_fields(kind).labels
        for inner in (None, *inner_fields(info.annotation))
    }
)
"""Everything that a catalogue entry may lack, of itself or of a part."""


@pytest.mark.parametrize("fixture", ["air", "liquid", "aws"])
def test_whatever_the_catalogue_lacks_an_unknown_says_where_it_is_said(fixture: str) -> None:
    """Each field is taken from all products at once."""
    path = builtin_pack() / "fixtures" / f"{fixture}.yaml"
    used = {use.entry.id for use in used_entries(load_plan(path).plan)}
    rules = [policy() for policy in POLICIES.values()]
    seen = 0
    for first, *rest in FIELDS:
        patch = {first: dict.fromkeys(rest) if rest else None}
        lacking = CATALOGUE.patched({one: patch for one in used if may_lose(one, first, *rest)})
        loaded = load_plan(path, catalogue=lacking)
        for result in evaluate(loaded.plan, rules, {}, loaded.tree.locate).results:
            assert result.outcome is not Outcome.ERROR, result.message
            if result.outcome is Outcome.UNKNOWN:
                seen += 1
                fields = [field for text in result.missing for field in fields_of(text)]
                assert fields, (first, *rest, result.policy, result.message)
                assert all(map(exists, fields)), (result.policy, fields)
                assert result.fix
    assert seen > 100


@pytest.mark.sweep
@pytest.mark.parametrize("template", ["hybrid-h100", "lab"])
def test_whatever_a_blueprint_lacks_an_unknown_says_where_it_is_said(
    template: str, tmp_path: FilePath, measured: Callable[[str], None]
) -> None:
    """Each field is left out once, wherever it stands with ``RACKWRIGHT_EXAMPLES=many``."""
    write_blueprint(find_template(template), tmp_path, {})
    data = load_tree(tmp_path / "blueprint.yaml").data
    rules = configured(Blueprint.model_validate(data))
    places = [*paths(data)] if MANY else [*{field_of(path): path for path in paths(data)}.values()]
    seen = 0
    for path in places:
        plan = plan_of(without(data, path))
        for result in evaluate(plan, rules, {}, lambda _: None).results if plan else ():
            if result.outcome is Outcome.UNKNOWN:
                seen += 1
                fields = [field for text in result.missing for field in fields_of(text)]
                assert fields, (field_of(path), result.policy, result.message)
                assert all(map(exists, fields)), (result.policy, fields)
                assert result.fix
    measured(f"{len(places)} left out, {seen:,} unknowns")
    assert seen > 20


def test_fields_are_looked_up_in_the_models() -> None:
    assert exists(("sites", 0, "halls", 3, "rows", 0, "rack_groups", 1, "cooling", "isolation"))
    assert exists(("sites", 0, "limits", "quotas", "L-1"))
    assert not exists(("sites", 0, "halls", "rows"))
    assert not exists(("costs", "storage", "tape"))
    assert exists(ProductField("dgx-h100", "power_supplies.degraded"))
    assert not exists(ProductField("dgx-h100", "power_supplies.reach"))


def test_there_are_unknowns_of_all_policies_but_those_that_have_none() -> None:
    silent = {name for name, policy in POLICIES.items() if not any(unknowns(policy))}
    assert silent <= {
        *("AWS-006", "AWS-007", "AWS-009", "AWS-012", "AWS-013", "AWS-015", "AWS-016"),
        *("AWS-020", "AWS-021", "AWS-022", "AWS-025", "CAT-002", "CAT-005", "IAC-003"),
        "IAC-004",
        *("COOL-021", "OPS-007", "PWR-022", "SCH-004", "SCH-005", "SCH-010", "SEC-004"),
    }
