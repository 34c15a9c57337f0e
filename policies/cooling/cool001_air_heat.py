"""COOL-001: air handlers carry the heat of a hall with one unit lost."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.plan.racks.contributors import contributors, unknowns
from rackwright.plan.racks.heat_unknowns import missing_of_doors
from rackwright.plan.records.facility import HallLoad
from rackwright.policy.helpers.racks import excess
from rackwright.policy.helpers.remediation import add_units, either, place_fewer


@rule(
    "COOL-001",
    "Air handlers carry the heat of a hall with one unit lost",
    Severity.CRITICAL,
    since="0.1",
    stage="concept",
)
class AirHeat(Policy):
    """Heat into the air of a hall stays inside the capacity of its air handlers less one."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each hall that has heat in its air."""
        for site in plan.onprem:
            for row in site.cooling.halls:
                if row.heat_air_w != 0:
                    yield _hall(site, row)


def _hall(site: SitePlan, row: HallLoad) -> Measure:
    racks = [racks for racks in site.racks if racks.hall == row.hall]
    value, limit = row.heat_air_w, row.air_capacity_n1_w
    over = excess(value, limit)
    shares = contributors(site, "heat_air_w", racks, per_rack=False) if over else ()
    fix = None
    if over:
        fix = either(
            place_fewer(shares, over),
            add_units(over, row.air_capacity_w, row.handlers, row.handler),
        )
    altitude = (*site.path, "altitude")
    missing = unknowns(site, "heat_air_w", racks)
    if value is None:
        missing += missing_of_doors(site, racks)
    if row.handler is None:
        missing += (Missing(f"'air' of the hall '{row.hall}'", (*row.path, "air")),)
    elif row.density_ratio is None:
        missing += (Missing(f"'altitude' of the site '{site.name}'", altitude),)
    elif limit is None:
        missing += (Missing(f"density of the air at {site.altitude:g} m", altitude),)
    return Measure(
        Subject(f"{site.name} hall {row.hall}", row.path),
        value=value,
        limit=limit,
        unit="W",
        what="heat into the air, one air handler lost,",
        contributors=shares,
        fix=fix,
        missing=missing,
    )
