"""What a former release wrote is read: a blueprint, a layer, a pack, waivers and a baseline.

``tests/golden/former`` was written on 2026-11-25 by the commands of revision c586b487: ``init --template
hybrid-h100`` (and ``policy_set: "0.1"``, which ``init`` did not write), ``policy new``, ``waivers add``,
``baseline create``. That revision judged it with exit 0.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cli_support import run_here

FORMER = Path(__file__).parents[2] / "golden/former"
CIRCUIT = ", circuit: {voltage: 415 V, current: 60 A, phases: 3}}"
"""A generic strip had a rating that no document gives; whoever has one says it."""
FIVE = ("--layer", "five-per-rack.yaml", "--pack", "policies", "--today", "2026-11-25")


@pytest.fixture
def team(tmp_path: Path) -> Path:
    shutil.copytree(FORMER, tmp_path / "team")
    return tmp_path / "team"


def judged(team: Path, *options: str) -> tuple[int, list[dict[str, Any]]]:
    """The exit code, and the results."""
    ended = run_here(team, "check", "blueprint.yaml", *options, "--json")
    report = json.loads(ended.out)
    assert report["policy_set"] == "0.1"
    return ended.code, report["results"]


def say_the_circuits(team: Path) -> None:
    file = team / "blueprint.yaml"
    text = file.read_text()
    assert text.count("24c19}") == 3
    file.write_text(text.replace("24c19}", f"24c19{CIRCUIT}"))


def test_a_blueprint_passes_once_it_says_what_nobody_had_said(team: Path) -> None:
    code, results = judged(team)
    blocks = [result for result in results if result["blocks"]]
    assert code == 6
    assert {result["policy"] for result in blocks} == {"PWR-001", "PWR-002", "PWR-004", "PWR-010"}
    assert all(result["outcome"] == "unknown" and "circuit" in result["fix"] for result in blocks)

    say_the_circuits(team)
    code, results = judged(team)
    assert (code, [result["policy"] for result in results if result["blocks"]]) == (0, [])


def test_waivers_and_a_baseline_hold_for_what_has_not_grown(team: Path) -> None:
    say_the_circuits(team)
    code, results = judged(team, *FIVE)
    told = {
        (result["policy"], result["subject"], result["baseline_state"])
        for result in results
        if result["baseline_state"] not in (None, "new")
    }
    assert code == 5, "air handlers and sources carry more since then"
    assert told == {
        ("COOL-001", "sjc1 hall hall-1", "regressed"),
        ("PWR-006", "sjc1 source ups-a", "improved"),
        ("PWR-006", "sjc1 source ups-b", "improved"),
        ("PWR-006", "sjc1 source ups-c", "regressed"),
    }
    waived = [result["waiver"] for result in results if result["policy"] == "RACK-002"]
    assert "W-2026-001" in json.dumps(waived)


def test_a_rule_of_a_team_judges(team: Path) -> None:
    _, results = judged(team, *FIVE)
    own = [result for result in results if result["policy"] == "ACME-001"]
    assert [result["outcome"] for result in own] == ["pass"]
    ended = run_here(team, "policy", "test", "policies")
    assert "4 passed, 0 failed, 1 incomplete" in ended.out
    assert "does not say which field would tell" in ended.out


def test_the_baseline_is_brought_up_to_date(team: Path) -> None:
    say_the_circuits(team)
    ended = run_here(team, "baseline", "update", "blueprint.yaml", *FIVE)
    assert ended.code == 0, ended.err
    entries = json.loads((team / "policies/baseline.json").read_text())["entries"]
    former = json.loads((FORMER / "policies/baseline.json").read_text())["entries"]
    assert {entry["fingerprint"] for entry in entries} == {one["fingerprint"] for one in former}
    assert entries != former
