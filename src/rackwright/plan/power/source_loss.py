"""What the loss of one source changes, worked out without walking the whole plant.

Losing an RPP concerns its racks, their other feeds, and what lies above those; a large site has
thousands of sources, so only what a loss touches is looked at.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from rackwright.plan.power.demand import FeedDemand, Loads
from rackwright.plan.power.draws import Draws

Watts = list[float | None]
"""Loads of one source or consumer, of several kinds; None where unknown."""

Change = tuple[float | None, ...]
"""By how many W the load of a source changes, of several kinds; None where unknown."""

_Step = tuple[str, str | None, str | None]
"""A source or consumer, what carries it while nothing is lost, and what carries it after the loss."""


class Outages:
    """The losses of single sources.

    Attributes:
        place: of each source and consumer in ``order``.
        children: what hangs right on each source.
        dead: by the lost source, itself and all that has no living parent left.
    """

    def __init__(
        self,
        sources: Iterable[str],
        parents: Mapping[str, Sequence[str]],
        order: Sequence[str],
    ) -> None:
        """Of ``sources``, with the parents of each and of each consumer; children come first in ``order``."""
        self._order = order
        self.place = {name: place for place, name in enumerate(order)}
        self._parents = parents
        children: dict[str, list[str]] = {}
        for name, above in self._parents.items():
            for parent in dict.fromkeys(above):
                children.setdefault(parent, []).append(name)
        self.children: Mapping[str, Sequence[str]] = children
        self.dead: Mapping[str, AbstractSet[str]] = {
            name: self._dead_without(name) for name in sources
        }
        self._numbers = {lost: number for number, lost in enumerate(self.dead)}
        self._killers: dict[str, list[str]] = {}
        for lost, dead in self.dead.items():
            for name in dead:
                self._killers.setdefault(name, []).append(lost)

    def dead_feeds(self, sources: Sequence[str]) -> set[frozenset[int]]:
        """Every set of feeds, by index, that one loss kills; ``sources`` has each feed's source."""
        losses = {lost for name in sources for lost in self._killers.get(name, ())}
        return {
            frozenset([n for n, name in enumerate(sources) if name in self.dead[lost]])
            for lost in losses
        }

    def killing(self, names: Iterable[str]) -> Sequence[str]:
        """The sources whose loss kills any of ``names``, in the order of ``dead``."""
        losses = {lost for name in names for lost in self._killers.get(name, ())}
        return sorted(losses, key=self._numbers.__getitem__)

    def loads_without(
        self, lost: str, kinds: Sequence[tuple[Loads, Iterable[FeedDemand], Draws]]
    ) -> dict[str, Watts]:
        """The loads of every living source that the loss of ``lost`` may change, one of each kind.

        Args:
            lost: the source that is lost.
            kinds: of each kind of load, that of every source while nothing is lost, the racks with a
                feed on a dead source, and what each source draws from above by what it carries.
        """
        dead = self.dead[lost]
        changes = self.changes_without(
            lost,
            [(normal, leaf_changes(dead, affected), draws) for normal, affected, draws in kinds],
        )
        return {
            name: [_plus(kind[0][name], more) for kind, more in zip(kinds, change, strict=True)]
            for name, change in changes
        }

    def changes_without(
        self, lost: str, kinds: Sequence[tuple[Loads, Loads, Draws]]
    ) -> Iterator[tuple[str, Change]]:
        """By how many W the same loads rise or fall.

        Args:
            lost: the source that is lost.
            kinds: the same, with ``leaf_changes`` in the place of the racks.
        """
        dead = self.dead[lost]
        changed = dict.fromkeys([name for _, leaves, _ in kinds for name in leaves])
        steps = self._steps(dead, changed)
        living = [name for name in changed if name not in dead]
        columns = []
        for normal, leaves, draws in kinds:
            change = _changes(steps, normal, leaves, draws)
            columns.append([change.get(name, 0.0) for name in living])
        return zip(living, zip(*columns, strict=True), strict=True)

    def _steps(self, dead: AbstractSet[str], changed: dict[str, None]) -> Sequence[_Step]:
        """The way of a change up from the racks that ``changed`` has at first; the rest is added to it.

        It is the same for all kinds of load.
        """
        waiting = [self.place[name] for name in {*changed, *dead, *self._moved(dead)}]
        seen = set(waiting)
        heapq.heapify(waiting)
        steps: list[_Step] = []
        while waiting:  # children before parents
            name = self._order[heapq.heappop(waiting)]
            parents = self._parents[name]
            before = parents[0] if parents else None
            after = None
            if name not in dead:  # as most are, and what carries them
                after = self._carrier(parents, dead) if before in dead else before
            steps.append((name, before, after))
            for parent in (before,) if before == after else (before, after):
                if parent is None:
                    continue
                changed[parent] = None
                place = self.place[parent]
                if place not in seen:
                    seen.add(place)
                    heapq.heappush(waiting, place)
        return steps

    def _carrier(self, parents: Sequence[str], dead: AbstractSet[str]) -> str | None:
        return next((parent for parent in parents if parent not in dead), None)

    def _moved(self, dead: AbstractSet[str]) -> Iterable[str]:
        """Living sources with a dead parent: another one may have to carry them."""
        for gone in dead:
            yield from (child for child in self.children.get(gone, ()) if child not in dead)

    def _dead_without(self, lost: str) -> AbstractSet[str]:
        dead: dict[str, None] = {
            lost: None
        }  # in a fixed order, so that sums are the same each time
        # Parents before children, so that the fate of all parents is known.
        waiting = [-self.place[child] for child in self.children.get(lost, ())]
        seen = set(waiting)
        heapq.heapify(waiting)
        while waiting:
            name = self._order[-heapq.heappop(waiting)]
            if self._carrier(self._parents[name], dead.keys()) is not None:
                continue
            dead[name] = None
            for place in (-self.place[child] for child in self.children.get(name, ())):
                if place not in seen:
                    seen.add(place)
                    heapq.heappush(waiting, place)
        return dead.keys()


def leaf_changes(dead: AbstractSet[str], affected: Iterable[FeedDemand]) -> Loads:
    """What the feeds of ``affected`` draw more or less, by source."""
    change: Loads = {}
    for demand in affected:
        gone = frozenset([n for n, source in enumerate(demand.sources) if source in dead])
        after = demand.without.get(gone)
        if after is None:
            after = (None,) * len(demand.sources)
        for source, old, new in zip(demand.sources, demand.normal, after, strict=True):
            extra = None if old is None or new is None else (new - old) * demand.racks
            change[source] = _plus(change.get(source, 0.0), extra)
    return change


def _changes(steps: Iterable[_Step], normal: Loads, leaves: Loads, draws: Draws) -> Loads:
    """One kind of change, from that of the ``leaves`` up.

    It is made for every loss of a site and every kind of load, so it calls nothing in the usual case.
    """
    change = dict(leaves)
    gain = draws.gain
    for name, before, after in steps:
        more = change.get(name, 0.0)
        if more is not None and name in gain:
            more *= gain[name]
        if before == after:
            if before is not None and more != 0:
                so_far = change.get(before, 0.0)
                change[before] = None if so_far is None or more is None else so_far + more
            continue
        drawn = draws.of(name, normal[name])
        if before is not None:
            change[before] = _plus(change.get(before, 0.0), None if drawn is None else -drawn)
        if after is not None:
            change[after] = _plus(change.get(after, 0.0), _plus(drawn, more))
    return change


def _plus(one: float | None, two: float | None) -> float | None:
    return None if one is None or two is None else one + two
