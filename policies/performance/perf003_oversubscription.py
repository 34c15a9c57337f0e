"""PERF-003: oversubscription costs a workload little."""

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
from rackwright.plan.workload.prediction import Prediction, with_links


@rule(
    "PERF-003",
    "Oversubscription costs a workload little",
    Severity.MEDIUM,
    since="0.4",
    stage="design",
    enforcement=Enforcement.ADVISORY,
)
class Oversubscription(Policy):
    """The tiers above a scalable unit take no more of a workload's step than ``at_most`` percent."""

    at_most: Annotated[float, Field(ge=0, le=100)] = 5
    """Largest share of a step that oversubscription may add, in %."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each workload on bare metal."""
        for found in plan.predictions:
            yield self._judge(plan, found)

    def _judge(self, plan: Plan, found: Prediction) -> Measure:
        flat = with_links(found, oversubscription=1.0)
        lost = None
        if found.step is not None and flat is not None:
            lost = 100 * (1 - flat.seconds / found.step.seconds)
        return Measure(
            Subject(f"{plan.name} workload {found.workload.name}", found.path),
            value=lost,
            limit=self.at_most,
            unit="%",
            what="share of a step lost to oversubscription",
            sense="at_most",
            fix="add uplinks, or place the hosts of the job in one scalable unit" if lost else None,
            missing=() if lost is not None else tuple(Missing(*one) for one in found.lacking),
        )
