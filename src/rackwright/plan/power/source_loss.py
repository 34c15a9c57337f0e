"""What the loss of one source changes, worked out without walking the whole plant.

Losing an RPP concerns its racks, their other feeds, and what lies above those; a large site has
thousands of sources, so only what a loss touches is looked at.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from rackwright.plan.power.demand import FeedDemand, Loads
from rackwright.plan.power.draws import Draws

Watts = list[float | None]
"""Loads of one source or consumer, of several kinds; None where unknown."""


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
        self._killers: dict[str, list[str]] = {}
        for lost, dead in self.dead.items():
            for name in dead:
                self._killers.setdefault(name, []).append(lost)

    def dead_feeds(self, sources: Sequence[str]) -> set[frozenset[int]]:
        """Every set of feeds, by index, that one loss kills; ``sources`` has each feed's source."""
        losses = {lost for name in sources for lost in self._killers.get(name, ())}
        return {
            frozenset(n for n, name in enumerate(sources) if name in self.dead[lost])
            for lost in losses
        }

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
        nothing: Watts = [0.0] * len(kinds)
        change: dict[str, Watts] = {}
        for number, (_, affected, _) in enumerate(kinds):
            for name, watts in _leaf_changes(dead, affected).items():
                change.setdefault(name, nothing.copy())[number] = watts
        all_draws = [draws for _, _, draws in kinds]
        gains = [draws.gain for draws in all_draws if draws.gain]
        waiting = [self.place[name] for name in {*change, *dead, *self._moved(dead)}]
        seen = set(waiting)
        heapq.heapify(waiting)
        while waiting:  # children before parents
            name = self._order[heapq.heappop(waiting)]
            parents = self._parents[name]
            before = parents[0] if parents else None
            after = None if name in dead else self._carrier(parents, dead)
            more = change.get(name, nothing)
            if any(name in gain for gain in gains):
                more = [
                    draws.more(name, watts) for draws, watts in zip(all_draws, more, strict=True)
                ]
            moves: dict[str | None, Watts] = {before: more}
            if before != after:
                drawn = [draws.of(name, normal[name]) for normal, _, draws in kinds]
                moves = {
                    before: [None if watts is None else -watts for watts in drawn],
                    after: _sums(drawn, more),
                }
            for parent, extra in moves.items():
                if parent is None:
                    continue
                so_far = change.get(parent)
                change[parent] = extra if so_far is None else _sums(so_far, extra)
                place = self.place[parent]
                if place not in seen:
                    seen.add(place)
                    heapq.heappush(waiting, place)
        before_loss = [normal for normal, _, _ in kinds]
        return {
            name: _sums([normal[name] for normal in before_loss], more)
            for name, more in change.items()
            if name not in dead
        }

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


def _leaf_changes(dead: AbstractSet[str], affected: Iterable[FeedDemand]) -> Loads:
    """What the feeds of ``affected`` draw more or less, by source."""
    change: Loads = {}
    for demand in affected:
        gone = frozenset(n for n, source in enumerate(demand.sources) if source in dead)
        after = demand.without.get(gone)
        if after is None:
            after = (None,) * len(demand.sources)
        for source, old, new in zip(demand.sources, demand.normal, after, strict=True):
            extra = None if old is None or new is None else (new - old) * demand.racks
            change[source] = _plus(change.get(source, 0.0), extra)
    return change


def _sums(one: Watts, other: Watts) -> Watts:
    return [None if a is None or b is None else a + b for a, b in zip(one, other, strict=True)]


def _plus(one: float | None, two: float | None) -> float | None:
    return None if one is None or two is None else one + two
