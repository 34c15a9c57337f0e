"""The software template by Backstage's own schema and its own engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from referencing import Registry
from referencing.jsonschema import DRAFT7

from backstage_template import FILLED_IN, form, skeleton, write
from cli_support import run_here
from npm_tools import NODE, NPM, ask

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(NPM is None or NODE is None, reason="npm is not installed"),
]


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """The schema, and the files that the engine makes of a form that is filled in."""
    question = {"skeleton": skeleton(), "values": FILLED_IN}
    answer: dict[str, Any] = ask("backstage", "template.cjs", question)
    return answer


def problems(schema: dict[str, Any], document: dict[str, Any]) -> list[str]:
    # The template schema refers to the common schema of entities, which another package has.
    common = {"type": "object", "required": ["apiVersion", "kind", "metadata"]}
    known = Registry().with_resource("Entity", DRAFT7.create_resource(common))
    found = Draft7Validator(schema, registry=known).iter_errors(document)
    return [error.message for error in found]


def test_template_is_one_by_the_schema_of_backstage(told: dict[str, Any]) -> None:
    schema = told["schema"]
    assert problems(schema, form()) == []
    without = form()
    del without["spec"]["steps"]
    assert problems(schema, without) == ["'steps' is a required property"]
    assert problems(schema, {**form(), "kind": "Templates"})


def test_skeleton_as_backstage_renders_it_becomes_a_concept(
    told: dict[str, Any], tmp_path: Path
) -> None:
    write(tmp_path, told["files"])
    words = ("--template", "onprem-h200", "--answers", "answers.yaml")
    assert run_here(tmp_path, "init", "site", *words).code == 0
    verdict = run_here(tmp_path, "check", "site")
    assert verdict.code == 0, verdict.out
    assert ": ok for concept" in verdict.out.splitlines()[-1]
