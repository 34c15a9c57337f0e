"""PWR-005: the lines of three-phase sources are loaded evenly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field

from rackwright.plan.model import Plan, Subject
from rackwright.policy.api import Finding, Measure, Policy, Severity
from rackwright.policy.racks import BelowSources


class PhaseImbalance(Policy):
    """No source's lines differ more than a share of their mean."""

    id: ClassVar[str] = "PWR-005"
    title: ClassVar[str] = "Three-phase sources are loaded evenly"
    severity: ClassVar[Severity] = Severity.MEDIUM
    since: ClassVar[str] = "0.1"
    family: ClassVar[str] = "power"

    warn_percent: Annotated[float, Field(ge=0, le=100)] = 10
    """Largest deviation of a line from the mean before a warning."""
    fail_percent: Annotated[float, Field(ge=0, le=100)] = 20
    """Largest deviation of a line from the mean."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """A measure, and a warning step, for each source that carries load."""
        for site in plan.onprem:
            below = BelowSources(site, "power_w")
            for row in site.sources:
                if row.load_w == 0:
                    continue
                at = Subject(f"{site.site.name} source {row.source}", row.path)
                value = None
                if row.load_w is not None and row.imbalance is not None:
                    value = 100 * row.imbalance
                unknown = value is None
                missing: tuple[str, ...] = ()
                if unknown:
                    missing = site.distribution.missing or below.lacking(row.source)
                worst = value is not None and value > self.fail_percent
                yield Measure(
                    at,
                    value=value,
                    limit=self.fail_percent if worst or unknown else self.warn_percent,
                    unit="%",
                    what="deviation of the busiest or idlest line from the mean",
                    fix="start each rack's PDU on another line than its neighbour's",
                    missing=missing,
                    advisory=not worst and not unknown,
                )
