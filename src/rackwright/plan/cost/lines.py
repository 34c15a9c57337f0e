"""Lines of a cost, each with its price or with the facts that are missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from rackwright.model.prices import Price
from rackwright.plan.base import Path
from rackwright.plan.cost import money
from rackwright.plan.missing import each_once

Kind = Literal[
    "instances", "volumes", "file-systems", "nat-gateways", "addresses", "endpoints", "load-balancers",
    "energy", "demand", "hardware", "opex", "facility",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class UsedPrice:
    """A price as it was used."""

    item: str
    """What is bought: an instance type, a catalogue id, ``energy at sjc1``, ..."""
    amount: Decimal
    """Dollars, a discount taken off."""
    unit: str
    listed: Price | None
    """Where it comes from; None for a price that the owner states."""

    @property
    def origin(self) -> Literal["owner", "list"]:
        """Who says so."""
        return "owner" if self.listed is None else "list"


@dataclass(frozen=True, slots=True)
class CostLine:
    """One kind of cost of one group.

    Attributes:
        group: node group, ``fabric/tier``, or what the thing serves: ``racks``, ``cooling``, ...
        what: like ``16 × p5.48xlarge on demand``.
        micros: micro-dollars a year; None when something is missing.
        missing: what would have to be known.
        path: place in the blueprint.
    """

    site: str
    group: str
    kind: Kind
    what: str
    micros: int | None
    price: UsedPrice | None
    missing: tuple[str, ...]
    path: Path


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum of lines; with a missing part it is unknown and has a lower bound.

    Dollars have six decimals. An hour is a year divided by 8,760, rounded half to even.
    """

    known: int
    """Micro-dollars a year of the lines that are known."""
    missing: tuple[str, ...] = ()

    @property
    def per_year(self) -> Decimal | None:
        """Dollars a year, None when something is missing."""
        return None if self.missing else self.at_least_per_year

    @property
    def per_hour(self) -> Decimal | None:
        """Dollars an hour, None when something is missing."""
        return None if self.missing else self.at_least_per_hour

    @property
    def at_least_per_year(self) -> Decimal:
        """Dollars a year of what is known: a lower bound."""
        return money.to_dollars(self.known)

    @property
    def at_least_per_hour(self) -> Decimal:
        """Dollars an hour of what is known: a lower bound."""
        return money.to_dollars(money.hourly(self.known))


def add_up(lines: Iterable[CostLine]) -> Amount:
    """Return the sum of ``lines``; what is missing is named once."""
    known, missing = 0, list[str]()
    for line in lines:
        known += line.micros or 0
        missing += line.missing
    return Amount(known, each_once(missing))
