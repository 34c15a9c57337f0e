"""Consumers of a site beside its racks: air handlers, CDUs, chillers, pumps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rackwright.catalog.loader import Catalogue
from rackwright.model.cooling import Machine
from rackwright.model.hardware import fact_value
from rackwright.model.onprem import OnPremSite
from rackwright.model.plant import AirHandler, Cdu
from rackwright.plan.base import Path
from rackwright.plan.missing import Missing, ProductField
from rackwright.plan.problems import PlanProblem
from rackwright.reading.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Consumer:
    """Equal units on the same sources that draw power beside the racks. All run, the spare ones too.

    Attributes:
        name: what people call them, unique in the site; no source has such a name.
        machine: the same of all units that the blueprint states together, whatever feeds them.
        path: their place in the blueprint.
        count: number of units.
        each: most power of one, in W; None when unknown.
        product: catalogue id, whose entry may say that power; None without one.
        says_restart: whether that entry may say its restart as well.
        fed_by: the sources that may carry them, the first one first.
        start_step: step in which they are connected when generators start.
        restart: seconds from the return of power until they cool in full; None when unknown.
        transfer: seconds without power while another source takes over; None when unknown.
        rides_through: longest loss of power in seconds through which they go on cooling.
    """

    name: str
    machine: str
    path: Path
    count: int
    each: float | None
    product: str | None
    fed_by: tuple[str, ...]
    start_step: int
    restart: float | None
    says_restart: bool
    transfer: float | None = None
    rides_through: float = 0.0

    @property
    def power(self) -> float | None:
        """W of all units."""
        return None if self.each is None else self.each * self.count

    @property
    def lacks(self) -> Missing | None:
        """Missing fact that keeps its power from being put on a source; None if there is none."""
        if not self.fed_by:
            return self.unfed
        return None if self.each is not None else self.unrated

    @property
    def unfed(self) -> Missing:
        """Fields that would state the sources that feed it."""
        return Missing(f"'fed_by' of the {self.machine}", (*self.path, "fed_by"))

    @property
    def unstarted(self) -> Missing:
        """Fields that would state how long it takes to cool again."""
        missing = f"'restart' of the {self.machine}"
        place = (*self.path, "restart")
        if self.product is None or not self.says_restart:
            return Missing(missing, place)
        return Missing(missing, place, ProductField(self.product, "restart"))

    @property
    def untransferred(self) -> Missing:
        """Fact that would make known how long another source needs to take over."""
        return Missing(f"'transfer' of the {self.machine}", (*self.path, "transfer"))

    @property
    def unrated(self) -> Missing:
        """Fields that would state its power."""
        entry = () if self.product is None else (ProductField(self.product, "power"),)
        return Missing(f"'power' of the {self.machine}", (*self.path, "power"), *entry)


def consumers_of(site: OnPremSite, path: Path, catalogue: Catalogue) -> tuple[Consumer, ...]:
    """Return the consumers of ``site``, with the power that it states, or else that of their products.

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
            where = (*path, "halls", index, "air")
            yield from _split(air, air_handlers(hall.name), where, each, air.type)
    for index, loop in enumerate(site.loops):
        if loop.in_rack:  # they draw from the feeds of their racks
            continue
        each = loop.power
        if each is None:
            each = fact_value(catalogue.get(Cdu, loop.cdu).power)
        yield from _split(loop, cdus(loop.name), (*path, "loops", index), each, loop.cdu)
    for index, plant in enumerate(site.plant or ()):
        where = (*path, "plant", index)
        name = units_of_plant(plant.name)
        says = plant.kind == "chiller"
        yield from _split(plant, name, where, plant.power, plant.product, says_restart=says)


def _split(
    machine: Machine,
    name: str,
    path: Path,
    each: float | None,
    product: str | None,
    *,
    says_restart: bool = False,
) -> Iterator[Consumer]:
    """Yield the units of a machine by what feeds them."""
    parts = [(supply.count, supply.fed_by) for supply in machine.supplies]
    for count, fed_by in parts or [(machine.count, machine.fed_by)]:
        own = f"{name} on {' or '.join(fed_by)}" if parts else name
        yield Consumer(
            own, name, path, count, each, product, fed_by,
            machine.start_step, machine.restart, says_restart,
            machine.transfer, machine.rides_through,
        )  # fmt: skip


def air_handlers(hall: str) -> str:
    """Return the name of the air handlers of a hall in reports."""
    return f"air handlers of hall '{hall}'"


def cdus(loop: str) -> str:
    """Return the name of the CDUs of a loop in reports."""
    return f"CDUs of loop '{loop}'"


def units_of_plant(name: str) -> str:
    """Return the name of the units of a plant in reports."""
    return f"plant '{name}'"


def check_consumers(consumers: Iterable[Consumer], sources: Iterable[str]) -> Iterator[PlanProblem]:
    """Yield each consumer that is fed by sources that do not exist."""
    known = set(sources)
    for consumer in consumers:
        for name in consumer.fed_by:
            if name not in known:
                message = f"the {consumer.machine} are fed by '{name}', which does not exist"
                where = (*consumer.path, "fed_by")
                yield PlanProblem(where, message, did_you_mean(name, known))
