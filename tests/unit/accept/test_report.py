"""An acceptance in its forms, the answers of collectors, and the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from rackwright.accept.compare import Acceptance, HostAcceptance, ItemOutcome, ItemResult
from rackwright.accept.report import render_json, render_junit, render_text
from rackwright.accept.run import Answers, read_facts
from rackwright.cli import main
from rackwright.render.blueprints import find_template, write_blueprint

GOOD = ItemResult("memory", ItemOutcome.PASS, "8 MiB", "8 MiB", "or more")
BAD = ItemResult("accelerators", ItemOutcome.FAIL, "8", "7", None, "7 of 8 accelerators")
DARK = ItemResult("processors", ItemOutcome.UNKNOWN, "4", None, None, "\x1b[31mno <file> & \x00")
MIXED = Acceptance(
    (
        HostAcceptance("gpu-1", "gpu-1", (GOOD, BAD, DARK)),
        HostAcceptance("gpu-2", "gpu-2", (GOOD,)),
    )
)


def test_text_names_what_does_not_pass() -> None:
    text = render_text(MIXED, frozenset({"memory"}), {"gpu-1": "7 of 8"})
    assert "gpu-1: fail\n" in text
    assert "fail  accelerators: 7 of 8 accelerators; expected 8, found 7" in text
    assert "unknown  processors" in text
    assert "gpu-2" not in text
    assert "drained gpu-1: 7 of 8\n" in text
    assert "not judged, because these hosts are a lab's: memory\n" in text
    assert text.endswith("not accepted: of 2 hosts 1 pass, 1 fail, 0 unknown (4 items)\n")
    assert "\x1b" not in text


def test_json_has_every_item() -> None:
    document = json.loads(render_json(MIXED, frozenset(), {}))
    assert document["schema"] == "rackwright.verify/v1"
    assert document["outcome"] == "fail"
    assert [i["outcome"] for i in document["hosts"]["gpu-1"]["items"]] == [
        "pass",
        "fail",
        "unknown",
    ]
    assert document["hosts"]["gpu-1"]["items"][1] == {
        "item": "accelerators",
        "outcome": "fail",
        "expected": "8",
        "found": "7",
        "tolerance": None,
        "reason": "7 of 8 accelerators",
    }


def test_junit_counts_unknowns_as_errors() -> None:
    root = ET.fromstring(render_junit(MIXED))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("4", "1", "1")
    suites = root.findall("testsuite")
    assert [suite.get("name") for suite in suites] == ["gpu-1", "gpu-2"]
    (failure,) = root.iter("failure")
    assert failure.get("message") == "7 of 8 accelerators"
    assert not list(root.iter("skipped"))


def event(kind: str, host: str, **res: Any) -> dict[str, Any]:
    return {"event": kind, "event_data": {"host": host, "task": "t", "role": "r", "res": res}}


def test_answers_are_taken_from_events() -> None:
    answers = Answers()
    facts = {"schema": "rackwright.facts/v1", "cpus": 2}
    answers.take(event("runner_on_ok", "a", stdout="rackwright.facts/v1, but no JSON"))
    answers.take(event("runner_on_ok", "a", stdout=json.dumps(facts)))
    answers.take(event("runner_on_failed", "b", msg="timed out"))
    answers.take(event("runner_on_unreachable", "c", msg="no route"))
    answers.take(event("runner_on_failed", "a", msg="later"))
    assert answers.facts == {"a": facts}
    assert answers.unreachable == {"b": "r / t: timed out", "c": "r / t: no route"}


@pytest.mark.parametrize("text", [None, 3, "", "{}", '["rackwright.facts/v1"]', '{"schema": "x"}'])
def test_invalid_answer_is_none(text: object) -> None:
    assert read_facts(text) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "sarif=x"], "'sarif=x' is not FORMAT=FILE"),
        (["--output", "junit="], "'junit=' is not FORMAT=FILE"),
        (["--limit", "a b"], "'a b' is not a host pattern"),
        (["--forks", "0"], "--forks is at least 1"),
        (["--lab", "none"], "there is no lab 'none'"),
    ],
)
def test_bad_usage(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path / "state"))
    write_blueprint(find_template("lab"), tmp_path, {})
    assert main(["verify", str(tmp_path / "blueprint.yaml"), *arguments]) == 2
    assert message in capsys.readouterr().err
