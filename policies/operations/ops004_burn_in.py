"""OPS-004: new nodes run under load before they take jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    Suggestion,
    rule,
)
from rackwright.policy.helpers.attestation import declared


@rule(
    "OPS-004",
    "New nodes run under load before they take jobs",
    Severity.MEDIUM,
    since="0.2",
    stage="build",
    profile=Profile.PRODUCTION,
)
class BurnIn(Policy):
    """Bare-metal nodes with accelerators are burnt in, with the knowledge of the facility."""

    least_hours: Annotated[float, Field(gt=0, le=2000)] = 48.0
    """Shortest burn-in in hours."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure and a finding for each bare-metal site with accelerators."""
        operations = plan.operations
        burn_in = operations.burn_in if operations else None
        duration = burn_in.duration if burn_in else None
        path = ("operations", "burn_in")
        for site in plan.onprem:
            if not site.totals.accelerators:
                continue
            at = Subject(f"{site.name} burn-in", path)
            yield Measure(
                at,
                value=None if duration is None else duration / 3600,
                limit=self.least_hours,
                unit="h",
                what="burn-in of new nodes",
                sense="at_least",
                fix=f"set 'duration: {self.least_hours:g} h' or more",
                suggest=Suggestion((*path, "duration"), f"{self.least_hours:g} h"),
                missing=(Missing("'duration' in 'operations.burn_in'", (*path, "duration")),)
                if duration is None
                else (),
            )
            yield declared(
                at,
                value=burn_in.facility_informed if burn_in else None,
                yes="the facility team knows when nodes are burnt in",
                no="the facility team does not know when nodes are burnt in",
                missing=Missing(
                    "'facility_informed' in 'operations.burn_in'", (*path, "facility_informed")
                ),
                fix="agree on dates and on the number of nodes at once, and set "
                "'facility_informed: true'",
            )
