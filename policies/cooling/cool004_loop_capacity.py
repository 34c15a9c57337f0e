"""COOL-004: CDUs carry the heat and flow of a loop with one unit lost."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Contributor,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    RackClass,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.model.quantities import format_quantity
from rackwright.plan.cooling.loop_products import LoopDoor, doors_on, rise_within
from rackwright.plan.missing import of_product
from rackwright.plan.racks.contributors import contributors
from rackwright.plan.racks.heat_unknowns import missing_of_loop
from rackwright.plan.records.facility import LoopLoad
from rackwright.policy.helpers.racks import excess, is_over
from rackwright.policy.helpers.remediation import add_units, either, place_fewer


@rule(
    "COOL-004",
    "CDUs carry the heat and flow of a loop with one unit lost",
    Severity.CRITICAL,
    since="0.1",
    stage="concept",
)
class LoopCapacity(Policy):
    """Heat and flow of a loop stay inside its CDUs less one, on the basis of their rating.

    Those in a rack carry it whole, and its flow without one of their pumps.
    """

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield measures of heat, flow and approach for each loop that carries heat."""
        for site in plan.onprem:
            for row in site.cooling.loops:
                if row.heat_w != 0:
                    at = Subject(f"{site.name} loop {row.loop}", row.path)
                    yield _heat(site, row, at)
                    yield _flow(site, row, at)
                    yield _pipes(site, row, at)
                    yield _approach(row, at)


def _racks(site: SitePlan, row: LoopLoad) -> list[RackClass]:
    return [racks for racks in site.racks if racks.kind.loop == row.loop]


def _doors(site: SitePlan, row: LoopLoad) -> Iterator[LoopDoor]:
    """Yield the rear doors on a loop."""
    return doors_on(row.loop, site.racks)


def _heat(site: SitePlan, row: LoopLoad, at: Subject) -> Measure:
    if row.in_rack:
        return _heat_of_rack(site, row, at)
    value, limit = row.heat_w, row.capacity_n1_w
    over = excess(value, limit)
    shares = contributors(site, "heat_liquid_w", _racks(site, row), per_rack=False)
    shares += tuple(Contributor(d.entry, d.doors, d.heat_w) for d in _doors(site, row))
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


def _heat_of_rack(site: SitePlan, row: LoopLoad, at: Subject) -> Measure:
    """Return the hottest rack on its own CDUs; who loses one loses this rack, as REL-003 says."""
    over = excess(row.heat_w, row.capacity_w)
    return Measure(
        at,
        value=row.heat_w,
        limit=row.capacity_w,
        unit="W",
        what=f"heat of one rack into its {row.cdus} × {row.cdu}",
        fix=add_units(over, row.capacity_w, row.cdus, row.cdu) if over else None,
        missing=missing_of_loop(site, row),
    )


def _flow_of_rack(site: SitePlan, row: LoopLoad, at: Subject) -> Measure:
    value, limit = row.flow_lpm, row.pump_lost_lpm
    missing = missing_of_loop(site, row)
    if row.cdus > 1 and row.cdu_flow_lpm is None:
        missing += (of_product(row.cdu, "flow", "published flow"),)
    if limit is None:
        missing += (of_product(row.cdu, "flow_pump_lost", "flow with a pump lost"),)
    fix = None
    if is_over(value, limit):
        fix = "choose a CDU whose other pumps carry the rack, or raise 'temperature_rise'"
    return Measure(
        at,
        value=value,
        limit=limit,
        unit="L/min",
        what=f"flow of one rack, a pump of its {row.cdus} × {row.cdu} lost,",
        fix=fix,
        missing=missing,
    )


def _flows(site: SitePlan, row: LoopLoad) -> Iterator[Contributor]:
    """Yield the flow that each product on a loop needs, and its rear doors, in L/min."""
    for product in site.cooling.loop_products:
        if product.loop == row.loop and product.flow_lpm:
            yield Contributor(product.entry, product.devices, product.flow_lpm)
    for door in _doors(site, row):
        if door.flow_lpm:
            yield Contributor(door.entry, door.doors, door.flow_lpm)


def _rise_within(site: SitePlan, row: LoopLoad, limit: float) -> float | None:
    return rise_within(row, site.cooling.loop_products, _doors(site, row), limit)


def _flow(site: SitePlan, row: LoopLoad, at: Subject) -> Measure:
    if row.in_rack:
        return _flow_of_rack(site, row, at)
    value, limit = row.flow_lpm, row.cdu_flow_n1_lpm
    over = excess(value, limit)
    fix = None
    if over:
        more = add_units(over, row.cdu_flow_lpm, row.cdus, row.cdu)
        enough = None if limit is None else _rise_within(site, row, limit)
        fix = either(more, "raise 'temperature_rise'" if enough else None)
    missing = missing_of_loop(site, row)
    if limit is None:
        missing += (of_product(row.cdu, "flow", "published flow"),)
    return Measure(
        at,
        value=value,
        limit=limit,
        unit="L/min",
        what="flow of the loop, one CDU lost,",
        contributors=tuple(_flows(site, row)) if over else (),
        fix=fix,
        missing=missing,
    )


def _pipes(site: SitePlan, row: LoopLoad, at: Subject) -> Measure:
    value, limit = row.flow_lpm, row.flow_limit_lpm
    over = excess(value, limit)
    rise = None
    if over and limit is not None:
        rise = _rise_within(site, row, limit)
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
        contributors=tuple(_flows(site, row)) if over else (),
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
