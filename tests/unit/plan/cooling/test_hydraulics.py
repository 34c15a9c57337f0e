"""Pressure drops of piping, and curves of pumps, by hand."""

from __future__ import annotations

import pytest

from rackwright.plan.cooling.hydraulics import drop_at, head_at


def test_twice_the_flow_takes_four_times_the_pressure() -> None:
    assert drop_at(200, 30, 100) == pytest.approx(120)
    assert drop_at(720, 60, 1000) == pytest.approx(31.104)
    assert drop_at(0, 60, 1000) == 0


def test_a_pump_gives_what_its_maker_says_at_both_ends() -> None:
    assert head_at(0, 250, 1500, 350) == 350
    assert head_at(1500, 250, 1500, 350) == 250
    assert head_at(720, 250, 1500, 350) == pytest.approx(326.96)


def test_a_pump_gives_no_less_than_nothing_beyond_its_curve() -> None:
    assert head_at(3000, 250, 1500, 350) == 0  # 350 - 100 × 4 = -50


def test_no_curve_rises_with_the_flow() -> None:
    assert head_at(100, 300, 1500, 250) == 300


@pytest.mark.parametrize("known", [(None, 1, 1), (1, None, 1), (1, 1, None), (1, 1, 0)])
def test_a_drop_that_nobody_knows(known: tuple[float | None, ...]) -> None:
    assert drop_at(*known) is None


@pytest.mark.parametrize(
    "known", [(None, 1, 1, 1), (1, None, 1, 1), (1, 1, None, 1), (2, 1, 1, None), (1, 1, 0, 1)]
)
def test_a_head_that_nobody_knows(known: tuple[float | None, ...]) -> None:
    assert head_at(*known) is None
