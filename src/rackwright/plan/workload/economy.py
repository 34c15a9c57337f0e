"""Energy and money of 10¹² tokens: the job's share of what its site draws and costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

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
    """

    kwh: Bounds | None
    dollars: Bounds | None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """Dollars of 10¹² tokens of one workload, by who owns the accelerators.

    Attributes:
        dollars: range by ``owned``, ``on demand`` and other terms; those without a price are left out.
    """

    workload: str
    dollars: Mapping[str, Bounds]


def token_prices(
    plan: Expansion, predictions: Iterable[Prediction], comparison: RentComparison
) -> Iterator[TokenPrice]:
    """Yield what 10¹² tokens cost on owned and on rented accelerators, used all the time.

    A job takes the share of both that it has of the site's accelerators. It gets as many tokens a day on rented ones,
    whose network is another.
    """
    site = next(one for one in plan.onprem if one.name == comparison.site)
    amounts = {
        "owned": comparison.owned,
        "on demand": comparison.rented,
        **{TERMS[offer]: amount for offer, amount in comparison.otherwise},
    }
    known = {name: one.per_hour for name, one in amounts.items() if one.per_hour is not None}
    for found in predictions:
        if found.workload.site == comparison.site and found.a_day and found.placement and known:
            share = found.placement.accelerators / site.totals.accelerators
            yield TokenPrice(
                found.workload.name,
                {
                    name: cost_per_trillion(float(each) * share, found.a_day)
                    for name, each in known.items()
                },
            )


def economy(plan: Expansion, costs: CostSummary, prediction: Prediction) -> Economy | None:
    """Return what 10¹² tokens take; None without tokens a day.

    A job has the share of its site's power and cost that it has of the site's accelerators.
    """
    placement, a_day = prediction.placement, prediction.a_day
    if placement is None or a_day is None:
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
    return Economy(kwh, dollars, tuple(missing))
