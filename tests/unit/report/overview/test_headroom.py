"""What is left of budgets: the order, the words, and the bar."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rackwright.plan.base import Subject
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Result
from rackwright.report.overview.headroom import (
    budgets,
    headroom_of,
    left_text,
    share_text,
    value_text,
)
from rackwright.report.overview.summary import bar
from report_factories import CRASH, FAIL, NOT_APPLICABLE


def a_measure(
    value: float | None, limit: float | None, unit: str = "W", *, at: str = "rack", what: str = "w"
) -> Result:
    outcome = Outcome.PASS
    if value is None or limit is None:
        outcome = Outcome.UNKNOWN
    elif value > limit:
        outcome = Outcome.FAIL
    subject = Subject(at, ())
    return replace(
        FAIL, value=value, limit=limit, unit=unit, outcome=outcome, subject=subject, what=what
    )


def a_least(value: float, limit: float, unit: str) -> Result:
    outcome = Outcome.PASS if value >= limit else Outcome.FAIL
    return replace(a_measure(value, limit, unit), outcome=outcome)


@pytest.mark.parametrize(
    ("result", "left", "share", "value", "filled"),
    [
        (a_measure(46_200, 41_500), "-4.7 kW", "-11.3 %", "46.2 of 41.5 kW", 10),
        (a_measure(900, 1_200), "300 W", "25.0 %", "900 W of 1.2 kW", 8),
        (a_measure(1_199, 1_200), "1 W", "0.1 %", "1.2 of 1.2 kW", 9),
        (a_measure(1_200, 1_200), "0 W", "0.0 %", "1.2 of 1.2 kW", 10),
        (a_least(98, 90, "%"), "8 %", "8.9 %", "98, least 90 %", 9),
        (a_least(8, 16, "switches"), "-8 switches", "-50.0 %", "8, least 16 switches", 10),
        (a_measure(3, 0, "hosts"), "-3 hosts", "broken", "3 of 0 hosts", 10),
        (a_measure(0, 0, "hosts"), "0 hosts", "none", "0 of 0 hosts", 0),
        (a_measure(None, 10, "kg"), "", "unknown", "? of 10 kg", None),
    ],
)
def test_words_of_a_budget(
    result: Result, left: str, share: str, value: str, filled: int | None
) -> None:
    row = headroom_of(result)
    assert row is not None
    assert (left_text(row), share_text(row), value_text(row)) == (left, share, value)
    assert bar(row) == ("?" * 10 if filled is None else "█" * filled + "░" * (10 - filled))


def test_the_worst_is_first_and_the_same_measure_is_one_row() -> None:
    results = [
        a_measure(50, 100, what="a", at="one"),
        a_measure(90, 100, what="a", at="two"),
        a_measure(None, 100, what="b"),
        a_measure(110, 100, what="c"),
        a_measure(95, 100, what="d"),
        NOT_APPLICABLE,
        CRASH,
    ]
    found = budgets(results)
    assert [one.what for one in found] == ["c", "b", "d", "a"]
    assert [row.result.subject.name for row in found[-1].rows] == ["two", "one"]


def test_a_waived_measure_is_still_broken() -> None:
    row = headroom_of(replace(a_measure(110, 100), outcome=Outcome.WAIVED))
    assert row is not None
    assert row.left == -10
    assert not row.is_exact
