"""JUnit: what blocks fails, nothing else does, and any name is XML."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from rackwright.policy.engine import Report
from rackwright.report.ci.junit import render_junit
from rackwright.report.formats import Context
from report_factories import CLEAN, EXCEPTED, GOLDEN, HOSTILE, LAPSED, MIXED

CONTEXT = Context(file="site/atlas.yaml")


def test_every_outcome() -> None:
    assert render_junit(MIXED, CONTEXT) == (GOLDEN / "mixed.junit.xml").read_text()


def test_blocking_results_are_failures() -> None:
    root = ET.fromstring(render_junit(MIXED, CONTEXT))
    blocking = sum(result.blocks for result in MIXED.results)
    assert int(root.attrib["failures"]) + int(root.attrib["errors"]) == blocking == 4
    assert root.attrib["tests"] == str(len(MIXED.results)) == str(len(root.findall(".//testcase")))
    clean = ET.fromstring(render_junit(CLEAN, CONTEXT))
    assert (clean.attrib["failures"], clean.attrib["errors"]) == ("0", "0")
    assert clean.attrib["skipped"] == "1"


def test_hostile_names_stay_text() -> None:
    root = ET.fromstring(render_junit(Report("atlas", (HOSTILE,), 1), CONTEXT))
    (failure,) = root.findall(".//failure")
    assert not list(failure)
    assert "<script>" in failure.attrib["message"]
    assert "\\u202e" in failure.attrib["message"]
    assert "\x1b" not in failure.attrib["message"]


def test_waivers_fail_only_when_they_are_strict() -> None:
    assert render_junit(EXCEPTED, CONTEXT) == (GOLDEN / "excepted.junit.xml").read_text()
    root = ET.fromstring(render_junit(LAPSED, CONTEXT))
    assert root.attrib["failures"] == "1"
    (failed,) = root.findall(".//testcase[failure]")
    assert failed.attrib["name"] == "W-2026-009 unused"
