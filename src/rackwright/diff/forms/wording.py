"""Words and numbers that the forms of a comparison share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, replace

from rackwright.diff.budgets import Budget
from rackwright.diff.compare import Comparison
from rackwright.diff.costs import Cost
from rackwright.diff.findings import BAD
from rackwright.diff.hardware import HostChange
from rackwright.diff.results import Pair
from rackwright.diff.yields import YieldChange
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted
from rackwright.model.quantities import format_quantity
from rackwright.plan.workload.run import Bounds
from rackwright.policy.api import Enforcement, Outcome
from rackwright.policy.engine import Result
from rackwright.policy.excess import moved
from rackwright.report.prediction import amount
from rackwright.report.wording import MOST_SUBJECTS

NOTHING = "—"
"""Stands for a value that there is not, on that side."""


def headline(comparison: Comparison) -> str:
    """Return the verdict in one line, the blueprint's name aside."""
    parts = []
    if comparison.after is None:
        parts.append("the blueprint is removed")
    else:
        blocking = sum(1 for result in comparison.after.results if result.blocks)
        fresh = sum(1 for pair in comparison.findings.new if pair.result.blocks)
        if blocking:
            parts.append(f"{counted(blocking, 'blocking finding')} ({fresh:,} new)")
    if excused := comparison.findings.excused:
        verb = "is" if len(excused) == 1 else "are"
        parts.append(f"{counted(len(excused), 'tolerated finding')} {verb} new or worse")
    if comparison.refused:
        parts.append(f"{counted(len(comparison.refused), 'change')} would destroy data")
    if parts:
        return ", ".join(parts)
    if comparison.is_empty:
        return "nothing changes"
    return "nothing to check" if comparison.exit_code is ExitCode.NOTHING else "passes"


def quantity(value: float | None, unit: str) -> str:
    """Return the value with its unit; a dash where there is none."""
    return NOTHING if value is None else format_quantity(value, unit)


def alike(budgets: Iterable[Budget]) -> list[tuple[Budget, ...]]:
    """Return the budgets that differ in their subject only, together, in the order of the first of each."""
    groups: dict[tuple[object, ...], list[Budget]] = {}
    for budget in budgets:
        key = astuple(replace(budget, subject=""))
        groups.setdefault(key, []).append(budget)
    return [tuple(group) for group in groups.values()]


def subjects(group: Sequence[Budget]) -> str:
    """Return the first subject of alike budgets, how many there are more, and what is measured."""
    more = len(group) - 1
    others = f" and {more:,} alike" if more else ""
    return f"{group[0].subject}{others}: {group[0].what.rstrip(',')}"


def alike_pairs(pairs: Iterable[Pair]) -> list[tuple[Pair, ...]]:
    """Return findings that differ in their subject only, together, in the order of the first of each."""
    groups: dict[tuple[object, ...], list[Pair]] = {}
    for pair in pairs:
        result = pair.result
        key = (result.policy, result.outcome, result.blocks, message(pair), result.fix)
        groups.setdefault(key, []).append(pair)
    return [tuple(group) for group in groups.values()]


def the_others(group: Sequence[Pair]) -> str:
    """Return the subjects of all pairs but the first; empty when there is only one."""
    names = [pair.subject for pair in group[1:]]
    more = len(names) - MOST_SUBJECTS
    return ", ".join(names[:MOST_SUBJECTS]) + (f" and {more:,} more" if more > 0 else "")


def limit(budget: Budget) -> str:
    """Return the head's limit, and the base's where it was another one."""
    now = quantity(budget.limit, budget.unit)
    then = quantity(budget.limit_before, budget.unit)
    moved = budget.limit_before is not None and budget.limit is not None and now != then
    return f"{then} → {now}" if moved else now


def standing(budget: Budget) -> str:
    """Return the meaning of the head's measure: ``PWR-001 blocks``, ``ok (88 %)``, ``gone``."""
    if budget.outcome is None:
        return "gone"
    if budget.outcome is Outcome.PASS:
        return "ok" if budget.used is None else f"ok ({budget.used:.0f} %)"
    if budget.blocks:
        unknown = ", unknown" if budget.outcome is Outcome.UNKNOWN else ""
        return f"{budget.policy} blocks{unknown}"
    if budget.known:
        return f"{budget.policy} is in the baseline"
    verb = {Outcome.WAIVED: "is waived", Outcome.UNKNOWN: "is unknown"}
    return f"{budget.policy} {verb.get(budget.outcome, 'warns')}"


SMALL = 0.0005
"""Share of its tokens that a workload is not said to win or lose: it is less than what is printed."""


def tokens(value: Bounds | None) -> str:
    """Return the tokens of a day, ``unknown`` where they are not known."""
    return "unknown" if value is None else f"{amount(value.value)} tokens/day"


def gain(change: YieldChange) -> str:
    """Return what a workload wins or loses, as a share."""
    if change.gain is None:
        return ""
    return f"{change.gain:+.1%}" if abs(change.gain) >= SMALL else "unchanged"


def token_dollars(change: YieldChange) -> str:
    """Return the price of 10¹² tokens before and after; empty where neither is known."""
    each = [one.dollars for one in (change.before, change.after)]
    if each == [None, None]:
        return ""
    before, after = ("unknown" if one is None else f"${one.value:,.0f}" for one in each)
    return f"{before} → {after} per T tokens"


def dollars(cost: Cost | None, *, hourly: bool) -> str:
    """Return a cost an hour or a year; a bound where a price is missing."""
    if cost is None:
        return NOTHING
    value = cost.per_hour if hourly else cost.per_year
    decimals = 2 if hourly else 0
    return f"{'' if cost.complete else 'at least '}${value:,.{decimals}f}"


def difference(before: Cost | None, after: Cost | None, *, hourly: bool) -> str:
    """Return the increase of the cost, if both are known whole."""
    if before is None or after is None or not (before.complete and after.complete):
        return NOTHING
    one, other = ((cost.per_hour if hourly else cost.per_year) for cost in (before, after))
    decimals = 2 if hourly else 0
    return f"{'-' if other < one else '+'}${abs(other - one):,.{decimals}f}"


def message(pair: Pair) -> str:
    """Return the newer message with the move of its limit; for a subject that is gone, that it is gone."""
    if pair.after is None:
        return "it is not there any more"
    step = limit_step(pair)
    text = pair.after.message
    return f"{text}; {step}" if step and step not in text else text


def limit_step(pair: Pair) -> str:
    """Return the words about the limit of a failure that moved, with both numbers; empty if it did not."""
    old, new = pair.before, pair.after
    if old is None or new is None or old.unit != new.unit or new.outcome is Outcome.PASS:
        return ""
    if old.limit is None or new.limit is None or new.value is None:
        return ""
    return moved(old.limit, new.limit, new.unit, at_most=new.value > new.limit)


def weight(result: Result) -> str:
    """Return the reason why a finding does not block: ``advisory``, or its permission; empty if it blocks."""
    if result.blocks or result.outcome not in BAD | {Outcome.WAIVED}:
        return ""
    if result.enforcement is not Enforcement.MANDATORY:
        return "advisory"
    return "waived" if result.outcome is Outcome.WAIVED else "in the baseline"


def hosts(change: HostChange) -> str:
    """Return the hosts that come and go."""
    parts = []
    if change.added:
        parts.append(f"+ {change.added}")
    if change.removed:
        parts.append(f"- {change.removed}")
    return "; ".join(parts) or f"{change.before:,} → {change.after:,} instances"
