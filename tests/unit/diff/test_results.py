"""Pairing of results: by rule and subject, rack by rack, whatever the order."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from policy_factories import a_measure, a_policy, report_of
from rackwright.diff.budgets import budget_changes
from rackwright.diff.findings import sort_findings
from rackwright.diff.results import Pair, pair
from rackwright.plan.base import Subject
from rackwright.policy.api import Enforcement, Finding, Outcome
from rackwright.policy.engine import Report
from rackwright.policy.exception_report import Permission


def at(name: str) -> Subject:
    return Subject(name, ("sites", 0))


def racks(text: str, value: float | None, limit: float | None = 45.0, **more: Any) -> Any:
    return a_measure(value, limit, at=at(f"sjc1 {text}"), **more)


def a_report(*items: Any, **more: Any) -> Report:
    return report_of(a_policy(*items, **more))


def told(pairs: tuple[Pair, ...]) -> list[tuple[str, float | None, float | None]]:
    return [
        (p.subject, p.before.value if p.before else None, p.after.value if p.after else None)
        for p in pairs
    ]


def test_the_racks_that_changed_alike_are_told_together() -> None:
    before = a_report(racks("racks c[01-08] feed A", 30), racks("rack n01 feed A", 9))
    after = a_report(
        racks("racks c[02-03,05-08] feed A", 30),
        racks("racks c[01,04] feed A", 50),
        racks("rack n01 feed A", 9),
    )
    assert told(pair(before, after)) == [("sjc1 racks c[01,04] feed A", 30, 50)]
    assert told(pair(after, before)) == [("sjc1 racks c[01,04] feed A", 50, 30)]


def test_racks_that_are_cut_into_other_classes_are_unchanged() -> None:
    before = a_report(racks("racks c[01-08]", 30))
    after = a_report(racks("rack c01", 30), racks("racks c[02-08]", 30))
    assert pair(before, after) == ()


def test_racks_that_come_and_go() -> None:
    before, after = a_report(racks("racks c[01-02]", 30)), a_report(racks("racks c[02-03]", 30))
    assert told(pair(before, after)) == [("sjc1 rack c03", None, 30), ("sjc1 rack c01", 30, None)]
    assert told(pair(None, after)) == [("sjc1 racks c[02-03]", None, 30)]
    assert told(pair(after, None)) == [("sjc1 racks c[02-03]", 30, None)]


def test_sites_and_what_follows_the_racks_keep_subjects_apart() -> None:
    before = a_report(racks("racks c[01-02] feed A", 1), racks("racks c[01-02] feed B", 2))
    after = a_report(racks("racks c[01-02] feed A", 2), racks("racks c[01-02] feed B", 2))
    assert told(pair(before, after)) == [("sjc1 racks c[01-02] feed A", 1, 2)]


def test_equal_measures_of_one_subject_are_no_news() -> None:
    before = a_report(racks("rack c01", 4))
    after = a_report(racks("rack c01", 4), racks("rack c01", 4))
    assert pair(before, after) == ()


def test_rounding_is_no_change() -> None:
    (before, after) = (a_report(a_measure(value)) for value in (0.1 + 0.2, 0.3))
    assert budget_changes(pair(before, after)) == ()


def test_another_worst_loss_is_the_same_measure() -> None:
    before = a_report(racks("source ups-a", 1, what="load after losing 'ups-b'"))
    after = a_report(racks("source ups-a", 2, what="load after losing 'ups-c'"))
    assert told(pair(before, after)) == [("sjc1 source ups-a", 1, 2)]
    after = a_report(racks("source ups-a", 1, what="load after losing 'ups-c'"))
    assert budget_changes(pair(before, after)) == ()


def test_measures_of_several_losses_are_not_mixed_up() -> None:
    before = a_report(
        *(racks("rack c01", v, what=f"x after losing {n}") for v, n in ((1, "A"), (2, "B")))
    )
    after = a_report(
        *(racks("rack c01", v, what=f"x after losing {n}") for v, n in ((5, "B"), (1, "A")))
    )
    assert told(pair(before, after)) == [("sjc1 rack c01", 2, 5)]


@pytest.mark.parametrize(
    ("before", "after", "sense", "headroom", "used"),
    [
        (40.8, 51.0, "at_most", -6.0, 51 / 45 * 100),
        (40.8, 45.0, "at_most", 0.0, 100.0),
        (50.0, 46.0, "at_least", 1.0, None),
        (50.0, 44.0, "at_least", -1.0, None),
        (50.0, None, "at_most", None, None),
    ],
)
def test_headroom_has_the_sign_of_the_verdict(
    before: float, after: float | None, sense: Any, headroom: float | None, used: float | None
) -> None:
    reports = [a_report(racks("rack c01", value, sense=sense)) for value in (before, after)]
    (budget,) = budget_changes(pair(*reports))
    assert (budget.before, budget.after, budget.limit) == (before, after, 45.0)
    assert budget.headroom == pytest.approx(headroom)
    assert budget.used == pytest.approx(used)
    assert budget.blocks == (headroom is None or headroom < 0)


def test_a_limit_that_moves_is_a_change_and_what_blocks_comes_first() -> None:
    before = a_report(racks("rack a", 1), racks("rack b", 44), racks("rack c", 1))
    after = a_report(racks("rack a", 1, 40.0), racks("rack b", 44.9), racks("rack c", 46))
    budgets = budget_changes(pair(before, after))
    assert [budget.subject for budget in budgets] == ["sjc1 rack c", "sjc1 rack b", "sjc1 rack a"]
    assert (budgets[2].limit_before, budgets[2].limit) == (45.0, 40.0)


def sorted_names(before: Report, after: Report) -> tuple[list[str], list[str], list[str]]:
    found = sort_findings(pair(before, after))
    new, worse, fixed = (
        [p.subject for p in pairs] for pairs in (found.new, found.regressions, found.fixed)
    )
    return new, worse, fixed


def test_findings_are_new_worse_fixed_or_as_before() -> None:
    before = a_report(
        racks("rack a", 40), racks("rack b", 50), racks("rack c", 50), racks("rack d", 50),
        racks("rack e", 50), racks("rack f", None),
    )  # fmt: skip
    after = a_report(
        racks("rack a", 50), racks("rack b", 60), racks("rack c", 40), racks("rack d", 50),
        racks("rack e", 48), racks("rack f", 50),
    )  # fmt: skip
    new, worse, fixed = sorted_names(before, after)
    assert (new, worse, fixed) == (
        ["sjc1 rack a"], ["sjc1 rack b", "sjc1 rack f"], ["sjc1 rack c"],
    )  # fmt: skip


def test_yes_or_no_findings_are_paired_by_their_words() -> None:
    def finding(ok: bool | None, message: str) -> Finding:
        return Finding(at("sjc1 rack c01"), ok=ok, message=message)

    before = a_report(finding(True, "one"), finding(False, "two"))
    after = a_report(finding(False, "two"), finding(False, "three"))
    new, worse, fixed = sorted_names(before, after)
    assert (new, worse, fixed) == (["sjc1 rack c01"], [], [])
    assert sorted_names(before, before) == ([], [], [])


def test_a_warning_that_comes_to_block_is_a_regression() -> None:
    one = a_report(racks("rack a", 50), enforcement=Enforcement.ADVISORY)
    other = a_report(racks("rack a", 50))
    assert sorted_names(one, other) == ([], ["sjc1 rack a"], [])
    assert sorted_names(other, one) == ([], [], [])


def test_a_failure_whose_limit_is_cut_is_worse() -> None:
    before = a_report(racks("rack a", 46, 45.0), racks("rack b", 50), racks("rack c", 46, 45.0))
    after = a_report(racks("rack a", 46, 5.0), racks("rack b", 10, 5.0), racks("rack c", 46, 45.5))
    assert sorted_names(before, after) == ([], ["sjc1 rack a", "sjc1 rack b"], [])


def test_a_failure_in_another_unit_cannot_be_shown_to_be_no_worse() -> None:
    before, after = (
        a_report(racks("rack a", 46e3, 45e3)),
        a_report(racks("rack a", 46, 5.0, unit="kW")),
    )
    assert sorted_names(before, after) == ([], ["sjc1 rack a"], [])


def test_a_failure_on_the_other_side_of_its_limit_is_worse() -> None:
    before = a_report(racks("rack a", 46, 45.0))
    after = a_report(racks("rack a", 44.5, 45.0, sense="at_least"))
    assert sorted_names(before, after) == ([], ["sjc1 rack a"], [])


def test_rounding_of_the_excess_is_not_worse() -> None:
    """The words differ, so the pair is looked at although nothing changed."""
    before = a_report(racks("rack a", 45.3, what="load after losing 'A'"))
    after = a_report(racks("rack a", 45 + 0.1 + 0.2, what="load after losing 'B'"))
    assert sorted_names(before, after) == ([], [], [])


def waived(report: Report, limit: str | None) -> Report:
    permission = Permission("W-1", "me", "T-1", "a long reason", date(2026, 12, 1), "47 W", limit)
    results = (replace(r, outcome=Outcome.WAIVED, waiver=permission) for r in report.results)
    return replace(report, results=tuple(results))


@pytest.mark.parametrize(("limit", "worse"), [(None, ["sjc1 rack a"]), ("45 W", [])])
def test_a_cut_limit_is_worse_where_a_waiver_names_none(
    limit: str | None, worse: list[str]
) -> None:
    after = waived(a_report(racks("rack a", 46, 44.5)), limit)
    for value in (44, 46):
        before = a_report(racks("rack a", value))
        names = sorted_names(before, after)
        assert names[1] == worse
        assert sorted_names(after, after) == ([], [], [])
        raised = waived(a_report(racks("rack a", 46, 45.5)), limit)
        assert sorted_names(before, raised)[1] == []


def test_a_policy_that_crashes_is_a_new_finding() -> None:
    def crash() -> Any:
        raise ValueError("x")

    crashed = report_of(a_policy(check=crash))
    new, worse, fixed = sorted_names(a_report(racks("rack a", 1)), crashed)
    assert (new, worse, fixed) == (["atlas"], [], [])
