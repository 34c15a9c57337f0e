"""COOL-018: nothing freezes on the coldest day."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.policy.helpers.racks import is_over


@rule(
    "COOL-018",
    "Nothing freezes on the coldest day",
    Severity.CRITICAL,
    since="0.4",
    stage="design",
    profile=Profile.PILOT,
)
class Freezing(Policy):
    """Water in the open air stays liquid on the coldest day that the site is designed for."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for the dry coolers and towers of each circuit that are not protected."""
        for site in plan.onprem:
            for row in site.cooling.freezing:
                yield Measure(
                    Subject(f"{site.name} {row.machine}", row.path),
                    value=row.coldest_c,
                    limit=row.freezes_c,
                    unit="°C",
                    what="outdoor air on the coldest day, against the freezing point of the fluid,",
                    sense="at_least",
                    fix="fill the circuit with more glycol ('freezing_point'), or drain or heat the units "
                    "('freeze_protected')"
                    if is_over(row.freezes_c, row.coldest_c)
                    else None,
                    missing=row.missing,
                )
