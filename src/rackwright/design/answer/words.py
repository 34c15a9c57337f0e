"""A design as text: what stands where, beside its alternatives, and what binds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from rackwright.design.answer.explain import Binding
from rackwright.design.classes import RackOption
from rackwright.design.document import PositionClass
from rackwright.design.model import DesignWish, Objective
from rackwright.design.outcome import DesignOutcome, remedy
from rackwright.design.search import Design
from rackwright.design.worth import is_worth
from rackwright.harmless import counted
from rackwright.model.names import compress_hostlist
from rackwright.model.quantities import format_quantity
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Result
from rackwright.report.prediction import amount

_Amount = TypeVar("_Amount", int, float)
_MOST_FINDINGS = 10
"""Findings that are shown."""
_HEADS = (
    "facility",
    "product",
    "accelerators",
    "racks",
    "power",
    "a year",
    "bound",
    "ends",
)
_COUNTED: dict[Objective, str] = {
    "most-accelerators": "accelerators",
    "fewest-racks": "racks",
    "least-power": "W",
    "least-cost": "USD/year",
    "shortest-cables": "m of cable",
    "most-tokens": "tokens/day",
    "tokens-per-power": "tokens/day per MW",
    "tokens-per-cost": "tokens/USD",
    "tokens-per-rack": "tokens/day per rack",
    "most-flops": "TFLOP/s",
    "flops-per-power": "TFLOP/s per MW",
    "flops-per-cost": "EFLOP/USD",
    "flops-per-rack": "TFLOP/s per rack",
}


def render(
    outcomes: Sequence[DesignOutcome], bindings: Sequence[Binding], written: str | None
) -> str:
    """Return the text about a facility and its alternatives.

    Args:
        outcomes: the facility as it is given, then its alternatives.
        bindings: what binds the best design of the first.
        written: the file that its blueprint is in.
    """
    first = outcomes[0]
    lines = [*_headline(first), ""]
    if first.best.layout is not None:
        lines += [*_racks(first), ""]
    if sum(len(one.designs) for one in outcomes) > 1:
        lines += [*_side_by_side(outcomes), ""]
    lines += _reasons(first, bindings)
    if gains := [text for one in outcomes[1:] if (text := gain_text(first, one))]:
        lines += ["what alternatives bring:", *(f"  {text}" for text in gains)]
    lines += _checked(first.best)
    if written is not None:
        lines += ["", f"written to {written}; 'rackwright check' passes it"]
    while lines[-1] == "":
        lines.pop()
    return "\n".join([*lines, ""])


def _checked(best: Design) -> Iterator[str]:
    """Yield the line that says what the best layout was checked for, and what did not count."""
    if best.verdict is None or best.ending == "unknown":
        return
    report = best.verdict.report
    regime = report.regime
    text = f"checked for {regime.stage}, profile {regime.profile}, policy set {regime.policy_set}"
    later = {one.policy for one in report.results if one.later}
    warned = {
        one.policy for one in report.results if one.outcome is Outcome.FAIL and not one.blocks
    }
    if later:
        text += f"; facts of later stages are open for {counted(len(later), 'rule')}"
    if warned:
        text += f"; only warned of: {', '.join(sorted(warned))}"
    yield text


def value_text(objective: Objective, value: float) -> str:
    """Return a value of an objective with what it counts."""
    unit = _COUNTED[objective]
    if unit == "W":
        return format_quantity(value, unit)
    if objective == "shortest-cables":
        return f"{value / 100:,.1f} {unit}"
    if is_worth(objective):
        return f"{amount(value) if 'tokens' in objective else f'{value:,.4g}'} {unit}"
    return f"{value:,.0f} {unit.removesuffix('s') if round(value) == 1 else unit}"


def ending_text(found: Design) -> str:
    """Return the ending of a search in words."""
    if found.ending == "optimal":
        return "optimal"
    if found.ending == "bounded" and found.bound is not None and found.value is not None:
        gap = abs(found.bound - found.value) / max(1, abs(found.bound))
        return f"within {100 * gap:.2g} % of the bound"
    return {
        "short": "less than is wanted",
        "undecided": f"not decided after {found.judged:,} layouts",
        "refused": "refused",
        "unknown": "not known",
        "unpriced": "without prices",
        "nothing": "nothing fits",
        "bounded": "not bounded",
    }[found.ending]


def _headline(outcome: DesignOutcome) -> Iterator[str]:
    best, wanted = outcome.best, outcome.builder.document.wanted
    name = outcome.builder.document.name
    what = f"{wanted.accelerators:,}" if isinstance(wanted.accelerators, int) else "the most"
    if best.layout is None:
        yield f"{name}: no layout with {what} accelerators: {ending_text(best)}"
        return
    site = outcome.builder.document.facility.name
    text = (
        f"{name}: {best.accelerators:,} accelerators ({best.layout.units:,} × {best.product.type}) "
        f"in {counted(best.layout.count, 'rack')} of {site}"
    )
    if best.passes:
        yield f"{text}: {_judged(best, wanted)}"
    else:
        yield f"{text}, and {what} are wanted"


def _judged(best: Design, wanted: DesignWish) -> str:
    aim = {
        "most-accelerators": "the most that fits",
        "fewest-racks": "the fewest racks",
        "least-power": "the least power",
        "least-cost": "the least cost",
        "shortest-cables": "the shortest cables",
    }.get(wanted.aim)
    if aim is None:
        aim = f"{value_text(best.objective, best.value or 0)}, the most"
    if best.ending == "optimal":
        return f"{aim}, which is optimal"
    bound = (
        ""
        if best.bound is None
        else f" (no layout is beyond {value_text(best.objective, best.bound)})"
    )
    return f"{aim} that was found, {ending_text(best)}{bound}"


def _racks(outcome: DesignOutcome) -> Iterator[str]:
    """Yield the racks in words, with the number of units in each."""
    best, classes = outcome.best, outcome.builder.classes
    assert best.layout is not None  # noqa: S101 - the caller has looked
    rows = [("racks", "units in each", "positions", "hall", "rows")]
    for number, units, names in outcome.builder.standing_by_class(best.layout):
        one = classes[number]
        rows.append(
            (f"{len(names):,}", f"{units:,}", compress_hostlist(names), one.hall, _few(one.rows))
        )
    yield from table(rows, left={2, 3, 4})


def _side_by_side(outcomes: Sequence[DesignOutcome]) -> Iterator[str]:
    rows = [_row(outcome, one) for outcome in outcomes for one in outcome.designs]
    yield from table([_HEADS, *rows], left={0, 1, 7})


def _row(outcome: DesignOutcome, one: Design) -> tuple[str, ...]:
    power, cost = power_of(one), cost_of(one)
    bounded = one.layout is not None and one.bound is not None
    return (
        outcome.label or "as given",
        one.product.type,
        f"{one.accelerators:,}" if one.layout else "",
        f"{one.layout.count:,}" if one.layout else "",
        "" if power is None else format_quantity(power, "W"),
        "" if cost is None else f"{cost:,} USD",
        value_text(one.objective, one.bound or 0) if bounded else "",
        ending_text(one),
    )


def power_of(found: Design) -> float | None:
    """Return the power of the racks of a layout in W; None if it is unknown, or without a layout."""
    return _sum_of(found, lambda option: option.power_w)


def cost_of(found: Design) -> int | None:
    """Return the cost of the racks of a layout in dollars a year; None if it is unknown."""
    return _sum_of(found, lambda option: option.dollars)


def _sum_of(found: Design, each: Callable[[RackOption], _Amount | None]) -> _Amount | None:
    """Return the sum over the racks of a layout; None if one is unknown, or without a layout."""
    total = None
    for option, count in zip(found.survey.options, found.racks, strict=False):
        if count:
            amount = each(option)
            if amount is None:
                return None
            total = amount * count if total is None else total + amount * count
    return total


def _reasons(outcome: DesignOutcome, bindings: Sequence[Binding]) -> Iterator[str]:
    best = outcome.best
    if bindings:
        yield "what binds:"
        yield from (f"  {binding_text(one, best.product.type)}" for one in bindings)
    barred = list(barred_texts(outcome))
    if barred:
        yield "what a rack holds:" if best.survey.options else "what is short:"
        yield from (f"  {text}" for text in barred)
    if best.layout is None and best.problem is not None and best.problem.most_racks < 1:
        free, kept = outcome.builder.positions, outcome.builder.document.wanted.reserve.positions
        yield "what is short:"
        yield f"  rack positions: {free:,} are free, and {kept:,} are to stay so"
    results = best.results
    if best.ending == "unknown":
        yield "not set:"
        yield from _to_fill_in(outcome, best.results)
        yield from (f"  {text}" for text in best.missing)
        return
    if best.survey.unjudged:
        yield "racks left out, since not set:"
        yield from _to_fill_in(outcome, best.survey.unjudged)
    if results:
        yield "what blocks it:"
    for result in results[:_MOST_FINDINGS]:
        where = f"{result.location}: " if result.location else ""
        yield f"  {where}{result.policy} {result.subject.name}: {result.message}"
        if text := remedy(outcome.builder, result):
            yield f"    fix: {text}"
    if len(results) > _MOST_FINDINGS:
        yield f"  and {len(results) - _MOST_FINDINGS:,} more"
    if best.missing:
        yield "what costs are not known for want of:"
        yield from (f"  {text}" for text in best.missing[:_MOST_FINDINGS])


def _to_fill_in(outcome: DesignOutcome, results: Sequence[Result]) -> Iterator[str]:
    for text, policies in to_fill_in(outcome, results).items():
        yield f"  {text}: {', '.join(policies)}"


def to_fill_in(outcome: DesignOutcome, results: Sequence[Result]) -> Mapping[str, Sequence[str]]:
    """Return the facts that ``results`` lack, with the rules that need them."""
    found: dict[str, dict[str, None]] = {}
    for result in results:
        said = remedy(outcome.builder, result) or result.message
        for text in said.split("; "):
            found.setdefault(text, {})[result.policy] = None
    return {text: tuple(policies) for text, policies in found.items()}


def binding_text(one: Binding, product: str) -> str:
    """Return the limit in words, with the gain of more of it."""
    load, limit = (format_quantity(value, one.unit) for value in (one.load, one.limit))
    text = f"{one.what}: {load} of {limit}"
    if not one.units:
        return text
    more = format_quantity(one.more, one.unit)
    gives = "give" if one.more != 1 or one.unit else "gives"
    return f"{text}; the next {more} there {gives} {one.units:,} × {product} ({one.accelerators:,} accelerators)"


def gain_text(first: DesignOutcome, other: DesignOutcome) -> str:
    """Return the gain of an alternative as a sentence; empty if it has no layout that is wanted."""
    before, after = first.best, other.best
    if after.layout is None or (before.passes and not after.passes):
        return ""
    return f"{other.what or other.label} {_gain(before, after) or 'brings nothing more'}"


def _gain(before: Design, after: Design) -> str:
    """Return the difference of ``after`` to ``before``; empty if there is none."""
    more = after.accelerators - before.accelerators
    product = after.product.type
    most = after.objective == "most-accelerators"
    if after.layout is None or before.layout is None:
        return f"gives {more:,} accelerators of {product}"
    if more > 0 and (most or not before.passes):
        units = after.layout.units - before.layout.units
        same = after.product == before.product
        what = f"{units:,} × {product}" if same else f"with {product}"
        return f"gives {more:,} accelerators more ({what})"
    if most:
        less = before.layout.count - after.layout.count if not more else 0
        return f"saves {value_text('fewest-racks', less)}" if less > 0 else ""
    saved = (before.value or 0) - (after.value or 0)
    if is_worth(after.objective):
        return f"gives {value_text(after.objective, -saved)} more" if saved < 0 else ""
    return f"saves {value_text(after.objective, saved)}" if saved > 0 else ""


def barred_texts(outcome: DesignOutcome) -> Iterator[str]:
    """Yield, for the racks of the best design, the rule that keeps them from holding more; equal ones once.

    Of racks that hold nothing, each rule is told: all of them are to be met.
    """
    best, classes = outcome.best, outcome.builder.classes
    most: dict[int, int] = {}
    for option in best.survey.options:
        most[option.position_class] = max(option.units, most.get(option.position_class, 0))
    found: dict[tuple[int, int, str, str], list[PositionClass]] = {}
    for one in best.survey.barred:
        held = most.get(one.position_class, 0)
        if one.units == held + 1:
            for policy, why in one.reasons if not held else one.reasons[:1]:
                told = held, one.units, policy, why
                found.setdefault(told, []).append(classes[one.position_class])
    for (held, units, policy, why), own in found.items():
        where = compress_hostlist(name for each in own for _, name in each.positions)
        what = f"{held} × {best.product.type}" if held else f"no {best.product.type}"
        yield f"{where}: {what}; with {units}, {policy}: {why}"


def table(rows: Sequence[Sequence[str]], *, left: set[int]) -> Iterator[str]:
    """Yield lines of columns, numbers to the right; columns that are empty are left out."""
    kept = [n for n in range(len(rows[0])) if any(row[n] for row in rows[1:])]
    widths = {n: max(len(row[n]) for row in rows) for n in kept}
    for row in rows:
        cells = [row[n].ljust(widths[n]) if n in left else row[n].rjust(widths[n]) for n in kept]
        yield f"  {'  '.join(cells)}".rstrip()


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
