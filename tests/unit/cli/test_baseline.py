"""The baseline on the command line: record once, block what gets worse, tighten."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from first_set import name_first_set
from rackwright.cli import main
from rackwright.render.blueprints import find_template, write_blueprint

SIX = """
sites:
  - name: sjc1
    node_groups:
      - {name: dgx, count: 48, per_rack: 6}
"""


@pytest.fixture
def blueprint(tmp_path: Path) -> Path:
    write_blueprint(find_template("hybrid-h100"), tmp_path, {})
    (tmp_path / "six-per-rack.yaml").write_text(SIX)
    return name_first_set(tmp_path / "blueprint.yaml")


def run(verb: str, blueprint: Path, layer: str | None, *options: str) -> int:
    over = ["--layer", str(blueprint.parent / f"{layer}-per-rack.yaml")] if layer else []
    return main([*verb.split(), str(blueprint), *over, *options])


def entries(blueprint: Path) -> list[dict[str, Any]]:
    text = (blueprint.parent / "policies" / "baseline.json").read_text()
    found: list[dict[str, Any]] = json.loads(text)["entries"]
    return found


def test_recorded_failure_blocks_only_if_it_gets_worse(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check", blueprint, "five") == 5
    assert run("baseline create", blueprint, "five") == 0
    assert entries(blueprint)
    assert run("check", blueprint, "five") == 0
    assert run("check", blueprint, "five", "--no-baseline") == 5
    capsys.readouterr()
    assert run("check", blueprint, "six", "--json") == 5
    report = json.loads(capsys.readouterr().out)
    assert {r["baseline_state"] for r in report["results"] if r["blocks"]} <= {"regressed", "new"}
    assert report["hygiene"]["counts"]["regressed"] == 1


def cut(blueprint: Path) -> None:
    """Cool the racks of 51 kW with 5 kW instead of 45 kW."""
    text = blueprint.read_text(encoding="utf-8")
    assert "power_limit: 45 kW" in text
    blueprint.write_text(text.replace("power_limit: 45 kW", "power_limit: 5 kW"), encoding="utf-8")


def test_a_recorded_failure_blocks_when_its_limit_is_cut(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("baseline create", blueprint, "five")
    before = entries(blueprint)
    cut(blueprint)
    capsys.readouterr()
    assert run("check", blueprint, "five", "--only", "RACK-002", "--json") == 5
    (worse,) = (r for r in json.loads(capsys.readouterr().out)["results"] if r["recorded"])
    assert worse["baseline_state"] == "regressed"
    assert worse["recorded"] == {"value": 51_000, "limit": 45_000}
    moved = "the baseline records 51 kW, 6 kW (13 %) over; the limit moved from 45 kW to 5 kW"
    assert moved in worse["message"]
    for form in ("text", "md", "sarif"):
        assert run("check", blueprint, "five", "--only", "RACK-002", "--format", form) == 5
        assert "the limit moved from 45 kW to 5 kW" in capsys.readouterr().out
    assert run("baseline update", blueprint, "five") == 0
    assert [e for e in entries(blueprint) if e["policy"] == "RACK-002"] == [
        e for e in before if e["policy"] == "RACK-002"
    ]


def test_diff_does_not_end_with_0_when_a_recorded_failure_gets_worse(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the baseline alone it passes: that records more, from a time with six nodes in a rack."""
    run("baseline create", blueprint, "six")
    shutil.copy(blueprint.parent / "five-per-rack.yaml", blueprint.parent / "nodes-per-rack.yaml")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "one"]):
        names = [
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.com",
            "-c",
            "commit.gpgsign=false",
        ]
        subprocess.run(["git", "-C", str(blueprint.parent), *names, *words], check=True)
    assert run("diff main", blueprint, "nodes") == 0
    shutil.copy(blueprint.parent / "six-per-rack.yaml", blueprint.parent / "nodes-per-rack.yaml")
    assert run("check", blueprint, "nodes", "--base-ref", "main") == 0
    capsys.readouterr()
    assert run("diff main", blueprint, "nodes", "--json") == 5
    found = json.loads(capsys.readouterr().out)
    assert found["exit_code"] == 5
    assert found["head"]["exit_code"] == 0
    worse = {f["policy"]: f["after"] for f in found["findings"]["regressions"]}
    assert worse["RACK-002"]["baseline_state"] == "unchanged"
    assert not worse["RACK-002"]["blocks"]


def test_baseline_is_created_once(blueprint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("baseline create", blueprint, "five") == 0
    before = entries(blueprint)
    assert run("baseline create", blueprint, "six") == 2
    assert "--force" in capsys.readouterr().err
    assert entries(blueprint) == before
    assert run("baseline create", blueprint, "six", "--force") == 0
    assert entries(blueprint) != before


def test_update_tightens_and_prune_removes(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("baseline create", blueprint, "six")
    wide = {entry["fingerprint"]: entry for entry in entries(blueprint)}
    assert run("check", blueprint, "five") == 0
    assert "'rackwright baseline update' keeps it so" in capsys.readouterr().out
    assert run("baseline update", blueprint, "five") == 0
    tight = {entry["fingerprint"]: entry for entry in entries(blueprint)}
    assert set(tight) == set(wide)
    assert all(entry["value"] <= wide[name]["value"] for name, entry in tight.items())
    assert tight != wide
    assert run("check", blueprint, "six") == 5
    capsys.readouterr()
    assert run("baseline update", blueprint, "six") == 0
    assert capsys.readouterr().out == "nothing to change\n"

    assert run("baseline prune", blueprint, None) == 0
    assert entries(blueprint) == []
    assert run("check", blueprint, "five") == 5


@pytest.mark.parametrize("action", ["update", "prune"])
def test_without_a_baseline_there_is_nothing_to_change(
    action: str, blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"baseline {action}", blueprint, None) == 2
    assert "run 'rackwright baseline create'" in capsys.readouterr().err
