"""SARIF: valid by the published schema, and what viewers rely on."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from rackwright import __version__
from rackwright.errors import Location
from rackwright.policy.api import Severity
from rackwright.policy.engine import Report, Result
from rackwright.policy.exception_report import BaselineState
from rackwright.report.ci import sarif
from rackwright.report.formats import Context
from rackwright.report.rules import RuleText, first_paragraph
from report_factories import (
    ADVISORY,
    CLEAN,
    EXCEPTED,
    FAIL,
    GOLDEN,
    HOSTILE,
    LIKE,
    MIXED,
    UNKNOWN,
    WAIVED,
)

SCHEMA = json.loads((GOLDEN.parent / "schemas/sarif-2.1.0-rtm.5.json").read_text())
RULE = RuleText(
    "PWR-002", FAIL.title, Severity.HIGH, "power", "0.1", "Loses a feed.", "# PWR-002: Survivors"
)
CONTEXT = Context(file="site/atlas.yaml", rules={"PWR-002": RULE})


def run_of(report: Report) -> dict[str, Any]:
    document = json.loads(sarif.render_sarif(report, CONTEXT))
    jsonschema.Draft4Validator(
        SCHEMA, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER
    ).validate(document)
    (run,) = document["runs"]
    made: dict[str, Any] = run
    return made


def result_of(result: Result) -> dict[str, Any]:
    (made,) = run_of(Report("atlas", (result,), 1))["results"]
    found: dict[str, Any] = made
    return found


def test_the_schema_refuses_what_is_wrong() -> None:
    document = json.loads(sarif.render_sarif(MIXED, CONTEXT))
    document["runs"][0]["results"][0]["levl"] = "error"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(SCHEMA).validate(document)


def test_every_outcome() -> None:
    run_of(MIXED)
    golden = (GOLDEN / "mixed.sarif").read_text()
    assert sarif.render_sarif(MIXED, CONTEXT) == golden.replace("VERSION", __version__)


def test_passes_are_no_results() -> None:
    run = run_of(CLEAN)
    assert run["results"] == run["tool"]["driver"]["rules"] == []
    assert run["invocations"][0]["executionSuccessful"] is True
    assert run["automationDetails"]["id"] == "rackwright/policy/atlas/"


def test_rules_are_indexed_and_documented() -> None:
    run = run_of(MIXED)
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [
        result["ruleId"] for result in run["results"]
    ]
    (documented,) = [rule for rule in rules if "help" in rule]
    assert documented["help"]["markdown"] == RULE.markdown
    assert documented["properties"]["tags"] == ["power", "since-0.1"]


def test_an_unknown_that_blocks_is_an_error_and_an_advisory_one_is_not() -> None:
    assert (result_of(UNKNOWN)["kind"], result_of(UNKNOWN)["level"]) == ("fail", "error")
    assert result_of(replace(ADVISORY, severity=Severity.CRITICAL))["level"] == "warning"
    assert result_of(replace(FAIL, severity=Severity.LOW))["level"] == "note"


def test_a_crash_is_a_notification_of_a_run_that_did_not_succeed() -> None:
    (invocation,) = run_of(MIXED)["invocations"]
    assert invocation["executionSuccessful"] is False
    (note,) = invocation["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("ACME-001: the policy failed")


def test_fingerprints_do_not_depend_on_the_place() -> None:
    moved = replace(FAIL, location=Location("b.yaml", 1, 1))
    prints = [result_of(result)["partialFingerprints"] for result in (FAIL, moved)]
    assert prints[0] == prints[1]
    assert prints[0]["rackwright/v1"] == FAIL.fingerprint
    twice = run_of(Report("atlas", (FAIL, replace(FAIL, message="another")), 1))["results"]
    assert [r["partialFingerprints"]["primaryLocationLineHash"] for r in twice] == [
        "0123456789abcdef:1",
        "0123456789abcdef:2",
    ]


@pytest.mark.parametrize(
    ("file", "artifact"),
    [
        ("site/a b#c.yaml", {"uri": "site/a%20b%23c.yaml", "uriBaseId": "%SRCROOT%"}),
        ("site/r\u00e4ck.yaml", {"uri": "site/r%C3%A4ck.yaml", "uriBaseId": "%SRCROOT%"}),
        ("/else/a.yaml", {"uri": "file:///else/a.yaml"}),
    ],
)
def test_places_are_uris(file: str, artifact: dict[str, str]) -> None:
    (where,) = result_of(replace(FAIL, location=Location(file, 3, 4)))["locations"]
    assert where["physicalLocation"]["artifactLocation"] == artifact
    assert where["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 4}


def test_hostile_names_are_plain_text() -> None:
    made = result_of(HOSTILE)
    text = made["message"]["text"]
    assert text.isprintable()
    assert "](" not in text
    assert "{{0}}" in text


def test_long_messages_are_cut() -> None:
    text = result_of(replace(FAIL, message="x" * 5000))["message"]["text"]
    assert len(text) == sarif.LONGEST_MESSAGE


def test_the_least_are_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    report = Report("atlas", (ADVISORY, FAIL, LIKE), 2)
    monkeypatch.setattr(sarif, "MOST_RESULTS", 2)
    run = run_of(report)
    assert [result["ruleId"] for result in run["results"]] == ["PWR-002", "PWR-002"]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "1 results of the lowest severity are left out"
    monkeypatch.setattr(sarif, "MOST_RESULTS", 3)
    assert run_of(report)["invocations"][0]["toolExecutionNotifications"] == []


def test_the_first_paragraph_is_no_heading() -> None:
    assert first_paragraph("# A: b\n\n## What\n\nIt\nsays so.\n\nMore.") == "It says so."
    assert first_paragraph("# A: b") == ""


def test_a_waived_result_is_suppressed_with_its_reason() -> None:
    golden = (GOLDEN / "excepted.sarif").read_text().replace("VERSION", __version__)
    assert sarif.render_sarif(EXCEPTED, CONTEXT) == golden
    (suppression,) = result_of(WAIVED)["suppressions"]
    assert suppression["kind"] == "external"
    assert suppression["justification"] == "burn-in until the second PDU arrives"
    assert suppression["properties"]["expires"] == "2026-12-12"
    assert "suppressions" not in result_of(FAIL)


def test_suppressed_results_come_last() -> None:
    waived = [bool(r.get("suppressions")) for r in run_of(EXCEPTED)["results"]]
    assert waived == [False, False, False, True]


@pytest.mark.parametrize(
    ("state", "expected", "level"),
    [
        (None, None, "error"),
        (BaselineState.NEW, "new", "error"),
        (BaselineState.REGRESSED, "updated", "error"),
        (BaselineState.UNCHANGED, "unchanged", "warning"),
        (BaselineState.IMPROVED, "updated", "warning"),
    ],
)
def test_the_state_against_the_baseline(
    state: BaselineState | None, expected: str | None, level: str
) -> None:
    made = result_of(replace(FAIL, baseline_state=state))
    assert (made.get("baselineState"), made["level"]) == (expected, level)


def test_notices_are_notifications() -> None:
    notes = run_of(EXCEPTED)["invocations"][0]["toolExecutionNotifications"]
    assert [note["level"] for note in notes] == ["note", "warning"]
