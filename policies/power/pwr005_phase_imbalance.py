"""PWR-005: the lines of three-phase sources are loaded evenly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import Finding, Measure, Plan, Policy, Severity, SitePlan, Subject, rule
from rackwright.plan.records.power import SourceLoad
from rackwright.policy.helpers.power import no_capacity
from rackwright.policy.helpers.racks import BelowSources


@rule(
    "PWR-005", "Three-phase sources are loaded evenly", Severity.MEDIUM, since="0.1", stage="design"
)
class PhaseImbalance(Policy):
    """No line of a loaded source is further from the mean than a share of what a line carries."""

    warn_percent: Annotated[float, Field(ge=0, le=100)] = 10
    """Largest deviation of a line from the mean before a warning, of what a line carries."""
    fail_percent: Annotated[float, Field(ge=0, le=100)] = 20
    """Largest deviation of a line from the mean, of what a line carries."""
    from_percent: Annotated[float, Field(ge=0, le=100)] = 25
    """Share of its capacity that a source must carry to be judged."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure, and a warning step, for each source that carries enough."""
        for site in plan.onprem:
            below = BelowSources(site)
            for row in site.power.sources:
                if row.load_w != 0 and not self._spared(row):
                    yield self._measure(site, row, below)

    def _spared(self, row: SourceLoad) -> bool:
        """Return True if a source carries too little for its lines to matter."""
        load, capacity = row.load_w, row.capacity_w
        if load is None or capacity is None:
            return False
        return load < capacity * self.from_percent / 100

    def _measure(self, site: SitePlan, row: SourceLoad, below: BelowSources) -> Measure:
        deviation, capacity = row.deviation_w, row.capacity_w
        value = None
        missing: list[str] = []
        if deviation is None:
            missing += site.power.tree.missing or below.lacking(row.source)
        if not capacity:
            missing.append(no_capacity(site, row.source))
        if deviation is not None and capacity:
            value = 100 * deviation / (capacity / 3)
        unknown = value is None
        worst = value is not None and value > self.fail_percent
        return Measure(
            Subject(f"{site.name} source {row.source}", row.path),
            value=value,
            limit=self.fail_percent if worst or unknown else self.warn_percent,
            unit="%",
            what="phase imbalance, as a share of what one line carries,",
            fix="start each rack's PDU on another line than its neighbour's",
            missing=tuple(missing),
            advisory=not worst and not unknown,
        )
