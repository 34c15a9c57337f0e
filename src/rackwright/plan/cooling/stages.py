"""Machines that carry heat away, stage by stage, and what of them is left when a source is lost.

Racks give their heat to the air handlers of their hall and to the CDUs of their loop. Those give it,
with what they draw themselves, to a circuit of facility water, whose pumps move it and whose chillers,
dry coolers or towers take it. A chiller may pass it on to a circuit of its own, again with what it
draws: all electrical power of a machine ends as heat in what flows through it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, partial

from rackwright.model.cooling import INDOORS, OUTDOORS, CoolingLoop, Machine, MechanicalPlant
from rackwright.model.onprem import OnPremSite
from rackwright.plan.base import Path
from rackwright.plan.missing import Missing, each_once
from rackwright.plan.power.consumers import Consumer, air_handlers, cdus, units_of_plant
from rackwright.plan.problems import PlanProblem
from rackwright.plan.records.cooling import StageKind
from rackwright.plan.records.facility import HallLoad, LoopLoad
from rackwright.plan.records.racks import RackClass
from rackwright.reading.suggest import did_you_mean

NOTHING: AbstractSet[str] = frozenset()
"""What is dead while nothing is lost."""

Heat = Callable[[AbstractSet[str]], float | None]
"""W of heat while some sources and machines are dead; None when unknown."""


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one machine.

    Attributes:
        parts: by what feeds them.
        each: heat that one carries, in W; None when unknown.
        lacks: what would say that.
    """

    parts: Sequence[Consumer]
    each: float | None
    lacks: Missing | None

    def alive(self, dead: AbstractSet[str] = NOTHING) -> int:
        """Return the number of units with power."""
        return sum(part.count for part in self.parts if part.name not in dead)

    def capacity(self, dead: AbstractSet[str] = NOTHING) -> float | None:
        """Return the heat in W that the living ones carry."""
        return None if self.each is None else self.each * self.alive(dead)


@dataclass(frozen=True, slots=True)
class HeatStage:
    """Units that carry one stream of heat together.

    Attributes:
        kind: what they are.
        of: name of the hall, the loop or the circuit.
        path: its place in the blueprint.
        halls: names of the halls whose air the heat comes from.
        loops: names of the coolant loops that it comes from.
        units: machine by machine.
        heat: what they carry.
        lacks: what keeps this from being known, beside the heat of racks and what feeds the units.
    """

    kind: StageKind
    of: str
    path: Path
    halls: tuple[str, ...]
    loops: tuple[str, ...]
    units: Sequence[Units]
    heat: Heat
    lacks: tuple[str, ...]

    def alive(self, dead: AbstractSet[str] = NOTHING) -> int:
        """Return the number of units with power."""
        return sum(units.alive(dead) for units in self.units)

    def capacity(self, dead: AbstractSet[str] = NOTHING) -> float | None:
        """Return the heat in W that the living units carry; None when unknown."""
        return add(units.capacity(dead) for units in self.units)

    def capacity_n1(self) -> float | None:
        """Return the heat in W that they carry with the largest one lost; None when unknown."""
        whole = self.capacity()
        largest = max((units.each or 0.0 for units in self.units), default=0.0)
        return None if whole is None else whole - largest


def add(values: Iterable[float | None]) -> float | None:
    """Return the sum; None as soon as one value is."""
    found = []
    for value in values:
        if value is None:
            return None
        found.append(value)
    return math.fsum(found)


class HeatPaths:
    """The ways of heat on one site, from the racks to the air outside."""

    def __init__(
        self,
        site: OnPremSite,
        path: Path,
        consumers: Iterable[Consumer],
        classes: Sequence[RackClass],
        halls: Iterable[HallLoad],
        loops: Iterable[LoopLoad],
        uncarried: Mapping[str, Missing],
    ) -> None:
        """Prepare the stages of ``site`` at ``path``, with its records and the facts that plants lack."""
        self._uncarried = uncarried
        self._site, self._path = site, path
        self._halls = {row.hall: row for row in halls}
        self._loops = {row.loop: row for row in loops}
        self._in_halls: dict[str, list[RackClass]] = {}
        self._on_loops: dict[str, list[tuple[RackClass, float | None]]] = {}
        for racks in classes:
            self._in_halls.setdefault(racks.hall, []).append(racks)
            for loop, heat in (
                (racks.kind.loop, racks.kind.heat_liquid_w),
                (racks.kind.door_loop, racks.kind.air_into_loop_w),
            ):
                if loop is not None:
                    self._on_loops.setdefault(loop, []).append((racks, heat))
        self._machines: dict[str, list[Consumer]] = {}
        for consumer in consumers:
            self._machines.setdefault(consumer.machine, []).append(consumer)

    @cached_property
    def stages(self) -> Sequence[HeatStage]:
        """Those of halls first, then those of loops and of circuits of water."""
        return (*self._of_halls(), *self._of_loops(), *self._of_water())

    def _of_halls(self) -> Iterator[HeatStage]:
        for index, hall in enumerate(self._site.halls):
            if hall.air is None:
                continue
            row = self._halls[hall.name]
            whole, count = row.air_capacity_w, hall.air.count
            altitude = (*self._path, "altitude")
            units = Units(
                self._machines[air_handlers(hall.name)],
                None if whole is None else whole / count,
                Missing(f"'altitude' of the site '{self._site.name}'", altitude),
            )
            where = (*self._path, "halls", index, "air")
            heat = partial(self._air_heat, hall.name)
            lacks = self._nowhere(hall.air, air_handlers(hall.name), where)
            yield _stage(
                "air handlers", hall.name, where, [units], heat, halls=(hall.name,), lacks=lacks
            )

    def _of_loops(self) -> Iterator[HeatStage]:
        for index, loop in enumerate(self._site.loops):
            if (
                loop.in_rack
            ):  # they live and die with their racks, so they are no stage of their own
                if loop.water is None:
                    yield self._in_racks(index, loop)
                continue
            each = self._loops[loop.name].capacity_w / loop.count
            units = Units(self._machines[cdus(loop.name)], each, None)
            where = (*self._path, "loops", index)
            heat = partial(self._coolant_heat, loop.name)
            lacks = self._nowhere(loop, cdus(loop.name), where)
            yield _stage("CDUs", loop.name, where, [units], heat, loops=(loop.name,), lacks=lacks)

    def _in_racks(self, index: int, loop: CoolingLoop) -> HeatStage:
        """Return the CDUs in racks whose heat goes to an unknown place."""
        where = (*self._path, "loops", index)
        heat = partial(self._coolant_heat, loop.name)
        lacks = self._nowhere(loop, cdus(loop.name), where)
        return _stage("CDUs", loop.name, where, [], heat, loops=(loop.name,), lacks=lacks)

    def coolant_heat(self, loop: str) -> float | None:
        """Return W into a loop while nothing is lost; of one rack where CDUs stand in racks."""
        return self._loops[loop].heat_w

    def door_heat(self, hall: str) -> float | None:
        """Return W that rear doors take from the air of a hall while nothing is lost."""
        return add(
            None if racks.kind.air_into_loop_w is None else racks.kind.air_into_loop_w * racks.count
            for racks in self._in_halls.get(hall, ())
            if racks.kind.door_loop is not None
        )

    def _of_water(self) -> Iterator[HeatStage]:
        for index, water in enumerate(self._site.facility_water):
            plants = [plant for plant in self._site.plant or () if plant.water == water.name]
            pumps = [self._plant(plant) for plant in plants if plant.kind == "pump"]
            takers = [self._plant(plant) for plant in plants if plant.kind != "pump"]
            where = (*self._path, "facility_water", index)
            heat = partial(self._water_heat, water.name)
            machines = self._into(water.name)
            circuits = self._before(water.name)
            halls = tuple(h.name for h in self._site.halls if h.air and h.air.water in circuits)
            loops = tuple(loop.name for loop in self._site.loops if loop.water in circuits)
            lacks: list[str] = [
                part.unrated
                for name in machines
                for part in self._machines[name]
                if part.each is None
            ]
            # A machine without a circuit may be on this one, so its absence makes the sum unknown.
            lacks += self._loose()
            if pumps:
                yield _stage("pumps", water.name, where, pumps, heat, halls, loops, lacks)
            if self._site.plant is None:
                lacks.append(Missing("'plant' of the site", (*self._path, "plant")))
            lacks += self._undrained(plants)
            yield _stage("heat rejection", water.name, where, takers, heat, halls, loops, lacks)

    def _nowhere(self, machine: Machine, name: str, path: Path) -> Iterator[Missing]:
        """Yield the fields that would state where a machine gives its heat to."""
        if machine.water is None:
            yield Missing(f"'water' of the {name}", (*path, "water"))

    def _loose(self) -> Iterator[Missing]:
        """Yield the fields that would state the circuit of a machine that may be on any."""
        for index, hall in enumerate(self._site.halls):
            if hall.air is not None:
                where = (*self._path, "halls", index, "air")
                yield from self._nowhere(hall.air, air_handlers(hall.name), where)
        for index, loop in enumerate(self._site.loops):
            yield from self._nowhere(loop, cdus(loop.name), (*self._path, "loops", index))
        for plant in self._site.plant or ():
            if plant.water is None and plant.kind != "other":
                name = units_of_plant(plant.name)
                yield Missing(f"'water' of the {name}", (*self._machines[name][0].path, "water"))

    def _undrained(self, plants: Iterable[MechanicalPlant]) -> Iterator[Missing]:
        """Yield the fields that would state where chillers give their heat to."""
        for plant in plants:
            if plant.kind == "chiller" and plant.rejects_to is None:
                name = units_of_plant(plant.name)
                where = (*self._machines[name][0].path, "rejects_to")
                yield Missing(f"'rejects_to' of the {name}", where)

    def _plant(self, plant: MechanicalPlant) -> Units:
        name = units_of_plant(plant.name)
        parts = self._machines[name]
        return Units(parts, plant.capacity, self._uncarried.get(plant.name))

    def _chillers(self, water: str) -> Iterator[MechanicalPlant]:
        """Yield those whose condensers heat a circuit."""
        return (plant for plant in self._site.plant or () if plant.rejects_to == water)

    def _directly_into(self, water: str) -> Iterator[str]:
        """Yield the machines that give what they draw to a circuit."""
        for hall in self._site.halls:
            if hall.air is not None and hall.air.water == water:
                yield air_handlers(hall.name)
        for loop in self._site.loops:
            if loop.water == water and not loop.in_rack:
                yield cdus(loop.name)
        for plant in self._site.plant or ():
            if plant.rejects_to == water or (plant.kind == "pump" and plant.water == water):
                yield units_of_plant(plant.name)

    def _into(self, water: str) -> Sequence[str]:
        """Return the same, and those of the circuits whose chillers heat it."""
        found = [*self._directly_into(water)]
        for chiller in self._chillers(water):
            found += self._into(chiller.water) if chiller.water else ()
        return tuple(dict.fromkeys(found))

    def _before(self, water: str) -> AbstractSet[str]:
        """Return a circuit, and those whose chillers heat it."""
        found = {water}
        for chiller in self._chillers(water):
            found |= self._before(chiller.water) if chiller.water else set()
        return found

    def _lives(self, racks: RackClass, dead: AbstractSet[str]) -> bool:
        return not all(source in dead for source in racks.sources)

    def _air_heat(self, hall: str, dead: AbstractSet[str]) -> float | None:
        return add(
            None if racks.kind.heat_air_w is None else racks.kind.heat_air_w * racks.count
            for racks in self._in_halls.get(hall, ())
            if self._lives(racks, dead)
        )

    def _coolant_heat(self, loop: str, dead: AbstractSet[str]) -> float | None:
        return add(
            None if heat is None else heat * racks.count
            for racks, heat in self._on_loops.get(loop, ())
            if self._lives(racks, dead)
        )

    def _water_heat(self, water: str, dead: AbstractSet[str]) -> float | None:
        """Return the heat into a circuit in W, with what living machines draw; 0 where no rack of it lives."""
        racks = [
            self._air_heat(hall.name, dead)
            for hall in self._site.halls
            if hall.air is not None and hall.air.water == water
        ]
        racks += [self._coolant_heat(x.name, dead) for x in self._site.loops if x.water == water]
        for chiller in self._chillers(water):
            # A chiller passes on no more than it can carry, whatever its own circuit collects.
            taken = self._water_heat(chiller.water, dead) if chiller.water else 0.0
            most = self._plant(chiller).capacity(dead)
            racks.append(taken if taken is None or most is None else min(taken, most))
        heat = add(racks)
        if not heat:  # pumps and fans of a dead circuit do not count as its load
            return heat
        parts = (part for name in self._directly_into(water) for part in self._machines[name])
        return add([heat, *(part.power for part in parts if part.name not in dead)])


def _stage(
    kind: StageKind,
    of: str,
    path: Path,
    units: Sequence[Units],
    heat: Heat,
    halls: tuple[str, ...] = (),
    loops: tuple[str, ...] = (),
    lacks: Iterable[str] = (),
) -> HeatStage:
    unrated = [one.lacks for one in units if one.each is None and one.lacks is not None]
    return HeatStage(kind, of, path, halls, loops, units, heat, each_once([*lacks, *unrated]))


def check_water(site: OnPremSite, path: Path) -> Iterator[PlanProblem]:
    """Yield the circuits of facility water that are not there, and chillers that cool themselves."""
    known = {water.name for water in site.facility_water}
    plants = [(("plant", n), plant) for n, plant in enumerate(site.plant or ())]
    machines: list[tuple[Path, Machine]] = [
        *((("halls", n, "air"), hall.air) for n, hall in enumerate(site.halls) if hall.air),
        *((("loops", n), loop) for n, loop in enumerate(site.loops)),
        *plants,
    ]
    named = [((*where, "water"), machine.water) for where, machine in machines]
    named += [((*where, "rejects_to"), plant.rejects_to) for where, plant in plants]
    loops = {where for where, _ in machines if where[0] == "loops"}
    for where, name in named:
        if name == INDOORS and where[:-1] in loops:
            continue
        if name is not None and name != OUTDOORS and name not in known:
            message = f"there is no circuit of facility water '{name}' in this site"
            yield PlanProblem((*path, *where), message, did_you_mean(name, known))
    after: dict[str, set[str]] = {}
    for _, plant in plants:
        if plant.water is not None and plant.rejects_to is not None:
            after.setdefault(plant.water, set()).add(plant.rejects_to)
    for where, plant in plants:
        reached, waiting = set[str](), [plant.rejects_to or OUTDOORS]
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += after.get(name, ())
        if plant.water in reached:
            message = f"'{plant.name}' rejects the heat of '{plant.water}' to that circuit again"
            yield PlanProblem((*path, *where, "rejects_to"), message)
