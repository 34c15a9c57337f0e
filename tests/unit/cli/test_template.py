"""``template new`` and ``template test``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rackwright.cli import main
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.render.new_template import template_of
from template_support import write_files


def test_a_new_template_passes_its_own_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "hall"
    assert main(["template", "new", str(folder)]) == 0
    shown = capsys.readouterr()
    assert [Path(line).name for line in shown.out.splitlines()] == [
        "copier.yml",
        "blueprint.yaml.j2",
        "template-test.yaml",
        "README.md",
    ]
    assert f"next: rackwright template test {folder}\n" in shown.err
    assert main(["template", "test", str(folder)]) == 0
    assert capsys.readouterr().out.startswith("small: passes; ")
    assert main(["template", "new", str(folder)]) == 2
    assert "exists" in capsys.readouterr().err


def test_a_template_made_of_a_blueprint_gives_it_again(tmp_path: Path) -> None:
    (blueprint,) = write_blueprint(find_template("lab"), tmp_path / "site", {"name": "ours"})
    text = blueprint.read_text()
    assert main(["template", "new", str(tmp_path / "hall"), "--from", str(blueprint)]) == 0
    template = find_template(str(tmp_path / "hall"))
    (again,) = write_blueprint(template, tmp_path / "again", {})
    assert again.read_text() == text
    (other,) = write_blueprint(template, tmp_path / "other", {"name": "theirs"})
    assert other.read_text() == text.replace("name: ours", "name: theirs", 1)


def test_jinja_syntax_in_a_blueprint_stays_text() -> None:
    text, name = template_of("name: a\nowner: '{{ x }} {# y #} {% z %}'\n")
    assert name == "a"
    assert text == "name: {{ name }}\nowner: '{{ '{{' }} x }} {{ '{#' }} y #} {{ '{%' }} z %}'\n"


def test_a_case_that_is_refused_is_told_and_is_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "hall"
    main(["template", "new", str(folder)])
    text = (folder / "blueprint.yaml.j2").read_text()
    assert "contract: 120 kW" in text
    (folder / "blueprint.yaml.j2").write_text(text.replace("contract: 120 kW", "contract: 20 kW"))
    capsys.readouterr()
    assert main(["template", "test", str(folder), "--json"]) == 5
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert case["passes"] is False
    assert any(line.startswith("PWR-") and " fail: " in line for line in case["told"])


def test_answers_of_a_test_that_are_not_asked_for_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "hall"
    main(["template", "new", str(folder)])
    write_files(folder, {"template-test.yaml": "cases: {one: {nmae: x}}\n"})
    capsys.readouterr()
    assert main(["template", "test", str(folder)]) == 2
    assert "did you mean 'name'?" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ["cases: {}\n", "cases: {a: {name: [x]}}\n", "case: 1\n", "&a [*a]\n"]
)
def test_a_file_of_cases_that_is_none_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "hall"
    main(["template", "new", str(folder)])
    write_files(folder, {"template-test.yaml": text})
    assert main(["template", "test", str(folder)]) == 2
    assert "template-test.yaml:1:" in capsys.readouterr().err


def test_numbers_that_are_examples_are_counted_by_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (blueprint,) = write_blueprint(find_template("lab"), tmp_path, {})
    layer = tmp_path / "facts.yaml"
    layer.write_text(
        "facts: [{product: cpu-2u, field: typical_power, value: 800 W, source: example of a test, "
        "date: 2026-11-01, confidence: secondary}]\n"
    )
    main(["check", str(blueprint), "--layer", str(layer)])
    shown = capsys.readouterr().out
    assert "1 example fact: write yours, with its source\n" in shown
    assert "waivers on" not in shown
