"""JSON Schemas that editors read."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft7Validator
from pydantic import BaseModel, ConfigDict, Field

from cli_support import run_here
from rackwright.catalog.loader import FOLDERS, load_catalogue
from rackwright.cli import main
from rackwright.model.cluster import Blueprint
from rackwright.policy.api import Outcome
from rackwright.policy.exception_report import NoticeKind
from rackwright.reading.loader import load_tree
from rackwright.reading.schema import export_schema
from rackwright.reading.tree import to_data
from rackwright.reading.yaml_reader import read_text
from rackwright.render.blueprints import find_template, list_templates, write_blueprint
from rackwright.render.editors import blueprint_schema
from template_support import example_answers

KINDS: dict[str, type[BaseModel]] = {"blueprint": Blueprint, **FOLDERS}
TEMPLATES = [template.name for template in list_templates()]


@cache
def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a model, exported once; no test changes it."""
    return export_schema(model, title="T", schema_id="urn:test")


def written(name: str, folder: Path) -> dict[str, Any]:
    """The blueprint that ``init`` writes."""
    template = find_template(name)
    write_blueprint(template, folder, example_answers(template))
    path = folder / "blueprint.yaml"
    data: dict[str, Any] = to_data(read_text(path.read_text(), path.name))
    return data


def errors(document: object, schema: dict[str, Any] | None = None) -> list[str]:
    return [
        e.message for e in Draft7Validator(schema or schema_of(Blueprint)).iter_errors(document)
    ]


def every_mapping(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for child in value.values():
            yield from every_mapping(child)
    elif isinstance(value, list):
        for child in value:
            yield from every_mapping(child)


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_valid_draft_07(kind):
    schema = schema_of(KINDS[kind])
    Draft7Validator.check_schema(schema)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert (schema["$id"], schema["title"]) == ("urn:test", "T")
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_of_newer_dialects_is_left(kind):
    text = json.dumps(schema_of(KINDS[kind]))
    for word in ('"$defs"', "#/$defs/", '"prefixItems"', '"mapping"', '"unevaluated'):
        assert word not in text
    for mapping in every_mapping(schema_of(KINDS[kind])):
        assert not isinstance(mapping.get("discriminator"), dict) or "propertyName" not in mapping
        if "$ref" in mapping:
            assert set(mapping) == {"$ref"}, "draft-07 ignores what stands beside a reference"


@pytest.mark.parametrize("kind", KINDS)
def test_every_reference_leads_somewhere(kind):
    schema = schema_of(KINDS[kind])
    references = {m["$ref"] for m in every_mapping(schema) if isinstance(m.get("$ref"), str)}
    assert references == {f"#/definitions/{name}" for name in schema.get("definitions", ())}


def test_two_exports_are_equal_to_the_byte():
    again = export_schema(Blueprint, title="T", schema_id="urn:test")
    assert json.dumps(schema_of(Blueprint)) == json.dumps(again)


def test_every_definition_refuses_unknown_keys():
    definitions = schema_of(Blueprint)["definitions"]
    objects = {name: d for name, d in definitions.items() if d.get("type") == "object"}
    assert len(objects) > 50
    assert [n for n, d in objects.items() if d["additionalProperties"] is not False] == []


def test_hover_texts_are_markdown():
    source = schema_of(Blueprint)["definitions"]["PowerSource"]["properties"]["fed_by"]
    assert source["markdownDescription"].startswith("Parents.")
    shelf = schema_of(FOLDERS["nodes"])["properties"]["heat"]
    assert "`max_power`" in shelf["markdownDescription"]
    assert "``" not in shelf["markdownDescription"]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Every schema that ``schema export`` writes, by its kind."""
    folder = tmp_path_factory.mktemp("exported")
    assert run_here(folder, "schema", "export", "--output", "schemas").code == 0
    return {
        path.name.removesuffix(".schema.json"): json.loads(path.read_text("utf-8"))
        for path in sorted(folder.glob("schemas/*"))
    }


def test_every_property_of_every_schema_is_described(exported: dict[str, dict[str, Any]]) -> None:
    assert {"blueprint", "team", "prices", "report", "catalog-nodes"} <= exported.keys()
    silent = [
        f"{kind}: {name}.{key}"
        for kind, schema in exported.items()
        for name, model in {**schema["definitions"], "": {**schema, "definitions": {}}}.items()
        for mapping in every_mapping(model)
        for key, field in mapping.get("properties", {}).items()
        # A bare word only says which model holds, and that describes it.
        if not field.get("markdownDescription") and field.keys() not in ({"const"}, {"enum"})
    ]
    assert silent == []


def test_the_counts_of_a_report_are_those_of_every_word(
    exported: dict[str, dict[str, Any]],
) -> None:
    report = exported["report"]
    kinds = report["definitions"]["HygieneDocument"]["properties"]["counts"]
    for counts, words in ((report["properties"]["counts"], Outcome), (kinds, NoticeKind)):
        assert counts["properties"].keys() == {word.value for word in words}
        assert counts["required"] == sorted(words)


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_schema_accepts_every_template(name, tmp_path):
    assert errors(written(name, tmp_path), blueprint_schema(tmp_path / "blueprint.yaml")) == []


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A valid document, without the mark that a file has and the model has not."""
    data = written("hybrid-h100", tmp_path_factory.mktemp("document"))
    del data["example"]
    assert errors(data) == []
    return data


def test_a_quantity_without_a_unit_is_refused(document):
    changed = copy.deepcopy(document)
    changed["sites"][1]["power"]["contract"] = "550"
    assert errors(changed)
    changed["sites"][1]["power"]["contract"] = 550
    assert errors(changed)
    changed["sites"][1]["power"]["contract"] = "550 kg"
    assert errors(changed)


def test_an_unknown_key_is_refused(document):
    assert errors({**document, "sitess": []})
    changed = copy.deepcopy(document)
    changed["sites"][1]["halls"][0]["ari"] = {}
    assert errors(changed)


def test_an_unknown_provider_is_refused(document):
    changed = copy.deepcopy(document)
    changed["sites"][1]["provider"] = "onprm"
    assert errors(changed)


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_schema_of_a_folder_accepts_its_files(folder):
    catalogue = load_catalogue()
    validator = Draft7Validator(schema_of(FOLDERS[folder]))
    ids = catalogue.ids(FOLDERS[folder])
    # No document gave one of these whole; test_plant_products.py has entries of them.
    assert bool(ids) is (folder not in {"transformers", "chillers", "dry-coolers"})
    for entry_id in ids:
        data = load_tree(catalogue.source_of(FOLDERS[folder], entry_id)).data
        assert [e.message for e in validator.iter_errors(data)] == [], entry_id


class Cat(BaseModel):
    kind: Literal["cat"]
    pair: tuple[int, str] = (1, "a")


class Dog(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["dog"]


class Owner(BaseModel):
    """``Owner`` of one."""

    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    discriminator: str = "x"
    best: Cat | None = Field(default=None, description="Its ``Cat``.")


def test_pairs_and_tagged_choices_translate():
    schema = schema_of(Owner)
    Draft7Validator.check_schema(schema)
    pet = schema["properties"]["pet"]
    assert pet["properties"] == {"kind": {"enum": ["cat", "dog"]}}
    assert [one["then"]["$ref"] for one in pet["allOf"]] == [
        "#/definitions/Cat",
        "#/definitions/Dog",
    ]
    assert "discriminator" in schema["properties"], "a field may bear a keyword's name"
    pair = schema["definitions"]["Cat"]["properties"]["pair"]
    assert [item["type"] for item in pair["items"]] == ["integer", "string"]
    assert schema["properties"]["best"]["markdownDescription"] == "Its `Cat`."
    validator = Draft7Validator(schema)
    assert validator.is_valid({"pet": {"kind": "cat", "pair": [1, "b"]}})
    assert not validator.is_valid({"pet": {"kind": "cat", "pair": ["b", 1]}})
    mistakes: list[object] = [
        {"kind": "cow"},
        {"pair": [1, "b"]},
        [],
        {"kind": "dog", "pair": [1, "b"]},
    ]
    for wrong in mistakes:
        assert not validator.is_valid({"pet": wrong})


def test_a_mistake_of_a_site_is_told_at_its_field(document):
    changed = copy.deepcopy(document)
    changed["sites"][1]["power"]["contract"] = 550
    changed["sites"][0]["zone"] = "us-east-1"
    found = {
        tuple(e.absolute_path) for e in Draft7Validator(schema_of(Blueprint)).iter_errors(changed)
    }
    assert found == {("sites", 1, "power", "contract"), ("sites", 0)}


def test_every_exported_schema_is_valid_for_other_tools(tmp_path: Path) -> None:
    """A validator that reads patterns as ECMA-262 does, as editors do, takes all of them."""
    assert main(["schema", "export", "--output", str(tmp_path)]) == 0
    check = Path(sys.executable).parent / "check-jsonschema"
    files = sorted(tmp_path.glob("*.schema.json"))
    assert {"blueprint.schema.json", "team.schema.json"} <= {file.name for file in files}
    done = subprocess.run(
        [check, "--check-metaschema", *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
