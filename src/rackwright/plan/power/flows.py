"""Loads of the sources, normally and after the loss of any other.

There are several kinds of load on one tree: what racks draw, what they draw while all devices peak,
the same with cooling and losses. Each is a flow. A number of a source may take several of them, like
the load of a facility; its worst case is looked for loss by loss, because flows need not be at
their worst after the same loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from operator import le
from typing import NamedTuple

from rackwright.plan.power.demand import AS_CARRIED, Draws, FeedDemand, Loads
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.power.source_loss import Change, after, leaf_changes

_NOISE = 1 + 1e-9
"""Moving a load from feed to feed rounds; a worst case is worse by more than that."""

Value = Callable[[str, Sequence[float | None]], float | None]
"""A number of a source by its name and its load in each flow; it never falls when loads rise."""


class Flow:
    """One kind of load on a tree, in W.

    Attributes:
        demands: of the racks; flows of the same racks have the same object.
        normal: load of every source and consumer while nothing is lost; None when unknown.
        draws: what sources draw by what they carry.
    """

    def __init__(
        self,
        tree: PowerTree,
        demands: Sequence[FeedDemand],
        consumed: Mapping[str, float] | None = None,
        draws: Draws = AS_CARRIED,
    ) -> None:
        """Join the demand of racks, consumers by name, and the draw of sources by their load."""
        self.demands = demands
        self.draws = draws
        self._users: dict[str, list[FeedDemand]] = {}
        for demand in demands:
            for source in dict.fromkeys(demand.sources):
                self._users.setdefault(source, []).append(demand)
        leaves = _leaf_loads(demands) | dict(consumed or {})
        self.normal: Loads = tree.push_up(leaves, tree.alive(None), draws)

    def affected(self, dead: AbstractSet[str]) -> Iterable[FeedDemand]:
        """Return the racks with a feed on a dead source."""
        return {id(d): d for name in dead for d in self._users.get(name, [])}.values()


class FlowCase(NamedTuple):
    """A number of one source; None when unknown, also when parents of a source are not named.

    Attributes:
        normal: while nothing is lost.
        worst: the highest over the normal state and the loss of any other source.
        lost: the source whose loss causes it, or None in the normal state.
    """

    normal: float | None
    worst: float | None
    lost: str | None


def judge_flows(
    tree: PowerTree, flows: Sequence[Flow], values: Sequence[Value]
) -> Sequence[Mapping[str, FlowCase]]:
    """Return each of ``values`` for every source, normally and at worst. A flow may be given twice.

    An unfed source makes the load unknown of all that may carry it. The worst case of every source
    is unknown then, because it is unknown what else is lost together with the unfed one.
    """
    before = {name: [flow.normal[name] for flow in flows] for name in tree.sources}
    normal = [{name: value(name, loads) for name, loads in before.items()} for value in values]
    worst: list[dict[str, tuple[float | None, str | None]]] = [
        {name: (load, None) for name, load in loads.items()} for loads in normal
    ]
    each = _Kinds(flows)
    # Most losses change a source as one before them did, or less: no number of it is worse then.
    seen: dict[str, Change] = dict.fromkeys(tree.sources, (0.0,) * len(each.flows))
    for lost in tree.sources if not tree.unfed else ():
        for name, change in each.changes(tree, tree.outages.dead[lost]):
            if all(map(le, change, seen[name])):
                continue
            seen[name] = change
            here = each.loads(name, change)
            # Every value has its own worst loss: the load may peak after one, the charge after another.
            for value, so_far in zip(values, worst, strict=True):
                _take_worse(so_far, name, value(name, here), lost)
    unsure = tree.unsure
    return [
        {
            name: FlowCase(
                None if name in unsure else loads[name],
                None if tree.unfed else most[name][0],
                None if tree.unfed else most[name][1],
            )
            for name in tree.sources
        }
        for loads, most in zip(normal, worst, strict=True)
    ]


class LoadsAfterLoss:
    """Loads of the sources of a site, with cooling and losses, after the loss of any of them."""

    def __init__(self, tree: PowerTree, flows: Sequence[Flow], value: Value) -> None:
        """Prepare the loads of ``flows``, from which ``value`` makes the load of a source."""
        self._tree = tree
        self._kinds = _Kinds(flows)
        self._value = value

    @cached_property
    def normal(self) -> Mapping[str, float | None]:
        """Load in W of each source while nothing is lost."""
        if self._tree.unfed:
            return dict.fromkeys(self._tree.sources)
        unchanged = (0.0,) * len(self._kinds.flows)
        return {
            name: self._value(name, self._kinds.loads(name, unchanged))
            for name in self._tree.sources
        }

    def without(self, lost: str) -> Mapping[str, float | None]:
        """Return the load in W of every living source that the loss of ``lost`` may change.

        All are unknown where parents of a source are not named: it is unknown what else is lost.
        """
        return self.without_dead(self._tree.outages.dead[lost])

    def without_dead(self, dead: AbstractSet[str]) -> Mapping[str, float | None]:
        """Return the same for an outage of several sources, with all that is ``dead`` then."""
        if self._tree.unfed:
            return {name: None for name in self._tree.sources if name not in dead}
        return {
            name: self._value(name, self._kinds.loads(name, change))
            for name, change in self._kinds.changes(self._tree, dead)
        }


class _Kinds:
    """Flows of which some may be given twice, so that each is worked out once.

    Attributes:
        flows: each of them once.
    """

    def __init__(self, flows: Sequence[Flow]) -> None:
        self.flows = tuple(dict.fromkeys(flows))
        self._numbers = [self.flows.index(flow) for flow in flows]

    def changes(self, tree: PowerTree, dead: AbstractSet[str]) -> Iterator[tuple[str, Change]]:
        """Yield each source that an outage of ``dead`` may change, with its change in each of ``flows``."""
        leaves: dict[int, Loads] = {}
        for flow in self.flows:
            if id(flow.demands) not in leaves:
                leaves[id(flow.demands)] = leaf_changes(dead, flow.affected(dead))
        kinds = [(flow.normal, leaves[id(flow.demands)], flow.draws) for flow in self.flows]
        return tree.outages.changes_without(dead, kinds)

    def loads(self, name: str, change: Change) -> Sequence[float | None]:
        """Return the load of a source after such a change, in each flow as they were given."""
        here = [
            after(flow.normal[name], more) for flow, more in zip(self.flows, change, strict=True)
        ]
        return [here[number] for number in self._numbers]


def _take_worse(
    worst: dict[str, tuple[float | None, str | None]],
    name: str,
    load: float | None,
    lost: str,
) -> None:
    so_far = worst[name][0]
    if so_far is not None and (load is None or load > so_far * _NOISE):
        worst[name] = (load, lost)


def _leaf_loads(demands: Iterable[FeedDemand]) -> Loads:
    loads: Loads = {}
    for demand in demands:
        for source, watts in zip(demand.sources, demand.normal, strict=True):
            so_far = loads.get(source, 0.0)
            loads[source] = (
                None if watts is None or so_far is None else so_far + watts * demand.racks
            )
    return loads
