"""COOL-005: facility water and coolant are cool enough for the equipment, and not too cold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    ProductField,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.model.units import Kelvin
from rackwright.plan.cooling.water import WATER_CLASSES
from rackwright.plan.missing import of_product
from rackwright.plan.records.facility import LoopLoad, LoopProduct
from rackwright.policy.helpers.racks import is_over


@rule(
    "COOL-005",
    "Water class and supply temperature suit the equipment",
    Severity.CRITICAL,
    since="0.1",
    stage="design",
)
class WaterTemperature(Policy):
    """The water class suits the equipment; the supply lies above facility water and dew point."""

    dew_point_margin: Annotated[Kelvin, Field(ge=0, le=20)] = 2.0
    """Least distance of the supply from the dew point."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each product on a loop, and measures of the loop's supply temperature."""
        for site in plan.onprem:
            for row in site.cooling.loops:
                if row.heat_w != 0:
                    yield from self._loop(site, row)

    def _loop(self, site: SitePlan, row: LoopLoad) -> Iterator[Measure | Finding]:
        name = f"{site.name} loop {row.loop}"
        at = Subject(name, row.path)
        for product in _products(site, row.loop):
            where = Subject(f"{name} {product.entry}", at.path)
            if product.water_class is not None or product.max_supply_c is None:
                yield _water_class(row, product, where)
            yield _warmest(row, product, where)
        if row.facility_class is not None and WATER_CLASSES[row.facility_class] is not None:
            yield _declared(at, row, row.facility_class)
        yield _above(at, row, "facility_temperature", row.facility_c, row.approach_k)
        yield _above(at, row, "dew_point", row.dew_point_c, self.dew_point_margin)


def _products(site: SitePlan, loop: str) -> Iterable[LoopProduct]:
    """Return the liquid-cooled products on a loop, each once."""
    found: dict[str, LoopProduct] = {}
    for product in site.cooling.loop_products:
        if product.loop == loop:
            found.setdefault(product.entry, product)
    return found.values()


def _water_class(row: LoopLoad, product: LoopProduct, at: Subject) -> Finding:
    facility, own, entry = row.facility_class, product.water_class, product.entry
    missing = []
    if facility is None:
        place = (*row.path, "facility_class")
        missing.append(Missing(f"'facility_class' of the loop '{row.loop}'", place))
    if own is None:
        missing.append(of_product(entry, "liquid.water_class", "water class"))
    if facility is None or own is None:
        message = f"whether the facility water suits {entry}"
        return Finding(at, ok=None, message=message, missing=tuple(missing))
    classes = list(WATER_CLASSES)
    if classes.index(facility) <= classes.index(own):
        message = f"the facility water is class {facility}, {entry} takes {own}"
        return Finding(at, ok=True, message=message)
    return Finding(
        at,
        ok=False,
        message=f"the facility water is class {facility}, {entry} takes at most {own}",
        fix=f"provide facility water of class {own}, or colder",
    )


def _warmest(row: LoopLoad, product: LoopProduct, at: Subject) -> Measure:
    value, limit = row.supply_c, product.max_supply_c
    missing = [] if value is not None else [_of_loop(row, "supply_temperature")]
    if limit is None:
        names = ("liquid.max_supply", "liquid.coolant_class", "liquid.water_class")
        ways = (ProductField(product.entry, name) for name in names)
        missing.append(Missing(f"{product.entry}: warmest coolant, or its class", *ways))
    return Measure(
        at,
        value=value,
        limit=limit,
        unit="°C",
        what="supply temperature of the loop",
        fix=f"lower 'supply_temperature' to {limit:g} °C" if is_over(value, limit) else None,
        missing=tuple(missing),
    )


def _of_loop(row: LoopLoad, name: str) -> Missing:
    return Missing(f"'{name}' of the loop", (*row.path, name))


def _declared(at: Subject, row: LoopLoad, named: str) -> Measure:
    """Return the measure of the facility water against the class that is declared for it."""
    value, limit = row.facility_c, WATER_CLASSES[named]
    return Measure(
        at,
        value=value,
        limit=limit,
        unit="°C",
        what=f"facility temperature of a loop of class {named}",
        fix=f"declare the class of water of {value:g} °C, or supply it colder"
        if is_over(value, limit)
        else None,
        missing=() if value is not None else (_of_loop(row, "facility_temperature"),),
    )


def _above(
    at: Subject, row: LoopLoad, option: str, base: float | None, margin: float | None
) -> Measure:
    """Return the supply lies by ``margin`` above ``base``."""
    words = option.replace("_", " ")
    value = row.supply_c
    limit = None if base is None or margin is None else base + margin
    missing = []
    if value is None:
        missing.append(_of_loop(row, "supply_temperature"))
    if base is None:
        missing.append(_of_loop(row, option))
    if margin is None:
        missing.append(_of_loop(row, "approach"))
    fix = None
    if limit is not None and is_over(limit, value):
        fix = f"raise 'supply_temperature' to {limit:g} °C, or lower the {words}"
    return Measure(
        at,
        value=value,
        limit=limit,
        unit="°C",
        what=f"supply temperature above the {words}",
        sense="at_least",
        fix=fix,
        missing=tuple(missing),
    )
