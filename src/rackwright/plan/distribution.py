"""The sources above the racks: what each carries, normally and after any other one is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from rackwright.model.onprem import OnPremSite
from rackwright.model.power import PowerSource, SitePower
from rackwright.plan.base import Path
from rackwright.plan.electrical import Legs, circuit_capacity
from rackwright.plan.missing import Missing
from rackwright.plan.outages import Outages
from rackwright.plan.problems import PlanProblem
from rackwright.spec.suggest import did_you_mean

Loads = dict[str, float | None]

_NAMED = 3
"""Unfed sources that a message names; the others are counted."""

_NOISE = 1 + 1e-9
"""Moving a load from feed to feed rounds; a worst case is worse by more than that."""


@dataclass(frozen=True, slots=True)
class FeedDemand:
    """What equal racks draw through their feeds, by the set of feeds that are dead.

    Attributes:
        sources: source of each feed.
        racks: number of racks.
        normal: W of one rack on each feed.
        without: the same for each set of dead feeds that can occur.
    """

    sources: tuple[str, ...]
    racks: int
    normal: tuple[float | None, ...]
    without: Mapping[frozenset[int], tuple[float | None, ...]]


@dataclass(frozen=True, slots=True)
class SourceCases:
    """What one source carries in W; None when unknown, also when parents of a source are not named.

    Attributes:
        worst: the highest load over the normal state and the loss of any other source.
        worst_lost: the source whose loss causes it, or None in the normal state.
        capacity: continuous capacity, None when unknown.
    """

    name: str
    load: float | None
    worst: float | None
    worst_lost: str | None
    capacity: float | None


def capacity_of(source: PowerSource, power: SitePower) -> float | None:
    """Continuous capacity of ``source`` in W: stated, of the modules without spares, or derated.

    None where it is not stated, or not how many modules are spare.
    """
    if source.capacity is not None:
        return source.capacity
    if source.modules is not None:
        needed = source.modules.needed
        return None if needed is None else needed * source.modules.capacity
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


class Tree:
    """The sources with their parents.

    Args:
        sources: in the order of the blueprint.
        path: the place of their list in the blueprint.
    """

    def __init__(self, sources: Sequence[PowerSource], path: Path = ()) -> None:
        self.path = path
        self.sources = {source.name: source for source in sources}
        self.order = self._topological()

    @cached_property
    def outages(self) -> Outages:
        """The losses of single sources."""
        return Outages(self)

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
        """What keeps loads from being known: the sources that lack parents."""
        numbers = {name: index for index, name in enumerate(self.sources)}
        found = [
            Missing(f"what feeds '{name}'", (*self.path, numbers[name], "fed_by"))
            for name in self.unfed[:_NAMED]
        ]
        more = self.unfed[_NAMED:]
        if more:
            place = (*self.path, numbers[more[0]], "fed_by")
            found.append(Missing(f"what feeds {len(more):,} more sources", place))
        return tuple(found)

    def _topological(self) -> list[str]:
        """Children before parents."""
        done: dict[str, None] = {}

        def visit(name: str) -> None:
            if name in done or name not in self.sources:
                return
            for parent in self.sources[name].fed_by:
                visit(parent)
            done[name] = None

        for name in self.sources:
            visit(name)
        return list(reversed(done))

    def alive(self, lost: str | None) -> dict[str, bool]:
        """Whether each source is live when ``lost`` is not."""
        state: dict[str, bool] = {}
        for name in reversed(self.order):
            parents = [p for p in self.sources[name].fed_by if p in self.sources]
            state[name] = name != lost and (not parents or any(state[p] for p in parents))
        return state

    def push_up(self, leaf_loads: Mapping[str, float | None], alive: Mapping[str, bool]) -> Loads:
        """The load of every source, each parent carrying the sum of its children's."""
        loads: Loads = {name: leaf_loads.get(name, 0.0) for name in self.order}
        for name in self.order:
            live = [p for p in self.sources[name].fed_by if p in loads and alive[p]]
            if not live or not alive[name]:
                continue
            here, above = loads[name], loads[live[0]]
            loads[live[0]] = None if here is None or above is None else above + here
        return loads

    def ancestors(self, name: str) -> frozenset[str]:
        """Every source that can feed ``name``, itself included."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            current = waiting.pop()
            if current in self.sources and current not in found:
                found.add(current)
                waiting += self.sources[current].fed_by
        return frozenset(found)


def check_sources(power: SitePower, path: Path) -> list[PlanProblem]:
    """Parents and generators that do not exist, and circles."""
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


def judge_sources(power: SitePower, tree: Tree, demands: Sequence[FeedDemand]) -> list[SourceCases]:
    """The load of every source of ``power``, whose tree is given, normally and at worst.

    An unfed source makes the load unknown of all that may carry it. The worst case of every source
    is unknown then, for nobody knows what else is lost together with the unfed one.
    """
    normal = tree.push_up(_leaf_loads(demands), tree.alive(None))
    worst: dict[str, tuple[float | None, str | None]] = {n: (normal[n], None) for n in tree.order}
    users: dict[str, list[FeedDemand]] = {}
    for demand in demands:
        for source in dict.fromkeys(demand.sources):
            users.setdefault(source, []).append(demand)
    for lost, dead in tree.outages.dead.items():
        affected = {id(d): d for name in dead for d in users.get(name, [])}.values()
        for name, load in tree.outages.loads_without(lost, normal, affected).items():
            so_far = worst[name][0]
            if so_far is None:
                continue
            if load is None or load > so_far * _NOISE:
                worst[name] = (load, lost)
    return [
        SourceCases(
            name=source.name,
            load=None if source.name in tree.unsure else normal[source.name],
            worst=None if tree.unfed else worst[source.name][0],
            worst_lost=None if tree.unfed else worst[source.name][1],
            capacity=capacity_of(source, power),
        )
        for source in power.sources
    ]


def idle_sources(site: OnPremSite) -> AbstractSet[str]:
    """The sources of ``site`` that feed nothing: neither a rack nor another source."""
    parents = {parent for source in site.power.sources for parent in source.fed_by}
    groups = [group for hall in site.halls for row in hall.rows for group in row.rack_groups]
    feeding = parents | {feed.source for group in groups for feed in group.feeds}
    return {source.name for source in site.power.sources} - feeding


def _leaf_loads(demands: Sequence[FeedDemand]) -> Loads:
    loads: Loads = {}
    for demand in demands:
        for source, watts in zip(demand.sources, demand.normal, strict=True):
            so_far = loads.get(source, 0.0)
            loads[source] = (
                None if watts is None or so_far is None else so_far + watts * demand.racks
            )
    return loads


def add_legs(total: Legs, legs: Legs, times: int) -> Legs:
    """``total`` plus ``times`` the legs of one rack."""
    a, b, c = (x + times * y for x, y in zip(total, legs, strict=True))
    return a, b, c
