"""Rest of each stage of cooling after the loss of a source, with all that hangs on it alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from rackwright.plan.cooling.stages import NOTHING, HeatPaths, HeatStage
from rackwright.plan.missing import each_once
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.power.maintenance import outages_of_two
from rackwright.plan.records.cooling import CoolingStage

_NOISE = 1e-9
"""Sums round; a loss leaves less by more than that share."""


class _Left(NamedTuple):
    """Rest of a stage after a loss, or while nothing is lost.

    Attributes:
        lost: name of the source; None where nothing is lost.
        units: number of units that it takes.
        heat: W that are left to carry.
        capacity: W that the living units carry.
    """

    lost: str | None
    units: int
    heat: float
    capacity: float


def stage_rows(paths: HeatPaths, tree: PowerTree) -> tuple[CoolingStage, ...]:
    """Return the record of each stage.

    Racks that die with the source give no heat any more; the others give as much as before. A stage
    is unknown as a whole as soon as the feed of some of its units is unknown, or a source.
    """

    def outages(names: Iterable[str]) -> Iterable[tuple[str, AbstractSet[str]]]:
        killing = tree.outages.killing(names)
        return ((lost, tree.outages.dead[lost]) for lost in killing)

    return tuple(_row(stage, tree, outages) for stage in paths.stages)


class StagesInMaintenance:
    """Stages of cooling while one source is maintained and another one fails, computed when asked for."""

    def __init__(self, paths: HeatPaths, tree: PowerTree) -> None:
        """Take the ways of heat of a site, and its sources."""
        self._paths, self._tree = paths, tree

    def rows(self, kinds: Sequence[str]) -> Sequence[CoolingStage]:
        """Return the record of each stage with the worst pair of sources out, one of them of ``kinds``."""
        tree = self._tree

        def outages(names: Iterable[str]) -> Iterable[tuple[str, AbstractSet[str]]]:
            for pair, dead in outages_of_two(tree, names, kinds):
                yield " and ".join(pair), dead

        return [_row(stage, tree, outages) for stage in self._paths.stages]


Outages = Callable[[Iterable[str]], Iterable[tuple[str, AbstractSet[str]]]]
"""Losses that take any of some machines: the name of each, and all that is without power then."""


def _row(stage: HeatStage, tree: PowerTree, outages: Outages) -> CoolingStage:
    heat, capacity = stage.heat(NOTHING), stage.capacity()
    parts = [part for units in stage.units for part in units.parts]
    missing = [*stage.lacks, *(part.unfed for part in parts if not part.fed_by), *tree.missing]
    worst = None
    if heat is not None and capacity is not None and not missing:
        worst = _worst(stage, outages, _Left(None, 0, heat, capacity))
    return CoolingStage(
        kind=stage.kind,
        of=stage.of,
        path=stage.path,
        halls=stage.halls,
        loops=stage.loops,
        units=stage.alive(),
        heat_w=heat,
        capacity_w=capacity,
        capacity_n1_w=stage.capacity_n1(),
        lost=worst and worst.lost,
        lost_units=worst and worst.units,
        lost_heat_w=worst and worst.heat,
        lost_capacity_w=worst and worst.capacity,
        missing=each_once(missing),
    )


def _worst(stage: HeatStage, outages: Outages, worst: _Left) -> _Left | None:
    """Return the loss that leaves the least reserve; None where what one leaves is unknown."""
    names = {part.name for units in stage.units for part in units.parts}
    whole = worst.capacity
    for lost, dead in outages(names):
        heat, capacity = stage.heat(dead), stage.capacity(dead)
        if heat is None or capacity is None:
            return None
        found = _Left(lost, stage.alive() - stage.alive(dead), heat, capacity)
        if heat and capacity - heat < worst.capacity - worst.heat - _NOISE * whole:
            worst = found
    return worst
