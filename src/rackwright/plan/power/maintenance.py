"""Loads of the sources while one of them is maintained and another one fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations
from math import inf
from typing import NamedTuple

from rackwright.plan.power.demand import plus
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.power.flows import LoadsAfterLoss

_NOISE = 1 + 1e-9
"""Sums round; a worst case is worse by more than that."""

Pair = tuple[str, ...]
"""A source in maintenance and one that fails; a single one where nothing else is left to fail."""


class WorstOfTwo(NamedTuple):
    """Largest load of a source while others are maintained and fail.

    Attributes:
        load: W; None where nothing is known.
        lost: the sources that are out then.
        known: False where the load is unknown with some of the others out.
    """

    load: float | None
    lost: Pair
    known: bool


class Maintenance:
    """Loads of the sources of a site while one of them is maintained and another one is lost.

    Two losses with no rack, consumer or source below both of them do not affect each other: their
    changes of a load add up. All other pairs are computed.
    """

    def __init__(
        self, tree: PowerTree, after_loss: LoadsAfterLoss, feeds: Iterable[Sequence[str]]
    ) -> None:
        """Take the sources of a site, their loads, and the sources of the feeds of each class of racks."""
        self._tree, self._loads = tree, after_loss
        self._feeds: dict[str, set[str]] = {}
        for sources in feeds:
            for source in sources:
                self._feeds.setdefault(source, set()).update(sources)

    def worst_loads(self, kinds: Iterable[str]) -> Mapping[str, WorstOfTwo]:
        """Return the worst case of each source, with one of ``kinds`` in maintenance and any other one lost."""
        tree, dead = self._tree, self._tree.outages.dead
        numbers = {name: number for number, name in enumerate(tree.sources)}
        maintained = [name for name, source in tree.sources.items() if source.kind in kinds]
        related = {name: self._related(name) for name in maintained}
        worst: dict[str, WorstOfTwo] = {}
        for name in maintained:
            for lost in sorted(related[name] - dead[name], key=numbers.__getitem__):
                if lost in related and numbers[lost] < numbers[name]:
                    continue  # that pair the other way round
                both = tree.outages.dead_without((name, lost))
                for source, load in self._loads.without_dead(both).items():
                    _take_worse(worst, source, load, (name, lost))
        single: dict[str, dict[str, float | None]] = {name: {} for name in tree.sources}
        for lost in tree.sources:
            for source, load in self._loads.without(lost).items():
                single[source][lost] = load
        for source, after in single.items():
            alive = [name for name in maintained if source not in dead[name]]
            for pair, load in self._unrelated(source, after, alive, related):
                _take_worse(worst, source, load, pair)
        return worst

    def _related(self, name: str) -> AbstractSet[str]:
        """Return the sources with a rack, a consumer or a source below them that is also below ``name``."""
        below = self._tree.below(name)
        shared = below.union(*(self._feeds[source] for source in below if source in self._feeds))
        above = frozenset[str]().union(*map(self._tree.ancestors, shared))
        return above & self._tree.sources.keys()

    def _unrelated(
        self,
        source: str,
        after: Mapping[str, float | None],
        maintained: Sequence[str],
        related: Mapping[str, AbstractSet[str]],
    ) -> Iterator[tuple[Pair, float | None]]:
        """Yield loads of a source with one or two unrelated sources out, the worst among them.

        Args:
            source: its name.
            after: its load in W after the loss of each source that changes it.
            maintained: sources that are maintained and whose loss it survives.
            related: to each of them, the sources that are not unrelated.
        """
        normal = self._loads.normal[source]
        ranked = sorted(after.items(), key=lambda item: -inf if item[1] is None else -item[1])
        settled = False
        for name in maintained:
            if settled and name not in after:
                continue
            alone = after.get(name, normal)
            yield (name,), alone
            other = next((item for item in ranked if item[0] not in related[name]), None)
            if other is not None:
                lost, load = other
                change = None if normal is None or load is None else load - normal
                yield (name, lost), plus(alone, change)
            # Another one that changes nothing here adds nothing to the worst single loss.
            settled = settled or (name not in after and (not ranked or other is ranked[0]))


def dead_feeds(
    tree: PowerTree, sources: Sequence[str], kinds: Iterable[str]
) -> Mapping[frozenset[int], Pair]:
    """Return the sets of feeds that die together, each with the sources that are out, the largest first.

    Args:
        tree: the sources of the site.
        sources: those of the feeds of a rack.
        kinds: of which one of the two is.
    """
    found: dict[frozenset[int], Pair] = {}
    above = set().union(*(tree.ancestors(source) for source in sources))
    for pair in _pairs(tree, above, kinds):
        dead = tree.without(frozenset(pair))
        gone = frozenset(n for n, source in enumerate(sources) if source in dead)
        found.setdefault(gone, pair)
    return dict(sorted(found.items(), key=lambda item: (-len(item[0]), sorted(item[0]))))


def _pairs(tree: PowerTree, names: Iterable[str], kinds: Iterable[str]) -> Iterator[Pair]:
    """Yield the pairs of sources of which one has one of ``kinds``; each once, by name."""
    above = sorted(name for name in names if name in tree.sources)
    pairs: Iterable[Pair] = combinations(above, 2) if len(above) > 1 else [tuple(above)]
    return (pair for pair in pairs if any(tree.sources[name].kind in kinds for name in pair))


def outages_of_two(
    tree: PowerTree, names: Iterable[str], kinds: Iterable[str]
) -> Iterator[tuple[Pair, AbstractSet[str]]]:
    """Yield the pairs of sources above ``names``, with all that is without power while both are out."""
    above = set().union(*(tree.ancestors(name) for name in names))
    for pair in _pairs(tree, above, kinds):
        yield pair, tree.without(frozenset(pair))


def _take_worse(worst: dict[str, WorstOfTwo], source: str, load: float | None, lost: Pair) -> None:
    so_far = worst.get(source)
    if so_far is None:
        worst[source] = WorstOfTwo(load, lost, load is not None)
    elif load is None:
        worst[source] = so_far._replace(known=False)
    elif so_far.load is None or load > so_far.load * _NOISE:
        worst[source] = WorstOfTwo(load, lost, so_far.known)
