"""COOL-002: air handlers move enough air with one unit lost."""

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
from rackwright.plan.missing import of_product
from rackwright.plan.racks.contributors import contributors, unknowns
from rackwright.plan.records.facility import HallLoad
from rackwright.policy.helpers.racks import excess
from rackwright.policy.helpers.remediation import add_units, either, place_fewer


@rule(
    "COOL-002",
    "Air handlers move enough air with one unit lost",
    Severity.HIGH,
    since="0.1",
    stage="concept",
)
class Airflow(Policy):
    """The air that devices draw, and what leaks past them, is supplied at the site's altitude."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each hall with heat in its air and air handlers."""
        for site in plan.onprem:
            for row in site.cooling.halls:
                if row.handler is not None and row.heat_air_w != 0:
                    yield _hall(site, row)


def _hall(site: SitePlan, row: HallLoad) -> Measure:
    racks = [racks for racks in site.racks if racks.hall == row.hall]
    density, supply, limit = row.density_ratio, row.supply_cfm, row.air_supply_n1_cfm
    value = None if supply is None or not density else supply / density
    over = excess(value, limit)
    shares = contributors(site, "airflow_cfm", racks, per_rack=False) if over else ()
    fix = None
    if over and value is not None and row.airflow_cfm is not None:
        fix = either(
            place_fewer(shares, over * row.airflow_cfm / value),
            add_units(over, row.air_supply_cfm, row.handlers, row.handler),
        )
    altitude = (*site.path, "altitude")
    missing = unknowns(site, "airflow_cfm", racks)
    if density is None:
        missing += (Missing(f"'altitude' of the site '{site.name}'", altitude),)
    elif not density:
        missing += (Missing(f"density of the air at {site.altitude:g} m", altitude),)
    if limit is None and row.handler is not None:
        missing += (of_product(row.handler, "airflow", "published airflow"),)
    return Measure(
        Subject(f"{site.name} hall {row.hall}", row.path),
        value=value,
        limit=limit,
        unit="CFM",
        what="airflow with leakage, one air handler lost,",
        contributors=shares,
        fix=fix,
        missing=missing,
    )
