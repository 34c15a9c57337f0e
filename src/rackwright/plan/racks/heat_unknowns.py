"""Missing facts that make the heat of rear doors and coolant loops unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rackwright.model.onprem import Hall, RackGroup
from rackwright.plan.base import Path
from rackwright.plan.cooling.rear_door import door_of, ways_of
from rackwright.plan.expansion import SitePlan
from rackwright.plan.missing import Missing, each_once, of_product
from rackwright.plan.racks.contributors import unknowns
from rackwright.plan.records.cooling import CoolingStage, RideThrough
from rackwright.plan.records.facility import LoopLoad
from rackwright.plan.records.racks import RackClass


def missing_of_doors(site: SitePlan, racks: Iterable[RackClass]) -> tuple[str, ...]:
    """Return what keeps the heat that the rear doors of racks take from being known."""
    found: dict[str, None] = {}
    for own in racks:
        if own.kind.door_loop is not None:
            found |= dict.fromkeys(_missing(site, own.path))
    return tuple(found)


def missing_of_door_drop(site: SitePlan, racks: RackClass) -> Iterator[Missing]:
    """Yield the fields that would state the pressure drop of the door of racks: of the site, or its product.

    What decides its flow is not told here.
    """
    group = site.rack_group(racks.path)
    door = door_of(group.cooling, site.catalogue)
    if door is None or racks.kind.door_drop_kpa is not None:
        return
    numbers = {"pressure_drop": door.rated_drop, "flow": door.flow}
    lacking = [name for name, number in numbers.items() if number is None]
    if door.product is None or len(lacking) == 1:
        place = (*racks.path, "cooling", "rear_door_pressure_drop")
        words = f"'rear_door_pressure_drop' of racks {racks.hostlist}"
        yield Missing(words, place, *ways_of(door.product, lacking[0]))
        return
    for name in lacking:
        yield of_product(door.product, name, f"published {name.replace('_', ' ')}")


def missing_of_loop(site: SitePlan, row: LoopLoad) -> tuple[str, ...]:
    """Return the missing facts that make heat or flow of a loop unknown."""
    on = [racks for racks in site.racks if racks.kind.loop == row.loop]
    behind = [racks for racks in site.racks if racks.kind.door_loop == row.loop]
    doors = missing_of_doors(site, behind) if row.heat_w is None else ()
    fluid: tuple[str, ...] = ()
    if row.heat_capacity is None:
        words = f"'heat_capacity' of the fluid of the loop '{row.loop}'"
        fluid = (Missing(words, (*row.path, "heat_capacity")),)
    return (*unknowns(site, "heat_liquid_w", on), *doors, *fluid)


def missing_of_hall(site: SitePlan, hall: str) -> tuple[str, ...]:
    """Return the missing facts that make the heat into the air of a hall unknown."""
    here = [racks for racks in site.racks if racks.hall == hall]
    unknown = any(racks.kind.heat_air_w is None for racks in here)
    doors = missing_of_doors(site, here) if unknown else ()
    return (*unknowns(site, "heat_air_w", here), *doors)


def missing_of_stage(site: SitePlan, stage: CoolingStage | RideThrough) -> tuple[str, ...]:
    """Return the missing facts that make a stage of cooling, or its ride-through, unknown."""
    found = [*stage.missing]
    for hall in stage.halls:
        found += missing_of_hall(site, hall)
    for row in site.cooling.loops:
        if row.loop in stage.loops:
            found += missing_of_loop(site, row)
    return each_once(found)


def _place(site: SitePlan, where: Path) -> tuple[Hall, RackGroup]:
    hall, row, group = (int(where[n]) for n in (-5, -3, -1))
    found = site.spec.halls[hall]
    return found, found.rows[row].rack_groups[group]


def _missing(site: SitePlan, where: Path) -> Iterator[Missing]:
    hall, group = _place(site, where)
    cooling, air = group.cooling, (*where[:-4], "air")
    door = door_of(cooling, site.catalogue)
    for name in ("capacity", "difference"):
        if door is not None and getattr(door, name) is None:
            field = f"rear_door_{name}"
            place = (*where, "cooling", field)
            words = f"'{field}' of racks {group.racks}"
            yield Missing(words, place, *ways_of(door.product, name))
    if hall.air is None:
        yield Missing(f"'air' of the hall '{hall.name}'", air)
    elif hall.air.temperature_rise is None:
        what = f"'temperature_rise' of the air of the hall '{hall.name}'"
        yield Missing(what, (*air, "temperature_rise"))
    for index, loop in enumerate(site.spec.loops):
        if loop.name == cooling.door_loop and loop.supply_temperature is None:
            place = (*site.path, "loops", index, "supply_temperature")
            yield Missing(f"'supply_temperature' of the loop '{loop.name}'", place)
