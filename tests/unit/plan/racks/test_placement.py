"""Which rack gets what, and what cannot be placed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from factories import a_hall, a_rack_group, a_row, a_site, some_nodes
from known import known
from rackwright.model.onprem import OnPremSite
from rackwright.plan.problems import PlanProblem
from rackwright.plan.racks.placement import assign, list_loads, place_groups

PATH = ("sites", 0)


def assigned(
    racks: str, *node_groups: dict[str, Any], fabrics: Sequence[dict[str, Any]] = ()
) -> tuple[list[tuple[tuple[str, ...], tuple[tuple[int, int], ...]]], list[PlanProblem]]:
    """The classes as ``(racks, content)`` and the problems."""
    site = OnPremSite.model_validate(
        a_site(
            halls=[a_hall(rows=[a_row(a_rack_group(racks))])],
            node_groups=list(node_groups),
            fabrics=list(fabrics),
        )
    )
    problems: list[PlanProblem] = []
    classes = assign(place_groups(site, PATH), list_loads(site, PATH), problems)
    return [
        (tuple(c.racks), tuple((one.load, one.number) for one in c.content)) for c in classes
    ], problems


def test_racks_are_filled_in_the_order_written():
    classes, problems = assigned("c[01-03]", some_nodes(count=5, racks="c03,c01", per_rack=4))
    assert not problems
    assert classes == [(("c01",), ((0, 1),)), (("c02",), ()), (("c03",), ((0, 4),))]


def test_an_unknown_rack_is_named_with_the_nearest_one():
    _, (problem,) = assigned("c[01-08]", some_nodes(racks="c[07-09]"))
    assert problem.message == "there is no rack 'c09' in this site"
    assert known(problem.hint).startswith("did you mean 'c0")
    assert problem.path == ("sites", 0, "node_groups", 0, "racks")


def test_too_little_room_says_how_much_is_missing():
    _, (problem,) = assigned("c[01-02]", some_nodes(count=11, racks="c[01-02]", per_rack=4))
    assert problem.message == "11 nodes do not fit: 'c[01-02]' with 4 a rack has room for 8"
    assert problem.hint == "name 1 more racks or lower the count by 3"
    assert problem.path == ("sites", 0, "node_groups", 0, "count")


def test_switches_are_called_switches():
    tier = {"name": "leaf", "type": "qm9700", "count": 3, "racks": "c01", "per_rack": 2}
    fabric = {"name": "compute", "role": "compute", "tiers": [tier]}
    _, (problem,) = assigned("c01", some_nodes(count=1), fabrics=(fabric,))
    assert problem.message.startswith("3 switches do not fit")
    assert problem.path == ("sites", 0, "fabrics", 0, "tiers", 0, "count")


def test_every_load_is_judged():
    _, problems = assigned(
        "c01", some_nodes("a", racks="x1"), some_nodes("b", racks="y1"), some_nodes("c", count=9)
    )
    assert [problem.path[3] for problem in problems] == [0, 1, 2]


def test_places_in_a_row_count_over_its_groups():
    site = OnPremSite.model_validate(
        a_site(halls=[a_hall(rows=[a_row(a_rack_group("c[01-02]"), a_rack_group("d[01-02]"))])])
    )
    classes = assign(place_groups(site, PATH), list_loads(site, PATH), [])
    places = {rack: p for c in classes for rack, p in zip(c.racks, c.positions, strict=True)}
    assert places == {"c01": 0, "c02": 1, "d01": 2, "d02": 3}


@given(st.integers(1, 40), st.integers(1, 10), st.integers(1, 6))
def test_nothing_is_lost_and_nothing_is_made_up(count, racks, per_rack):
    names = f"c[01-{racks:02d}]"
    classes, problems = assigned(names, some_nodes(count=count, racks=names, per_rack=per_rack))
    assert sum(len(racks_) for racks_, _ in classes) == racks
    placed = sum(len(racks_) * n for racks_, content in classes for _, n in content)
    assert placed == min(count, racks * per_rack)
    assert bool(problems) == (count > racks * per_rack)
