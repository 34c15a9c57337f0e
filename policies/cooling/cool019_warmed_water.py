"""COOL-019: water still cools at the end of its allowed warming."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.policy.helpers.racks import is_over


@rule(
    "COOL-019",
    "Water still cools at the end of its allowed warming",
    Severity.CRITICAL,
    since="0.5",
    stage="design",
    profile=Profile.PILOT,
)
class WarmedWater(Policy):
    """Water that warms while chillers start is still cold enough for coils and cold plates."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for the air handlers and loops of each circuit that may warm up."""
        for site in plan.onprem:
            for row in site.cooling.warmed_fits:
                plates = row.kind == "plates"
                yield Measure(
                    Subject(f"{site.name} {row.machine}", row.path),
                    value=row.water_c,
                    limit=row.limit_c,
                    unit="°C",
                    what=f"temperature of the {'coolant' if plates else 'water in the coils'} "
                    "at the end of the allowed warming",
                    fix="state a smaller 'warming' of the circuit, or supply colder water"
                    if is_over(row.water_c, row.limit_c)
                    else None,
                    missing=row.missing,
                )
