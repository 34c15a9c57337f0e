"""Budgets of a cluster, and its owner's prices for energy and hardware."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import KEY, STATEMENT, Claim, Setting
from rackwright.model.names import Name, refuse_twins
from rackwright.model.prices import (
    Dollars,
    DollarsPerGibibyteMonth,
    DollarsPerHour,
    DollarsPerKilowattHour,
    DollarsPerKilowattMonth,
    DollarsPerYear,
)
from rackwright.model.units import Percent, Seconds

StorageItem = Literal[
    "ebs-gp3",
    "efs-standard",
    "fsx-lustre-persistent-2-125",
    "fsx-lustre-persistent-2-250",
    "fsx-lustre-persistent-2-500",
    "fsx-lustre-persistent-2-1000",
]
NetworkItem = Literal[
    "nat-gateway", "public-address", "interface-endpoint", "network-load-balancer"
]


HOURS_PER_YEAR = 8760
"""Hours that the periods of a tariff add up to."""


class EnergyPeriod(Model):
    """Hours of the year with one price of energy."""

    name: Annotated[Name, KEY]
    """Name of the period, like ``summer-peak``."""
    hours: Annotated[int, Field(gt=0, le=HOURS_PER_YEAR), Claim(looser="either")]
    """Hours of the year that belong to the period."""
    price: Annotated[DollarsPerKilowattHour, Claim(looser="lower")]
    """Price of a kilowatt hour in the period."""


class OwnedRates(Model):
    """Cost of owning and running a bare-metal site; absent is unknown."""

    energy: Annotated[DollarsPerKilowattHour | None, Claim(looser="lower", absent="elsewhere")] = (
        None
    )
    """Price of a kilowatt hour at the site's meter; it wins over ``energy_region``."""
    energy_region: Annotated[str | None, Claim(looser="either", absent="elsewhere")] = None
    """Region of the price lists whose energy price holds here, like ``US-OH``."""
    time_of_use: Annotated[tuple[EnergyPeriod, ...], STATEMENT] = ()
    """Prices of energy by time of use, of all 8,760 hours of the year, instead of ``energy``. The load is
    taken as even over the year."""
    demand: Annotated[DollarsPerKilowattMonth | None, Claim(looser="lower", absent="elsewhere")] = (
        None
    )
    """Price of a month of the highest power at the site's meter. No such charge if omitted."""
    utilisation: Annotated[
        Annotated[Percent, Field(le=100)] | None, Claim(looser="lower", absent="elsewhere")
    ] = None
    """Mean IT power as a part of the highest continuous power, in %."""
    amortisation_years: Annotated[
        int | None, Field(ge=1, le=40), Claim(looser="higher", absent="elsewhere")
    ] = None
    """Years over which hardware is paid off, in equal parts."""
    opex: Annotated[
        Annotated[Percent, Field(le=1_000)] | None, Claim(looser="lower", absent="elsewhere")
    ] = None
    """Yearly maintenance, staff and spares as a part of the purchase price, in %."""
    facility: Annotated[DollarsPerYear | None, Claim(looser="lower", absent="elsewhere")] = None
    """Costs of building, power plant and cooling plant, or the rent of a cage."""

    @model_validator(mode="after")
    def _one_tariff(self) -> OwnedRates:
        if not self.time_of_use:
            return self
        if self.energy is not None:
            raise ValueError("'time_of_use' has the prices of energy: leave out 'energy'")
        refuse_twins("period", (period.name for period in self.time_of_use))
        hours = sum(period.hours for period in self.time_of_use)
        if hours != HOURS_PER_YEAR:
            raise ValueError(f"the periods have {hours:,} hours; a year has {HOURS_PER_YEAR:,}")
        return self


class Costs(Model):
    """Budgets, and the owner's own prices, which win over the price lists."""

    budget_per_year: Annotated[
        DollarsPerYear | None, Setting(looser="higher", absent="elsewhere")
    ] = None
    """Most that all sites may cost in a year."""
    budget_per_hour: Annotated[
        DollarsPerHour | None, Setting(looser="higher", absent="elsewhere")
    ] = None
    """Most that all sites may cost in an hour."""
    as_of: Annotated[dt.date | None, Setting(looser="either", absent="elsewhere")] = None
    """Day that the costs must hold for; prices much older than it are stale."""
    owned: Annotated[OwnedRates | None, STATEMENT] = None
    """Rates of every bare-metal site."""
    sites: Annotated[dict[Name, OwnedRates], STATEMENT] = {}
    """Rates of single bare-metal sites, field by field before those of ``owned``."""
    capex: Annotated[dict[str, Dollars], Claim(looser="lower", absent="elsewhere")] = {}
    """Purchase price of one unit by catalogue id: nodes, switches, racks, PDUs, CDUs, ... Sources of power and
    machines without a product go by their kind, like ``ups``. The bill of materials has those of cables and
    sources too, which no cost contains."""
    lead_times: Annotated[dict[str, Seconds], Setting(looser="either", absent="elsewhere")] = {}
    """Time from order to delivery by product, in h or d. That of a price list if omitted."""
    instances: Annotated[dict[str, DollarsPerHour], Claim(looser="lower", absent="elsewhere")] = {}
    """Negotiated price of an instance by type, whatever the capacity is bought as."""
    reserved: Annotated[tuple[str, ...], Claim(looser="more", absent="strict")] = ()
    """Instance types whose hours are bought as standard reserved instances of one year, nothing
    paid upfront; those in capacity blocks are not."""
    storage: Annotated[
        dict[StorageItem, DollarsPerGibibyteMonth], Claim(looser="lower", absent="elsewhere")
    ] = {}
    """Own price of provisioned storage; that of FSx for Lustre goes by its throughput."""
    network: Annotated[
        dict[NetworkItem, DollarsPerHour], Claim(looser="lower", absent="elsewhere")
    ] = {}
    """Own price of what is charged by the hour."""
    discount: Annotated[
        Annotated[Percent, Field(le=100)] | None, Claim(looser="higher", absent="strict")
    ] = None
    """Negotiated discount on AWS list prices, those of capacity blocks and the owner's own aside, in %."""
    rental_region: Annotated[str | None, Setting(looser="either", absent="elsewhere")] = None
    """AWS region to compare owned hardware with. That of the first AWS site if omitted."""

    def rates(self, site: str) -> OwnedRates:
        """Return the rates that hold at ``site``."""
        common = self.owned or OwnedRates()
        own = self.sites.get(site)
        if own is None:
            return common
        stated = {name: getattr(own, name) for name in own.model_fields_set}
        if own.time_of_use or own.energy is not None:  # a site has one tariff
            stated |= {"time_of_use": own.time_of_use, "energy": own.energy}
        return common.model_copy(update=stated)
