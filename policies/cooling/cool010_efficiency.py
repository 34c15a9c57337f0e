"""COOL-010: the facility stays within its PUE budget and utility contract."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Enforcement,
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
from rackwright.model.quantities import format_quantity
from rackwright.plan.records.facility import SiteTotals
from rackwright.policy.helpers.power import has_no_contract, measure_contract
from rackwright.policy.helpers.racks import excess


@rule(
    "COOL-010",
    "The facility stays within its PUE budget and utility contract",
    Severity.MEDIUM,
    since="0.1",
    stage="concept",
    enforcement=Enforcement.ADVISORY,
)
class Efficiency(Policy):
    """Expected PUE and facility power stay inside what was budgeted and contracted."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield two measures for each site: PUE and facility power."""
        for site in plan.onprem:
            yield _pue(site, site.totals)
            if has_no_contract(site):
                continue
            at = Subject(f"site {site.name}", site.path)
            yield measure_contract(site, at, "power of the facility (IT power × PUE)")


def _pue(site: SitePlan, row: SiteTotals) -> Measure:
    value, limit, power = row.pue, site.pue_budget, row.it_power_w
    fix = None
    over = excess(value, limit)
    if over:
        fix = "lower the facility's overhead"
        if power is not None:
            fix += f" by {format_quantity(over * power, 'W')}"
    lacking = [n for n, found in (("pue", value), ("pue_budget", limit)) if found is None]
    return Measure(
        Subject(f"site {site.name}", site.path),
        value=value,
        limit=limit,
        unit="",
        what="PUE",
        fix=fix,
        missing=tuple(Missing(f"'{n}' of the site", (*site.path, n)) for n in lacking),
    )
