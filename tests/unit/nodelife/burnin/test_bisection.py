"""Slow members and paths are found in few runs, whatever their number and place."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from rackwright.nodelife.burnin.bisection import bisect

GOOD, SLOW, LIMIT = 370.0, 180.0, 350.0


class Hall:
    """Members of which some, and some pairs, are slow."""

    def __init__(self, slow: Sequence[str] = (), paths: Sequence[tuple[str, str]] = ()) -> None:
        self.slow, self.paths = set(slow), [set(pair) for pair in paths]
        self.runs = 0

    def __call__(self, members: Sequence[str]) -> float | None:
        assert len(set(members)) == len(members) >= 2
        self.runs += 1
        some = set(members)
        return SLOW if some & self.slow or any(pair <= some for pair in self.paths) else GOOD


def names(count: int) -> list[str]:
    return [f"gpu-{number}" for number in range(1, count + 1)]


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 31, 64, 1000])
def test_good_group_is_one_run(count: int) -> None:
    hall = Hall()
    found = bisect(names(count), hall, LIMIT)
    assert (found.faulty, found.paths, found.unclear) == ([], [], [])
    assert hall.runs == 1


@pytest.mark.parametrize("count", [3, 4, 5, 7, 8, 32, 33, 512])
def test_one_slow_member_is_found_at_any_place_in_logarithmic_runs(count: int) -> None:
    halls = {slow: Hall([slow]) for slow in names(count)}
    found = {slow: bisect(names(count), hall, LIMIT) for slow, hall in halls.items()}
    assert {slow: one.faulty for slow, one in found.items()} == {slow: [slow] for slow in halls}
    assert not any(one.paths or one.unclear for one in found.values())
    # One more shows that the rest is good.
    assert max(hall.runs for hall in halls.values()) <= 2 * math.ceil(math.log2(count)) + 4 + 1


def test_drawn_groups_of_slow_members_are_found_whole() -> None:
    draw = random.Random(88554)
    for _ in range(300):
        members = names(draw.randint(6, 200))
        slow = draw.sample(members, draw.randint(1, 4))
        hall = Hall(slow)
        found = bisect(members, hall, LIMIT)
        assert sorted(found.faulty) == sorted(slow), (len(members), slow, found)
        assert not found.paths
        most = (2 * math.ceil(math.log2(len(members))) + 5) * len(slow) + 1
        assert hall.runs <= most, (hall.runs, most)


def test_drawn_path_between_good_members_is_named_with_both_ends() -> None:
    draw = random.Random(25431)
    for _ in range(300):
        members = names(draw.randint(3, 128))
        pair = draw.sample(members, 2)
        hall = Hall(paths=[(pair[0], pair[1])])
        found = bisect(members, hall, LIMIT)
        assert not found.faulty, (members, pair, found)
        assert [set(one) for one in found.paths] == [set(pair)]
        assert hall.runs <= 4 * math.ceil(math.log2(len(members))) + 6


def test_two_members_alone_cannot_be_told_apart() -> None:
    found = bisect(["a", "b"], Hall(["a"]), LIMIT)
    assert (found.faulty, found.unclear) == ([], [("a", "b")])


def test_run_that_fails_counts_as_slow() -> None:
    found = bisect(names(8), lambda some: None if "gpu-3" in some else GOOD, LIMIT)
    assert found.faulty == ["gpu-3"]
    assert any(run.value is None for run in found.runs)


def test_slowness_that_is_not_seen_again_names_nobody() -> None:
    told = iter([SLOW])
    found = bisect(names(8), lambda some: next(told, GOOD), LIMIT)
    assert (found.faulty, found.paths) == ([], [])


def test_all_slow_members_of_a_small_group() -> None:
    found = bisect(names(4), Hall(names(4)), LIMIT)
    assert found.faulty or found.paths or found.unclear


def test_one_member_is_no_group() -> None:
    with pytest.raises(ValueError, match="fewer than two"):
        bisect(["a"], Hall(), LIMIT)
