"""PERF-002: a workload reaches its target of tokens per day."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.plan.workload.changes import changes
from rackwright.plan.workload.prediction import Prediction


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
            value, best = None, None
            missing: tuple[str, ...] = tuple(Missing(*one) for one in found.lacking)
            if found.a_day is not None and found.effective is not None:
                value = found.a_day.low / 1e9
                # Without any failure a job gains most, but no field brings that.
                best = next((one for one in changes(found) if len(one.path) > 1), None)
            uncounted = _uncounted(found)
            # Storage only takes tokens away: a target that is missed without it is missed.
            if uncounted and value is not None and value >= target / 1e9:
                value, best, missing = None, None, (*missing, *uncounted)
            yield Measure(
                Subject(f"{plan.name} workload {found.workload.name}", found.path),
                value=value,
                limit=target / 1e9,
                unit="B tokens/day",
                what="least tokens of a day",
                sense="at_least",
                fix=f"'{best.path[-1]}': {best.what} brings {best.gain:.1%}" if best else None,
                missing=missing,
            )


def _uncounted(found: Prediction) -> tuple[str, ...]:
    """Return the facts without which storage may take tokens that the prediction does not count.

    Text on a file system that no dataset names asks for a few MB/s, which limit no job.
    """
    reads, lost = found.reads, found.lost
    missing = () if lost is None else lost.writing.missing
    if reads is None or (reads.token is not None and found.workload.dataset is None):
        return missing
    return (*reads.missing, *missing)
