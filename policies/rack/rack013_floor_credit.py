"""RACK-013: the floor carries the racks with a realistic share of the aisles."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Profile, Severity, rule
from rackwright.plan.racks.contributors import subject, unknowns
from rackwright.policy.helpers.racks import is_over
from rackwright.policy.helpers.remediation import provide


@rule(
    "RACK-013",
    "The floor carries the racks with a realistic share of the aisles",
    Severity.CRITICAL,
    since="0.4",
    stage="design",
    profile=Profile.LAB,
)
class FloorCredit(Policy):
    """Deep aisles do not make a rack lighter."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each class of racks with aisles."""
        for site in plan.onprem:
            halls = {row.hall: row for row in site.cooling.halls}
            for rack in site.racks:
                area, weight = rack.kind.credited_m2, rack.kind.weight_kg
                if area is None:
                    continue  # RACK-004 asks for the aisles
                limit = halls[rack.hall].floor_uniform_kgm2
                value = None if weight is None else weight / area
                missing = list(unknowns(site, "weight_kg", [rack]))
                if limit is None:
                    place = (*rack.path[:-4], "floor", "uniform")
                    missing.append(Missing(f"'uniform' of the floor of '{rack.hall}'", place))
                yield Measure(
                    subject(site, rack),
                    value=value,
                    limit=limit,
                    unit="kg/m2",
                    what="weight over the footprint and 0.762 m of aisle on each side at most",
                    fix=f"{provide(value, 'kg/m2', 'a floor')}, or spread the weight by plates or beams"
                    if is_over(value, limit)
                    else None,
                    missing=tuple(missing),
                )
