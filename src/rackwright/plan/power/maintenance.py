"""Loads of the sources while one of them is maintained and another one fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations
from typing import NamedTuple

from rackwright.model.onprem import OnPremSite
from rackwright.plan.base import Path
from rackwright.plan.power.consumers import Consumer
from rackwright.plan.power.demand import FedRacks, FeedWatts
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.power.sources import plan_sources

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
    """The electrical side of a site without one of its sources, planned when it is asked for."""

    def __init__(
        self,
        site: OnPremSite,
        path: Path,
        consumers: tuple[Consumer, ...],
        classes: Sequence[FedRacks],
        power: float | None,
        tree: PowerTree,
    ) -> None:
        """Take what ``plan_sources`` takes, and the ``tree`` of the whole site."""
        self._site, self._path, self._consumers = site, path, consumers
        self._classes, self._power, self._tree = classes, power, tree

    def worst_loads(self, kinds: Iterable[str]) -> Mapping[str, WorstOfTwo]:
        """Return the worst case of each source, with one of ``kinds`` in maintenance and any other one lost."""
        worst: dict[str, WorstOfTwo] = {}
        for name, source in self._tree.sources.items():
            if source.kind in kinds:
                for source_name, found in self._without(name):
                    worst[source_name] = _worse(worst.get(source_name), found)
        return worst

    def _without(self, name: str) -> Iterator[tuple[str, WorstOfTwo]]:
        dead = self._tree.outages.dead[name]
        left = tuple(s for s in self._tree.sources.values() if s.name not in dead)
        power = self._site.power.model_copy(update={"sources": left})
        site = self._site.model_copy(update={"power": power})
        classes = [living for cls in self._classes if (living := _living(cls, dead)) is not None]
        consumers = tuple(c for c in self._consumers if c.name not in dead)
        for row in plan_sources(site, self._path, consumers, classes, self._power).rows:
            load = row.facility_worst_w
            lost = (name,) if row.facility_lost is None else (name, row.facility_lost)
            yield row.source, WorstOfTwo(load, lost, load is not None)


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


def _living(cls: FedRacks, dead: AbstractSet[str]) -> FedRacks | None:
    """Return the racks with their remaining feeds only; None where none remains."""
    keep = [n for n, source in enumerate(cls.sources) if source not in dead]
    gone = frozenset(range(len(cls.sources))) - frozenset(keep)
    if not keep:
        return None

    def draws(lost: frozenset[int]) -> tuple[FeedWatts, FeedWatts]:
        normal, peak = cls.draws(gone | {keep[n] for n in lost})
        return tuple(normal[n] for n in keep), tuple(peak[n] for n in keep)

    return FedRacks(
        racks=cls.racks,
        turns=cls.turns,
        sources=tuple(cls.sources[n] for n in keep),
        draws=draws,
        circuits=tuple(one for one in cls.circuits if one[0] not in dead),
        uncounted=cls.uncounted,
    )


def _worse(one: WorstOfTwo | None, other: WorstOfTwo) -> WorstOfTwo:
    if one is None:
        return other
    known = one.known and other.known
    if one.load is None or (other.load is not None and other.load > one.load):
        return other._replace(known=known)
    return one._replace(known=known)
