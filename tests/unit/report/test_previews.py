"""Rules in preview: counted in every report, told one by one only where asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rackwright.plan.base import Subject
from rackwright.policy.api import Enforcement, Outcome, Severity
from rackwright.policy.engine import Report, Result
from rackwright.policy.policy_sets import Regime
from rackwright.report.ci.github import render_github
from rackwright.report.formats import Context
from rackwright.report.markdown import render_markdown
from rackwright.report.text import render_text
from report_factories import FAIL

NEW = replace(
    FAIL,
    policy="NET-001",
    title="Tiers have the switches they need",
    enforcement=Enforcement.ADVISORY,
    preview=True,
)
UNKNOWN = replace(NEW, policy="NET-002", outcome=Outcome.UNKNOWN, subject=Subject("lux1", ()))
PASSES = replace(NEW, outcome=Outcome.PASS)


def report(*results: Result) -> Report:
    return Report("atlas", results, 3, Regime(policy_set="0.1"))


MIXED = report(FAIL, NEW, UNKNOWN, UNKNOWN, PASSES)
LINE = f"NET-001  {NEW.severity}, 1 failed: {NEW.subject.name}: {NEW.message}"
OTHERS = "not known yet: NET-002"


def test_text_has_a_line_for_each_rule_that_fails() -> None:
    text = render_text(MIXED)
    assert f"in preview: newer than policy set 0.1 (-v shows all)\n  {LINE}\n  {OTHERS}\n" in text
    assert "NET-001 high" not in text
    assert "atlas: 1 passed, 1 failed, 0 warned, 0 unknown, 3 in preview (3 policies)" in text


def test_verbose_shows_them_all() -> None:
    text = render_text(MIXED, verbose=True)
    assert "NET-001 high, preview" in text
    assert "NET-002 unknown, preview" in text
    assert LINE not in text


def test_a_comment_folds_them_away() -> None:
    text = render_markdown(MIXED, Context(file="atlas.yaml"))
    _, _, folded = text.partition("<details><summary>In preview: newer than policy set 0.1 (3)")
    assert f"- NET-001 {NEW.severity}, 1 failed: {NEW.subject.name}" in folded.replace("  ", " ")
    assert "Warnings (" not in text


def test_previews_take_no_annotation_from_others() -> None:
    many = [replace(NEW, message=f"message {n}") for n in range(20)]
    warns = replace(FAIL, policy="PWR-009", enforcement=Enforcement.ADVISORY)
    lines = render_github(report(*many, warns), Context(file="atlas.yaml")).splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["::warning", "::notice"]
    assert "PWR-009" in lines[0]
    assert "20 in preview" in lines[1]


@pytest.mark.parametrize(
    "shown",
    [
        replace(NEW, outcome=Outcome.ERROR),
        replace(NEW, preview=False),
        replace(NEW, preview=False, enforcement=Enforcement.MANDATORY),
    ],
    ids=["crashed", "advisory", "asked for"],
)
def test_results_beyond_previews_are_shown(shown: Result) -> None:
    text = render_text(report(shown))
    assert "in preview: newer than policy set" not in text.partition("\n")[0]
    assert "NET-001 " in text.partition("\n")[0]
    assert "in preview" not in text


REFUSED_LATER = replace(NEW, blocks_from="0.4")
WORDS = "policy set 0.4 blocks it for 2 failures and 1 unknown"


def test_verdict_names_the_later_set_that_refuses_the_blueprint() -> None:
    """A hall whose cables burn ended with "ok for run, though 12 failures do not block"."""
    unknown = replace(UNKNOWN, blocks_from="0.4")
    advisory = replace(REFUSED_LATER, policy="PWR-007", preview=False)
    shown = report(REFUSED_LATER, unknown, advisory, PASSES)
    text = render_text(shown)
    assert text.endswith(f"ok for run by policy set 0.1 alone; {WORDS}\n")
    assert f"{WORDS}; set 0.1 only warns (-v shows all)\n  NET-001 " in text
    assert "PWR-007 high, advisory until set 0.4" in text
    comment = render_markdown(shown, Context(file="atlas.yaml"))
    assert f"atlas passes policy set 0.1, but {WORDS}" in comment
    (notice,) = render_github(shown, Context(file="atlas.yaml")).splitlines()[-1:]
    assert WORDS in notice


def test_verdict_on_a_refused_blueprint_names_the_later_set_as_well() -> None:
    assert render_text(report(FAIL, REFUSED_LATER)).endswith(
        "blocked for run; policy set 0.4 blocks it for 1 failure\n"
    )


def test_finding_that_blocks_already_is_not_counted_for_a_later_set() -> None:
    blocking = replace(REFUSED_LATER, enforcement=Enforcement.MANDATORY)
    assert "policy set 0.4" not in render_text(report(blocking))


def test_gravest_preview_comes_first() -> None:
    low, critical = (
        replace(REFUSED_LATER, policy=name, severity=severity)
        for name, severity in (("AAA-001", Severity.LOW), ("ZZZ-001", Severity.CRITICAL))
    )
    text = render_text(report(low, critical))
    assert text.index("ZZZ-001  critical, 1 failed") < text.index("AAA-001  low, 1 failed")
