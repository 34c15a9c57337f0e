"""CST-003: the prices that a cost was computed from are recent."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Contributor,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    Subject,
    rule,
)
from rackwright.model.prices import Price


@rule("CST-003", "Prices are recent", Severity.MEDIUM, since="0.2", stage="build")
class RecentPrices(Policy):
    """No price is much older than the day that the costs must hold for."""

    max_age: Annotated[int, Field(ge=1, le=3650)] = 365
    """Most days between the date of a price and the day the costs must hold for."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for the prices of each offer, region and date."""
        costs = plan.costs
        if costs is None:
            return
        for prices in _by_date(plan.cost.listed_prices):
            yield self._judge(prices, costs.as_of)

    def _judge(self, prices: list[Price], as_of: dt.date | None) -> Measure:
        first = prices[0]
        dated = first.source.date
        age = None if as_of is None else float(max(0, (as_of - dated).days))
        fix = None
        if as_of is not None and age is not None and age > self.max_age:
            oldest = as_of - dt.timedelta(days=self.max_age)
            items = ", ".join(f"'{price.item}'" for price in prices)
            fix = f"state what {items} cost since {oldest} or later in 'costs' of the blueprint"
        return Measure(
            Subject(f"{first.offer} prices in {first.region} of {dated}", ("costs", "as_of")),
            value=age,
            limit=float(self.max_age),
            unit="days",
            what="age of the prices",
            contributors=tuple(Contributor(price.item, 1, age or 0.0) for price in prices),
            fix=fix,
            missing=()
            if as_of is not None
            else (Missing("'as_of' of the costs", ("costs", "as_of")),),
        )


def _by_date(prices: tuple[Price, ...]) -> Iterator[list[Price]]:
    """Yield the prices of one offer, region and date together."""
    found: dict[tuple[str, str, dt.date], list[Price]] = {}
    for price in prices:
        found.setdefault((price.offer, price.region, price.source.date), []).append(price)
    yield from found.values()
