"""Cooling within a rack: CDUs of its own, manifolds and a rear door."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rackwright.catalog.loader import Catalogue
from rackwright.model.cooling import CoolingLoop
from rackwright.model.hardware import fact_value, supply_inlet
from rackwright.model.onprem import OnPremSite
from rackwright.model.plant import Cdu
from rackwright.model.racks import RackType
from rackwright.plan.base import Path
from rackwright.plan.cooling.rear_door import Door
from rackwright.plan.cooling.thermal import airflow_for
from rackwright.plan.racks.fixtures import passive
from rackwright.plan.racks.placement import PlacedGroup
from rackwright.plan.records.products import FLUID, MANIFOLD, REAR_DOOR
from rackwright.plan.records.racks import RackDevice


def cooling_fixtures(
    placed: PlacedGroup,
    door: Door | None,
    site: OnPremSite,
    catalogue: Catalogue,
    rise: float | None,
) -> Iterator[RackDevice]:
    """Yield the fixtures of a rack that cool it.

    Args:
        placed: the racks.
        door: their rear door; None without one.
        site: their site, whose loops they are on.
        catalogue: the products.
        rise: rise in K of the air across devices whose maker publishes no airflow; None if unknown.
    """
    cooling, path = placed.spec.cooling, placed.path
    for number, loop in enumerate(site.loops):
        if loop.name == cooling.loop and loop.in_rack:
            # A site is at "sites", n.
            made = _cdu(catalogue.get(Cdu, loop.cdu), loop, (*path[:2], "loops", number), rise)
            yield from [made] * loop.count
            if cooling.has_cold_plates and cooling.manifolds is None:
                # Fixtures of the rack are stated, and these are not.
                yield passive("manifold", MANIFOLD, "manifolds", None, None)
    manifolds = cooling.manifolds
    if manifolds is not None:
        one = passive("manifold", MANIFOLD, "manifolds", manifolds.height, manifolds.weight)
        yield from [one] * manifolds.count
    if door is not None:
        made = passive("door", door.product or REAR_DOOR, "rear door", 0.0, door.weight)
        yield replace(made, flow_lpm=door.flow, pressure_drop_kpa=door.rated_drop)
    yield from _fluid_of(catalogue.get(RackType, placed.spec.type))


def _fluid_of(rack: RackType) -> Iterator[RackDevice]:
    """Yield the fluid of a tank, all of it: what devices displace is not taken off."""
    if rack.immersion is not None:
        weight = fact_value(rack.immersion.fluid_weight)
        yield passive("fluid", FLUID, "fluid", 0.0, weight)


def _cdu(entry: Cdu, loop: CoolingLoop, path: Path, rise: float | None) -> RackDevice:
    """Return a CDU in the rack, which hangs on the rack's feeds.

    All of its power counts as heat in the air: how much of it pumps give to the coolant, which carries
    it out of the rack, no maker says.
    """
    power = fact_value(entry.power) if loop.power is None else loop.power
    airflow = fact_value(entry.airflow)
    if airflow is None and power is not None and rise:
        airflow = airflow_for(power, rise)
    psus = entry.power_supplies
    return RackDevice(
        kind="cdu",
        entry=entry.id,
        group=f"loop {loop.name}",
        path=path,
        height_u=fact_value(entry.height),
        weight_kg=fact_value(entry.weight),
        power_w=power,
        peak_w=power,
        heat_w=power,
        heat_air_w=power,
        heat_liquid_w=0.0,
        airflow_cfm=airflow,
        psu_count=psus.count if psus else None,
        psu_rating_w=fact_value(psus.rating) if psus else None,
        psu_efficiency_percent=fact_value(psus.efficiency) if psus else None,
        psu_current_a=fact_value(psus.input_current) if psus else None,
        psu_inlet=supply_inlet(psus),
        full_performance=fact_value(psus.full_performance) if psus else None,
        degraded=fact_value(psus.degraded) if psus else None,
        degraded_power_w=fact_value(psus.degraded_power) if psus else None,
        voltage_min_v=fact_value(entry.voltage_min),
        voltage_max_v=fact_value(entry.voltage_max),
    )
