"""Facility water and what it is to cool: coils, CDUs, rear doors, and the class that it is declared as."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rackwright.catalog.loader import Catalogue
from rackwright.model.cooling import FacilityWater
from rackwright.model.hardware import fact_value
from rackwright.model.onprem import OnPremSite
from rackwright.model.plant import AirHandler
from rackwright.plan.base import Path
from rackwright.plan.cooling.rear_door import exhaust
from rackwright.plan.cooling.water import WATER_CLASSES
from rackwright.plan.missing import Missing
from rackwright.plan.power.consumers import air_handlers, cdus
from rackwright.plan.records.cooling import WaterFit
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
