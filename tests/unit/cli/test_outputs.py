"""Several forms of one report in one run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from rackwright.cli import main
from rackwright.cli.options.outputs import run_link
from rackwright.render.blueprints import find_template, write_blueprint

VERDICT = re.compile(
    r": blocked for run; [0-9]+ hazards not checked \('rackwright explain hazards'\)$", re.MULTILINE
)


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Arguments of a check that is refused, from the top of a repository."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    write_blueprint(find_template("hybrid-h100"), tmp_path / "site", {})
    return ["check", "site/blueprint.yaml", "--layer", "site/five-per-rack.yaml"]


def test_several_files_and_text_on_stdout(
    refused: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    forms = {"json": "a.json", "sarif": "out/a.sarif", "junit": "out/a.xml", "gitlab": "a.gl"}
    asked = [part for form, file in forms.items() for part in ("--output", f"{form}={file}")]
    assert main([*refused, *asked]) == 5
    assert VERDICT.search(capsys.readouterr().out.splitlines()[-1])
    assert json.loads(Path("a.json").read_text())["exit_code"] == 5
    results = json.loads(Path("out/a.sarif").read_text())["runs"][0]["results"]
    uris = {
        r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for r in results
        if r["level"] == "error"
    }
    assert uris <= {"site/blueprint.yaml", "site/five-per-rack.yaml"}
    assert int(ET.parse("out/a.xml").getroot().attrib["failures"]) > 0
    assert json.loads(Path("a.gl").read_text())[0]["location"]["path"].startswith("site/")
    assert not list(Path().rglob(".*.part"))


def test_sarif_holds_the_documentation_of_its_rules(refused: list[str]) -> None:
    assert main([*refused, "--output", "sarif=a.sarif"]) == 5
    rules = json.loads(Path("a.sarif").read_text())["runs"][0]["tool"]["driver"]["rules"]
    assert rules
    for rule in rules:
        assert rule["help"]["markdown"].startswith(f"# {rule['id']}")
        assert rule["fullDescription"]["text"]


def test_annotations_follow_the_text(
    refused: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*refused, "--output", "github=-"]) == 5
    shown = capsys.readouterr().out
    verdict = VERDICT.search(shown)
    assert verdict
    assert verdict.end() < shown.index("::error file=site/")


def test_exit_zero_forgives_a_refusal_and_nothing_else(
    refused: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*refused, "--exit-zero"]) == 0
    assert ": blocked" in capsys.readouterr().out
    assert main(["check", "nowhere.yaml", "--exit-zero"]) == 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--json", "--output", "github=-"], "would mix with the json on stdout"),
        (["--output", "json=a", "--output", "sarif=./a"], "two outputs go to"),
        (["--output", "json=site/blueprint.yaml/x"], "cannot be written"),
        (["--format", "sarif", "-v"], "--verbose has no effect on sarif"),
        (["--output", "json"], "is not FORMAT=FILE"),
        (["--delta", "nowhere.md"], "'nowhere.md' cannot be read"),
    ],
)
def test_outputs_that_cannot_be(
    refused: list[str], arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*refused, *arguments]) == 2
    shown = capsys.readouterr()
    assert text in shown.err
    assert shown.out == ""


def test_a_blueprint_that_cannot_be_judged_is_told_so(
    refused: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*refused, "--output", "md=a.md"]) == 5
    first = Path("a.md").read_text().splitlines()[0]
    Path("site/blueprint.yaml").write_text("name: |\n  <b>@x|\nsitess: []\n")
    asked = ["--output", "md=a.md", "--output", "github=-", "--output", "sarif=a.sarif"]
    capsys.readouterr()
    assert main([*refused[:2], *asked]) == 2
    comment = Path("a.md").read_text()
    assert comment.splitlines()[:2] == [
        first,
        "### rackwright: site/blueprint.yaml cannot be checked",
    ]
    assert "- `site/blueprint.yaml:" in comment
    assert "Nothing was checked" in comment
    assert "<b>" not in comment
    shown = capsys.readouterr()
    assert "::error file=site/blueprint.yaml,line=" in shown.out
    assert "site/blueprint.yaml:" in shown.err
    assert not Path("a.sarif").exists()


GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_SERVER_URL": "https://forge.example",
    "GITHUB_REPOSITORY": "o/r",
    "GITHUB_RUN_ID": "7",
}


@pytest.mark.parametrize(
    ("environment", "link"),
    [
        ({}, None),
        (GITHUB, "https://forge.example/o/r/actions/runs/7"),
        (GITHUB | {"GITHUB_ACTIONS": ""}, None),
        (GITHUB | {"GITHUB_REPOSITORY": "o/r) @all ("}, None),
        (GITHUB | {"GITHUB_SERVER_URL": "javascript:"}, None),
        (
            {"CI_JOB_URL": "https://forge.example/o/r/-/jobs/7"},
            "https://forge.example/o/r/-/jobs/7",
        ),
    ],
)
def test_the_run_is_linked_when_it_has_an_address(
    environment: dict[str, str], link: str | None
) -> None:
    assert run_link(environment) == link


def test_a_device_is_written_and_not_replaced(refused: list[str]) -> None:
    assert main([*refused, "--output", "json=/dev/null"]) == 5
    assert Path("/dev/null").is_char_device()
