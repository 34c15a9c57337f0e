"""Lists in messages."""

from __future__ import annotations

import pytest

from rackwright.plan.listing import listed


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
