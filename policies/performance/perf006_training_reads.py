"""PERF-006: reading training data costs a workload little."""

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
    "PERF-006",
    "Reading training data costs a workload little",
    Severity.MEDIUM,
    since="0.5",
    stage="design",
    enforcement=Enforcement.ADVISORY,
)
class TrainingData(Policy):
    """Steps of a workload wait no longer for training data than ``at_most`` percent of their time."""

    at_most: Annotated[float, Field(ge=0, le=100)] = 5
    """Largest share of a step in which it waits for data, in %."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each workload."""
        for found in plan.predictions:
            yield self._judge(plan, found)

    def _judge(self, plan: Plan, found: Prediction) -> Measure:
        step, reads = found.step, found.reads
        lost, fix = None, None
        missing: tuple[str, ...] = tuple(Missing(*one) for one in found.lacking)
        if step is not None and reads is not None:
            missing = reads.missing
            # Under a power cap a job asks for less.
            lost = None if missing else 100 * max(0.0, 1 - reads.limit / found.wanted)
            wider = reads.wider(found.wanted)
            fix = None if wider is None else f"'{wider[0][-1]}': {wider[1]}"
        return Measure(
            Subject(f"{plan.name} workload {found.workload.name}", found.path),
            value=lost,
            limit=self.at_most,
            unit="%",
            what="share of a step spent waiting for training data",
            sense="at_most",
            fix=fix,
            missing=missing,
        )
