"""The solver's answer is the best of all racks that its problem lets through."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as every

from hypothesis import given, settings
from hypothesis import strategies as st

from rackwright.design.loads import LoadBudget, LoadLine
from rackwright.design.solve import (
    LayoutProblem,
    LinearCut,
    PointCut,
    RackChoice,
    solve,
)

SIZES = (3, 2)
CHOICES = ((0, 1), (0, 3), (1, 2))
"""Class and units of each kind of rack."""
WHOLE = st.integers(min_value=0, max_value=9)
EACH = st.tuples(WHOLE, WHOLE, WHOLE)
RACKS = st.tuples(*(st.integers(min_value=0, max_value=SIZES[n]) for n, _ in CHOICES))
LIMIT = st.integers(min_value=0, max_value=40)


def a_line(each: tuple[int, ...], limit: int, fixed: int) -> LoadLine:
    budget = LoadBudget(("contract", "", None), "contract", "contract", 1000.0 * limit, "W")
    return LoadLine(budget, 1000.0 * fixed, [1000.0 * one for one in each])


def let_through(problem: LayoutProblem) -> Iterator[tuple[int, ...]]:
    """Every number of racks that a problem lets through, by its words."""
    for racks in every(*(range(SIZES[n] + 1) for n, _ in CHOICES)):
        units = sum(count * size for count, (_, size) in zip(racks, CHOICES, strict=True))
        placed = [
            sum(c for c, (n, _) in zip(racks, CHOICES, strict=True) if n == m) for m in (0, 1)
        ]
        if any(count > size for count, size in zip(placed, SIZES, strict=True)):
            continue
        if sum(racks) > problem.most_racks or units < problem.least_units:
            continue
        if problem.units is not None and units != problem.units:
            continue
        if any(line.load(racks) > line.budget.limit for line in problem.lines):
            continue
        if all(_passes(cut, racks, units) for cut in problem.cuts):
            yield racks


def _passes(cut: LinearCut | PointCut, racks: tuple[int, ...], units: int) -> bool:
    if isinstance(cut, LinearCut):
        load = sum(a * b for a, b in zip(cut.each, racks, strict=True))
        return units < cut.from_units or load <= cut.limit
    if cut.and_more:
        return any(a < b for a, b in zip(racks, cut.racks, strict=True))
    return racks != cut.racks


@settings(max_examples=60, deadline=None)
@given(
    weights=EACH,
    lines=st.lists(st.tuples(EACH, LIMIT, WHOLE), max_size=2),
    slopes=st.lists(st.tuples(EACH, LIMIT, st.integers(min_value=0, max_value=9)), max_size=2),
    points=st.lists(st.tuples(RACKS, st.booleans()), max_size=3),
    most_racks=st.integers(min_value=0, max_value=5),
    units=st.none() | st.integers(min_value=1, max_value=9),
    maximise=st.booleans(),
)
def test_solution_is_optimal(
    weights: tuple[int, ...],
    lines: list[tuple[tuple[int, ...], int, int]],
    slopes: list[tuple[tuple[int, ...], int, int]],
    points: list[tuple[tuple[int, ...], bool]],
    most_racks: int,
    units: int | None,
    *,
    maximise: bool,
) -> None:
    problem = LayoutProblem(
        [RackChoice(n, size, w, 1) for (n, size), w in zip(CHOICES, weights, strict=True)],
        SIZES,
        most_racks,
        [a_line(*line) for line in lines],
        (
            *(
                LinearCut("slope", tuple(map(float, each)), float(limit), "W", least)
                for each, limit, least in slopes
            ),
            *(PointCut("point", racks, and_more=more) for racks, more in points),
        ),
        maximise=maximise,
        units=units,
        least_units=1,
    )
    answer = solve(problem)

    def value(racks: tuple[int, ...]) -> tuple[int, int]:
        weight = sum(a * b for a, b in zip(weights, racks, strict=True))
        return (-weight if maximise else weight), sum(racks)

    found = sorted(let_through(problem), key=value)
    if not found:
        assert answer.status == "infeasible"
    else:
        assert answer.status == "optimal"
        assert value(answer.racks) == value(found[0])
        assert answer.racks in found
        assert answer.bound == sum(a * b for a, b in zip(weights, answer.racks, strict=True))


def test_a_bound_is_a_value_that_there_may_be() -> None:
    """With no work at all nothing is proven, and 8 accelerators come at once or not at all."""
    choices = [RackChoice(0, 1, 8, 1), RackChoice(1, 2, 16, 1)]
    lines = [a_line((3, 5), 13, 0)]
    for maximise in (True, False):
        problem = LayoutProblem(choices, SIZES, 5, lines, maximise=maximise, least_units=2)
        answer = solve(problem, work=1e-9)
        assert answer.bound % 8 == 0
        if maximise:
            assert answer.bound >= 40
        else:
            assert answer.bound <= 16
