"""PERF-004: failures and checkpoints cost a workload little."""

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
    "PERF-004",
    "Failures and checkpoints cost a workload little",
    Severity.MEDIUM,
    since="0.4",
    stage="design",
    enforcement=Enforcement.ADVISORY,
)
class TimeLost(Policy):
    """Failures, restarts and checkpoints take no more of a workload's time than ``at_most`` percent."""

    at_most: Annotated[float, Field(ge=0, le=100)] = 10
    """Largest share of the time that is spent on other than steps, in %."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each workload that names a job with its checkpoints."""
        for found in plan.predictions:
            if found.workload.job is not None:
                yield self._judge(plan, found)

    def _judge(self, plan: Plan, found: Prediction) -> Measure:
        lost = found.lost
        return Measure(
            Subject(f"{plan.name} workload {found.workload.name}", found.path),
            value=None if lost is None else 100 * (lost.failures + lost.checkpoints),
            limit=self.at_most,
            unit="%",
            what="share of the time lost to failures and checkpoints",
            sense="at_most",
            fix="restart faster, set a better 'checkpoint_interval', or write checkpoints asynchronously ('async_save')",
            missing=() if lost is not None else tuple(Missing(*one) for one in found.lacking),
        )
