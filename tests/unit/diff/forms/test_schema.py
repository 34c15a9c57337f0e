"""The JSON comparison keeps to its schema, and the schema is not one that takes anything."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rackwright.cli import main
from rackwright.diff.forms.schema import comparison_schema

SCHEMA = comparison_schema()
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)
GOLDEN = sorted((Path(__file__).parents[3] / "golden" / "diff").glob("*.json"))


def validate(document: Any) -> None:
    VALIDATOR.validate(document)


@pytest.fixture
def document() -> Any:
    return json.loads((GOLDEN[0].parent / "one-node-more.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_every_golden_document_fits(file: Path) -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    validate(json.loads(file.read_text(encoding="utf-8")))


def test_no_key_of_a_document_is_undocumented(document: Any) -> None:
    schema = SCHEMA
    closed = json.loads(
        json.dumps(schema).replace(
            '"type": "object"', '"type": "object", "additionalProperties": false'
        )
    )
    jsonschema.Draft7Validator(closed).validate(document)


def keys_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [found for k, v in value.items() for found in [(*path, k), *keys_of(v, (*path, k))]]
    if isinstance(value, list):
        return [found for i, v in enumerate(value) for found in keys_of(v, (*path, i))]
    return []


def test_every_key_is_needed(document: Any) -> None:
    free = {("updates", 0, "after"), ("updates", 0, "before")}
    for path in keys_of(document):
        if any(path[: len(prefix)] == prefix and len(path) > len(prefix) for prefix in free):
            continue
        broken = copy.deepcopy(document)
        inside = broken
        for part in path[:-1]:
            inside = inside[part]
        del inside[path[-1]]
        with pytest.raises(jsonschema.ValidationError):
            validate(broken)


def test_the_schema_is_exported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "export", "--kind", "diff"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA
