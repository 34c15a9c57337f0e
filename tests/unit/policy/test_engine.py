"""The engine: outcomes, verdicts, and that nothing strange ever passes."""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_factories import HERE, a_measure, a_policy, report_of
from rackwright.model.cluster import PolicySetting
from rackwright.plan.base import Contributor, Subject
from rackwright.plan.missing import Missing
from rackwright.policy.api import Enforcement, Finding, Measure, Outcome
from rackwright.policy.engine import fingerprint

GARBAGE = {
    "a text": "x",
    "none": None,
    "a value of NaN": a_measure(math.nan),
    "an infinite value": a_measure(math.inf),
    "a limit of NaN": a_measure(1.0, math.nan),
    "an infinite limit": a_measure(1.0, -math.inf),
    "a text as value": a_measure("5"),  # type: ignore[arg-type]
    "a bool as value": a_measure(value=True),
    "an unknown sense": a_measure(5.0, 1.0, sense="at_mots"),
    "a text as subject": a_measure(at="sjc1"),
    "nothing measured": a_measure(what=""),
    "a text as advisory": a_measure(5.0, 1.0, advisory="no"),
    "a list of contributors": a_measure(contributors=[Contributor("x", 1, 1.0)]),
    "a text as contributor": a_measure(contributors=("x",)),
    "a contributor of NaN": a_measure(contributors=(Contributor("x", 1, math.nan),)),
    "a text as what is missing": a_measure(None, missing="weight"),
    "what is missing in a place that is none": a_measure(None, missing=(Missing("it", (1.5,)),)),  # type: ignore[arg-type]
    "what is missing in no place": a_measure(None, missing=(Missing("it", ()),)),
    "a number as fix": a_measure(5.0, 1.0, fix=3),
    "a text as ok": Finding(HERE, ok="no", message="x"),  # type: ignore[arg-type]
    "a number as ok": Finding(HERE, ok=1, message="x"),  # type: ignore[arg-type]
    "a number as what is asked": Finding(HERE, ok=True, message="x", what=3),  # type: ignore[arg-type]
    "no message": Finding(HERE, ok=True, message=""),
}


@pytest.mark.parametrize("item", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_an_error_and_never_a_pass(item: Any) -> None:
    report = report_of(a_policy(a_measure(), item))
    assert [r.outcome for r in report.results] == [Outcome.ERROR]
    assert report.exit_code == 1


def raises() -> Any:
    yield a_measure()
    raise ValueError("two\n  lines")


def exits() -> Any:
    yield a_measure()
    sys.exit(0)


@pytest.mark.parametrize("check", [raises, exits, lambda: None, lambda: 3])
@pytest.mark.parametrize("enforcement", [Enforcement.MANDATORY, Enforcement.ADVISORY])
def test_a_policy_that_fails_half_way_is_an_error(check: Any, enforcement: Enforcement) -> None:
    report = report_of(a_policy(check=check, enforcement=enforcement))
    (result,) = report.results
    assert result.outcome is Outcome.ERROR
    assert result.blocks
    assert "\n" not in result.message
    assert report.exit_code == 1


def test_ctrl_c_in_a_policy_is_not_swallowed() -> None:
    def interrupted() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        report_of(a_policy(check=interrupted))


@pytest.mark.parametrize(
    ("item", "code"),
    [
        (a_measure(1.0, 2.0), 0),
        (a_measure(2.0, 2.0), 0),
        (a_measure(2.0 + 1e-6, 2.0), 5),
        (a_measure(2.0, 2.0, sense="at_least"), 0),
        (a_measure(2.0 - 1e-6, 2.0, sense="at_least"), 5),
        (a_measure(1e-12, 0.0), 5),
        (a_measure(None), 6),
        (a_measure(1.0, None), 6),
        (a_measure(3.0, 2.0, advisory=True), 0),
        (a_measure(None, advisory=True), 0),
        (Finding(HERE, ok=True, message="x"), 0),
        (Finding(HERE, ok=False, message="x"), 5),
        (Finding(HERE, ok=None, message="x"), 6),
    ],
)
def test_the_verdict_of_one_result(item: Any, code: int) -> None:
    assert report_of(a_policy(item)).exit_code == code


@pytest.mark.parametrize("item", [a_measure(3.0), a_measure(None)])
def test_an_advisory_policy_only_warns(item: Measure) -> None:
    assert report_of(a_policy(item, enforcement=Enforcement.ADVISORY)).exit_code == 0


def test_nothing_judged_is_not_clean() -> None:
    report = report_of(a_policy())
    assert [r.outcome for r in report.results] == [Outcome.NOT_APPLICABLE]
    assert report.exit_code == 3
    assert report_of().exit_code == 3


def test_a_crash_weighs_more_than_a_violation_and_that_more_than_an_unknown() -> None:
    crash = a_policy("x", policy_id="TST-001")
    fail = a_policy(a_measure(3.0), policy_id="TST-002")
    unknown = a_policy(a_measure(None), policy_id="TST-003")
    passing = a_policy(a_measure(), policy_id="TST-004")
    assert report_of(passing, unknown, fail, crash).exit_code == 1
    assert report_of(passing, unknown, fail).exit_code == 5
    assert report_of(passing, unknown).exit_code == 6


def test_a_disabled_policy_neither_runs_nor_counts() -> None:
    settings = {"TST-001": PolicySetting(enforcement="disabled", reason="a test")}
    report = report_of(
        a_policy(check=raises), a_policy(a_measure(), policy_id="TST-002"), settings=settings
    )
    assert [r.policy for r in report.results] == ["TST-002"]
    assert report.policies == 1
    assert report.exit_code == 0


def test_the_order_of_policies_and_results_does_not_matter() -> None:
    items = [
        a_measure(3.0),
        a_measure(1.0, at=Subject("b", ())),
        Finding(Subject("a", ()), ok=None, message="m"),
    ]
    reports = {
        report_of(*policies).results
        for order in itertools.permutations(items)
        for first, second in [(a_policy(*order), a_policy(*order, policy_id="TST-002"))]
        for policies in [(first, second), (second, first)]
    }
    assert len(reports) == 1


def test_a_failure_shows_its_arithmetic() -> None:
    shares = (Contributor("qm9700", 2, 1700.0), Contributor("dgx-h100", 4, 10200.0))
    measure = a_measure(46200.0, 41500.0, what="load after losing feed A", contributors=shares)
    (result,) = report_of(a_policy(measure)).results
    assert result.message == (
        "load after losing feed A is 46.2 kW; the limit is 41.5 kW: 4.7 kW (11 %) over"
    )
    assert [c.name for c in result.contributors] == ["dgx-h100", "qm9700"]


def test_a_share_beyond_its_limit_is_told_in_points() -> None:
    (result,) = report_of(a_policy(a_measure(95.0, 90.0, unit="%"))).results
    assert result.message == "load is 95 %; the limit is 90 %: 5 points over"


def test_an_unknown_says_what_is_missing_and_what_is_known() -> None:
    item = a_measure(None, 41500.0, missing=("dgx-b300: published weight",))
    (result,) = report_of(a_policy(item)).results
    assert "41.5 kW" in result.message
    assert "not known: dgx-b300: published weight" in result.message


def test_a_fix_is_told_for_failures_only() -> None:
    passing, failing = a_measure(1.0, fix="x"), a_measure(3.0, fix="x")
    assert [r.fix for r in report_of(a_policy(passing)).results] == [None]
    assert [r.fix for r in report_of(a_policy(failing)).results] == ["x"]


def test_a_fingerprint_goes_by_names_not_by_values_or_positions() -> None:
    first = report_of(a_policy(a_measure(3.0))).results[0]
    moved = Subject(HERE.name, ("sites", 7, "halls", 2))
    second = report_of(a_policy(a_measure(9.0, 5.0, at=moved))).results[0]
    assert first.fingerprint == second.fingerprint
    others = {
        fingerprint("TST-002", HERE, "load"),
        fingerprint("TST-001", Subject("b", ()), "load"),
    }
    assert first.fingerprint not in others
    assert len(others) == 2


def test_findings_about_one_subject_are_told_apart() -> None:
    items = [Finding(HERE, ok=True, message="m", what=what) for what in ("doors", "valves")]
    report = report_of(a_policy(*items))
    assert len({r.fingerprint for r in report.results}) == 2
    assert [r.what for r in report.results] == ["doors", "valves"]
    assert not any(r.is_measure for r in report.results)


NUMBERS = st.floats(min_value=0, max_value=1e12, allow_nan=False)


@given(value=NUMBERS, more=NUMBERS, limit=NUMBERS)
def test_more_of_a_value_never_turns_a_failure_into_a_pass(
    value: float, more: float, limit: float
) -> None:
    less, greater = a_measure(value, limit), a_measure(value + more, limit)
    assert less.outcome is Outcome.PASS or greater.outcome is Outcome.FAIL
    less, greater = (a_measure(number, limit, sense="at_least") for number in (value, value + more))
    assert greater.outcome is Outcome.PASS or less.outcome is Outcome.FAIL
