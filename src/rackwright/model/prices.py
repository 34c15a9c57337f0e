"""Price lists: what things cost, where, since when and according to whom.

An unpublished price stays out of the lists: costs that need it are unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from rackwright.model.base import Model, Prose
from rackwright.model.hardware import ID, Confidence, Fact, Source
from rackwright.model.units import Seconds

CURRENCY = "USD"
"""The only currency: amounts in others are not converted but refused."""

_NUMBER = re.compile(r"\d+(?:[_,]\d{3})*(?:\.\d+)?", re.ASCII)
_LONGEST = 32
"""Longest text read as an amount; anything beyond it is hostile."""


@dataclass(frozen=True)
class Money:
    """Annotation that makes a ``Decimal`` field an amount like ``0.085 USD/kWh``."""

    unit: str

    def parse(self, text: str) -> Decimal:
        """Return the number of ``text``, which ends with the unit.

        Raises:
            ValueError: no number, no unit, or another unit.
        """
        if len(text) > _LONGEST:
            raise ValueError(f"an amount is at most {_LONGEST} characters long")
        number, _, unit = text.strip().partition(" ")
        if not _NUMBER.fullmatch(number):
            raise ValueError(f"'{text}' is not an amount; write it like '1 {self.unit}'")
        if unit.strip() != self.unit:
            raise ValueError(f"'{text}' is not in {self.unit}; write it like '1 {self.unit}'")
        try:
            return Decimal(number.replace("_", "").replace(",", ""))
        except InvalidOperation as error:  # pragma: no cover - the pattern admits numbers only
            raise ValueError(f"'{text}' is not an amount") from error

    def format(self, value: Decimal) -> str:
        """Return the text that parses back to ``value``."""
        return f"{value:f} {self.unit}"

    def _validate(self, value: Any) -> Decimal:
        if not isinstance(value, str):
            raise PydanticCustomError(
                "money", "an amount is written as text like '1 {unit}'", {"unit": self.unit}
            )
        try:
            return self.parse(value)
        except ValueError as error:
            raise PydanticCustomError("money", "{message}", {"message": str(error)}) from None

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validate,
            serialization=core_schema.plain_serializer_function_ser_schema(
                self.format, when_used="json", return_schema=core_schema.str_schema()
            ),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        # Schemas are read as ECMA-262, which knows no escaped hyphen outside of brackets.
        unit = re.escape(self.unit).replace(r"\-", "-")
        return {
            "type": "string",
            "pattern": rf"^\s*[0-9][0-9_,]*(\.[0-9]+)? +{unit}\s*$",
            "examples": [f"1 {self.unit}"],
        }


Dollars = Annotated[Decimal, Money("USD")]
DollarsPerHour = Annotated[Decimal, Money("USD/h")]
DollarsPerYear = Annotated[Decimal, Money("USD/year")]
DollarsPerKilowattMonth = Annotated[Decimal, Money("USD/kW/month")]
DollarsPerGibibyteMonth = Annotated[Decimal, Money("USD/GiB-month")]
DollarsPerKilowattHour = Annotated[Decimal, Money("USD/kWh")]


class Offer(StrEnum):
    """Product of a price list, and its terms."""

    ON_DEMAND = "on-demand"
    """Instances and targeted reservations: both are charged by the hour."""
    CAPACITY_BLOCK = "capacity-block"
    RESERVED = "reserved"
    """Standard reserved instances of one year, nothing paid upfront."""
    STORAGE = "storage"
    NETWORK = "network"
    ENERGY = "energy"
    CAPEX = "capex"


UNITS: Mapping[Offer, str] = {
    Offer.ON_DEMAND: "instance-hour",
    Offer.CAPACITY_BLOCK: "instance-hour",
    Offer.RESERVED: "instance-hour",
    Offer.STORAGE: "GiB-month",
    Offer.NETWORK: "hour",
    Offer.ENERGY: "kWh",
    Offer.CAPEX: "unit",
}
"""What one price of each offer buys. AWS writes GB where it bills 2^30 bytes."""


class PriceList(Model):
    """Prices of one offer in one region."""

    id: Annotated[str, Field(pattern=ID)]
    """Id of the list: the name of its file, without ``.yaml``."""
    offer: Offer
    """Kind of offer that the prices are for."""
    region: Annotated[str, Field(min_length=1)]
    """AWS region; country and state like ``US-OH`` for energy; ``world`` for hardware."""
    currency: Literal["USD"]
    """Currency of all prices; amounts in other currencies are rejected, not converted."""
    unit: str
    """Unit that one price buys; each ``offer`` has one, like ``instance-hour``, ``GiB-month`` or ``kWh``."""
    prices: dict[str, Fact[Annotated[Decimal, Field(ge=0)]]]
    """Prices by item: an instance type, a kind of storage, a customer class, a catalogue id."""
    lead_times: dict[str, Fact[Seconds]] = {}
    """Time from order to delivery by item, in d; only of ``capex``. Unknown if omitted."""
    sources: dict[str, Source]
    """Documents that its prices and lead times are read in, by a key that they cite."""
    notes: tuple[Prose, ...] = ()
    """Contradictions in the sources, and what was decided."""

    @model_validator(mode="after")
    def _sources_match_prices(self) -> PriceList:
        if self.unit != UNITS[self.offer]:
            raise ValueError(
                f"the unit of {self.offer} is '{UNITS[self.offer]}', not '{self.unit}'"
            )
        if self.lead_times and self.offer is not Offer.CAPEX:
            raise ValueError(f"'lead_times' are those of capex, not of {self.offer}")
        cited = {fact.source for fact in self.prices.values()}
        cited |= {fact.source for fact in self.lead_times.values()}
        if unknown := sorted(cited - set(self.sources)):
            raise ValueError(f"the source '{unknown[0]}' is cited but not listed in 'sources'")
        if unused := sorted(set(self.sources) - cited):
            raise ValueError(f"the source '{unused[0]}' is listed but nothing cites it")
        return self


@dataclass(frozen=True, slots=True)
class Price:
    """One price of a list with everything that is known about it."""

    offer: Offer
    region: str
    item: str
    amount: Decimal
    currency: str
    unit: str
    source: Source
    note: str | None = None

    @property
    def is_estimate(self) -> bool:
        """True if the price is an estimate that the owner has to allow."""
        return self.source.confidence is Confidence.ESTIMATE


@dataclass(frozen=True)
class Prices:
    """All price lists together."""

    lists: tuple[PriceList, ...] = ()

    def find(self, offer: Offer, region: str, item: str) -> Price | None:
        """Return the price of ``item``, or None if none is published."""
        return self._by_key.get((offer, region, item))

    def lead_time(self, item: str) -> float | None:
        """Return the time from order to delivery of ``item``, in s; None if no list has it."""
        found = [one.lead_times[item].value for one in self.lists if item in one.lead_times]
        return found[0] if found else None

    @cached_property
    def _by_key(self) -> Mapping[tuple[Offer, str, str], Price]:
        return {(price.offer, price.region, price.item): price for price in each(self.lists)}


def each(lists: Iterable[PriceList]) -> Iterable[Price]:
    """Yield every price of the lists."""
    for found in lists:
        for item, fact in found.prices.items():
            source = found.sources[fact.source]
            yield Price(
                found.offer,
                found.region,
                item,
                fact.value,
                found.currency,
                found.unit,
                source,
                fact.note,
            )
