"""How far a failure is beyond its limit: never covered when it is worse in one measure."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rackwright.policy.excess import Mark, Trend, beyond, is_stricter, moved, trend

NUMBERS = st.integers(-1000, 1000).map(float)
ANY = st.builds(Mark, st.floats(allow_infinity=False), st.floats(allow_infinity=False))


@st.composite
def failures(draw: st.DrawFn) -> tuple[Mark, Mark, bool]:
    """Two failures of one rule, and whether its limit is an upper one."""
    at_most = draw(st.booleans())
    sign = 1 if at_most else -1
    gaps = st.integers(1, 1000).map(float)
    limits = [draw(NUMBERS) for _ in range(2)]
    then, now = (Mark(limit + sign * draw(gaps), limit) for limit in limits)
    return then, now, at_most


def measures(mark: Mark, at_most: bool) -> tuple[float, float, float]:
    """The value, the excess and the share, each larger when worse, as the module words them."""
    excess = mark.value - mark.limit if at_most else mark.limit - mark.value
    share = excess / abs(mark.limit) if mark.limit else float("inf")
    return (mark.value if at_most else -mark.value), excess, share


@given(failures())
def test_a_failure_that_is_worse_in_any_measure_is_worse(
    found: tuple[Mark, Mark, bool],
) -> None:
    then, now, at_most = found
    pairs = list(zip(measures(then, at_most), measures(now, at_most), strict=True))
    worse = any(new > old and new != pytest.approx(old, rel=1e-8) for old, new in pairs)
    better = any(new < old and new != pytest.approx(old, rel=1e-8) for old, new in pairs)
    expected = Trend.WORSE if worse else Trend.BETTER if better else Trend.SAME
    assert trend(then, now, at_most=at_most) is expected


@given(found=failures(), more=st.integers(0, 500).map(float))
def test_covered_result_stays_covered_when_it_improves(
    found: tuple[Mark, Mark, bool], more: float
) -> None:
    then, now, at_most = found
    assume(trend(then, now, at_most=at_most) is not Trend.WORSE)
    step = -more if at_most else more
    better = replace(now, value=now.value + step)
    assert trend(then, better, at_most=at_most) is not Trend.WORSE


@given(found=failures(), more=st.integers(1, 500).map(float))
def test_a_stricter_limit_is_always_worse(found: tuple[Mark, Mark, bool], more: float) -> None:
    then, _, at_most = found
    now = replace(then, limit=then.limit - more if at_most else then.limit + more)
    assert is_stricter(then, now, at_most=at_most)
    assert not is_stricter(now, then, at_most=at_most)
    assert trend(then, now, at_most=at_most) is Trend.WORSE


@given(mark=ANY, at_most=st.booleans())
def test_a_failure_is_no_worse_than_itself(mark: Mark, at_most: bool) -> None:
    assume(mark.value == mark.value and mark.limit == mark.limit)
    assert trend(mark, mark, at_most=at_most) is Trend.SAME


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_value_that_is_not_a_number_is_worse(number: float) -> None:
    assert trend(Mark(46, 45), Mark(number, 45), at_most=True) is Trend.WORSE
    assert trend(Mark(float("nan"), 45), Mark(46, 45), at_most=True) is Trend.WORSE


@pytest.mark.parametrize(
    ("then", "now", "at_most", "expected"),
    [
        (Mark(46, 45), Mark(46, 5), True, Trend.WORSE),  # 1 kW over, then 41 kW
        (Mark(100, 50), Mark(50, 10), True, Trend.WORSE),  # 50 over, then 40: but 100 and 400 %
        (Mark(46, 45), Mark(56, 55.5), True, Trend.WORSE),  # less over, but more in all
        (Mark(46, 45), Mark(46, 45.5), True, Trend.BETTER),
        (Mark(3, 0), Mark(3, 0), True, Trend.SAME),
        (Mark(3, 0), Mark(2, 0), True, Trend.BETTER),
        (Mark(3, 0), Mark(4, 0), True, Trend.WORSE),
        (Mark(3, 1), Mark(2, 0), True, Trend.WORSE),  # any share of nothing is infinite
        (Mark(3, 0), Mark(3, 1), True, Trend.BETTER),
        (Mark(900, 1000), Mark(900, 1100), False, Trend.WORSE),
        (Mark(900, 1000), Mark(900, 950), False, Trend.BETTER),
        (Mark(900, 1000), Mark(890, 950), False, Trend.WORSE),
        (Mark(-1, 0), Mark(-1, 0), False, Trend.SAME),
        (Mark(-5, -10), Mark(-5, -20), True, Trend.WORSE),
        (Mark(0.1 + 0.2, 0.1), Mark(0.3, 0.1), True, Trend.SAME),
    ],
)
def test_the_sense_and_a_limit_of_zero(
    then: Mark, now: Mark, at_most: bool, expected: Trend
) -> None:
    assert trend(then, now, at_most=at_most) is expected


def test_words_for_how_far_and_for_a_limit_that_moved() -> None:
    assert beyond(Mark(46.2e3, 41.5e3), "W") == "4.7 kW (11 %) over"
    assert beyond(Mark(900, 1000), "CFM") == "100 CFM (10 %) short"
    assert beyond(Mark(95, 90), "%") == "5 points over"
    assert beyond(Mark(3, 0), "ports") == "3 ports over"
    assert moved(45e3, 5e3, "W", at_most=True) == "the limit moved from 45 kW to 5 kW"
    assert moved(900, 1000, "", at_most=False) == "the minimum moved from 900 to 1,000"
    assert moved(0.3, 0.1 + 0.2, "m", at_most=True) == ""
    assert moved(45e3, 45e3 - 0.25, "W", at_most=True) == (
        "the limit moved from 45000.0 W to 44999.75 W"
    )
