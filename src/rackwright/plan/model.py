"""The plan: what a blueprint expands to, as tables of equal things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rackwright.catalog.loader import Catalogue
    from rackwright.model.cluster import Blueprint
    from rackwright.model.onprem import OnPremSite
    from rackwright.plan.aws import AwsSitePlan
    from rackwright.plan.cost import CostSummary
    from rackwright.plan.distribution import Tree

Path = tuple[str | int, ...]

Row = Mapping[str, Any]
"""A row of a table by column, which nobody changes: all who read the table share it."""

Table = Sequence[Row]


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
    racks: Table = field(repr=False)
    rack_classes: Table = field(repr=False)
    devices: Table = field(repr=False)
    feeds: Table = field(repr=False)
    circuits: Table = field(repr=False)
    losses: Table = field(repr=False)
    device_losses: Table = field(repr=False)
    sources: Table = field(repr=False)
    rows: Table = field(repr=False)
    halls: Table = field(repr=False)
    loops: Table = field(repr=False)
    totals: Table = field(repr=False)
    distribution: Tree = field(repr=False)
    """Its power sources."""

    def devices_of(self, rack_class: int) -> Table:
        """The rows of ``devices`` in one rack of a class."""
        return self._devices_by_class.get(rack_class, ())

    @cached_property
    def rack_counts(self) -> Mapping[int, int]:
        """Number of racks by rack class."""
        return {row["rack_class"]: row["count"] for row in self.rack_classes}

    @cached_property
    def _devices_by_class(self) -> Mapping[int, Table]:
        found: dict[int, list[Row]] = {}
        for row in self.devices:
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
