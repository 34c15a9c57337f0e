"""REL-004: the scheduler survives the loss of a controller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    FieldPath,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    rule,
)
from rackwright.model.reliability import Reliability
from rackwright.plan.reliability.failures import count_controllers


@rule(
    "REL-004",
    "The scheduler survives the loss of a controller",
    Severity.HIGH,
    since="0.2",
    stage="design",
    profile=Profile.PRODUCTION,
)
class Controllers(Policy):
    """There are three controllers, or two with fencing."""

    quorum: Annotated[int, Field(ge=1, le=9)] = 3
    """Controllers of which a majority is left when one is lost."""
    fenced: Annotated[int, Field(ge=1, le=9)] = 2
    """Controllers that suffice when the one that takes over switches the other one off."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each cluster, or for the head nodes where there is no scheduler."""
        if plan.is_federated:
            for member in plan.members:
                yield from self.check(member.plan)
            return
        scheduler = plan.scheduler
        count = count_controllers(plan)
        if scheduler is None and not count:
            return
        fencing = (plan.reliability or Reliability()).controller_fencing
        limit: int | None = self.fenced if fencing else self.quorum
        missing: tuple[str, ...] = ()
        if fencing is None and self.fenced <= count < self.quorum:
            words = "'controller_fencing' in 'reliability'"
            limit, missing = None, (Missing(words, ("reliability", "controller_fencing")),)
        path: FieldPath = ("scheduler", "controllers") if scheduler is not None else ("sites",)
        fix = f"run {self.quorum} controllers"
        if self.fenced < self.quorum:
            fix += f", or {self.fenced} with fencing"
        yield Measure(
            Subject(f"{plan.name} controllers", path),
            value=count,
            limit=limit,
            unit="controllers",
            what="number of controllers",
            sense="at_least",
            fix=fix,
            missing=missing,
        )
