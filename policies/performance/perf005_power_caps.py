"""PERF-005: power caps cost a workload little."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Enforcement,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    Subject,
    rule,
)
from rackwright.plan.workload.prediction import Prediction


@rule(
    "PERF-005",
    "Power caps cost a workload little",
    Severity.MEDIUM,
    since="0.4",
    stage="design",
    enforcement=Enforcement.ADVISORY,
)
class PowerCaps(Policy):
    """The power cap of its hosts takes no more of a workload's speed than ``at_most`` percent."""

    at_most: Annotated[float, Field(ge=0, le=100)] = 10
    """Largest share of the speed that the cap takes, in %."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each workload."""
        for found in plan.predictions:
            yield self._judge(plan, found)

    def _judge(self, plan: Plan, found: Prediction) -> Measure:
        lost = None
        if found.step is not None:
            lost = 0.0 if found.slowed is None else 100 * (1 - found.slowed.value)
        return Measure(
            Subject(f"{plan.name} workload {found.workload.name}", found.path),
            value=lost,
            limit=self.at_most,
            unit="%",
            what="share of the speed lost to a power cap",
            sense="at_most",
            fix="raise 'power_cap', or use fewer hosts without one" if lost else None,
            missing=() if lost is not None else tuple(Missing(*one) for one in found.lacking),
        )
