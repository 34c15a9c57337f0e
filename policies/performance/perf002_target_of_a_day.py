"""PERF-002: a workload reaches its target of tokens per day."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.plan.workload.changes import changes


@rule(
    "PERF-002",
    "A workload reaches its target of tokens per day",
    Severity.HIGH,
    since="0.4",
    stage="design",
)
class TargetOfADay(Policy):
    """The least tokens a day of the predicted range, failures included, reach the target."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each workload with a target."""
        for found in plan.predictions:
            target = found.workload.target
            if target is None:
                continue
            known = found.a_day is not None and found.effective is not None
            # Without any failure a job gains most, but no field brings that.
            ways = (one for one in changes(found) if len(one.path) > 1) if known else iter(())
            best = next(ways, None)
            yield Measure(
                Subject(f"{plan.name} workload {found.workload.name}", found.path),
                value=found.a_day.low / 1e9 if known and found.a_day is not None else None,
                limit=target / 1e9,
                unit="B tokens/day",
                what="least tokens of a day",
                sense="at_least",
                fix=f"'{best.path[-1]}': {best.what} brings {best.gain:.1%}" if best else None,
                missing=tuple(Missing(*one) for one in found.lacking),
            )
