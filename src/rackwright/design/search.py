"""From what is wanted to a layout that the policies let pass: solve, judge, cut off, solve again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from rackwright.design.cables import cables_of, with_cables
from rackwright.design.classes import Survey, survey
from rackwright.design.cuts import cuts_for
from rackwright.design.document import RackLayout
from rackwright.design.judge import Judge, LayoutVerdict, is_about_layouts
from rackwright.design.model import DesignProduct, Objective
from rackwright.design.solve import LayoutCut, LayoutProblem, PointCut, RackChoice, solve
from rackwright.design.worth import is_worth, per, related, unknown_names, weight, worths
from rackwright.errors import SpecError, SpecErrors
from rackwright.policy.engine import Result

MOST_CUTS = 200
"""Layouts that are judged before the best bound is told."""

Ending = Literal[
    "optimal", "bounded", "short", "undecided", "refused", "unknown", "unpriced", "nothing"
]
"""How a search ends.

``optimal`` and ``bounded`` have a layout that passes; ``short`` has the largest one, which is less than
is wanted. ``undecided`` has none after so many that were judged, or after so much work. ``refused`` is
by rules about which no layout changes anything, ``unknown`` for want of numbers, ``unpriced`` for want
of prices; ``nothing`` has no rack that may stand, or no layout of those that may.
"""


@dataclass(frozen=True)
class Design:
    """Result of a search for one product.

    Attributes:
        product: the product.
        ending: how the search ended.
        objective: what was best.
        survey: the kinds of racks.
        layout: what stands where; None without one that passes.
        verdict: what the policies say of it, or of the last layout that they did not let pass.
        value: the objective of the layout: accelerators, racks, W, dollars a year, cm of cables, tokens a
            day or TFLOP/s, or the latter per MW, USD or rack.
        bound: no layout has a better one; None where nothing bounds it.
        problem: what the solver was asked last, with all that was cut off; None where it was not.
        racks: of each option of the survey; empty without a layout.
        judged: layouts that were judged.
        results: what blocks every layout.
        missing: prices or lengths of cables that are not known.
    """

    product: DesignProduct
    ending: Ending
    objective: Objective
    survey: Survey
    layout: RackLayout | None = None
    verdict: LayoutVerdict | None = None
    value: float | None = None
    bound: float | None = None
    problem: LayoutProblem | None = None
    racks: tuple[int, ...] = ()
    judged: int = 0
    results: tuple[Result, ...] = ()
    missing: tuple[str, ...] = field(default=())

    @property
    def passes(self) -> bool:
        """True if there is a layout, and it is the wanted one."""
        return self.ending in {"optimal", "bounded"}

    @property
    def refused(self) -> tuple[Result, ...]:
        """Results that reject the layout that was evaluated last."""
        return self.verdict.refused if self.verdict else ()

    @property
    def accelerators(self) -> int:
        """Accelerators of the layout; 0 without one."""
        counts = zip(self.survey.options, self.racks, strict=False)
        return sum(option.accelerators * count for option, count in counts)


def design(judge: Judge, product: DesignProduct, *, most_cuts: int = MOST_CUTS) -> Design:
    """Return the best layout with ``product``.

    Args:
        judge: of the facility.
        product: what stands there.
        most_cuts: layouts that are judged before the best bound is told.

    Raises:
        SpecErrors: the facility or the rest of the blueprint is not valid.
    """
    wanted = judge.builder.document.wanted
    found = survey(judge, product)
    base = Design(product, "nothing", wanted.aim, found)
    if not found.options:
        return replace(base, ending="unknown", results=found.unjudged) if found.unjudged else base
    if (wanted.aim == "least-cost" or per(wanted.aim) == "cost") and any(
        one.dollars is None for one in found.options
    ):
        return replace(base, ending="unpriced", missing=found.unpriced)
    look = _search
    if wanted.aim == "shortest-cables":
        measured = with_cables(judge, found)
        if not isinstance(measured, Survey):
            return replace(base, ending="unknown", missing=measured)
        found, look = measured, _shortest
        base = replace(base, survey=found)
    if is_worth(wanted.aim):
        return _worthiest(judge, base, most_cuts)
    result = look(judge, replace(base, problem=_problem(judge, found, wanted.aim)), most_cuts)
    if result.ending != "short":
        return result
    largest = _problem(judge, found, "most-accelerators")
    largest = replace(largest, cuts=result.problem.cuts if result.problem else ())
    found_most = _search(
        judge, replace(base, problem=largest, objective="most-accelerators"), most_cuts
    )
    ending: Ending = "short" if found_most.passes else found_most.ending
    if found_most.ending == "short":
        ending = "nothing"
    return replace(
        found_most,
        ending=ending,
        judged=found_most.judged + result.judged,
        results=found_most.results or result.results,
    )


def _worthiest(judge: Judge, base: Design, most_cuts: int) -> Design:
    """Return the layout with the most tokens or FLOP/s, or the most of them per MW, USD or rack.

    Worth depends on the number of units alone. For each number the layout with the least power, cost or racks is
    looked for, the number that promises most first, until no other one promises more than what is found.

    Raises:
        SpecErrors: the workload names no known model or program.
    """
    found, aim, builder = base.survey, base.objective, judge.builder
    wanted, facility = builder.document.wanted, builder.document.facility
    if wanted.workload and (wrong := list(unknown_names(wanted.workload))):
        raise SpecErrors(
            [
                SpecError(
                    text, hint=hint, location=builder.tree.locate(("wanted", "workload", field))
                )
                for field, text, hint in wrong
            ]
        )
    most = _search(
        judge, replace(base, problem=_problem(judge, found, "most-accelerators")), most_cuts
    )
    if most.layout is None or not most.passes:
        return most
    each = found.options[0].accelerators // found.options[0].units
    plan = judge.load(builder.blueprint(most.layout)).plan
    worth = worths(wanted, facility.name, plan, most.layout.units, each)
    if worth.missing:
        return replace(base, ending="unknown", missing=worth.missing)
    weights = [weight(aim, one) for one in found.options]
    least = min(w / one.units for w, one in zip(weights, found.options, strict=True))
    promises = {
        count: related(aim, value, max(1.0, count * least))
        for count, value in worth.values.items()
        if value > worth.values.get(count - 1, 0.0)
    }
    best: Design | None = None
    judged, exact = most.judged, most.ending == "optimal"
    for count, promise in sorted(promises.items(), key=lambda one: (-one[1], one[0])):
        if best is not None and best.value is not None and promise <= best.value:
            break
        problem = replace(
            _problem(judge, found, "fewest-racks"),
            choices=[
                RackChoice(one.position_class, one.units, w, 1)
                for one, w in zip(found.options, weights, strict=True)
            ],
            units=count,
            cuts=most.problem.cuts if most.problem else (),
        )
        now = _search(judge, replace(base, problem=problem), most_cuts)
        judged += now.judged
        exact = exact and now.ending in {"optimal", "short"}
        if now.passes and now.value is not None:
            value = related(aim, worth.values[count], now.value)
            if best is None or best.value is None or value > best.value:
                best = replace(now, value=value)
    if best is None:
        return replace(most, ending="nothing", judged=judged)
    ending: Ending = "optimal" if exact else "bounded"
    return replace(
        best,
        ending=ending,
        bound=best.value if exact else None,
        judged=judged,
        problem=most.problem,
    )


def _problem(judge: Judge, found: Survey, aim: Objective) -> LayoutProblem:
    """Return the problem for the solver."""
    builder = judge.builder
    wanted = builder.document.wanted
    choices = []
    for one in found.options:
        power = round(one.power_w or 0)
        weight = {
            "most-accelerators": one.accelerators,
            "fewest-racks": 1,
            "least-power": power,
            "least-cost": one.dollars or 0,
            "shortest-cables": one.cable_cm or 0,
        }.get(aim, 1)
        tie = math.ceil(power / 100) if aim == "fewest-racks" else 1
        choices.append(RackChoice(one.position_class, one.units, weight, tie))
    units = None
    if aim != "most-accelerators" and wanted.accelerators != "most":
        each = found.options[0].accelerators // found.options[0].units
        units = -(-wanted.accelerators // each)
    return LayoutProblem(
        choices,
        [len(one.positions) for one in builder.classes],
        max(0, builder.positions - wanted.reserve.positions),
        found.lines,
        maximise=aim == "most-accelerators",
        units=units,
        least_units=1,
    )


def _search(judge: Judge, start: Design, most_cuts: int) -> Design:
    """Solve and judge, until a layout passes or there is none."""
    now = start
    assert now.problem is not None  # noqa: S101 - the caller has put it there
    cuts: list[LayoutCut] = [*now.problem.cuts]
    last: tuple[int, ...] | None = None
    while True:
        problem = replace(now.problem, cuts=tuple(cuts))
        answer = solve(problem)
        now = replace(now, problem=problem, bound=answer.bound)
        if answer.status == "infeasible":
            return replace(now, ending="short", bound=None, results=now.refused)
        if answer.status == "undecided":
            return _given_up(judge, now, last)
        now, verdict = _judged(judge, now, answer.racks)
        if verdict.passes:
            return _ended(now, answer.racks, verdict)
        if now.results:
            return now
        last = answer.racks
        if now.judged >= most_cuts:
            return _given_up(judge, now, last)
        cuts += cuts_for(judge, now.survey, answer.racks, verdict)


def _judged(judge: Judge, now: Design, racks: tuple[int, ...]) -> tuple[Design, LayoutVerdict]:
    """Return the search after a layout more; with ``results`` where no other layout is judged otherwise."""
    verdict = judge.judge(now.survey.layout(racks))
    now = replace(now, verdict=verdict, judged=now.judged + 1)
    fixed = tuple(one for one in verdict.refused if not is_about_layouts(one.policy))
    if verdict.unknown:
        return replace(now, ending="unknown", results=verdict.unknown), verdict
    return (replace(now, ending="refused", results=fixed) if fixed else now), verdict


def _shortest(judge: Judge, start: Design, most_cuts: int) -> Design:
    """Return the layout with the shortest cables: the best of those whose least length is below that of the best.

    The solver knows the least length of the cables of each rack. Each layout that it finds is measured and
    left out, until no other one can be shorter than the best that passes.
    """
    now = start
    best: Design | None = None
    assert now.problem is not None  # noqa: S101 - the caller has put it there
    problem, holds = now.problem, True
    while True:
        answer = solve(problem)
        done = answer.status == "infeasible"
        now = replace(now, problem=problem, bound=None if done else answer.bound)
        if best is not None and best.value is not None and (done or answer.bound >= best.value):
            proven = replace(best, ending="optimal", bound=best.value)
            return replace(proven if holds else _unproven(best), judged=now.judged)
        if done:
            return replace(now, ending="short", results=now.refused)
        if answer.status == "undecided" or now.judged >= most_cuts:
            if best is None:
                return replace(now, ending="undecided", results=now.refused)
            left = replace(best, bound=now.bound, judged=now.judged)
            return left if holds else _unproven(left)
        now, verdict = _judged(judge, now, answer.racks)
        if now.results:
            return now
        cuts: list[LayoutCut] = [PointCut("another layout", answer.racks, and_more=False)]
        if verdict.passes:
            layout = now.survey.layout(answer.racks)
            length = cables_of(judge, layout)
            if length.centimetres is None:
                return replace(now, ending="unknown", missing=length.missing)
            least = sum(c.weight * n for c, n in zip(problem.choices, answer.racks, strict=True))
            holds = holds and least <= length.centimetres
            if best is None or best.value is None or length.centimetres < best.value:
                best = replace(
                    now,
                    ending="bounded",
                    layout=layout,
                    value=length.centimetres,
                    racks=answer.racks,
                )
        else:
            cuts = cuts_for(judge, now.survey, answer.racks, verdict)
        problem = replace(problem, cuts=(*problem.cuts, *cuts))


def _unproven(best: Design) -> Design:
    """Return a layout of which a rack was measured below its least length, so that nothing bounds it."""
    return replace(best, ending="bounded", bound=None)


def _ended(now: Design, racks: tuple[int, ...], verdict: LayoutVerdict) -> Design:
    """Return the end of a search with a layout that passes."""
    choices = now.problem.choices if now.problem else ()
    value = sum(choice.weight * count for choice, count in zip(choices, racks, strict=True))
    return replace(
        now,
        ending="optimal" if value == now.bound else "bounded",
        layout=now.survey.layout(racks),
        verdict=verdict,
        value=value,
        racks=racks,
    )


def _given_up(judge: Judge, now: Design, last: tuple[int, ...] | None) -> Design:
    """Return the best bound, with a layout that passes with fewer racks than the last one, if any number will do."""
    best = replace(now, ending="undecided", results=now.refused)
    if last is None or (now.problem and now.problem.units is not None):
        return best
    low, high, judged = 0, sum(last), now.judged
    while high - low > 1:
        middle = (low + high) // 2
        racks = _fewer(last, middle)
        verdict = judge.judge(now.survey.layout(racks))
        judged += 1
        if verdict.passes:
            low, best = middle, _ended(now, racks, verdict)
        else:
            high = middle
    return replace(best, judged=judged)


def _fewer(racks: Sequence[int], count: int) -> tuple[int, ...]:
    """Return the first ``count`` of so many racks of each option, in equal shares."""
    total = sum(racks)
    shares = [one * count // total for one in racks]
    left = count - sum(shares)
    for number, one in enumerate(racks):
        more = min(left, one - shares[number])
        shares[number] += more
        left -= more
    return tuple(shares)
