"""Lists in messages."""

from __future__ import annotations

import pytest

from rackwright.plan.listing import first_of, listed
from rackwright.plan.missing import Missing, fields_of


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["a"], "a"),
        (["a", "b", "c"], "a, b, c"),
        (["a", "b", "c", "d"], "a, b, c and 1 more"),
        ([str(n) for n in range(2_003)], "0, 1, 2 and 2,000 more"),
    ],
)
def test_the_first_are_named_and_the_others_counted(names: list[str], text: str) -> None:
    assert listed(names) == text


def test_each_of_the_first_asks_for_itself_and_one_for_all_others() -> None:
    few = [Missing(f"x of {n}", ("sources", n, "x")) for n in range(3)]
    assert first_of(few, "x of {} more") == tuple(few)
    many = [Missing(f"x of {n}", ("sources", n, "x")) for n in range(2_003)]
    *first, last = first_of(many, "x of {} more")
    assert first == few
    assert (last, fields_of(last)) == ("x of 2,000 more", (("sources", 3, "x"),))
