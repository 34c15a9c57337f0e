"""Facility water and what it is to cool: coils, CDUs, rear doors, and the class that it is declared as."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from rackwright.catalog.loader import Catalogue
from rackwright.model.cooling import FacilityWater
from rackwright.model.hardware import fact_value
from rackwright.model.onprem import OnPremSite
from rackwright.model.plant import AirHandler
from rackwright.plan.base import Path
from rackwright.plan.cooling.rear_door import exhaust
from rackwright.plan.cooling.water import WATER_CLASSES
from rackwright.plan.missing import Missing, of_product
from rackwright.plan.power.consumers import air_handlers, cdus
from rackwright.plan.records.cooling import WaterFit
from rackwright.plan.records.facility import LoopProduct
from rackwright.plan.records.racks import RackClass

APPROACH = 2.0
"""Least difference in K between water and the air that it cools, below any coil or door on the market."""


def water_fits(
    site: OnPremSite, path: Path, classes: Iterable[RackClass], catalogue: Catalogue
) -> Iterator[WaterFit]:
    """Yield the record of each hall on a circuit, of each loop, and of each class of racks with a door."""
    circuits = {water.name: (n, water) for n, water in enumerate(site.facility_water)}
    for index, hall in enumerate(site.halls):
        air = hall.air
        if air is None or air.water not in circuits:
            continue
        limit = fact_value(catalogue.get(AirHandler, air.type).water_temperature)
        if limit is None:
            limit = air.inlet_temperature - APPROACH
        number, circuit = circuits[air.water]
        supply = circuit.supply_temperature
        outdoors = _outdoors(site, circuit)
        if supply is None and outdoors is not None and outdoors > limit:
            supply = outdoors  # no dry cooler and no tower supplies colder water than that
        place = (*path, "facility_water", number, "supply_temperature")
        unsaid = Missing(f"'supply_temperature' of the facility water '{circuit.name}'", place)
        yield WaterFit(
            kind="coil",
            machine=air_handlers(hall.name),
            path=(*path, "halls", index, "air"),
            water_c=supply,
            limit_c=limit,
            missing=() if supply is not None else (unsaid,),
        )
    for index, loop in enumerate(site.loops):
        where = (*path, "loops", index)
        warmest = WATER_CLASSES[loop.facility_class] if loop.facility_class else None
        if loop.facility_temperature is None:
            continue  # COOL-005 asks for it
        if warmest is not None:
            yield WaterFit(
                kind="class",
                machine=cdus(loop.name),
                path=(*where, "facility_class"),
                water_c=loop.facility_temperature,
                limit_c=warmest,
                missing=(),
            )
    yield from _doors(site, path, classes)


def warmed_fits(
    site: OnPremSite, path: Path, fits: Iterable[WaterFit], products: Iterable[LoopProduct]
) -> Iterator[WaterFit]:
    """Yield what circuits cool, with their water as warm as its ``warming`` lets it become.

    Args:
        site: the site.
        path: its place in the blueprint.
        fits: the records of ``water_fits``.
        products: what the loops cool.
    """
    warming = {water.name: water.warming for water in site.facility_water if water.warming}
    coils = {air_handlers(hall.name): hall.air.water for hall in site.halls if hall.air is not None}
    for fit in fits:
        more = warming.get(coils.get(fit.machine) or "") if fit.kind == "coil" else None
        if more is not None:
            water = None if fit.water_c is None else fit.water_c + more
            yield replace(fit, water_c=water)
    for index, loop in enumerate(site.loops):
        more = warming.get(loop.water or "")
        limits = {one.entry: one.max_supply_c for one in products if one.loop == loop.name}
        if more is None or not limits:
            continue
        where = (*path, "loops", index)
        unsaid = [
            of_product(entry, "liquid.max_supply", "warmest coolant")
            for entry in limits
            if limits[entry] is None
        ]
        supply = loop.supply_temperature
        if supply is None:
            unsaid.insert(
                0, Missing("'supply_temperature' of the loop", (*where, "supply_temperature"))
            )
        known = [limit for limit in limits.values() if limit is not None]
        yield WaterFit(
            kind="plates",
            machine=f"loop {loop.name}",
            path=(*where, "supply_temperature"),
            water_c=None if supply is None else supply + more,
            limit_c=min(known) if len(known) == len(limits) else None,
            missing=tuple(unsaid),
        )


def _outdoors(site: OnPremSite, circuit: FacilityWater) -> float | None:
    """Return the outdoor temperature in °C that a circuit without chillers is no colder than."""
    kinds = {p.kind for p in site.plant or () if p.water == circuit.name and p.kind != "pump"}
    if not kinds or "chiller" in kinds:
        return None
    return site.design_wet_bulb if "cooling-tower" in kinds else site.design_dry_bulb


def _doors(site: OnPremSite, path: Path, classes: Iterable[RackClass]) -> Iterator[WaterFit]:
    loops = {loop.name: (n, loop) for n, loop in enumerate(site.loops)}
    halls = {hall.name: (n, hall) for n, hall in enumerate(site.halls)}
    for racks in classes:
        if racks.kind.door_loop not in loops:
            continue
        number, loop = loops[racks.kind.door_loop]
        index, hall = halls[racks.hall]
        behind = exhaust(hall.air)
        missing = []
        if loop.supply_temperature is None:
            place = (*path, "loops", number, "supply_temperature")
            missing.append(Missing(f"'supply_temperature' of the loop '{loop.name}'", place))
        if behind is None:
            place = (*path, "halls", index, "air", "temperature_rise")
            missing.append(Missing(f"'temperature_rise' of the air of '{hall.name}'", place))
        yield WaterFit(
            kind="door",
            machine=f"rear doors of {racks.hostlist}",
            path=(*racks.path, "cooling"),
            water_c=loop.supply_temperature,
            limit_c=None if behind is None else behind - APPROACH,
            missing=tuple(missing),
        )
