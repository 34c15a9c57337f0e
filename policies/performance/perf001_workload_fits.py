"""PERF-001: a workload fits the memory of its accelerators."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.plan.workload.prediction import Prediction


@rule(
    "PERF-001",
    "A workload fits the memory of its accelerators",
    Severity.HIGH,
    since="0.4",
    stage="design",
)
class WorkloadFits(Policy):
    """The model of each workload can be spread over its accelerators, and fits their memory."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each workload, in GB of one accelerator."""
        for found in plan.predictions:
            yield _judge(plan, found)


def _judge(plan: Plan, found: Prediction) -> Measure | Finding:
    at = Subject(f"{plan.name} workload {found.workload.name}", found.path)
    if found.problem is not None:
        return Finding(
            at, ok=False, message=found.problem, fix="change 'layout', 'hosts' or 'precision'"
        )
    if found.step is None or found.memory is None:
        missing = tuple(Missing(*one) for one in found.lacking)
        return Finding(at, ok=None, message="memory that the model needs", missing=missing)
    return Measure(
        at,
        value=found.step.memory.total(found.step.repeated) / 1e9,
        limit=found.memory / 1e9,
        unit="GB",
        what="memory of an accelerator",
        sense="at_most",
    )
