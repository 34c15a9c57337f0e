"""The schema of the JSON report says everything that a report holds, and nothing that is false."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rackwright.cli import main
from rackwright.policy.engine import Report
from rackwright.report.json import render_json
from rackwright.report.schema import report_schema
from report_factories import CLEAN, EXCEPTED, HOSTILE, MIXED

REPORTS = {
    "excepted": EXCEPTED,
    "mixed": MIXED,
    "clean": CLEAN,
    "hostile": Report("atlas", (HOSTILE,), 1),
}
SCHEMA = report_schema()
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


def undescribed(document: Any, schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """Keys of ``document`` that ``schema`` does not name."""
    for option in schema.get("anyOf", ()):
        if (document is None) == (option.get("type") == "null"):
            yield from undescribed(document, option, path)
    if "$ref" in schema:
        schema = SCHEMA["definitions"][schema["$ref"].rpartition("/")[2]]
    if isinstance(document, dict) and "properties" in schema:
        for key, value in document.items():
            if key not in schema["properties"]:
                yield f"{path}.{key}"
            else:
                yield from undescribed(value, schema["properties"][key], f"{path}.{key}")
    if isinstance(document, list) and "items" in schema:
        for item in document:
            yield from undescribed(item, schema["items"], f"{path}[]")


def test_schema_of_the_report_is_valid() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", REPORTS)
def test_reports_are_valid_and_every_key_is_described(name: str) -> None:
    document = json.loads("".join(render_json(REPORTS[name])))
    VALIDATOR.validate(document)
    assert set(undescribed(document, SCHEMA)) == set()


@pytest.mark.parametrize(
    ("key", "value"),
    [("exit_code", "5"), ("policies", -1), ("schema", "rackwright.check/v1"), ("results", {})],
)
def test_invalid_report_is_refused(key: str, value: object) -> None:
    document = json.loads("".join(render_json(MIXED)))
    assert not VALIDATOR.is_valid({**document, key: value})
    assert not VALIDATOR.is_valid({k: v for k, v in document.items() if k != key})


def test_unknown_keys_are_allowed_and_found() -> None:
    document = json.loads("".join(render_json(MIXED)))
    document["results"][0]["newer"] = 1
    VALIDATOR.validate(document)
    assert set(undescribed(document, SCHEMA)) == {".results[].newer"}


def test_schema_of_the_report_is_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schema", "export", "--kind", "report"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA
    assert main(["schema", "export", "--output", str(tmp_path)]) == 0
    assert json.loads((tmp_path / "report.schema.json").read_text()) == SCHEMA
    assert main(["schema", "export"]) == 0
