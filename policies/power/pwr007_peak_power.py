"""PWR-007: peaks of synchronous jobs stay within the overload window."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Enforcement,
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    rule,
)
from rackwright.policy.helpers.power import missing_of_facility
from rackwright.policy.helpers.racks import BelowSources
from rackwright.policy.helpers.remediation import provide


@rule(
    "PWR-007",
    "Peaks of synchronous jobs stay within the overload window",
    Severity.MEDIUM,
    since="0.1",
    stage="design",
    enforcement=Enforcement.ADVISORY,
    mandatory_since="0.4",
    profile=Profile.PRODUCTION,
)
class PeakPower(Policy):
    """The sum of all peaks stays inside the overload window of each source."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each UPS and generator that carries load."""
        for site in plan.onprem:
            below = BelowSources(site)
            for row in site.power.sources:
                survives = row.redundancy == "N-1"
                # A generator stands by: it carries nothing until the utility is lost.
                carried = row.facility_worst_w if survives else row.facility_w
                if row.kind not in {"ups", "generator"} or carried == 0 or row.idle:
                    continue
                missing = list(missing_of_facility(site, row, below))
                value = row.peak_worst_w if survives else row.peak_w
                lost = row.peak_lost if survives else None
                if value is None and not missing:
                    missing += site.power.tree.missing or below.lacking(row.source, "peak_w")
                if row.overload_w is None:
                    words = "its overload window"
                    missing.append(site.power.tree.unsaid(row.source, "overload", words))
                yield Measure(
                    Subject(f"{site.name} source {row.source}", row.path),
                    value=value,
                    limit=row.overload_w,
                    unit="W",
                    what="peak when every device peaks at once"
                    + (f" after losing '{lost}'" if lost else ""),
                    fix=None if value is None else provide(value, "W", "an overload window"),
                    missing=tuple(missing),
                )
