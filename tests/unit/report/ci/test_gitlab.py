"""Code Quality: severities, places and unique fingerprints."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from rackwright.policy.api import Outcome, Severity
from rackwright.policy.engine import Report, Result
from rackwright.report.ci.gitlab import render_gitlab
from rackwright.report.formats import Context
from report_factories import ADVISORY, CLEAN, EXCEPTED, FAIL, GOLDEN, HOSTILE, MIXED

CONTEXT = Context(file="site/atlas.yaml")


def issues(*results: Result) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(render_gitlab(Report("atlas", results, 1), CONTEXT))
    return found


def test_every_outcome() -> None:
    assert render_gitlab(MIXED, CONTEXT) == (GOLDEN / "mixed.gitlab.json").read_text()
    assert render_gitlab(CLEAN, CONTEXT) == "[]\n"


def test_only_what_blocks_is_worse_than_minor() -> None:
    severities = [issues(replace(FAIL, severity=s))[0]["severity"] for s in Severity]
    assert severities == ["minor", "major", "critical", "blocker"]
    advisory = [issues(replace(ADVISORY, severity=s))[0]["severity"] for s in Severity]
    assert advisory == ["info", "minor", "minor", "minor"]


def test_a_waived_finding_is_left_out() -> None:
    assert issues(replace(FAIL, outcome=Outcome.WAIVED)) == []


def test_fingerprints_are_unique() -> None:
    prints = [issue["fingerprint"] for issue in issues(FAIL, replace(FAIL, message="other"))]
    assert prints == ["0123456789abcdef", "0123456789abcdef-2"]


def test_hostile_names_are_one_line() -> None:
    (issue,) = issues(HOSTILE)
    assert issue["description"].isprintable()


def test_a_known_failure_is_minor_and_a_bad_waiver_is_an_issue() -> None:
    text = render_gitlab(EXCEPTED, CONTEXT)
    assert text == (GOLDEN / "excepted.gitlab.json").read_text()
    found = {issue["check_name"]: issue for issue in json.loads(text)}
    assert found["waivers/unused"]["location"]["path"] == "policies/waivers.yaml"
    assert "waivers/expiring" not in found
