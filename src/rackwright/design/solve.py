"""The best number of racks of each kind, by OR-Tools' CP-SAT.

Everything is a whole number: coefficients are scaled and rounded so that no layout is left out that
fits, and what is let through by that is refused by the judge. One worker and a fixed seed give the
same answer each time; the solver is stopped by its own count of work and never by a clock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rackwright.design.loads import LoadLine

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, CpSolver

Status = Literal["optimal", "feasible", "infeasible", "undecided"]

_SCALE = 10_000_000
"""What a limit becomes: relative steps of 1e-7 are below what any facility team measures."""
_NOISE = 1e-9
"""Relative difference that is the rounding of floating point."""
WORK = 60.0
"""Deterministic seconds of the solver for one problem, about as many on a common processor."""
_TIE_WORK = 2.0
"""The same for the choice between layouts that are equally good."""


@dataclass(frozen=True)
class RackChoice:
    """A kind of rack: one class of positions, so many units.

    Attributes:
        position_class: number of the class.
        units: units in one rack.
        weight: what one rack counts for in the objective.
        tie: the same where two layouts are equal in that.
    """

    position_class: int
    units: int
    weight: int
    tie: int


@dataclass(frozen=True)
class LinearCut:
    """A sum over racks that stays below a limit, where there are as many units at least.

    Attributes:
        what: what refuses more.
        each: of one rack of each choice.
        limit: of the sum.
        unit: of both.
        from_units: units from which it holds.
    """

    what: str
    each: tuple[float, ...]
    limit: float
    unit: str
    from_units: int = 0


@dataclass(frozen=True)
class PointCut:
    """A layout that is refused.

    Attributes:
        what: what refuses it.
        racks: of each choice.
        and_more: all layouts with as many racks of each choice, or more, are refused too.
    """

    what: str
    racks: tuple[int, ...]
    and_more: bool


LayoutCut = LinearCut | PointCut


@dataclass(frozen=True)
class LayoutProblem:
    """Problem of the solver.

    Attributes:
        choices: kinds of racks.
        sizes: positions of each class.
        most_racks: of all classes.
        lines: budgets.
        cuts: what was refused.
        maximise: whether the weights are to be large.
        units: how many units there are exactly; None for any number.
        least_units: how many there are at least.
    """

    choices: Sequence[RackChoice]
    sizes: Sequence[int]
    most_racks: int
    lines: Sequence[LoadLine]
    cuts: Sequence[LayoutCut] = ()
    maximise: bool = True
    units: int | None = None
    least_units: int = 0


@dataclass(frozen=True)
class RackAnswer:
    """The best racks.

    Attributes:
        status: whether they are the best, good, or none.
        racks: of each choice.
        bound: of the sum of weights: no layout is better.
    """

    status: Status
    racks: tuple[int, ...] = ()
    bound: int = 0


def solve(problem: LayoutProblem, *, work: float = WORK) -> RackAnswer:
    """Return the best racks inside all budgets and outside all cuts.

    Args:
        problem: what is looked for.
        work: deterministic seconds after which the best so far is taken.
    """
    from ortools.sat.python.cp_model import CpModel, LinearExpr

    model = CpModel()
    sizes = [problem.sizes[choice.position_class] for choice in problem.choices]
    racks = [model.new_int_var(0, size, f"x{n}") for n, size in enumerate(sizes)]
    by_class: dict[int, list[Any]] = {}
    for choice, count in zip(problem.choices, racks, strict=True):
        by_class.setdefault(choice.position_class, []).append(count)
    for number, counts in by_class.items():
        model.add(sum(counts) <= problem.sizes[number])
    model.add(sum(racks) <= problem.most_racks)
    units = LinearExpr.weighted_sum(racks, [choice.units for choice in problem.choices])
    if problem.units is not None:
        model.add(units == problem.units)
    model.add(units >= problem.least_units)
    for line in problem.lines:
        _limit(model, racks, line.each, line.budget.limit - line.fixed, line.budget.limit)
    for cut in problem.cuts:
        if isinstance(cut, LinearCut):
            enough = None
            if cut.from_units:
                enough = model.new_bool_var("")
                model.add(units < cut.from_units).only_enforce_if(~enough)
            _limit(model, racks, cut.each, cut.limit, cut.limit, enough)
        else:
            _leave_out(model, racks, sizes, cut)
    # The sum of weights is a multiple of what divides them all, as 8 accelerators of a node.
    step = math.gcd(*(choice.weight for choice in problem.choices)) or 1
    goal = LinearExpr.weighted_sum(racks, [choice.weight // step for choice in problem.choices])
    (model.maximize if problem.maximise else model.minimize)(goal)
    solver = _solver(work)
    status = solver.status_name(solver.solve(model))
    if status == "INFEASIBLE":
        return RackAnswer("infeasible")
    bound = round(solver.best_objective_bound) * step
    if status not in {"FEASIBLE", "OPTIMAL"}:
        return RackAnswer("undecided", bound=bound)
    found = tuple(int(solver.value(count)) for count in racks)
    if any(choice.tie for choice in problem.choices):
        model.add(goal == round(solver.objective_value))
        found = _least_tie(model, racks, problem, found)
    return RackAnswer("optimal" if status == "OPTIMAL" else "feasible", found, bound)


def _least_tie(
    model: CpModel, racks: Sequence[Any], problem: LayoutProblem, found: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the layout with the least tie among those as good as ``found``, as far as the search came."""
    from ortools.sat.python.cp_model import LinearExpr

    model.minimize(LinearExpr.weighted_sum(racks, [choice.tie for choice in problem.choices]))
    for count, here in zip(racks, found, strict=True):
        model.add_hint(count, here)
    solver = _solver(_TIE_WORK)
    if solver.status_name(solver.solve(model)) not in {"FEASIBLE", "OPTIMAL"}:
        return found
    return tuple(int(solver.value(count)) for count in racks)


def _solver(work: float) -> CpSolver:
    from ortools.sat.python.cp_model import CpSolver

    solver = CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.max_deterministic_time = work
    return solver


def _limit(
    model: CpModel,
    racks: Sequence[Any],
    each: Sequence[float],
    room: float,
    limit: float,
    only_if: Any = None,
) -> None:
    """Keep a sum below a limit, never tighter than it is."""
    room += _NOISE * max(abs(limit), abs(room))
    largest = max([abs(room), *map(abs, each)], default=0.0)
    if not largest:
        return
    scale = _SCALE / largest
    from ortools.sat.python.cp_model import LinearExpr

    made = model.add(
        LinearExpr.weighted_sum(racks, [math.floor(one * scale) for one in each])
        <= math.ceil(room * scale)
    )
    if only_if is not None:
        made.only_enforce_if(only_if)


def _leave_out(model: CpModel, racks: Sequence[Any], sizes: Sequence[int], cut: PointCut) -> None:
    ways = []
    for count, size, had in zip(racks, sizes, cut.racks, strict=True):
        if had > 0:
            fewer = model.new_bool_var("")
            model.add(count < had).only_enforce_if(fewer)
            ways.append(fewer)
        if not cut.and_more and had < size:
            more = model.new_bool_var("")
            model.add(count > had).only_enforce_if(more)
            ways.append(more)
    model.add_bool_or(ways)
