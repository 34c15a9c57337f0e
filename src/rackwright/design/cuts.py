"""Cuts: layouts to leave out beside a rejected one.

A measure that grows with racks at least as fast as its slope at the refused layout is cut off by that
slope: sums are so, and so is the worst of several sums, as over the losses of sources. A slope that
would have told too much of a layout that was measured is not used. What else is refused with more
racks too is cut off with all that is larger, and the rest by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rackwright.design.classes import Survey
from rackwright.design.judge import Judge, Known, LayoutVerdict, excess_of, is_monotone, name_of
from rackwright.design.solve import LayoutCut, LinearCut, PointCut

_MOST_SLOPES = 400
"""Kinds of racks for which slopes are worked out; with more, a layout is cut off with what is larger."""
_NOISE = 1e-6

Excesses = Mapping[Known, float]


def cuts_for(
    judge: Judge, found: Survey, racks: tuple[int, ...], verdict: LayoutVerdict
) -> list[LayoutCut]:
    """Return the cuts that remove a rejected layout, at least.

    Args:
        judge: of the facility.
        found: the kinds of racks.
        racks: the refused layout: racks of each kind.
        verdict: why it is refused.

    Raises:
        SpecErrors: the blueprint of another layout is not valid.
    """
    what = ", ".join(dict.fromkeys(one.policy for one in verdict.refused))
    grows = all(is_monotone(one.policy) for one in verdict.refused)
    cuts: list[LayoutCut] = [PointCut(what, racks, and_more=grows)]
    over = {
        name_of(one): excess
        for one in verdict.refused
        if is_monotone(one.policy) and (excess := excess_of(one)) is not None and excess > 0
    }
    # Without a rack there is no blueprint to compare with, and with it all that is larger is refused.
    if over and sum(racks) > 1 and len(found.options) <= _MOST_SLOPES:
        cuts += _slopes(judge, found, racks, over)
    return cuts


def _slopes(
    judge: Judge, found: Survey, racks: tuple[int, ...], over: Mapping[Known, float]
) -> list[LayoutCut]:
    policies = {policy for policy, _, _ in over}
    seen: list[tuple[tuple[int, ...], Excesses]] = []

    def at(point: tuple[int, ...]) -> Excesses:
        measured = judge.excesses(found.layout(point), policies)
        seen.append((point, measured))
        return measured

    here = at(racks)
    steps: list[tuple[int, Excesses, Excesses]] = []
    for number, count in enumerate(racks):
        if count:
            steps.append((number, at(_step(racks, number, -1)), here))
        else:
            before = _with_room(judge, found, racks, number)
            less = here if before == racks else at(before)
            steps.append((number, less, at(_step(before, number, 1))))
    from_units = _least_units(judge, found, racks)
    cuts: list[LayoutCut] = []
    for name in over:
        if name not in here or not all(name in a and name in b for _, a, b in steps):
            continue
        each = tuple(max(0.0, after[name] - before[name]) for _, before, after in steps)
        spent = sum(slope * count for slope, count in zip(each, racks, strict=True))
        limit = spent - here[name]
        told = LinearCut(f"{name[1]} ({name[0]})", each, limit, name[2], from_units)
        if _holds(told, name, found, seen):
            cuts.append(told)
    return cuts


def _holds(
    cut: LinearCut,
    name: Known,
    found: Survey,
    seen: Sequence[tuple[tuple[int, ...], Excesses]],
) -> bool:
    """Return True if the slope promises no more of any layout than was measured there."""
    for racks, measured in seen:
        units = sum(option.units * n for option, n in zip(found.options, racks, strict=True))
        if name not in measured or units < cut.from_units:
            continue
        told = sum(a * b for a, b in zip(cut.each, racks, strict=True)) - cut.limit
        if told > measured[name] + _NOISE * max(1.0, abs(cut.limit)):
            return False
    return True


def _step(racks: Sequence[int], number: int, by: int) -> tuple[int, ...]:
    return tuple(count + by if n == number else count for n, count in enumerate(racks))


def _with_room(judge: Judge, found: Survey, racks: tuple[int, ...], number: int) -> tuple[int, ...]:
    """Return the layout with a free position for one more rack of an option."""
    position_class = found.options[number].position_class
    mine = [n for n, one in enumerate(found.options) if one.position_class == position_class]
    if sum(racks[n] for n in mine) < len(judge.builder.classes[position_class].positions):
        return racks
    return _step(racks, next(n for n in mine if racks[n]), -1)


def _least_units(judge: Judge, found: Survey, racks: tuple[int, ...]) -> int:
    """Return the fewest units with the same switches, as far as it is looked for; 0 without any."""
    if not judge.builder.has_fabrics:
        return 0
    order = [n for n, count in enumerate(racks) for _ in range(count)]

    def units(count: int) -> int:
        return sum(found.options[n].units for n in order[:count])

    def switches(count: int) -> object:
        part = tuple(order[:count].count(n) for n in range(len(racks)))
        return judge.switches(found.layout(part))

    low, high = 0, len(order)
    wanted = switches(high)
    while high - low > 1:
        middle = (low + high) // 2
        if switches(middle) == wanted:
            high = middle
        else:
            low = middle
    return units(high)
