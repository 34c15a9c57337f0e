"""Outlets that take the plugs of a C13 and of a C19: which there are for either."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rackwright.model.hardware import Outlets
from rackwright.plan.racks.feeds.outlets import outlet_rating, outlets_available


def some(**counts: int) -> Mapping[str, Outlets]:
    rating = {"C13": "15 A", "C19": "16 A", "C39": "20 A"}
    return {
        kind: Outlets.model_validate(
            {"type": kind, "count": count, "rating": {"value": rating[kind], "source": "x"}}
        )
        for kind, count in counts.items()
    }


@pytest.mark.parametrize(
    ("used", "free"),
    [
        ({"C13": 8, "C19": 0}, {"C13": 9, "C19": 5}),  # 6 and 3 that take either; 2 and 3
        ({"C13": 8, "C19": 3}, {"C13": 8, "C19": 5}),  # one of the three is taken by a C19's plug
        ({"C13": 8, "C19": 4}, {"C13": 7, "C19": 5}),  # two are: one plug of 8 finds none
        ({"C13": 6, "C19": 6}, {"C13": 6, "C19": 5}),  # one plug of six finds none
        (None, {"C13": 9, "C19": 5}),
    ],
)
def test_an_outlet_that_takes_either_plug_serves_one(
    used: Mapping[str, int] | None, free: Mapping[str, int]
) -> None:
    assert outlets_available(some(C13=6, C19=2, C39=3), used) == free


def test_outlets_that_nobody_lists_are_unknown() -> None:
    assert outlets_available(None, {"C13": 1, "C19": 0}) == {"C13": None, "C19": None}
    assert outlets_available({}, None) == {"C13": 0, "C19": 0}


def test_the_weakest_of_the_outlets_that_take_a_plug_counts() -> None:
    listed = some(C13=6, C39=3)
    assert (outlet_rating(listed, "C13"), outlet_rating(listed, "C19")) == (15, 20)
    assert outlet_rating(some(C13=6), "C19") is None
