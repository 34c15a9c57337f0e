"""Energy and money of 10¹² tokens: the job's share of what its site draws and costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rackwright.model.cost import HOURS_PER_YEAR as HOURS
from rackwright.model.prices import Offer
from rackwright.plan.cost.aws import TERMS
from rackwright.plan.cost.comparison import RentComparison
from rackwright.plan.cost.summary import CostSummary
from rackwright.plan.expansion import Expansion
from rackwright.plan.workload.prediction import Prediction
from rackwright.plan.workload.run import Bounds, cost_per_trillion, energy_per_trillion


@dataclass(frozen=True, slots=True)
class Economy:
    """Energy and money of 10¹² tokens; None where unknown.

    Attributes:
        kwh: energy with cooling and losses, at the power that the site is planned for.
        dollars: of hardware, energy and operation, or of rent.
        missing: what would have to be known.
        carbon: kg of carbon dioxide of the energy, where the federation states that of the site's electricity.
    """

    kwh: Bounds | None
    dollars: Bounds | None
    missing: tuple[str, ...] = ()
    carbon: Bounds | None = None


@dataclass(frozen=True, slots=True)
class AcceleratorUse:
    """Use of accelerators, and an offer to rent them.

    Attributes:
        use: share of the hours of a year in which the job runs, above 0 up to 1.
        rent: dollars of one accelerator in an hour at another provider; None without an offer.
    """

    use: float = 1.0
    rent: float | None = None


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """Dollars of 10¹² tokens of one workload, by who owns the accelerators.

    Attributes:
        use: share of the hours in which the job runs.
        dollars: range by ``owned`` (its purchase spread over its years), ``on demand`` and other terms; those without
            a price are left out. Empty if the workload makes no progress.
        years: dollars by the years that the accelerators serve, the same names; a purchase is paid for in the first.
        break_even: share of the hours from which on owning costs less, by the name of each way to rent, over the most years.
    """

    workload: str
    use: float
    dollars: Mapping[str, Bounds]
    years: Mapping[int, Mapping[str, float]]
    break_even: Mapping[str, float]


def token_prices(
    plan: Expansion,
    costs: CostSummary,
    predictions: Iterable[Prediction],
    comparison: RentComparison,
    demand: AcceleratorUse,
) -> Iterator[TokenPrice]:
    """Yield what 10¹² tokens cost on owned and on rented accelerators.

    A job takes the share of both that it has of the site's accelerators, and gets as many tokens in an hour on rented ones.
    Owned and reserved accelerators cost the same whether the job runs or not; others are paid for the hours that it runs.
    """
    site = next(one for one in plan.onprem if one.name == comparison.site)
    amounts = {"on demand": comparison.rented}
    amounts |= {TERMS[offer]: amount for offer, amount in comparison.otherwise}
    rented = {
        name: float(one.per_hour) for name, one in amounts.items() if one.per_hour is not None
    }
    if demand.rent is not None:
        rented[f"at {demand.rent:,.2f} USD/h each"] = demand.rent * site.totals.accelerators
    whole = (TERMS[Offer.RESERVED],)
    hourly = {name: each / (demand.use if name in whole else 1) for name, each in rented.items()}
    owned = comparison.owned.per_hour
    lasts = plan.costs.rates(comparison.site).amortisation_years if plan.costs else None
    bought = math.fsum(
        (line.micros or 0) / 1e6 * (lasts or 0)
        for line in costs.lines
        if line.site == comparison.site and line.kind == "hardware"
    )
    for found in predictions:
        a_day, placement = found.a_day, found.placement
        if found.workload.site != comparison.site or a_day is None or placement is None:
            continue
        if not a_day.low:
            yield TokenPrice(found.workload.name, demand.use, {}, {}, {})
            continue
        share = placement.accelerators / site.totals.accelerators
        dollars, years, break_even = {}, {}, {}
        if owned is not None:
            dollars["owned"] = cost_per_trillion(float(owned) * share / demand.use, a_day)
        for name, each in hourly.items():
            dollars[name] = cost_per_trillion(each * share, a_day)
        if owned is not None and lasts is not None:
            running = float(owned) * HOURS - bought / lasts
            for count in sorted({1, -(-lasts // 2), lasts}):
                each_hour = (bought + running * count) / (HOURS * count)
                price = cost_per_trillion(each_hour * share / demand.use, a_day).value
                years[count] = {
                    "owned": price,
                    **{n: one.value for n, one in dollars.items() if n != "owned"},
                }
            break_even = {
                name: float(owned) / each
                for name, each in rented.items()
                if name not in whole and each
            }
        if dollars:
            yield TokenPrice(found.workload.name, demand.use, dollars, years, break_even)


def economy(plan: Expansion, costs: CostSummary, prediction: Prediction) -> Economy | None:
    """Return what 10¹² tokens take; None without tokens a day.

    A job has the share of its site's power and cost that it has of the site's accelerators.
    """
    placement, a_day = prediction.placement, prediction.a_day
    if placement is None or a_day is None or not a_day.low:
        return None
    name = prediction.workload.site
    site = next((one for one in plan.onprem if one.name == name), None)
    kwh, missing = None, []
    total = placement.accelerators
    if site is not None:
        total = site.totals.accelerators
        watts = site.totals.facility_w
        if watts is None:
            missing.append(f"power of '{name}' with cooling and losses")
        else:
            kwh = energy_per_trillion(watts * placement.accelerators / total, a_day)
    else:
        aws = next(one for one in plan.aws if one.spec.name == name)
        total = sum(
            group.spec.most * group.instance.accelerators.count
            for group in aws.groups
            if group.instance.accelerators is not None
        )
    spent = next(one.amount for one in costs.sites if one.name == name)
    dollars = None
    if spent.missing:
        missing += [f"{text} (cost)" for text in spent.missing[:1]]
    elif spent.per_hour is not None:
        share = placement.accelerators / total
        dollars = cost_per_trillion(float(spent.per_hour) * share, a_day)
    federation = plan.blueprint.federation
    members = federation.sites if federation else ()
    grams = next((one.carbon for one in members if one.site == name), None)
    carbon = None if kwh is None or grams is None else kwh.scaled(grams / 1000)
    return Economy(kwh, dollars, tuple(missing), carbon)
