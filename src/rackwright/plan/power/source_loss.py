"""Effect of the loss of one source, computed without walking the whole plant.

Losing an RPP concerns its racks, their other feeds, and what lies above those; a large site has
thousands of sources, so only what a loss touches is looked at.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from rackwright.plan.power.demand import Draws, FeedDemand, Loads, plus

Change = tuple[float, ...]
"""By how many W the load of a source changes, of several kinds; NaN where unknown, as sums with it are."""

_Step = tuple[str, int, int | None, int | None]
"""A source or consumer, its number, and of what carries it while nothing is lost and after the loss."""


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
        """Prepare ``sources`` with the parents of each and of each consumer; children come first in ``order``."""
        self._order = order
        self.place = {name: place for place, name in enumerate(order)}
        self._parents = parents
        children: dict[str, list[str]] = {}
        for name, above in self._parents.items():
            for parent in dict.fromkeys(above):
                children.setdefault(parent, []).append(name)
        self.children: Mapping[str, Sequence[str]] = children
        self.dead: Mapping[str, AbstractSet[str]] = {
            name: self.dead_without((name,)) for name in sources
        }
        self._numbers = {lost: number for number, lost in enumerate(self.dead)}
        self._killers: dict[str, list[str]] = {}
        for lost, dead in self.dead.items():
            for name in dead:
                self._killers.setdefault(name, []).append(lost)

    def dead_feeds(self, sources: Sequence[str]) -> set[frozenset[int]]:
        """Return every set of feeds, by index, that one loss kills; ``sources`` has each feed's source."""
        losses = {lost for name in sources for lost in self._killers.get(name, ())}
        return {
            frozenset([n for n, name in enumerate(sources) if name in self.dead[lost]])
            for lost in losses
        }

    def killing(self, names: Iterable[str]) -> Sequence[str]:
        """Return the sources whose loss kills any of ``names``, in the order of ``dead``."""
        losses = {lost for name in names for lost in self._killers.get(name, ())}
        return sorted(losses, key=self._numbers.__getitem__)

    def changes_without(
        self, dead: AbstractSet[str], kinds: Sequence[tuple[Loads, Loads, Draws]]
    ) -> Iterator[tuple[str, Change]]:
        """Yield every living source that an outage may change, with the change of each kind of load.

        Args:
            dead: all that is without power.
            kinds: of each kind of load, that of every source while nothing is lost, the
                ``leaf_changes`` of the racks, and what each source draws from above by what it carries.
        """
        leaves = [name for _, own, _ in kinds for name in own]
        numbers, changed, steps = self._walk(dead, leaves)
        living = [name for name in changed if name not in dead]
        columns = []
        for normal, own, draws in kinds:
            change = _changes(numbers, steps, normal, own, draws)
            columns.append([change[numbers[name]] for name in living])
        return zip(living, zip(*columns, strict=True), strict=True)

    def _walk(
        self, dead: AbstractSet[str], leaves: Iterable[str]
    ) -> tuple[Mapping[str, int], Iterable[str], Sequence[_Step]]:
        """Return the way of a change up from ``leaves``, which is the same for all kinds of load.

        Returns:
            A number for each source and consumer on the way, those that change, and the steps.
        """
        numbers: dict[str, int] = {}
        for name in (*leaves, *dead, *self._moved(dead)):
            numbers.setdefault(name, len(numbers))
        changed = dict.fromkeys(leaves)
        waiting = [self.place[name] for name in numbers]
        heapq.heapify(waiting)
        steps: list[_Step] = []
        while waiting:  # children before parents
            name = self._order[heapq.heappop(waiting)]
            parents = self._parents[name]
            before = parents[0] if parents else None
            after = None
            if name not in dead:  # as most are, and what carries them
                after = self._carrier(parents, dead) if before in dead else before
            for parent in (before,) if before == after else (before, after):
                if parent is not None:
                    changed[parent] = None
                    if parent not in numbers:
                        numbers[parent] = len(numbers)
                        heapq.heappush(waiting, self.place[parent])
            was = None if before is None else numbers[before]
            now = was if before == after else None if after is None else numbers[after]
            steps.append((name, numbers[name], was, now))
        return numbers, changed, steps

    def _carrier(self, parents: Sequence[str], dead: AbstractSet[str]) -> str | None:
        return next((parent for parent in parents if parent not in dead), None)

    def _moved(self, dead: AbstractSet[str]) -> Iterable[str]:
        """Return the living sources with a dead parent: another one may have to carry them."""
        for gone in dead:
            yield from (child for child in self.children.get(gone, ()) if child not in dead)

    def dead_without(self, lost: Iterable[str]) -> AbstractSet[str]:
        """Return all that is without power while several sources are lost."""
        # A dict keeps the order, so that sums over the dead are the same in each run.
        dead: dict[str, None] = dict.fromkeys(lost)
        # Parents before children, so that the fate of all parents is known.
        waiting = [-self.place[child] for name in dead for child in self.children.get(name, ())]
        seen = set(waiting)
        waiting = list(seen)
        heapq.heapify(waiting)
        while waiting:
            name = self._order[-heapq.heappop(waiting)]
            if name in dead or self._carrier(self._parents[name], dead.keys()) is not None:
                continue
            dead[name] = None
            for place in (-self.place[child] for child in self.children.get(name, ())):
                if place not in seen:
                    seen.add(place)
                    heapq.heappush(waiting, place)
        return dead.keys()


def leaf_changes(dead: AbstractSet[str], affected: Iterable[FeedDemand]) -> Loads:
    """Return the change of the draw of the feeds of ``affected``, by source."""
    change: Loads = {}
    for demand in affected:
        gone = frozenset([n for n, source in enumerate(demand.sources) if source in dead])
        after = demand.without.get(gone)
        if after is None and demand.draws is not None:
            after = demand.draws(gone)
        if after is None:
            after = (None,) * len(demand.sources)
        for source, old, new in zip(demand.sources, demand.normal, after, strict=True):
            extra = None if old is None or new is None else (new - old) * demand.racks
            change[source] = plus(change.get(source, 0.0), extra)
    return change


def _changes(
    numbers: Mapping[str, int],
    steps: Iterable[_Step],
    normal: Loads,
    leaves: Loads,
    draws: Draws,
) -> Sequence[float]:
    """Return one kind of change, from that of the ``leaves`` up, by number.

    It is made for each loss of a site and each kind of load, so it calls nothing in the usual case.
    """
    change = [0.0] * len(numbers)
    for name, watts in leaves.items():
        change[numbers[name]] = math.nan if watts is None else watts
    gain = draws.gain
    for name, here, before, after in steps:
        more = change[here]
        if name in gain:
            more *= gain[name]
        if before == after:
            if before is not None:
                change[before] += more
            continue
        load = draws.of(name, normal[name])
        drawn = math.nan if load is None else load
        if before is not None:
            change[before] -= drawn
        if after is not None:
            change[after] += drawn + more
    return change


def after(load: float | None, change: float) -> float | None:
    """Return a load in W after a change; None when unknown."""
    return None if load is None or math.isnan(change) else load + change
