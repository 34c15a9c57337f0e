"""COOL-010: the facility stays inside its PUE budget and its utility contract."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from rackwright.plan.contributors import contributors, unknowns
from rackwright.plan.model import Contributor, Plan, SitePlan, Subject
from rackwright.plan.records.facility import SiteTotals
from rackwright.policy.api import Enforcement, Finding, Measure, Policy, Severity
from rackwright.policy.fixes import either, place_fewer, provide
from rackwright.policy.racks import excess
from rackwright.report.quantities import format_quantity


class Efficiency(Policy):
    """Expected PUE and facility power stay inside what was budgeted and contracted."""

    id: ClassVar[str] = "COOL-010"
    title: ClassVar[str] = "The facility stays inside its PUE budget and utility contract"
    severity: ClassVar[Severity] = Severity.MEDIUM
    since: ClassVar[str] = "0.1"
    family: ClassVar[str] = "cooling"
    enforcement: ClassVar[Enforcement] = Enforcement.ADVISORY

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Two measures for each site: PUE and facility power."""
        for site in plan.onprem:
            yield _pue(site, site.totals)
            yield _contract(site, site.totals)


def _pue(site: SitePlan, row: SiteTotals) -> Measure:
    value, limit, power = row.pue, site.site.pue_budget, row.it_power_w
    fix = None
    over = excess(value, limit)
    if over:
        fix = "lower the facility's overhead"
        if power is not None:
            fix += f" by {format_quantity(over * power, 'W')}"
    missing = [] if value is not None else ["'pue' of the site"]
    if limit is None:
        missing.append("'pue_budget' of the site")
    return Measure(
        Subject(f"site {site.site.name}", site.path),
        value=value,
        limit=limit,
        unit="",
        what="PUE",
        fix=fix,
        missing=tuple(missing),
    )


def _contract(site: SitePlan, row: SiteTotals) -> Measure:
    value, limit = row.facility_w, row.contract_w
    over = excess(value, limit)
    shares: tuple[Contributor, ...] = ()
    fix = None
    pue = row.pue
    if over and pue is not None:
        devices = contributors(site, "power_w", per_rack=False)
        shares = tuple(replace(device, each=device.each * pue) for device in devices)
        fix = either(place_fewer(shares, over), provide(value, "W", "a contract"))
    missing = unknowns(site, "power_w")
    if row.pue is None:
        missing += ("'pue' of the site",)
    if limit is None:
        missing += ("'contract' of the site's power",)
    return Measure(
        Subject(f"site {site.site.name}", site.path),
        value=value,
        limit=limit,
        unit="W",
        what="power of the facility (IT power × PUE)",
        contributors=shares,
        fix=fix,
        missing=missing,
    )
