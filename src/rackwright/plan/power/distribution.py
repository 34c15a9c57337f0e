"""The sources above the racks: what hangs on what, what dies with a loss, and what each can carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from graphlib import TopologicalSorter

from rackwright.model.cooling import Machine, Supply
from rackwright.model.onprem import OnPremSite
from rackwright.model.power import PowerSource, SitePower
from rackwright.plan.base import Path
from rackwright.plan.listing import first_of
from rackwright.plan.missing import Missing
from rackwright.plan.power.demand import AS_CARRIED, Draws, Loads
from rackwright.plan.power.electrical import Legs, circuit_capacity
from rackwright.plan.power.products import unsaid_of
from rackwright.plan.power.source_loss import Outages
from rackwright.plan.problems import PlanProblem
from rackwright.reading.suggest import did_you_mean


def capacity_of(source: PowerSource, power: SitePower) -> float | None:
    """Return the continuous capacity of ``source`` in W: stated, of the modules without spares, or derated.

    None where it is not stated, or not how many modules are spare.
    """
    if source.capacity is not None:
        return source.capacity
    if source.modules is not None:
        needed = source.modules.needed
        if needed is None or source.modules.capacity is None:
            return None
        return needed * source.modules.capacity
    if source.circuit is None:
        return None
    circuit = source.circuit
    derate = 1.0 if circuit.continuous_rated else power.continuous_derate / 100
    return circuit_capacity(
        circuit.voltage,
        circuit.current,
        circuit.phases,
        derate=derate,
        power_factor=power.power_factor,
    )


class PowerTree:
    """The sources with their parents, and what else hangs on them.

    Attributes:
        sources: by name, in the order of the blueprint.
        path: the place of their list in the blueprint.
        parents: of each source, and of each consumer, those that are there; the first one alive
            carries it.
        order: all of them, children before parents.
    """

    def __init__(
        self,
        sources: Sequence[PowerSource],
        path: Path = (),
        consumers: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Join ``sources`` and consumers beside the racks by name, with the sources that feed them."""
        self.path = path
        self.sources = {source.name: source for source in sources}
        fed_by = {source.name: source.fed_by for source in sources} | dict(consumers or {})
        self.parents: Mapping[str, tuple[str, ...]] = {
            name: tuple(parent for parent in parents if parent in self.sources)
            for name, parents in fed_by.items()
        }
        self.order = tuple(TopologicalSorter(self.parents).static_order())[::-1]

    @cached_property
    def outages(self) -> Outages:
        """The losses of single sources."""
        return Outages(self.sources, self.parents, self.order)

    @cached_property
    def unfed(self) -> tuple[str, ...]:
        """The sources that lack parents."""
        return tuple(name for name, source in self.sources.items() if source.missing_parents)

    @cached_property
    def unsure(self) -> AbstractSet[str]:
        """The sources that may carry an unfed one: all that do not hang on every unfed one."""
        unfed = frozenset(self.unfed)
        return {name for name in self.sources if unfed and not unfed <= self.ancestors(name)}

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Sources without known parents, which make loads unknown."""
        found = [Missing(f"what feeds '{name}'", self.place(name, "fed_by")) for name in self.unfed]
        return first_of(found, "what feeds {} more sources")

    def place(self, name: str, *field: str) -> Path:
        """Return the place of a field of the source ``name`` in the blueprint."""
        return (*self.path, self._numbers[name], *field)

    def unsaid(self, name: str, field: str, words: str | None = None) -> Missing:
        """Return a number of the source ``name`` that neither the blueprint nor a product says.

        Args:
            name: the source.
            field: of the source in the blueprint.
            words: what is missing; absent, the field by its name.
        """
        return unsaid_of(self.sources[name], field, self.place(name, field), words)

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {name: index for index, name in enumerate(self.sources)}

    def alive(self, lost: str | None) -> dict[str, bool]:
        """Return for each source and consumer whether it is live while ``lost`` is dead."""
        if lost is None:
            return dict.fromkeys(reversed(self.order), True)
        state: dict[str, bool] = {}
        for name in reversed(self.order):
            parents = self.parents[name]
            state[name] = name != lost and (not parents or any(state[p] for p in parents))
        return state

    def without(self, lost: AbstractSet[str]) -> AbstractSet[str]:
        """Return the sources and consumers without power while several sources are lost."""
        return self.outages.dead_without(name for name in lost if name in self.parents)

    def without_place(self, name: str) -> AbstractSet[str]:
        """Return the sources and consumers without power while all that is in a room or on a route is lost."""
        gone: set[str] = set()
        for this in reversed(self.order):  # parents before children
            parents = self.parents[this]
            if name in self.places.get(this, ()) or (parents and gone.issuperset(parents)):
                gone.add(this)
        return gone

    @cached_property
    def places(self) -> Mapping[str, frozenset[str]]:
        """The rooms and routes that each source needs, of those that name one."""
        named = {
            name: frozenset(filter(None, (source.room, source.battery_room, source.route)))
            for name, source in self.sources.items()
        }
        return {name: places for name, places in named.items() if places}

    def push_up(
        self,
        leaf_loads: Mapping[str, float | None],
        alive: Mapping[str, bool],
        draws: Draws = AS_CARRIED,
    ) -> Loads:
        """Return the load of every source, each parent carrying the sum of what its children draw."""
        loads: Loads = {name: leaf_loads.get(name, 0.0) for name in self.order}
        for name in self.order:
            live = next(filter(alive.__getitem__, self.parents[name]), None)
            if live is None or not alive[name]:
                continue
            here, above = draws.of(name, loads[name]), loads[live]
            loads[live] = None if here is None or above is None else above + here
        return loads

    def ancestors(self, name: str) -> frozenset[str]:
        """Return every source that can feed ``name``, itself included; none of what is not there."""
        return self._ancestors.get(name, frozenset())

    @cached_property
    def _ancestors(self) -> Mapping[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for name in reversed(self.order):  # parents before children
            found[name] = frozenset((name,)).union(*(found[p] for p in self.parents[name]))
        return found

    def below(self, name: str) -> frozenset[str]:
        """Return every source, and every consumer, that ``name`` can feed, itself included."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            current = waiting.pop()
            if current not in found:
                found.add(current)
                waiting += self.outages.children.get(current, ())
        return frozenset(found)

    def dead(self, lost: str | None) -> AbstractSet[str]:
        """Return the sources and consumers without power while ``lost`` is lost; none if it is None."""
        return frozenset() if lost is None else self.outages.dead[lost]


def check_sources(power: SitePower, path: Path) -> list[PlanProblem]:
    """Return the parents and generators that do not exist, and circles."""
    known = {source.name for source in power.sources}
    parents = {source.name: source.fed_by for source in power.sources}
    problems = []
    if power.generator_acceptance is not None and not any(
        source.kind == "generator" for source in power.sources
    ):
        message = "there are no generators: no source is of the kind 'generator'"
        hint = "add them to 'sources', and to the 'fed_by' of what they carry"
        problems.append(PlanProblem((*path, "power", "generator_acceptance"), message, hint))
    for index, source in enumerate(power.sources):
        where = (*path, "power", "sources", index, "fed_by")
        for parent in source.fed_by:
            if parent not in known:
                message = f"'{source.name}' is fed by '{parent}', which does not exist"
                problems.append(PlanProblem(where, message, did_you_mean(parent, known)))
        seen: set[str] = set()
        waiting = list(source.fed_by)
        while waiting:
            current = waiting.pop()
            if current == source.name:
                problems.append(PlanProblem(where, f"'{source.name}' feeds itself in a circle"))
                break
            if current not in seen:
                seen.add(current)
                waiting += parents.get(current, ())
    return problems


def idle_sources(site: OnPremSite) -> AbstractSet[str]:
    """Return the sources of ``site`` that feed nothing: no rack, no other source, no mechanical plant."""
    machines: list[Machine] = [*site.loops, *(site.plant or ())]
    machines += [hall.air for hall in site.halls if hall.air is not None]
    supplied: list[Machine | PowerSource | Supply] = [*site.power.sources, *machines]
    supplied += [supply for machine in machines for supply in machine.supplies]
    parents = {parent for one in supplied for parent in one.fed_by}
    groups = [group for hall in site.halls for row in hall.rows for group in row.rack_groups]
    feeding = parents | {feed.source for group in groups for feed in group.feeds}
    return {source.name for source in site.power.sources} - feeding


def add_legs(total: Legs, legs: Legs, times: int) -> Legs:
    """Return ``total`` plus ``times`` the legs of one rack."""
    a, b, c = (x + times * y for x, y in zip(total, legs, strict=True))
    return a, b, c
