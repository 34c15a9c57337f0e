"""PWR-019: generators have fuel for the required time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.plan.records.power import Autonomy


@rule(
    "PWR-019",
    "Generators have fuel for the required time",
    Severity.MEDIUM,
    since="0.3",
    stage="design",
    profile=Profile.PRODUCTION,
)
class Fuel(Policy):
    """The fuel stored for each generator lasts for some hours at its capacity."""

    least_hours: Annotated[float, Field(ge=0, le=8760)] = 12
    """Hours for which it lasts."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each generator."""
        for site in plan.onprem:
            for row in site.power.autonomies:
                if row.kind == "generator":
                    yield self._generator(site, row)

    def _generator(self, site: SitePlan, row: Autonomy) -> Measure:
        generator = site.power.tree.sources[row.source]
        missing = tuple(
            site.power.tree.unsaid(row.source, name)
            for name in ("fuel", "consumption")
            if getattr(generator, name) is None
        )
        fix = None
        if generator.consumption is not None:
            litres = generator.consumption * 60 * self.least_hours
            fix = f"store at least {litres:,.0f} L, or ask for fewer hours ('least_hours')"
        return Measure(
            Subject(f"{site.name} source {row.source}", row.path),
            value=None if row.runtime_s is None else row.runtime_s / 3600,
            limit=self.least_hours,
            unit="h",
            what="fuel runtime at full capacity",
            sense="at_least",
            fix=fix,
            missing=missing,
        )
