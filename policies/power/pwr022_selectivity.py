"""PWR-022: the breaker next to a fault opens, not the one above it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import Enforcement, Finding, Measure, Plan, Policy, Severity, Subject, rule
from rackwright.plan.racks.contributors import subject
from rackwright.policy.helpers.racks import is_over


@rule(
    "PWR-022",
    "The breaker next to a fault opens, not the one above it",
    Severity.MEDIUM,
    since="0.4",
    stage="design",
    enforcement=Enforcement.ADVISORY,
)
class Selectivity(Policy):
    """Each breaker is well below the one above it."""

    ratio: Annotated[float, Field(ge=1, le=10)] = 1.6
    """Least ratio of the rating of a breaker to that of the one below it."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each circuit with conductors and a circuit above it."""
        for site in plan.onprem:
            for row in site.power.line_ratings:
                if row.above_a is None or row.breaker_a is None:
                    continue
                at = Subject(f"{site.name} source {row.source}", row.path)
                if row.rack is not None:
                    at = subject(site, row.rack, f"feed {row.feed}", row.path)
                limit = row.above_a / self.ratio
                yield Measure(
                    at,
                    value=row.breaker_a,
                    limit=limit,
                    unit="A",
                    what=f"breaker below a breaker of {row.above_a:,.0f} A, at a ratio of {self.ratio:g},",
                    fix="take a smaller breaker or a larger one above it, or show their selectivity by "
                    "the maker's tables and lower 'ratio'"
                    if is_over(row.breaker_a, limit)
                    else None,
                )
