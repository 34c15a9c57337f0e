"""PWR-021: the lowest fault current trips the breaker of each circuit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.plan.racks.contributors import subject
from rackwright.policy.helpers.racks import is_over


@rule(
    "PWR-021",
    "The lowest fault current trips the breaker of each circuit",
    Severity.CRITICAL,
    since="0.4",
    stage="design",
    profile=Profile.PILOT,
)
class LeastFault(Policy):
    """A fault at the end of a circuit opens its breaker at once."""

    trip: Annotated[float, Field(ge=1, le=30)] = 10.0
    """Multiple of its rating at which a breaker surely opens at once: 10 for type C of IEC 60898-1."""
    feeder_trip: Annotated[float, Field(ge=1, le=30)] = 3.0
    """Multiple of its rating at which the breaker in front of a panel, a UPS or a busway opens, whose
    release can be set."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each source and each feed of a class of racks whose conductors are stated."""
        for site in plan.onprem:
            for row in site.power.line_ratings:
                trip, when = self.trip, " at once"
                at = Subject(f"{site.name} source {row.source}", row.path)
                if row.rack is None:
                    trip, when = self.feeder_trip, ""
                else:
                    at = subject(site, row.rack, f"feed {row.feed}", row.path)
                limit = None if row.breaker_a is None else trip * row.breaker_a
                value = row.fault_a
                yield Measure(
                    at,
                    value=value,
                    limit=limit,
                    unit="A",
                    what="lowest fault current at the end of the circuit, against a breaker that trips"
                    f"{when} at {trip:g} times its rating,",
                    sense="at_least",
                    fix="provide thicker or shorter conductors, a supply with a higher fault current, "
                    "or a breaker that trips at less ('trip')"
                    if is_over(limit, value)
                    else None,
                    missing=row.missing_fault,
                )
