"""Outputs that would replace what a command reads, and lists that would be written under a wrong name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli_support import run_here
from wrong_inputs import BASE


@pytest.fixture
def hall(tmp_path: Path) -> Path:
    (tmp_path / "blueprint.yaml").write_text(f"{BASE}layers: [facility.yaml]\n", encoding="utf-8")
    for name in ("facility.yaml", "more.yaml"):
        (tmp_path / name).write_text("owner: hall@example.com\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "bom --format text --output text=blueprint.yaml",
        "bom . --output text=./blueprint.yaml",
        "expand --output blueprint.yaml",
        "expand --output facility.yaml",
        "expand --layer more.yaml --output more.yaml",
        "check --output json=blueprint.yaml",
        "check --output md=ok.md --output json=facility.yaml",
        "burn-in --output layer=blueprint.yaml",
    ],
)
def test_output_over_the_blueprint_is_refused(hall: Path, words: str) -> None:
    """``bom --output blueprint.yaml`` ended with 0, and the blueprint was a list of articles."""
    before = {path.name: path.read_bytes() for path in hall.iterdir()}
    run_here(hall, *words.split()).refused("is read by this command", "name another file")
    assert {path.name: path.read_bytes() for path in hall.iterdir()} == before


def test_output_over_another_file_is_written(hall: Path) -> None:
    (hall / "old.json").write_text("{}", encoding="utf-8")
    assert run_here(hall, "bom", "--output", "old.json").code == 0
    assert json.loads((hall / "old.json").read_text(encoding="utf-8"))["lines"]
    assert run_here(hall, "bom", "--output", "new").code == 0
    assert (hall / "new").read_text(encoding="utf-8").startswith("site ")


def test_ending_of_the_file_is_the_format_of_the_list(hall: Path) -> None:
    assert run_here(hall, "bom", "--output", "a.csv").code == 0
    assert run_here(hall, "bom", "--format", "csv", "--output", "b").code == 0
    assert (hall / "a.csv").read_bytes() == (hall / "b").read_bytes()
    assert run_here(hall, "bom", "--output", "csv=c.out").code == 0
    assert (hall / "c.out").read_bytes() == (hall / "b").read_bytes()
    assert run_here(hall, "bom", "--output", "a.txt").code == 0
    assert (hall / "a.txt").read_text(encoding="utf-8").startswith("site ")


@pytest.mark.parametrize(
    ("words", "said", "hint"),
    [
        ("--output x.xlsx", "no format here ends in '.xlsx'", "rackwright sheets --output x.xlsx"),
        (
            "--output x.pdf",
            "no format here ends in '.pdf'",
            "text (.txt), json (.json), csv (.csv)",
        ),
        ("--json --output x.csv", "'x.csv' would hold csv, not json", "--output json=FILE"),
        ("--format csv --output x.json", "'x.json' would hold json, not csv", "--output csv=FILE"),
        ("--format csv --json", "--json and --format csv contradict each other", ""),
    ],
)
def test_list_under_a_wrong_name_is_refused(hall: Path, words: str, said: str, hint: str) -> None:
    """``--output bom.xlsx`` wrote text, which no office program opens."""
    before = sorted(hall.iterdir())
    run_here(hall, "bom", *words.split()).refused(said, hint)
    assert sorted(hall.iterdir()) == before
