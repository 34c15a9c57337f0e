"""Effect of a change on the tokens a day of each workload, and on the price of a token."""

from __future__ import annotations

from dataclasses import dataclass

from rackwright.plan.model import Plan
from rackwright.plan.workload.economy import economy
from rackwright.plan.workload.run import Bounds


@dataclass(frozen=True, slots=True)
class JobYield:
    """Yield of one workload; None where it is unknown.

    Attributes:
        a_day: tokens of a day.
        dollars: of 10¹² tokens.
    """

    a_day: Bounds | None = None
    dollars: Bounds | None = None


@dataclass(frozen=True, slots=True)
class YieldChange:
    """Yield of one workload before and after; nothing is known of one that is not there."""

    workload: str
    before: JobYield
    after: JobYield

    @property
    def gain(self) -> float | None:
        """Return the tokens won as a share of those before, negative where they are lost; None where there were none."""
        before, after = self.before.a_day, self.after.a_day
        if before is None or after is None or not before.value:
            return None
        return after.value / before.value - 1


def compare_yields(before: Plan | None, after: Plan | None) -> tuple[YieldChange, ...]:
    """Return the workloads whose tokens a day or their price change, in the order of the head."""
    one, other = _yields(before), _yields(after)
    none = JobYield()
    return tuple(
        YieldChange(name, one.get(name, none), other.get(name, none))
        for name in dict.fromkeys((*other, *one))
        if one.get(name) != other.get(name)
    )


def _yields(plan: Plan | None) -> dict[str, JobYield]:
    if plan is None or not plan.workloads:
        return {}
    found = {}
    for one in plan.predictions:
        spent = economy(plan, plan.cost, one)
        found[one.workload.name] = JobYield(one.a_day, None if spent is None else spent.dollars)
    return found
