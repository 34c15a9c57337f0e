"""The plan: what a blueprint expands to, as tables of equal things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from rackwright.catalog.loader import Catalogue
    from rackwright.model.cluster import Blueprint
    from rackwright.model.onprem import OnPremSite
    from rackwright.plan.aws import AwsSitePlan
    from rackwright.plan.cost import CostSummary
    from rackwright.plan.distribution import Tree

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a measure is about, and its place in the blueprint."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Contributor:
    """Equal things that add up to a value, like ``4 × dgx-h100 at 10.2 kW``."""

    name: str
    count: int
    each: float

    @property
    def total(self) -> float:
        """What all of them contribute."""
        return self.count * self.each


@dataclass(frozen=True)
class SitePlan:
    """A bare-metal site, expanded; ``rackwright.plan.tables`` documents the tables.

    Racks of one group with the same content are one row of ``rack_classes``, so the work grows
    with the number of distinct racks.
    """

    site: OnPremSite
    path: Path
    racks: pl.DataFrame = field(repr=False)
    rack_classes: pl.DataFrame = field(repr=False)
    devices: pl.DataFrame = field(repr=False)
    feeds: pl.DataFrame = field(repr=False)
    circuits: pl.DataFrame = field(repr=False)
    losses: pl.DataFrame = field(repr=False)
    device_losses: pl.DataFrame = field(repr=False)
    sources: pl.DataFrame = field(repr=False)
    rows: pl.DataFrame = field(repr=False)
    halls: pl.DataFrame = field(repr=False)
    loops: pl.DataFrame = field(repr=False)
    totals: pl.DataFrame = field(repr=False)
    distribution: Tree = field(repr=False)
    """Its power sources."""

    def devices_of(self, rack_class: int) -> Sequence[dict[str, Any]]:
        """The rows of ``devices`` in one rack of a class."""
        return self._devices_by_class.get(rack_class, ())

    @cached_property
    def rack_counts(self) -> Mapping[int, int]:
        """Number of racks by rack class."""
        table = self.rack_classes
        return dict(zip(table["rack_class"].to_list(), table["count"].to_list(), strict=True))

    @cached_property
    def _devices_by_class(self) -> Mapping[int, Sequence[dict[str, Any]]]:
        found: dict[int, list[dict[str, Any]]] = {}
        for row in self.devices.iter_rows(named=True):
            found.setdefault(row["rack_class"], []).append(row)
        return found


@dataclass(frozen=True)
class Plan:
    """Everything that policies judge and that later stages build."""

    blueprint: Blueprint
    catalogue: Catalogue = field(repr=False)
    onprem: tuple[SitePlan, ...] = ()
    aws: tuple[AwsSitePlan, ...] = ()

    @cached_property
    def cost(self) -> CostSummary:
        """What the plan costs by the built-in price lists and the owner's own prices."""
        from rackwright.plan.cost import summarise  # it takes a plan

        return summarise(self)
