"""The form of Backstage asks what the template asks, and its answers make a concept that is checked."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from backstage_template import FILLED_IN, fields, form, skeleton, write
from cli_support import run_here
from rackwright.render.blueprints import find_template

VALUE = re.compile(r"\$\{\{ values\.(\w+) \}\}")
KINDS = {"integer": "int", "number": "float", "string": "str"}


def test_form_asks_every_question_without_a_default_in_its_type_and_unit() -> None:
    questions = find_template("onprem-h200").manifest.questions
    asked = fields()
    needed = {name for name, one in questions.items() if one.default is None and one.when is True}
    assert needed < set(asked) <= set(questions)
    for name, field in asked.items():
        question = questions[name]
        assert KINDS[field["type"]] == question.type, name
        assert tuple(field.get("enum", ())) == (question.choices or ()), name
        if question.unit:
            assert field["title"].endswith(f", in {question.unit}"), name
    pages = form()["spec"]["parameters"]
    required = {name for page in pages for name in page["required"]}
    assert required == {*asked, "repoUrl"}


def test_each_field_reaches_the_answers() -> None:
    (fetch,) = (one for one in form()["spec"]["steps"] if one["action"] == "fetch:template")
    handed = fetch["input"]["values"]
    assert handed == {name: f"${{{{ parameters.{name} }}}}" for name in fields()}
    assert set(VALUE.findall(skeleton()["answers.yaml"])) == set(handed) == set(FILLED_IN)
    for name, text in skeleton().items():
        assert set(VALUE.findall(text)) <= set(handed), name
        assert "${{" not in VALUE.sub("", text), name


def test_repository_of_a_form_that_is_filled_in_has_a_verdict(tmp_path: Path) -> None:
    """The commands are those of the repository's README."""
    made = {
        name: VALUE.sub(lambda found: str(FILLED_IN[found[1]]), text)
        for name, text in skeleton().items()
    }
    write(tmp_path, made)
    assert yaml.safe_load(made["catalog-info.yaml"])["metadata"]["name"] == "atlas"
    commands = [line[2:].split() for line in made["README.md"].splitlines() if line[:2] == "$ "]
    assert [words[:2] for words in commands] == [
        ["rackwright", "init"],
        ["rackwright", "check"],
        ["rackwright", "ci"],
    ]
    assert run_here(tmp_path, *commands[0][1:]).code == 0
    verdict = run_here(tmp_path, *commands[1][1:])
    assert verdict.code == 0, verdict.out
    assert ": ok for concept" in verdict.out.splitlines()[-1]
    assert (tmp_path / "site.html").is_file()
