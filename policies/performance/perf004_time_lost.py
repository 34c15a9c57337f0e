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
from rackwright.model.quantities import format_quantity
from rackwright.plan.workload.prediction import Prediction
from rackwright.plan.workload.run import LostTime


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
        value = None if lost is None else 100 * (lost.failures + lost.checkpoints)
        missing: tuple[str, ...] = tuple(Missing(*one) for one in found.lacking)
        if lost is not None and value is not None:
            missing = lost.writing.missing if value <= self.at_most else ()
        return Measure(
            Subject(f"{plan.name} workload {found.workload.name}", found.path),
            value=None if missing else value,
            limit=self.at_most,
            unit="%",
            what="share of the time lost to failures and checkpoints",
            sense="at_most",
            fix=None if lost is None else _fix(lost),
            missing=missing,
        )


def _fix(lost: LostTime) -> str:
    """Return the fields that reduce the lost time, with their values."""
    ways = ["shorten 'restart'"]
    if lost.best_interval is not None and lost.gain >= 0.001:
        best = format_quantity(lost.best_interval / 60, "min")
        ways.append(f"set 'checkpoint_interval' to {best}")
    if lost.async_gain >= 0.001:
        ways.append("set 'async_save: true'")
    elif lost.writing.copy is None and not (lost.writing.background or lost.writing.missing):
        ways.append("set 'async_save: true' and 'checkpoint_stall' to the time of the copies alone")
    return ", or ".join(ways)
