"""The built-in templates: every case of their tests, and the table of the documentation."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rackwright.cli import main
from rackwright.render.blueprints import find_template, list_templates, write_blueprint
from rackwright.testing.template_trials import try_template
from template_support import example_answers

ROOT = Path(__file__).parents[3]
NAMES = [template.name for template in list_templates()]


@pytest.mark.parametrize("name", NAMES)
def test_every_case_of_a_template_passes_and_the_table_says_how_long_it_is(name: str) -> None:
    tried = try_template(find_template(name))
    assert [(one.name, one.told) for one in tried if one.exit_code or one.told] == []
    assert all(one.files and one.hosts for one in tried)
    table = (ROOT / "docs/templates.md").read_text(encoding="utf-8")
    for one in tried:
        row = f"| `{name}` | {one.name} | {one.lines} | {one.full_lines} | {one.examples} |"
        assert row in table


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("aws-")])
def test_the_picture_of_a_template_is_of_its_first_case(name: str, tmp_path: Path) -> None:
    template = find_template(name)
    (blueprint, *_) = write_blueprint(template, tmp_path / "site", example_answers(template))
    assert main(["draw", "floor", str(blueprint), "--output", str(tmp_path / "drawn")]) == 0
    (drawn,) = (tmp_path / "drawn").glob("*.svg")
    kept = ROOT / f"docs/images/template-{name}.svg"
    if os.environ.get("UPDATE_GOLDEN"):
        kept.write_bytes(drawn.read_bytes())
    assert kept.read_bytes() == drawn.read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_facts_of_the_team_have_no_default(name: str) -> None:
    manifest = find_template(name).manifest
    stated = [key for key in manifest.questions if key.endswith(("_source", "_power"))]
    assert [key for key in stated if manifest.questions[key].default is not None] == []


def test_a_template_whose_numbers_nobody_published_says_how_many_are_examples(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["template", "test", "onprem-b200", "--json"]) == 0
    cases = json.loads(capsys.readouterr().out)["cases"]
    assert {case["name"]: case["examples"] for case in cases} == {"one-unit": 222, "two-units": 222}


def test_list_is_one_line_a_template_and_shows_the_questions_of_a_named_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The list of all questions of all templates was 490 lines."""
    assert main(["init", "--list"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in shown] == NAMES
    assert main(["init", "--list", "--template", "onprem-h200"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("onprem-h200: ")
    assert "  --set name=atlas  name of the cluster" in shown
    assert "  --set altitude=…  height of the hall above the sea in m" in shown


def test_without_its_answers_a_template_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "a"
    assert main(["init", str(folder), "--template", "onprem-b200"]) == 2
    assert (
        "--set contract=…  power that the utility has contracted, in kW" in capsys.readouterr().err
    )
    assert not folder.exists()


def _nvl72(folder: Path, **answers: str | float) -> int:
    """What ``init`` ends with for the answers of the test, with others in their place."""
    template = find_template("onprem-gb200-nvl72")
    given = {**example_answers(template), **answers}
    said = [word for key, value in given.items() for word in ("--set", f"{key}={value}")]
    return main(["init", str(folder), "--template", template.name, *said])


def test_a_rise_at_which_a_connector_bears_too_little_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """60 × 115 kW / (1.02 × 3.95 × 17.1 K) = 100.2 L/min, and lqc-v2 bears 100 L/min."""
    assert _nvl72(tmp_path / "a", coolant_rise=17.1) == 2
    assert "'coolant_rise' is refused: at least 17.2 K" in capsys.readouterr().err
    assert _nvl72(tmp_path / "b", coolant_rise=17.2) == 0
    assert main(["check", str(tmp_path / "b" / "blueprint.yaml")]) == 0
    assert "9 example facts" in " ".join(capsys.readouterr().out.split())


def test_a_connector_of_the_team_bears_the_flow_of_ten_kelvin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = tmp_path / "hardware" / "connectors" / "acme-200.yaml"
    entry.parent.mkdir(parents=True)
    entry.write_text(
        """\
kind: connector
id: acme-200
vendor: Acme
name: Quick connector 200
flow: {value: 200 L/min, source: sheet}
max_fluid: {value: 60 °C, source: sheet}
max_pressure: {value: 5 bar, source: sheet}
sources:
  sheet: {title: example of a data sheet, date: 2026-11-25, confidence: official}
""",
        encoding="utf-8",
    )
    (tmp_path / "rackwright.yaml").write_text("catalogue: [{path: hardware}]\n", encoding="utf-8")
    asked: dict[str, str | float] = {
        "connector": "acme-200",
        "coolant_rise": 10,
        "rack_flow": "172 L/min",
    }
    assert _nvl72(tmp_path, **asked) == 0
    capsys.readouterr()
    assert main(["check", str(tmp_path / "blueprint.yaml"), "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    (judged,) = [one for one in results if one["policy"] == "COOL-008" and one["unit"] == "L/min"]
    assert (judged["outcome"], judged["limit"]) == ("pass", 200)
