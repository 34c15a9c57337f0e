"""Units that reject heat to the air outside, on the design day of a site."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.catalog.loader import Catalogue
from rackwright.model.cooling import OUTDOORS, Machine, MechanicalPlant
from rackwright.model.onprem import OnPremSite
from rackwright.plan.base import Path
from rackwright.plan.cooling.products import outdoor_ways
from rackwright.plan.missing import Missing
from rackwright.plan.power.consumers import air_handlers, cdus, units_of_plant
from rackwright.plan.records.cooling import Bulb, FreezingUnits, OutdoorUnits, UncooledWater


def outdoor_rows(site: OnPremSite, path: Path, catalogue: Catalogue) -> tuple[OutdoorUnits, ...]:
    """Return the record of each machine that rejects heat outdoors: by the wet bulb if it is a tower."""
    return tuple(
        _row(site, path, name, where, machine, catalogue)
        for name, where, machine in _machines(site, path)
    )


def _machines(site: OnPremSite, path: Path) -> Iterator[tuple[str, Path, Machine]]:
    for index, hall in enumerate(site.halls):
        if hall.air is not None and hall.air.water == OUTDOORS:
            yield air_handlers(hall.name), (*path, "halls", index, "air"), hall.air
    for index, loop in enumerate(site.loops):
        if loop.water == OUTDOORS:
            yield cdus(loop.name), (*path, "loops", index), loop
    for index, plant in enumerate(site.plant or ()):
        by_nature = plant.kind in {"dry-cooler", "cooling-tower"}
        if by_nature or plant.rejects_to == OUTDOORS:
            yield units_of_plant(plant.name), (*path, "plant", index), plant


def _row(
    site: OnPremSite, path: Path, name: str, where: Path, machine: Machine, catalogue: Catalogue
) -> OutdoorUnits:
    tower = isinstance(machine, MechanicalPlant) and machine.kind == "cooling-tower"
    bulb: Bulb = "wet bulb" if tower else "dry bulb"
    missing = [*_undesigned(site, path, bulb)]
    if machine.outdoor_temperature is None:
        place = (*where, "outdoor_temperature")
        ways = outdoor_ways(machine, catalogue) if isinstance(machine, MechanicalPlant) else ()
        missing.append(Missing(f"'outdoor_temperature' of the {name}", place, *ways))
    return OutdoorUnits(
        machine=name,
        path=where,
        bulb=bulb,
        design_c=_design(site, bulb),
        rated_c=machine.outdoor_temperature,
        missing=tuple(missing),
    )


def water_rows(site: OnPremSite, path: Path) -> tuple[UncooledWater, ...]:
    """Return the record of each loop whose facility water only dry coolers and towers cool.

    Heat flows from the warmer to the colder: water leaves a dry cooler no colder than the dry bulb, and
    a tower no colder than the wet bulb.
    """
    return tuple(_water_rows(site, path))


def _water_rows(site: OnPremSite, path: Path) -> Iterator[UncooledWater]:
    for index, loop in enumerate(site.loops):
        kinds = {p.kind for p in site.plant or () if p.water == loop.water and p.kind != "pump"}
        if loop.water in {None, OUTDOORS} or not kinds or "chiller" in kinds:
            continue
        bulb: Bulb = "wet bulb" if "cooling-tower" in kinds else "dry bulb"
        where = (*path, "loops", index)
        missing = [*_undesigned(site, path, bulb)]
        if loop.facility_temperature is None:
            place = (*where, "facility_temperature")
            missing.append(Missing(f"'facility_temperature' of the loop '{loop.name}'", place))
        yield UncooledWater(
            loop=loop.name,
            path=where,
            bulb=bulb,
            supply_c=loop.facility_temperature,
            design_c=_design(site, bulb),
            missing=tuple(missing),
        )


FREEZES = {"water": 0.0, "pg25": -10.0}
"""Freezing points in °C; of a quarter of propylene glycol by volume, as Dow tabulates for DOWFROST."""


def freezing_rows(site: OnPremSite, path: Path) -> Iterator[FreezingUnits]:
    """Yield the record of each dry cooler and tower whose water is not protected from freezing."""
    circuits = {water.name: (index, water) for index, water in enumerate(site.facility_water)}
    for number, plant in enumerate(site.plant or ()):
        found = circuits.get(plant.water or "")
        if plant.kind not in {"dry-cooler", "cooling-tower"} or found is None:
            continue
        if plant.freeze_protected:
            continue
        index, water = found
        missing = []
        freezes = water.freezing_point
        if freezes is None and water.fluid is not None:
            freezes = FREEZES[water.fluid]
        if freezes is None:
            where = (*path, "facility_water", index)
            ways = ((*where, "fluid"), (*where, "freezing_point"))
            missing.append(Missing(f"'fluid' of the facility water '{water.name}'", *ways))
        if site.design_coldest is None:
            missing.append(Missing("'design_coldest' of the site", (*path, "design_coldest")))
        yield FreezingUnits(
            machine=units_of_plant(plant.name),
            path=(*path, "plant", number),
            coldest_c=site.design_coldest,
            freezes_c=freezes,
            missing=tuple(missing),
        )


def _design(site: OnPremSite, bulb: Bulb) -> float | None:
    return site.design_wet_bulb if bulb == "wet bulb" else site.design_dry_bulb


def _undesigned(site: OnPremSite, path: Path, bulb: Bulb) -> Iterator[Missing]:
    """Yield the outdoor temperature that the site does not state."""
    if _design(site, bulb) is None:
        name = f"design_{bulb.replace(' ', '_')}"
        yield Missing(f"'{name}' of the site", (*path, name))
