"""What draws power on a site beside its racks: air handlers, CDUs, chillers, pumps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rackwright.catalog.loader import Catalogue
from rackwright.model.hardware import AirHandler, Cdu, fact_value
from rackwright.model.onprem import OnPremSite
from rackwright.plan.base import Path
from rackwright.plan.missing import Missing, ProductField
from rackwright.plan.problems import PlanProblem
from rackwright.spec.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Consumer:
    """Equal units that draw power beside the racks. All of them run, the spare ones too.

    Attributes:
        name: what people call them, unique in the site; no source has such a name.
        path: their place in the blueprint.
        count: number of units.
        each: most power of one, in W; None when unknown.
        product: catalogue id, whose entry may say that power; None without one.
        fed_by: the sources that may carry them, the first one first.
        start_step: step in which they are connected when generators start.
    """

    name: str
    path: Path
    count: int
    each: float | None
    product: str | None
    fed_by: tuple[str, ...]
    start_step: int

    @property
    def power(self) -> float | None:
        """W of all units."""
        return None if self.each is None else self.each * self.count

    @property
    def lacks(self) -> Missing | None:
        """What keeps its power from being put on a source; None where nothing does."""
        if not self.fed_by:
            return Missing(f"'fed_by' of the {self.name}", (*self.path, "fed_by"))
        if self.each is not None:
            return None
        entry = () if self.product is None else (ProductField(self.product, "power"),)
        return Missing(f"'power' of the {self.name}", (*self.path, "power"), *entry)


def consumers_of(site: OnPremSite, path: Path, catalogue: Catalogue) -> tuple[Consumer, ...]:
    """The consumers of ``site``, with the power that it states, or else that of their products.

    Raises:
        UnknownEntryError: a product is not in the catalogue.
    """
    return tuple(_consumers(site, path, catalogue))


def _consumers(site: OnPremSite, path: Path, catalogue: Catalogue) -> Iterator[Consumer]:
    for index, hall in enumerate(site.halls):
        if air := hall.air:
            each = air.power
            if each is None:
                each = fact_value(catalogue.get(AirHandler, air.type).power)
            name, where = f"air handlers of hall '{hall.name}'", (*path, "halls", index, "air")
            yield Consumer(name, where, air.count, each, air.type, air.fed_by, air.start_step)
    for index, loop in enumerate(site.loops):
        if loop.in_rack:  # they draw from the feeds of their racks
            continue
        each = loop.power
        if each is None:
            each = fact_value(catalogue.get(Cdu, loop.cdu).power)
        name, where = f"CDUs of loop '{loop.name}'", (*path, "loops", index)
        yield Consumer(name, where, loop.count, each, loop.cdu, loop.fed_by, loop.start_step)
    for index, plant in enumerate(site.plant or ()):
        where = (*path, "plant", index)
        name, each = f"plant '{plant.name}'", plant.power
        yield Consumer(name, where, plant.count, each, None, plant.fed_by, plant.start_step)


def check_consumers(consumers: Iterable[Consumer], sources: Iterable[str]) -> Iterator[PlanProblem]:
    """What is fed by sources that are not there."""
    known = set(sources)
    for consumer in consumers:
        for name in consumer.fed_by:
            if name not in known:
                message = f"the {consumer.name} are fed by '{name}', which does not exist"
                where = (*consumer.path, "fed_by")
                yield PlanProblem(where, message, did_you_mean(name, known))
