"""The text of a report with waivers and a baseline."""

from __future__ import annotations

from rackwright.policy.engine import Report
from rackwright.report.text import render_text, summary
from report_factories import EXCEPTED, HOSTILE, LAPSED, WAIVED


def test_notices_and_states_are_told() -> None:
    text = render_text(EXCEPTED)
    assert "  worse than the baseline records\n" in text
    assert "; in the baseline: unchanged\n" in text
    assert "preview: newer than policy set" in text
    assert "main:policies/waivers.yaml:11:5  W-2026-009 unused: covers nothing\n" in text
    assert "1 failed, 0 warned, 0 unknown, 1 waived, 1 in the baseline, 1 in preview" in text


def test_waived_results_are_shown_on_request() -> None:
    report = Report("atlas", (WAIVED,), 1)
    assert "W-2026-014" not in render_text(report)
    assert "PWR-002 waived" in render_text(report, verbose=True)
    assert "  waived up to 47 kW at a limit of 41.5 kW by W-2026-014 (" in render_text(
        report, verbose=True
    )


def test_the_verdict_names_the_waivers() -> None:
    assert summary(LAPSED).endswith("blocked: the waivers are not in order")


def test_names_do_not_steer_the_terminal() -> None:
    text = render_text(Report("atlas", (HOSTILE,), 1))
    assert not set(text) & set("\x1b\x00\r\u202e\u2066")
