"""Time for which air, coolant and water hold the heat of the racks while cooling waits for generators.

UPSs carry the racks from the loss of the utility on. Machines that hang on no UPS stand still until
the generators carry load, and cool again when they have restarted; a dip of the voltage stops them, too.
Where units change to another source, they are without power for as long as that takes. Meanwhile the heat warms up what
still takes it: C·dT/dt = P, mixed well, without the mass of walls and of the machines themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from rackwright.model.cooling import CoolingLoop
from rackwright.model.onprem import ASHRAE_ALLOWABLE, OnPremSite
from rackwright.plan.base import Path
from rackwright.plan.cooling.stages import NOTHING, HeatPaths, HeatStage, add
from rackwright.plan.cooling.thermal import (
    air_heat_capacity,
    density_ratio,
    fluid_heat_capacity,
    time_to_warm,
    volumetric_heat,
)
from rackwright.plan.missing import Missing, ProductField, each_once, of_product
from rackwright.plan.power.consumers import Consumer
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.records.cooling import Buffer, Cause, RideThrough
from rackwright.plan.records.facility import LoopProduct
from rackwright.plan.records.racks import RackClass, RackDevice

DIP = 1.0
"""Length in s of the dips of a utility's voltage that machines have to live through; most are shorter
(EN 50160)."""


class _Gap(NamedTuple):
    """A time without cooling.

    Attributes:
        seconds: 0 where there is none; None when unknown.
        missing: what would say it.
        least: time that it lasts at least where it is unknown, in seconds.
    """

    seconds: float | None
    missing: tuple[str, ...]
    least: float = 0.0


class _Store(NamedTuple):
    """Stores of heat while nothing cools.

    Attributes:
        capacity: J/K; None when unknown.
        rise: K by which it may warm up; None when unknown.
        missing: what would say those.
    """

    capacity: float | None
    rise: float | None
    missing: tuple[str, ...]


_NOTHING = _Store(0.0, 0.0, ())


def ride_through_rows(
    site: OnPremSite,
    path: Path,
    paths: HeatPaths,
    tree: PowerTree,
    classes: Sequence[RackClass],
    products: Iterable[LoopProduct],
) -> tuple[RideThrough, ...]:
    """Return what each hall, loop and circuit of water holds until generators have started.

    Dips of the voltage count where there is no generator, since the loss until generators have started is
    longer, and transfers everywhere; of those, only what does not go on cooling. Nothing waits for
    machines where the racks stop as well.

    Args:
        site: the site.
        path: its place in the blueprint.
        paths: the ways of heat.
        tree: the power sources.
        classes: the racks.
        products: what gives its heat to the loops.
    """
    listed = tuple(products)
    has_generator = any(source.kind == "generator" for source in tree.sources.values())
    first: Cause = "generators" if has_generator else "dip"
    found = []
    for cause in (first, "transfer") if classes else (first,):
        waiting = _Waiting(site, path, paths, tree, classes, listed, cause)
        if cause == "generators" or waiting.racks_live_on:
            found += [row for row in waiting.rows() if cause == "generators" or row.gap_s != 0]
    return tuple(found)


class _Waiting:
    """A site whose machines wait for its generators."""

    def __init__(
        self,
        site: OnPremSite,
        path: Path,
        paths: HeatPaths,
        tree: PowerTree,
        classes: Sequence[RackClass],
        products: Iterable[LoopProduct],
        cause: Cause,
    ) -> None:
        self._cause = cause
        self._site, self._path, self._tree = site, path, tree
        self._stages = {(stage.kind, stage.of): stage for stage in paths.stages}
        self._paths, self._products = paths, tuple(products)
        self._classes = classes
        self._backed: dict[str, bool] = {}
        for name in reversed(tree.order):  # parents before children
            source = tree.sources.get(name)
            is_ups = source is not None and source.kind == "ups"
            self._backed[name] = is_ups or any(self._backed[p] for p in tree.parents[name])

    @property
    def racks_live_on(self) -> bool:
        """True if a UPS carries any rack while the utility is away."""
        return any(self._backed[source] for racks in self._classes for source in racks.sources)

    def rows(self) -> Iterator[RideThrough]:
        """Yield the halls first, then the loops, then the circuits that cool them."""
        for hall in self._site.halls:
            if hall.air is not None:
                stage = self._stages["air handlers", hall.name]
                gap = _longest(
                    [self._gap(stage), self._pumps(hall.air.water), *self._doors(hall.name)]
                )
                heat = add([stage.heat(NOTHING), self._paths.door_heat(hall.name)])
                yield self._row("air", stage, heat, gap, self._air(hall.name, stage))
        for index, loop in enumerate(self._site.loops):
            if not any(product.loop == loop.name for product in self._products):
                continue  # doors alone: the air of their hall takes the heat
            heat = self._paths.coolant_heat(loop.name)
            stage = self._stages.get(("CDUs", loop.name)) or self._in_racks(index, loop)
            standing = _Gap(0.0, ()) if loop.in_rack else self._gap(stage)
            gaps = [self._pumps(loop.water)]
            if self._in_tanks(loop.name):
                gaps.append(standing)
            else:
                yield self._row("flow", stage, heat, standing, _NOTHING)
            yield self._row("coolant", stage, heat, _longest(gaps), self._coolant(loop, stage))
        direct = {hall.air.water for hall in self._site.halls if hall.air is not None}
        direct |= {loop.water for loop in self._site.loops}
        for index, water in enumerate(self._site.facility_water):
            if water.name in direct:
                stage = self._stages["heat rejection", water.name]
                heat, gap = stage.heat(NOTHING), self._rejection(water.name)
                yield self._row("water", stage, heat, gap, self._water(index))

    def _doors(self, hall: str) -> Iterator[_Gap]:
        """Yield the times for which the rear doors of a hall take no heat from its air."""
        behind = {racks.kind.door_loop for racks in self._classes if racks.hall == hall}
        for loop in self._site.loops:
            if loop.name in behind:
                if not loop.in_rack:
                    yield self._gap(self._stages["CDUs", loop.name])
                yield self._pumps(loop.water)

    def _in_racks(self, index: int, loop: CoolingLoop) -> HeatStage:
        """Return a loop whose CDUs stand in racks, and live with them on the UPSs."""
        where = (*self._path, "loops", index)
        heat = self._paths.coolant_heat(loop.name)
        return HeatStage("CDUs", loop.name, where, (), (loop.name,), (), lambda _: heat, ())

    def _in_tanks(self, loop: str) -> bool:
        """Return True if all devices on a loop stand in tanks, whose fluid takes heat without flow."""
        return all(
            racks.kind.mode == "immersion" for racks in self._classes if racks.kind.loop == loop
        )

    def _row(
        self, buffer: Buffer, stage: HeatStage, heat: float | None, gap: _Gap, store: _Store
    ) -> RideThrough:
        holds = 0.0 if buffer == "flow" else None
        if buffer != "flow" and heat and store.capacity is not None and store.rise is not None:
            holds = time_to_warm(store.capacity, store.rise, heat)
        missing = gap.missing
        if gap.seconds == 0:
            holds = 0.0 if holds is None else holds
        else:
            missing = each_once([*missing, *stage.lacks, *store.missing])
        return RideThrough(
            cause=self._cause,
            buffer=buffer,
            of=stage.of,
            path=stage.path,
            halls=stage.halls,
            loops=stage.loops,
            gap_s=gap.seconds,
            least_gap_s=gap.least if gap.seconds is None else gap.seconds,
            holds_s=holds,
            rise_k=store.rise,
            heat_w=heat,
            missing=missing,
        )

    def _gap(self, stage: HeatStage) -> _Gap:
        """Return the time for which a stage does not carry its heat."""
        parts = [part for units in stage.units for part in units.parts]
        missing: list[str] = [part.unfed for part in parts if not part.fed_by]
        missing += [*stage.lacks, *self._tree.missing]
        if self._cause == "transfer":
            return self._longest_transfer(stage, parts, missing)
        heat = stage.heat(NOTHING)
        standing = frozenset(part.name for part in parts if self._stands(part))
        left = stage.capacity(standing)
        if missing or heat is None or left is None:
            return _Gap(None, each_once(missing))
        if left >= heat:
            return _Gap(0.0, ())
        start: float | None = DIP
        if self._cause == "generators":
            start = self._site.power.generator_acceptance
        if start is None:
            place = (*self._path, "power", "generator_acceptance")
            missing.append(Missing("'generator_acceptance' of the site's power", place))
        waiting = [part for part in parts if part.name in standing]
        missing += [part.unstarted for part in waiting if part.restart is None]
        if missing or start is None:
            return _Gap(None, each_once(missing), start or 0.0)
        return _Gap(start + max((part.restart or 0.0 for part in waiting), default=0.0), ())

    def _stands(self, part: Consumer) -> bool:
        """True if some units stop when the utility is away, for a dip or until generators have started."""
        if self._backed.get(part.name):
            return False
        return self._cause == "generators" or part.rides_through < DIP

    def _longest_transfer(
        self, stage: HeatStage, parts: Sequence[Consumer], missing: Sequence[str]
    ) -> _Gap:
        """Return the longest time for which a stage does not carry its heat while units change sources."""
        if missing:
            return _Gap(None, each_once(missing))
        gaps = [_Gap(0.0, ())]
        for lost in dict.fromkeys(self._tree.parents[part.name][0] for part in parts):
            gaps += [self._transfer(stage, parts, dead) for dead in self._losses_of(lost)]
        return _longest(gaps)

    def _losses_of(self, source: str) -> Iterator[AbstractSet[str]]:
        """Yield what dies with each loss that takes a source along, without losses of a utility."""
        for name in self._tree.ancestors(source):
            if self._tree.sources[name].kind != "utility":
                dead = self._tree.dead(name)
                if source in dead:
                    yield dead

    def _transfer(
        self, stage: HeatStage, parts: Sequence[Consumer], dead: AbstractSet[str]
    ) -> _Gap:
        changing = [part for part in parts if self._changes(part, dead)]
        standing = {
            part.name
            for part in changing
            if part.transfer is None or part.transfer > part.rides_through
        }
        heat, left = stage.heat(dead), stage.capacity(dead | standing)
        if heat is None or left is None:
            return _Gap(None, ())
        if left >= heat or not standing:
            return _Gap(0.0, ())  # units that stay without power are judged after losses
        waiting = [part for part in changing if part.name in standing]
        missing = [part.untransferred for part in waiting if part.transfer is None]
        missing += [part.unstarted for part in waiting if part.restart is None]
        if missing:
            least = max(part.transfer or 0.0 for part in waiting)
            return _Gap(None, each_once(missing), least)
        return _Gap(max((part.transfer or 0.0) + (part.restart or 0.0) for part in waiting), ())

    def _changes(self, part: Consumer, dead: AbstractSet[str]) -> bool:
        """True if units lose the source that carries them and another one takes over, no generator."""
        parents = self._tree.parents[part.name]
        if not parents or parents[0] not in dead:
            return False
        after = next((parent for parent in parents if parent not in dead), None)
        return after is not None and self._tree.sources[after].kind != "generator"

    def _pumps(self, water: str | None) -> _Gap:
        """Return the time for which a circuit stands still; none where chillers have its pumps in them."""
        if water is None:
            return _Gap(0.0, ())  # its stage is unknown already
        stage = self._stages.get(("pumps", water))
        return _Gap(0.0, ()) if stage is None else self._gap(stage)

    def _rejection(self, water: str) -> _Gap:
        """Return the time for which nothing takes the heat of a circuit, or of the one behind its chillers."""
        found = [self._gap(self._stages["heat rejection", water])]
        for plant in self._site.plant or ():
            behind = plant.rejects_to if plant.water == water else None
            if ("heat rejection", behind) in self._stages and behind is not None:
                found += [self._pumps(behind), self._rejection(behind)]
        return _longest(found)

    def _air(self, hall: str, stage: HeatStage) -> _Store:
        """Return the air of a hall: from its inlet temperature to what its class and each product allow."""
        air = next(one.air for one in self._site.halls if one.name == hall)
        if air is None:
            return _NOTHING
        missing: list[str] = []
        warmest: list[float] = [ASHRAE_ALLOWABLE[air.ashrae_class][1]]
        for device in self._in_hall(hall):
            if device.heat_air_w == 0:
                continue
            if device.inlet_max_c is None:
                missing.append(of_product(device.entry, "inlet_max", "published warmest inlet"))
            else:
                warmest.append(device.inlet_max_c)
        rise = None if missing else min(warmest) - air.inlet_temperature
        capacity = None
        if air.volume is None:
            place = (*stage.path, "volume")
            missing.append(Missing(f"'volume' of the air of the hall '{hall}'", place))
        elif self._site.altitude is not None:
            capacity = air_heat_capacity(air.volume, density_ratio(self._site.altitude))
        return _Store(capacity, rise, tuple(missing))

    def _coolant(self, loop: CoolingLoop, stage: HeatStage) -> _Store:
        """Return the coolant of a loop: from its supply temperature to the warmest that each product takes."""
        name = loop.name
        missing: list[str] = []
        warmest: list[float] = []
        for device in self._products:
            if device.loop != name or device.heat_w == 0:
                continue
            if device.max_supply_c is None:
                names = ("liquid.max_supply", "liquid.coolant_class", "liquid.water_class")
                ways = (ProductField(device.entry, field) for field in names)
                missing.append(Missing(f"{device.entry}: warmest coolant, or its class", *ways))
            else:
                warmest.append(device.max_supply_c)
        rise = None
        if loop.supply_temperature is None:
            place = (*stage.path, "supply_temperature")
            missing.append(Missing(f"'supply_temperature' of the loop '{name}'", place))
        elif warmest and not missing:
            rise = min(warmest) - loop.supply_temperature
        capacity = None
        if loop.volume is None:
            missing.append(Missing(f"'volume' of the loop '{name}'", (*stage.path, "volume")))
        elif (heat_capacity := volumetric_heat(loop.fluid, loop.heat_capacity)) is not None:
            capacity = fluid_heat_capacity(loop.volume, heat_capacity)
        return _Store(capacity, rise, tuple(missing))

    def _water(self, index: int) -> _Store:
        """Return the water of a circuit, by as much as its owner lets it warm up."""
        water = self._site.facility_water[index]
        missing = tuple(
            Missing(
                f"'{field}' of the facility water '{water.name}'",
                (*self._path, "facility_water", index, field),
            )
            for field in ("fluid", "volume", "warming")
            if getattr(water, field) is None
        )
        if water.volume is None or water.fluid is None:
            return _Store(None, water.warming, missing)
        heat_capacity = volumetric_heat(water.fluid)
        capacity = (
            None if heat_capacity is None else fluid_heat_capacity(water.volume, heat_capacity)
        )
        return _Store(capacity, water.warming, missing)

    def _in_hall(self, hall: str) -> Iterator[RackDevice]:
        """Yield the nodes and switches in the racks of a hall, each product once."""
        seen = set()
        kinds = dict.fromkeys(racks.kind for racks in self._classes if racks.hall == hall)
        for device in (device for kind in kinds for device in kind.devices):
            if device.kind in {"node", "switch"} and device.entry not in seen:
                seen.add(device.entry)
                yield device


def _longest(gaps: Iterable[_Gap]) -> _Gap:
    """Return the longest of several gaps that begin together; unknown where one of them is."""
    known, unknown, least = [0.0], False, 0.0
    missing: list[str] = []
    for gap in gaps:
        missing += gap.missing
        least = max(least, gap.least)
        if gap.seconds is None:
            unknown = True
        else:
            known.append(gap.seconds)
    return _Gap(None if unknown else max(known), each_once(missing), max(least, *known))
