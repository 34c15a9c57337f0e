"""How policies hold the power of a facility against what its utility has contracted."""

from __future__ import annotations

from rackwright.plan.missing import Missing
from rackwright.plan.model import SitePlan, Subject
from rackwright.plan.racks.contributors import contributors, unknowns
from rackwright.plan.racks.power_shares import plant_contributors, with_overhead
from rackwright.policy.api import Measure
from rackwright.policy.helpers.racks import excess
from rackwright.policy.helpers.remediation import either, place_fewer, provide


def measure_contract(site: SitePlan, at: Subject, what: str) -> Measure:
    """What the facility draws in W: racks, cooling and losses; the limit is its contract."""
    value, limit = site.totals.facility_w, site.totals.contract_w
    over = excess(value, limit)
    shares = contributors(site, "power_w", per_rack=False) if over else ()
    shares = with_overhead(shares, site.overhead)
    missing = unknowns(site, "power_w") + site.overhead.missing
    if value is None and not missing:
        missing = site.distribution.missing
    if limit is None:
        place = (*site.path, "power", "contract")
        missing += (Missing("'contract' of the site's power", place),)
    return Measure(
        at,
        value=value,
        limit=limit,
        unit="W",
        what=what,
        contributors=(*shares, *plant_contributors(site)) if over else (),
        fix=either(place_fewer(shares, over), provide(value, "W", "a contract")) if over else None,
        missing=missing,
    )
