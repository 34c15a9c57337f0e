"""Limits of a layout: resources that would have to grow so that more fits, and the gain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rackwright.design.loads import LoadLine
from rackwright.design.search import Design
from rackwright.design.solve import LayoutProblem, LinearCut, RackChoice, solve

_WORK = 5.0
"""Deterministic seconds of the solver for each problem."""
_MOST_ASKED = 24
"""Budgets that are looked at by themselves, the fullest first."""
_UNITS = 1_000_000
"""Whole numbers of a load, of which the least is looked for."""


@dataclass(frozen=True)
class Binding:
    """A budget that more accelerators would break.

    Attributes:
        what: the budget, or all of its kind, in words.
        unit: of the numbers; empty for positions.
        load: what the layout puts on it; of several, on the fullest.
        limit: what it carries, less the reserve.
        more: how much more the next units need there.
        units: units that fit with so much more; 0 where nothing but several budgets together bind.
        accelerators: accelerators of those.
    """

    what: str
    unit: str
    load: float
    limit: float
    more: float
    units: int
    accelerators: int


def bindings_of(found: Design) -> tuple[Binding, ...]:
    """Return the limits of the layout of ``found``, which has one; empty if more is not the objective.

    Each budget is widened alone, then all of one kind together where none of them helps alone.
    """
    problem = found.problem
    if problem is None or not found.racks or found.objective != "most-accelerators":
        return ()
    options = found.survey.options
    problem = replace(
        problem,
        choices=[RackChoice(one.position_class, one.units, one.accelerators, 0) for one in options],
        units=None,
        least_units=found.layout.units + 1 if found.layout else 1,
    )
    kinds = list(_kinds(found, problem.lines))
    alone = [one for kind in kinds for one in _alone(found, problem, kind)]
    helped = {one.what for one in alone}
    together = [
        one
        for kind in kinds
        if not helped & {line.budget.what for line in kind.lines} and len(kind.names) > 1
        for one in _widened(found, problem, kind.lines, f"all {kind.name}")
    ]
    return (*alone, *together, *_positions(found, problem), *_left_to_policies(found))


@dataclass(frozen=True)
class _Kind:
    """Budgets of one kind: all UPSs, all rows."""

    name: str
    lines: tuple[LoadLine, ...]

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Names of the parts with such a budget."""
        return tuple(dict.fromkeys((x.budget.key[0], x.budget.key[1]) for x in self.lines))


def _kinds(found: Design, lines: Sequence[LoadLine]) -> Iterator[_Kind]:
    """Yield the budgets that one more unit may break, by kind, the fullest of each first."""
    groups: dict[str, list[LoadLine]] = {}
    for line in lines:
        least = min((one for one in line.each if one > 0), default=0.0)
        if line.load(found.racks) + least > line.budget.limit:
            groups.setdefault(line.budget.kind, []).append(line)
    for kind, own in groups.items():
        yield _Kind(kind, tuple(sorted(own, key=lambda one: -_share(one, found.racks))))


def _share(line: LoadLine, racks: Sequence[int]) -> float:
    return line.load(racks) / line.budget.limit if line.budget.limit else 1.0


def _alone(found: Design, problem: LayoutProblem, kind: _Kind) -> Iterator[Binding]:
    for name in kind.names[:_MOST_ASKED]:
        own = [line for line in kind.lines if line.budget.key[:2] == name]
        yield from _widened(found, problem, own, own[0].budget.what)


def _widened(
    found: Design, problem: LayoutProblem, lines: Sequence[LoadLine], what: str
) -> Iterator[Binding]:
    """Yield the gain of more of some budgets; nothing if they alone are not the limit."""
    fullest = max(lines, key=lambda one: _share(one, found.racks))
    names = {line.budget.key[:2] for line in lines}
    wide = [line for line in problem.lines if line.budget.key[:2] not in names]
    scale = _UNITS / (fullest.budget.limit or 1.0)
    least = solve(
        replace(
            problem,
            lines=wide,
            maximise=False,
            choices=[
                replace(choice, weight=round(each * scale))
                for choice, each in zip(problem.choices, fullest.each, strict=True)
            ],
        ),
        work=_WORK,
    )
    if not least.racks:
        return
    widened = [line for line in problem.lines if line.budget.key[:2] in names]
    factor = max(max(1.0, _share(line, least.racks)) for line in widened)
    opened = [
        replace(line, budget=replace(line.budget, limit=line.budget.limit * factor))
        for line in widened
    ]
    most = solve(replace(problem, lines=[*wide, *opened]), work=_WORK)
    racks = most.racks or least.racks
    units, accelerators = _count(found, racks)
    limit = fullest.budget.limit
    yield Binding(
        what,
        fullest.budget.unit,
        fullest.load(found.racks),
        limit,
        limit * (factor - 1),
        units,
        accelerators,
    )


def _positions(found: Design, problem: LayoutProblem) -> Iterator[Binding]:
    """Yield the gain of more positions."""
    here, room = sum(found.racks), problem.most_racks
    if here < room:
        return
    wide = replace(
        problem,
        sizes=[2 * size + 1 for size in problem.sizes],
        most_racks=2 * room + len(problem.sizes),
    )
    fewest = [replace(choice, weight=1) for choice in problem.choices]
    least = solve(replace(wide, maximise=False, choices=fewest), work=_WORK)
    if not least.racks:
        return
    needed = sum(least.racks)
    most = solve(replace(wide, most_racks=needed), work=_WORK)
    units, accelerators = _count(found, most.racks or least.racks)
    yield Binding(
        "rack positions", "", float(here), float(room), float(needed - room), units, accelerators
    )


def _left_to_policies(found: Design) -> Iterator[Binding]:
    """Yield the policies that refused more, beside the sums."""
    cuts = found.problem.cuts if found.problem else ()
    for what in dict.fromkeys(cut.what for cut in cuts if isinstance(cut, LinearCut)):
        cut = next(one for one in cuts if isinstance(one, LinearCut) and one.what == what)
        load = sum(a * b for a, b in zip(cut.each, found.racks, strict=True))
        least = min((one for one in cut.each if one > 0), default=0.0)
        if least and load + least > cut.limit:
            yield Binding(what, cut.unit, load, cut.limit, 0.0, 0, 0)


def _count(found: Design, racks: Sequence[int]) -> tuple[int, int]:
    """Return the units and accelerators more than the layout has."""
    options = found.survey.options
    units = sum(one.units * n for one, n in zip(options, racks, strict=True))
    accelerators = sum(one.accelerators * n for one, n in zip(options, racks, strict=True))
    before = found.layout.units if found.layout else 0
    return units - before, accelerators - found.accelerators
