"""Power of a facility beside its racks: cooling, pumps, and losses of UPSs and transformers.

A blueprint states it in two ways. What has an entry of its own, with a power and what feeds it, is a
load like any other, and a UPS or transformer whose efficiency is known draws its losses from what
feeds it. The PUE at full load, the power of the facility over that of the IT equipment (The Green
Grid, ISO/IEC 30134-2), covers everything; what it says beyond the entries is drawn above the UPSs,
where each source carries of it in proportion to the racks that hang on it. A facility draws the
greater of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from rackwright.model.onprem import OnPremSite
from rackwright.model.power import LOSSY
from rackwright.plan.base import Path
from rackwright.plan.listing import first_of, listed
from rackwright.plan.missing import Missing
from rackwright.plan.power.consumers import Consumer
from rackwright.plan.power.demand import Draws, Loads
from rackwright.plan.power.distribution import PowerTree

_CARRIERS = frozenset({"utility", "generator", "transformer", "switchgear"})
"""Kinds of sources that feed cooling beside IT."""

_NOISE = 1 + 1e-9
"""Sums round; what draws more than the PUE says draws more by more than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """Power of a site beside its racks.

    Attributes:
        path: the place of the site in the blueprint.
        consumers: what draws power beside the racks.
        carriers: names of the sources that carry what the PUE says beyond the entries.
        declared_w: racks, what has an entry of its own, and known losses, while nothing is lost, in W.
        beyond: W for each W of racks that the PUE says beyond that; None when unknown.
        lacking: what keeps all from having an entry of its own.
        stated: whether anything has one.
        pue: power usage effectiveness that is expected.
    """

    path: Path
    consumers: tuple[Consumer, ...]
    carriers: AbstractSet[str]
    declared_w: float | None
    beyond: float | None
    lacking: tuple[Missing, ...]
    stated: bool
    pue: float | None

    def of(self, name: str, declared: float | None, racks: float | None) -> float | None:
        """Return W that the source ``name`` carries.

        Args:
            name: the source.
            declared: racks, entries and losses that it carries, in W.
            racks: the racks alone, in W.
        """
        if name not in self.carriers:
            return declared
        if declared is None or racks is None or self.beyond is None:
            return None
        return declared + racks * self.beyond

    def of_site(self, racks: float | None) -> float | None:
        """Return W that the whole facility draws while nothing is lost, whose racks draw ``racks`` W."""
        if self.declared_w is None or racks is None or self.beyond is None:
            return None
        return self.declared_w + racks * self.beyond

    @property
    def missing(self) -> tuple[str, ...]:
        """Facts that make it unknown, beside the power of racks and the parents of sources."""
        if self.beyond is not None:
            return ()
        if self.pue is None:
            words, place = "'pue' of the site", (*self.path, "pue")
            if not self.stated:
                return (Missing(words, place),)
            # Several entries make it known together only, so that none of them is a way by itself.
            alone = self.lacking[0].fields if len(self.lacking) == 1 else ()
            return (Missing(f"{words}, or {listed(self.lacking)}", place, *alone),)
        if self.declared_w is None:
            return ()
        first, *others = self.lacking
        why = f"what has an entry draws more than the 'pue' of {self.pue:g} says"
        found = [Missing(f"{first}: {why}", *first.fields), *others]
        return first_of(found, "what {} more entries lack")


def overhead_of(
    site: OnPremSite,
    path: Path,
    tree: PowerTree,
    consumers: tuple[Consumer, ...],
    declared: Loads,
    racks: float | None,
) -> Overhead:
    """Return the power of ``site`` beside its racks.

    Args:
        site: the site.
        path: its place in the blueprint.
        tree: its sources.
        consumers: what draws power beside the racks.
        declared: what each source carries by the entries, while nothing is lost, in W.
        racks: what its racks draw, in W.
    """
    known = [consumer.power for consumer in consumers if not consumer.lacks]
    losses = _losses(tree, declared)
    total = racks
    for power in (*known, *losses):
        total = None if total is None or power is None else total + power
    lacking = tuple(dict.fromkeys(_lacking(site, path, tree, consumers)))
    return Overhead(
        path=path,
        consumers=consumers,
        carriers=carriers(tree),
        declared_w=total,
        beyond=_beyond(site.pue, total, racks, lacking),
        lacking=lacking,
        stated=bool(known or losses or any(consumer.fed_by for consumer in consumers)),
        pue=site.pue,
    )


def _losses(tree: PowerTree, declared: Loads) -> Sequence[float | None]:
    """Return W that each source loses of which that is known."""
    found: list[float | None] = []
    draws = losses_of(tree)
    for name in draws.named:
        load = None if name in tree.unsure else declared[name]
        drawn = draws.of(name, load)
        found.append(None if load is None or drawn is None else drawn - load)
    return found


def _beyond(
    pue: float | None, declared: float | None, racks: float | None, lacking: Sequence[str]
) -> float | None:
    if pue is None:
        return None if lacking else 0.0
    if declared is None or racks is None:
        return None
    if lacking and declared > racks * pue * _NOISE:
        return None  # it cannot cover what has no entry
    return max(0.0, pue - declared / racks) if racks else 0.0


def _lacking(
    site: OnPremSite, path: Path, tree: PowerTree, consumers: Sequence[Consumer]
) -> Iterator[Missing]:
    for consumer in consumers:
        if consumer.lacks:
            yield consumer.lacks
    if site.plant is None:
        yield Missing("'plant' of the site", (*path, "plant"))
    for _, lacks in _inefficient(tree):
        yield lacks


def _inefficient(tree: PowerTree) -> Iterator[tuple[str, Missing]]:
    """Yield the sources that lose power and do not say how much."""
    for name, source in tree.sources.items():
        if source.kind in LOSSY and source.efficiency is None and source.losses is None:
            by_product = source.kind == "transformer" and source.product is not None
            yield name, tree.unsaid(name, "losses" if by_product else "efficiency")


def losses_of(tree: PowerTree) -> Draws:
    """Return the losses of UPSs and transformers by their load, where their efficiency or losses are known."""
    return Draws(
        gain={
            name: 100 / source.efficiency
            for name, source in tree.sources.items()
            if source.efficiency is not None
        },
        beside={
            name: source.losses
            for name, source in tree.sources.items()
            if source.losses is not None
        },
    )


def unknown_loads(
    tree: PowerTree, consumers: Sequence[Consumer], covered: AbstractSet[str]
) -> Mapping[str, Missing]:
    """Return the sources of unknown load, because what hangs on them lacks a number, with that number.

    They are those that the PUE does not cover: UPSs and what is behind them.
    """
    unknown = list(_inefficient(tree))
    unknown += [(c.name, c.lacks) for c in consumers if c.fed_by and c.lacks]
    found: dict[str, Missing] = {}
    for name, lacks in unknown:
        for above in sorted(tree.ancestors(name) - covered - {name}):
            found.setdefault(above, lacks)
    return found


def carriers(tree: PowerTree) -> AbstractSet[str]:
    """Return the sources that carry the facility: of those kinds, and behind no UPS."""
    found = set()
    for name, source in tree.sources.items():
        above = tree.ancestors(name)
        behind_ups = any(tree.sources[other].kind == "ups" for other in above)
        if source.kind in _CARRIERS and not behind_ups:
            found.add(name)
    return found
