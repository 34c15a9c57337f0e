"""Workflow commands: what is annotated, and that no name can issue a command."""

from __future__ import annotations

from dataclasses import replace

from rackwright.policy.engine import Report
from rackwright.report.ci.github import MOST_OF_A_KIND, render_github
from rackwright.report.formats import Context
from report_factories import CLEAN, EXCEPTED, FAIL, GOLDEN, HOSTILE, MIXED

CONTEXT = Context(file="site/atlas.yaml")


def test_annotations() -> None:
    assert render_github(MIXED, CONTEXT) == (GOLDEN / "mixed.github").read_text()


def test_a_clean_report_is_one_notice() -> None:
    assert render_github(CLEAN, CONTEXT) == (
        "::notice title=rackwright::atlas: 1 passed, 0 failed, 0 warned, 0 unknown "
        "(2 policies): ok for run\n"
    )


def test_no_name_can_issue_a_command() -> None:
    lines = render_github(Report("atlas", (HOSTILE,), 1), CONTEXT).splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::notice"]
    properties = lines[0].partition(" ")[2].partition("::")[0]
    assert properties.startswith(
        r"file=a%2Cb%3Ac%25%0A%3A\x3aerror%3A%3Ax.yaml,line=1,col=1,title="
    )
    assert properties.count(",") == 3
    assert all(line.isprintable() for line in lines)


def test_ten_are_shown_and_the_others_counted() -> None:
    many = tuple(replace(FAIL, message=f"load {n}") for n in range(MOST_OF_A_KIND + 3))
    text = render_github(Report("atlas", many, 1), CONTEXT)
    assert text.count("::error ") == MOST_OF_A_KIND
    assert "3 more errors are not shown here" in text
    exact = render_github(Report("atlas", many[:MOST_OF_A_KIND], 1), CONTEXT)
    assert "not shown" not in exact


def test_waivers_are_told_in_their_own_file_unless_it_is_of_another_revision() -> None:
    text = render_github(EXCEPTED, CONTEXT)
    assert text == (GOLDEN / "excepted.github").read_text()
    assert "::notice file=policies/waivers.yaml,line=2,title=W-2026-014::" in text
    assert "::warning title=W-2026-009::covers nothing\n" in text
