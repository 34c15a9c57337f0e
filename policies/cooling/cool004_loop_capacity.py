"""COOL-004: the CDUs of a loop carry its heat and flow with one of them lost."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    LoopLoad,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.policy.helpers.cooling import missing_of_loop
from rackwright.policy.helpers.missing import of_product
from rackwright.policy.helpers.racks import contributors, excess, is_over
from rackwright.policy.helpers.remediation import add_units, either, format_quantity, place_fewer


@rule(
    "COOL-004",
    "CDUs carry the heat and flow of a loop with one of them lost",
    Severity.CRITICAL,
    since="0.1",
)
class LoopCapacity(Policy):
    """Heat and flow of a loop stay inside its CDUs less one, on the basis of their rating."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Measures of heat, flow and approach for each loop that carries heat."""
        for site in plan.onprem:
            for row in site.loops:
                if row.heat_w != 0:
                    at = Subject(f"{site.site.name} loop {row.loop}", row.path)
                    yield _heat(site, row, at)
                    yield _flow(site, row, at)
                    yield _pipes(site, row, at)
                    yield _approach(row, at)


def _classes(site: SitePlan, row: LoopLoad) -> list[int]:
    return [r.rack_class for r in site.rack_classes if r.loop == row.loop]


def _heat(site: SitePlan, row: LoopLoad, at: Subject) -> Measure:
    value, limit = row.heat_w, row.capacity_n1_w
    over = excess(value, limit)
    shares = contributors(site, "heat_liquid_w", _classes(site, row), per_rack=False)
    fix = None
    if over:
        more = add_units(over, row.capacity_w, row.cdus, row.cdu)
        fix = either(place_fewer(shares, over), more)
    return Measure(
        at,
        value=value,
        limit=limit,
        unit="W",
        what="heat into the loop, one CDU lost,",
        contributors=shares if over else (),
        fix=fix,
        missing=missing_of_loop(site, row),
    )


def _flow(site: SitePlan, row: LoopLoad, at: Subject) -> Measure:
    value, limit = row.flow_lpm, row.cdu_flow_n1_lpm
    over = excess(value, limit)
    fix = None
    if over:
        more = add_units(over, row.cdu_flow_lpm, row.cdus, row.cdu)
        fix = either(more, "raise 'temperature_rise'")
    missing = missing_of_loop(site, row)
    if limit is None:
        missing += (of_product(row.cdu, "flow", "published flow"),)
    return Measure(
        at,
        value=value,
        limit=limit,
        unit="L/min",
        what="flow of the loop, one CDU lost,",
        fix=fix,
        missing=missing,
    )


def _pipes(site: SitePlan, row: LoopLoad, at: Subject) -> Measure:
    value, limit = row.flow_lpm, row.flow_limit_lpm
    rise = None
    if value is not None and limit and value > limit:
        rise = row.rise_k * value / limit
    missing = missing_of_loop(site, row)
    if limit is None:
        place = (*row.path, "flow_limit")
        missing += (Missing(f"'flow_limit' of the loop '{row.loop}'", place),)
    return Measure(
        at,
        value=value,
        limit=limit,
        unit="L/min",
        what="flow of the loop through its piping",
        fix="lay larger pipes" if rise is None else f"raise 'temperature_rise' to {rise:.1f} K",
        missing=missing,
    )


def _approach(row: LoopLoad, at: Subject) -> Measure:
    value, limit = row.approach_k, row.catalogue_approach_k
    missing = []
    if value is None:
        missing.append(Missing(f"'approach' of the loop '{row.loop}'", (*row.path, "approach")))
    if limit is None:
        missing.append(of_product(row.cdu, "approach", "approach of its rating"))
    short = is_over(limit, value)
    return Measure(
        at,
        value=value,
        limit=limit,
        unit="K",
        what=f"approach at which the capacity of {row.cdu} is used",
        sense="at_least",
        fix=f"plan with {format_quantity(limit, 'K')}, or use the capacity at this approach"
        if short
        else None,
        missing=tuple(missing),
    )
