"""Chillers and dry coolers that are products of the catalogue: what their entries say of them.

A number that the blueprint writes beside a product holds instead of the product's. The capacity of
a product holds at temperatures: those of the site have to be as easy as these, or easier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rackwright.catalog.loader import Catalogue
from rackwright.model.cooling import OUTDOORS, MechanicalPlant, PlantKind
from rackwright.model.hardware import Entry, Fact, fact_value
from rackwright.model.onprem import OnPremSite
from rackwright.model.plant import Chiller, DryCooler
from rackwright.plan.base import Path
from rackwright.plan.cooling.thermal import at_density, density_ratio
from rackwright.plan.missing import Field, Missing, ProductField
from rackwright.plan.power.consumers import units_of_plant
from rackwright.plan.power.products import Unfit, missing_capacity
from rackwright.plan.problems import PlanProblem

COOLING: Mapping[PlantKind, type[Chiller | DryCooler]] = {
    "chiller": Chiller,
    "dry-cooler": DryCooler,
}
"""What products the plants of a kind are."""


def with_plant_products(site: OnPremSite, catalogue: Catalogue) -> OnPremSite:
    """Return ``site`` whose plant has the numbers of its products, where it states none itself.

    Raises:
        UnknownEntryError: a product is not in the catalogue.
    """
    if all(plant.product is None for plant in site.plant or ()):
        return site
    plants = tuple(_filled(plant, site, catalogue) for plant in site.plant or ())
    return site.model_copy(update={"plant": plants})


def _filled(plant: MechanicalPlant, site: OnPremSite, catalogue: Catalogue) -> MechanicalPlant:
    entry = _entry(plant, catalogue)
    if entry is None:
        return plant
    found: dict[str, Any] = {}
    for name in ("power", "restart"):
        number = _number(entry, name)
        if getattr(plant, name) is None and number is not None:
            found[name] = number
    carried = None if _unfit(plant, entry, site) else _carried(plant, entry, site)
    if plant.capacity is None:
        found["capacity"] = carried
    # More than the product carries is carried in other air than its entry says.
    derated = plant.capacity is None or (carried is not None and plant.capacity <= carried)
    if plant.outdoor_temperature is None and derated:
        found["outdoor_temperature"] = _number(entry, "outdoor_temperature")
    return plant.model_copy(update=found)


def _carried(plant: MechanicalPlant, entry: Chiller | DryCooler, site: OnPremSite) -> float | None:
    """Return the heat in W that one unit carries at the site's altitude, if its temperatures are those of its entry.

    Of what gives it to the air, it falls with the density, as that of air handlers does.
    """
    if _by_water(plant):
        return entry.capacity.value
    density = None if site.altitude is None else density_ratio(site.altitude)
    return at_density(entry.capacity.value, density)


def _by_water(plant: MechanicalPlant) -> bool:
    """Return True if the plant gives its heat to another circuit."""
    return plant.kind == "chiller" and plant.rejects_to not in {None, OUTDOORS}


def _entry(plant: MechanicalPlant, catalogue: Catalogue) -> Chiller | DryCooler | None:
    kind = COOLING.get(plant.kind)
    return None if plant.product is None or kind is None else catalogue.get(kind, plant.product)


def _number(entry: Entry, name: str) -> float | None:
    fact: Fact[float] | None = getattr(entry, name, None)
    return fact_value(fact)


def _unfit(
    plant: MechanicalPlant, entry: Chiller | DryCooler, site: OnPremSite, at: Path = ()
) -> tuple[Unfit, ...]:
    """Return the reasons why the capacity of a product is invalid or unknown for ``plant``."""
    found = [_supplied(plant, entry, site)]
    if plant.kind == "chiller" and plant.rejects_to is None:
        found.append(Unfit("it is not stated what it rejects its heat to", ((*at, "rejects_to"),)))
    elif _by_water(plant):
        found.append(_condensed(plant, entry, site))
    else:
        found += [_outdoors(plant, entry), _high(entry, site)]
    return tuple(one for one in found if one is not None)


def _supplied(plant: MechanicalPlant, entry: Chiller | DryCooler, site: OnPremSite) -> Unfit | None:
    """Return the reason if the plant supplies colder water than its capacity holds for."""
    coldest, here, place = _number(entry, "supply_temperature"), *_water(plant.water, site)
    if coldest is None:
        return _unsaid(entry, "supply_temperature")
    words = f"the capacity of {entry.id} holds for water of {coldest:g} °C and warmer"
    if here is None:
        return Unfit(f"{words}, and the temperature of '{plant.water}' is unknown", place)
    return (
        None if here >= coldest else Unfit(f"{words}, and '{plant.water}' supplies {here:g} °C", ())
    )


def _condensed(
    plant: MechanicalPlant, entry: Chiller | DryCooler, site: OnPremSite
) -> Unfit | None:
    """Return the reason if the water at its condenser is warmer than its capacity holds for."""
    warmest, here, place = _number(entry, "condenser_temperature"), *_water(plant.rejects_to, site)
    if warmest is None:
        return _unsaid(entry, "condenser_temperature")
    words = f"the capacity of {entry.id} holds for a condenser at {warmest:g} °C and colder"
    if here is None:
        return Unfit(f"{words}, and the temperature of '{plant.rejects_to}' is unknown", place)
    if here <= warmest:
        return None
    return Unfit(f"{words}, and '{plant.rejects_to}' supplies {here:g} °C", ())


def _water(name: str | None, site: OnPremSite) -> tuple[float | None, tuple[Field, ...]]:
    """Return the temperature that a circuit supplies in °C, and the place from the site on that would say it."""
    for number, water in enumerate(site.facility_water):
        if water.name == name:
            return water.supply_temperature, (("facility_water", number, "supply_temperature"),)
    return None, ()


def _outdoors(plant: MechanicalPlant, entry: Chiller | DryCooler) -> Unfit | None:
    """Return the reason if the plant is declared for hotter air than its entry states."""
    hottest, here = _number(entry, "outdoor_temperature"), plant.outdoor_temperature
    if hottest is None:
        return _unsaid(entry, "outdoor_temperature")
    if here is None or here <= hottest:
        return None
    return Unfit(f"the capacity of {entry.id} holds at {hottest:g} °C, and not at {here:g} °C", ())


def _high(entry: Chiller | DryCooler, site: OnPremSite) -> Unfit | None:
    """Return the reason if the density of the air is unknown."""
    if site.altitude is None:
        return Unfit(f"the capacity of {entry.id} holds at sea level", (("altitude",),))
    if at_density(1, density_ratio(site.altitude)) is None:
        return Unfit(f"the density of the air is unknown at {site.altitude:,g} m", ())
    return None


def _unsaid(entry: Entry, name: str) -> Unfit:
    return Unfit(f"{entry.id} has no '{name}'", (ProductField(entry.id, name),))


def uncarried(site: OnPremSite, path: Path, catalogue: Catalogue) -> Mapping[str, Missing]:
    """Return the missing facts about the capacity of each plant without one, by its name.

    Args:
        site: with the numbers of its products.
        path: its place in the blueprint.
        catalogue: of the plan.
    """
    found = {}
    for number, plant in enumerate(site.plant or ()):
        if plant.capacity is not None:
            continue
        at: Path = ("plant", number)
        entry = _entry(plant, catalogue)
        unfit = _unfit(plant, entry, site, at) if entry else ()
        what = f"'capacity' of the {units_of_plant(plant.name)}"
        found[plant.name] = missing_capacity(what, (*path, *at, "capacity"), unfit, path)
    return found


def outdoor_ways(plant: MechanicalPlant, catalogue: Catalogue) -> tuple[Field, ...]:
    """Return the field of its product that would say in which air a plant carries its capacity."""
    entry = _entry(plant, catalogue)
    if entry is None or entry.outdoor_temperature is not None:
        return ()
    return (ProductField(entry.id, "outdoor_temperature"),)


def named_plants(site: OnPremSite, path: Path) -> Iterator[tuple[type[Entry], str, Path]]:
    """Yield the products that the plant of a site names: kind, id and place."""
    for number, plant in enumerate(site.plant or ()):
        kind = COOLING.get(plant.kind)
        if plant.product is not None and kind is not None:
            yield kind, plant.product, (*path, "plant", number, "product")


def check_supply(site: OnPremSite, path: Path) -> Iterator[PlanProblem]:
    """Yield the loops whose CDUs get colder water than their circuit supplies."""
    supplied = {water.name: water.supply_temperature for water in site.facility_water}
    for number, loop in enumerate(site.loops):
        here, wanted = supplied.get(loop.water or ""), loop.facility_temperature
        if here is not None and wanted is not None and wanted < here:
            message = (
                f"the CDUs of loop '{loop.name}' get water of {wanted:g} °C, and "
                f"'{loop.water}' supplies {here:g} °C"
            )
            yield PlanProblem((*path, "loops", number, "facility_temperature"), message, None)
