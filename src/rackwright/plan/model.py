"""The plan: what a blueprint expands to, as tables of equal things."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from rackwright.catalog.loader import Catalogue
    from rackwright.model.cluster import Blueprint
    from rackwright.model.onprem import OnPremSite
    from rackwright.plan.aws import AwsSitePlan

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


@dataclass(frozen=True)
class Plan:
    """Everything that policies judge and that later stages build."""

    blueprint: Blueprint
    catalogue: Catalogue = field(repr=False)
    onprem: tuple[SitePlan, ...] = ()
    aws: tuple[AwsSitePlan, ...] = ()
