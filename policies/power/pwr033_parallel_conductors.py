"""PWR-033: conductors have the minimum size for their material and number."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.model.power import SiteCabling
from rackwright.plan.racks.contributors import subject
from rackwright.plan.records.power import LineRating

LEAST_PARALLEL_MM2 = 53.5
"""1/0 AWG: the smallest conductor that the NEC lets run in parallel (310.10(G)(1))."""
LEAST_ALUMINIUM_MM2 = {"nec": 3.31, "iec": 10.0}
"""12 AWG (NEC table 310.3(A)); IEC 60364-5-52 table 52.2 for cables of power circuits."""


@rule(
    "PWR-033",
    "Conductors have the minimum size for their material and number",
    Severity.HIGH,
    since="0.5",
    stage="design",
    profile=Profile.PILOT,
)
class SmallestConductors(Policy):
    """Small conductors do not share a load in parallel, and aluminium is not too thin for its terminals."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each line in parallel under the NEC, and for each of aluminium."""
        for site in plan.onprem:
            for row in site.power.line_ratings:
                yield from _line(site, row, site.power.settings.cabling)


def _line(site: SitePlan, row: LineRating, cabling: SiteCabling | None) -> Iterator[Measure]:
    at = Subject(f"{site.name} source {row.source}", row.path)
    if row.rack is not None:
        at = subject(site, row.rack, f"feed {row.feed}", row.path)
    asked = {}
    if row.parallel > 1 and (cabling is None or cabling.standard == "nec"):
        asked[f"cross-section of {row.parallel} conductors in parallel"] = LEAST_PARALLEL_MM2
    if row.material == "aluminium":
        least = LEAST_ALUMINIUM_MM2["iec" if cabling is None else cabling.standard]
        asked["cross-section of conductors of aluminium"] = least
    place = (*site.path, "power", "cabling")
    for what, limit in asked.items() if row.cross_section_mm2 is not None else ():
        yield Measure(
            at,
            value=row.cross_section_mm2,
            limit=None if cabling is None else limit,
            unit="mm²",
            what=what,
            sense="at_least",
            fix="lay fewer and larger conductors",
            missing=()
            if cabling is not None
            else (Missing("'cabling' of the site's power", place),),
        )
