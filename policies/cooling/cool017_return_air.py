"""COOL-017: air handlers carry the heat at the actual return temperature."""

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
from rackwright.plan.missing import of_product
from rackwright.plan.racks.contributors import unknowns
from rackwright.plan.records.facility import HallLoad
from rackwright.policy.helpers.racks import is_over
from rackwright.policy.helpers.remediation import provide


@rule(
    "COOL-017",
    "Air handlers carry the heat at the actual return temperature",
    Severity.HIGH,
    since="0.4",
    stage="design",
    profile=Profile.PILOT,
)
class ReturnAir(Policy):
    """The capacity of air handlers is that at the temperature which the hall gives back to them."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each hall with heat in its air."""
        for site in plan.onprem:
            for row in site.cooling.halls:
                if row.handler is not None and row.heat_air_w != 0:
                    yield _hall(site, row, row.handler)


def _hall(site: SitePlan, row: HallLoad, handler: str) -> Measure:
    value, limit = row.heat_air_w, row.returned_n1_w
    racks = [rack for rack in site.racks if rack.hall == row.hall]
    missing: list[str] = []
    if row.rated_return_c is None:
        missing.append(
            of_product(handler, "return_temperature", "return temperature of its capacity")
        )
    if limit is None and row.return_c is None:
        missing += unknowns(site, "heat_air_w", racks)
        missing += unknowns(site, "airflow_cfm", racks)
    elif limit is None and row.air_capacity_n1_w is None:
        place = (*site.path, "altitude")
        missing.append(Missing(f"'altitude' of the site '{site.name}'", place))
    air = "" if row.return_c is None else f", with return air of {row.return_c:.1f} °C"
    return Measure(
        Subject(f"{site.name} hall {row.hall}", (*row.path, "air")),
        value=value,
        limit=limit,
        unit="W",
        what=f"heat into the air, one {handler} lost{air}, rated at {row.rated_return_c:g} °C,"
        if row.rated_return_c is not None
        else f"heat into the air, one {handler} lost{air},",
        fix=f"{provide(value, 'W', 'air handlers')}, or contain the aisles and let the air warm up more"
        if is_over(value, limit)
        else None,
        missing=tuple(missing),
    )
