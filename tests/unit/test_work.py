"""Counted work: what grows with its input, and how."""

from __future__ import annotations

import pytest

from work import growth, operations_of, steps_of


def pairs(count: int) -> list[tuple[int, int]]:
    return [(one, other) for one in range(count) for other in range(one)]


def test_steps_are_the_same_each_time_and_count_the_turns_of_loops() -> None:
    def call() -> int:
        total = 0
        for number in range(10):
            total += number
        return total

    assert steps_of(call) == steps_of(call) == 1 + 11 + 10 + 1


def test_growth_tells_straight_from_square() -> None:
    assert growth(lambda count: [str(number) for number in range(count)], 100) == pytest.approx(2)
    assert growth(pairs, 50) > 3.5


def test_operations_inside_of_others_are_found() -> None:
    names = [name for name, _ in operations_of(r"(?:a|b(?=c{3,9}))")]
    assert {"BRANCH", "ASSERT", "MAX_REPEAT"} <= set(names)
    assert [argument[1] for name, argument in operations_of("c{3,9}") if "REPEAT" in name] == [9]
