"""Whole reports, as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rackwright.errors import Location
from rackwright.plan.base import Contributor, Subject
from rackwright.policy.api import Enforcement, Outcome, Severity
from rackwright.policy.engine import Report, Result
from rackwright.report.json import SCHEMA, render_json
from rackwright.report.text import render_text

FAIL = Result(
    policy="PWR-002",
    title="Survivors carry the load",
    severity=Severity.HIGH,
    enforcement=Enforcement.MANDATORY,
    outcome=Outcome.FAIL,
    subject=Subject("sjc1 rack r12 feed B", ("sites", 0)),
    location=Location("atlas.yaml", 42, 9),
    message="load is 46.2 kW; the limit is 41.5 kW: 4.7 kW (11 %) over",
    value=46_200,
    limit=41_500,
    unit="W",
    contributors=(Contributor("dgx-h100", 4, 10_200), Contributor("qm9700", 2, 1_720)),
    fix="keep at most 3 of 4 × dgx-h100",
    fingerprint="0123456789abcdef",
)
PASS = replace(FAIL, outcome=Outcome.PASS, fix=None, contributors=())


def test_text_of_a_failure() -> None:
    assert render_text(Report("atlas", (FAIL, PASS), 2)) == (
        "PWR-002 high  atlas.yaml:42:9  sjc1 rack r12 feed B\n"
        "  load is 46.2 kW; the limit is 41.5 kW: 4.7 kW (11 %) over\n"
        "  because 4 × dgx-h100 at 10.2 kW + 2 × qm9700 at 1.72 kW\n"
        "  fix: keep at most 3 of 4 × dgx-h100\n"
        "\n"
        "atlas: 1 passed, 1 failed, 0 warned, 0 unknown (2 policies): blocked for run\n"
    )


def test_findings_that_differ_in_their_subject_only_are_told_once() -> None:
    others = tuple(replace(FAIL, subject=Subject(f"rack {n}", ())) for n in range(8))
    text = render_text(Report("atlas", (FAIL, *others), 1))
    assert text.count("fix:") == 1
    assert "  the same: rack 0, rack 1, rack 2, rack 3, rack 4, rack 5 and 2 more\n" in text


def test_passes_are_shown_on_request() -> None:
    assert "PWR-002 pass" in render_text(Report("atlas", (PASS,), 1), verbose=True)
    assert "PWR-002" not in render_text(Report("atlas", (PASS,), 1))


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (Outcome.ERROR, "1 crashed (1 policy): a policy crashed"),
        (Outcome.UNKNOWN, "1 unknown (1 policy): blocked for run"),
        (Outcome.NOT_APPLICABLE, "(1 policy): nothing to check"),
        (Outcome.PASS, "(1 policy): ok for run"),
    ],
)
def test_the_verdict(outcome: Outcome, verdict: str) -> None:
    report = Report("atlas", (replace(FAIL, outcome=outcome),), 1)
    assert render_text(report).rstrip().endswith(verdict)


ADVISORY = replace(FAIL, enforcement=Enforcement.ADVISORY)


@pytest.mark.parametrize(
    ("results", "line"),
    [
        ((FAIL, PASS), "1 passed, 1 failed, 0 warned, 0 unknown (2 policies): blocked for run"),
        (
            (ADVISORY, PASS),
            "1 passed, 0 failed, 1 warned, 0 unknown (2 policies): ok for run, though 1 failure does not block",
        ),
        ((FAIL, ADVISORY), "0 passed, 1 failed, 1 warned, 0 unknown (2 policies): blocked for run"),
        (
            (replace(ADVISORY, outcome=Outcome.UNKNOWN), PASS),
            "1 passed, 0 failed, 0 warned, 1 unknown (2 policies): ok for run, though 1 unknown does not block",
        ),
        (
            (replace(FAIL, outcome=Outcome.UNKNOWN), ADVISORY),
            "0 passed, 0 failed, 1 warned, 1 unknown (2 policies): blocked for run",
        ),
        (
            (ADVISORY, ADVISORY, replace(ADVISORY, outcome=Outcome.UNKNOWN)),
            (
                "0 passed, 0 failed, 2 warned, 1 unknown (3 policies): "
                "ok for run, though 2 failures and 1 unknown do not block"
            ),
        ),
    ],
)
def test_the_verdict_tells_what_fails_or_is_unknown_and_does_not_block(
    results: tuple[Result, ...], line: str
) -> None:
    last = render_text(Report("atlas", results, len(results))).rstrip().splitlines()[-1]
    assert last == f"atlas: {line}"


def test_colour_only_when_asked_for() -> None:
    report = Report("atlas", (FAIL,), 1)
    assert "\033[31m" in render_text(report, colour=True)
    assert "\033" not in render_text(report)


def test_a_large_json_report_is_written_in_parts_that_end_with_lines() -> None:
    report = Report("atlas", (FAIL,) * 4001, 1)
    parts = list(render_json(report))
    assert len(parts) == 4
    assert all(part.endswith("\n") for part in parts)
    assert len(json.loads("".join(parts))["results"]) == 4001


def test_json_holds_everything() -> None:
    document = json.loads("".join(render_json(Report("atlas", (FAIL,), 1))))
    assert document["schema"] == SCHEMA == "rackwright.check/v2"
    assert document["exit_code"] == 5
    assert document["counts"]["fail"] == 1
    (result,) = document["results"]
    assert result == {
        "policy": "PWR-002",
        "title": "Survivors carry the load",
        "severity": "high",
        "enforcement": "mandatory",
        "outcome": "fail",
        "blocks": True,
        "preview": False,
        "blocks_from": None,
        "stage": "concept",
        "later": False,
        "subject": "sjc1 rack r12 feed B",
        "path": ["sites", 0],
        "location": {"file": "atlas.yaml", "line": 42, "column": 9},
        "message": "load is 46.2 kW; the limit is 41.5 kW: 4.7 kW (11 %) over",
        "value": 46200,
        "limit": 41500,
        "unit": "W",
        "contributors": [
            {"name": "dgx-h100", "count": 4, "each": 10200},
            {"name": "qm9700", "count": 2, "each": 1720},
        ],
        "fix": "keep at most 3 of 4 × dgx-h100",
        "suggestion": None,
        "missing": [],
        "fingerprint": "0123456789abcdef",
        "waiver": None,
        "baseline_state": None,
        "recorded": None,
    }
