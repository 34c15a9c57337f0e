"""Effect of a change on the tokens a day of each workload."""

from __future__ import annotations

from dataclasses import dataclass

from rackwright.plan.model import Plan
from rackwright.plan.workload.run import Bounds


@dataclass(frozen=True, slots=True)
class YieldChange:
    """Tokens a day of one workload before and after; None where they are unknown or it is not there."""

    workload: str
    before: Bounds | None
    after: Bounds | None

    @property
    def gain(self) -> float | None:
        """Return the tokens won as a share of those before, negative where they are lost."""
        if self.before is None or self.after is None:
            return None
        return self.after.value / self.before.value - 1


def compare_yields(before: Plan | None, after: Plan | None) -> tuple[YieldChange, ...]:
    """Return the workloads whose tokens a day change, in the order of the head."""
    one, other = _yields(before), _yields(after)
    return tuple(
        YieldChange(name, one.get(name), other.get(name))
        for name in dict.fromkeys((*other, *one))
        if one.get(name) != other.get(name)
    )


def _yields(plan: Plan | None) -> dict[str, Bounds | None]:
    if plan is None or not plan.workloads:
        return {}
    return {found.workload.name: found.a_day for found in plan.predictions}
