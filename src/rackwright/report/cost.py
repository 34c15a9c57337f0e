"""The cost of a plan as text and as JSON, schema ``rackwright.cost/v1``."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from rackwright.harmless import json_text
from rackwright.model.prices import CURRENCY
from rackwright.plan.cost.aws import TERMS
from rackwright.plan.cost.comparison import RentComparison
from rackwright.plan.cost.lines import Amount, CostLine, UsedPrice, add_up
from rackwright.plan.cost.spend import BudgetUse, PlannedSpend
from rackwright.plan.cost.summary import NOT_COUNTED, CostSummary
from rackwright.plan.cost.weather import WeatherYear
from rackwright.plan.workload.economy import TokenPrice
from rackwright.report.wording import printable

SCHEMA = "rackwright.cost/v1"
_CENT = Decimal("0.01")


def render_text(
    blueprint: str,
    summary: CostSummary,
    comparisons: Sequence[RentComparison] | None,
    tokens: Mapping[str, Sequence[TokenPrice]] | None = None,
    years: Sequence[WeatherYear] = (),
    spent: Sequence[PlannedSpend] = (),
    budgets: Sequence[BudgetUse] = (),
) -> str:
    """Return the total, each site with its groups, what is missing, and where the prices come from.

    ``tokens`` has what 10¹² tokens of the workloads cost, by site, beside the comparisons; ``years`` has
    the sites by the hours of a weather file, ``spent`` what AWS has charged, and ``budgets`` their use.
    """
    lines = [f"{printable(blueprint)}: {amount_text(summary.total)}", ""]
    rows = cost_table(summary)
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines += [
        f"{name:<{widths[0]}}  {hour:>{widths[1]}}  {year:>{widths[2]}}".rstrip()
        for name, hour, year in rows
    ]
    if summary.missing:
        lines += ["", "missing; sums marked >= are lower bounds:"]
        lines += [f"  - {printable(text)}" for text in summary.missing]
    lines += ["", "prices:", *(f"  - {printable(text)}" for text in _prices(summary))]
    for provider in dict.fromkeys(site.provider for site in summary.sites):
        lines.append(f"not counted ({provider}): {NOT_COUNTED[provider]}")
    if comparisons is not None:
        lines += ["", *_comparison_lines(comparisons, tokens or {})]
    for year in years:
        lines += ["", *_weather_lines(year)]
    for one in spent:
        lines += ["", *_spent_lines(one)]
    lines += [_budget_line(use) for use in budgets]
    return "\n".join(lines) + "\n"


def cost_table(summary: CostSummary) -> list[tuple[str, str, str]]:
    """Return each site with its groups, an hour and a year; the head comes first, groups begin with blanks."""
    rows = [("", "USD/h", "USD/year")]
    for site in summary.sites:
        rows.append((printable(f"site {site.name} ({site.provider})"), *_columns(site.amount)))
        rows += [(f"  {printable(group.name)}", *_columns(group.amount)) for group in site.groups]
        if site.idle is not None:
            rows.append(("  elastic groups at their minimum: the site", *_columns(site.idle)))
    return rows


def render_json(
    blueprint: str,
    summary: CostSummary,
    comparisons: Sequence[RentComparison] | None,
    tokens: Mapping[str, Sequence[TokenPrice]] | None = None,
    years: Sequence[WeatherYear] = (),
    spent: Sequence[PlannedSpend] = (),
    budgets: Sequence[BudgetUse] = (),
) -> str:
    """Return the whole summary; amounts are texts so that no reader rounds them."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "blueprint": blueprint,
        "currency": CURRENCY,
        "total": _amount(summary.total),
        "sites": [
            {
                "name": site.name,
                "provider": site.provider,
                **_amount(site.amount),
                **({} if site.idle is None else {"idle": _amount(site.idle)}),
                "groups": [
                    {"name": group.name, "count": group.count, **_amount(group.amount)}
                    for group in site.groups
                ],
                "lines": [_line(line) for line in summary.lines if line.site == site.name],
                "not_counted": NOT_COUNTED[site.provider],
            }
            for site in summary.sites
        ],
    }
    if comparisons is not None:
        document["comparisons"] = [
            {**_comparison(one), "per_trillion_tokens": _tokens((tokens or {}).get(one.site, ()))}
            for one in comparisons
        ]
    if years:
        document["weather_years"] = [{**asdict(year), "wue": year.wue} for year in years]
    if spent:
        document["spent"] = [_spent(one) for one in spent]
        document["budgets"] = [
            {
                "field": use.field,
                "budget": f"{use.budget:f}",
                "charged": f"{use.charged:f}",
                "complete": use.complete,
            }
            for use in budgets
        ]
    return json_text(document)


def _spent_lines(one: PlannedSpend) -> Iterator[str]:
    spend = one.spend
    last = spend.end - dt.timedelta(days=1)
    yield printable(f"site {spend.site}, charged by AWS from {spend.begin} to {last}:")
    if spend.charged is None:
        yield f"  charged  unknown: {printable(spend.why or '')}"
    else:
        yield f"  charged  {_cents(spend.charged)} USD"
    if one.most is None or one.least is None:
        yield "  planned  unknown, as prices are missing"
        return
    least = "" if one.least == one.most else f"{_cents(one.least)} to "
    yield f"  planned  {least}{_cents(one.most)} USD"
    if one.above is not None and one.above > 0:
        yield f"  {_cents(one.above)} USD more than planned: look for what the plan does not count"


def _budget_line(use: BudgetUse) -> str:
    """Return the charges of all sites on AWS beside the share of a budget for the same days."""
    charged = f"{'' if use.complete else 'at least '}{_cents(use.charged)} USD"
    side = "above" if use.exceeded else "of"
    return f"all sites on AWS: {charged}, {side} {_cents(use.budget)} USD of 'costs.{use.field}'"


def _spent(one: PlannedSpend) -> dict[str, Any]:
    spend = one.spend
    return {
        "site": spend.site,
        "begin": spend.begin.isoformat(),
        "end": spend.end.isoformat(),
        "charged": None if spend.charged is None else f"{spend.charged:f}",
        "unknown": spend.why,
        "planned_least": None if one.least is None else f"{one.least:f}",
        "planned_most": None if one.most is None else f"{one.most:f}",
    }


def _weather_lines(year: WeatherYear) -> Iterator[str]:
    yield printable(f"site {year.site} by the hours of the weather file:")
    yield f"  PUE     {year.pue:.3f} ({year.pue_lowest:.3f} to {year.pue_highest:.3f})"
    yield f"  energy  {year.energy_kwh / 1000:,.0f} MWh, {year.highest_kw:,.0f} kW in the highest hour"
    if year.water_m3 is not None:
        yield f"  water   {year.water_m3:,.0f} m3, {year.wue:.3f} L/kWh of IT (WUE)"
    if year.carbon_t is not None:
        yield f"  carbon  {year.carbon_t:,.0f} t of carbon dioxide"


def _tokens(prices: Sequence[TokenPrice]) -> list[dict[str, Any]]:
    return [
        {
            "workload": one.workload,
            "use": one.use,
            "dollars": {
                name: {"low": price.low, "value": price.value, "high": price.high}
                for name, price in one.dollars.items()
            },
            "years": {str(count): dict(dollars) for count, dollars in one.years.items()},
            "break_even": dict(one.break_even),
        }
        for one in prices
    ]


def amount_text(amount: Amount) -> str:
    """Return both rates, such as ``12.50 USD/h, 109,500.00 USD/year``, or what is known of them."""
    if _is_open(amount):
        return "unknown"
    hour, year = _cents(amount.at_least_per_hour), _cents(amount.at_least_per_year)
    if amount.missing:
        return f"unknown, at least {hour} USD/h, {year} USD/year"
    return f"{hour} USD/h, {year} USD/year"


def _is_open(amount: Amount) -> bool:
    """Return True if no part of an amount is known."""
    return bool(amount.missing) and not amount.at_least_per_year


def _columns(amount: Amount) -> tuple[str, str]:
    if _is_open(amount):
        return "unknown", "unknown"
    bound = ">= " if amount.missing else ""
    return (
        f"{bound}{_cents(amount.at_least_per_hour)}",
        f"{bound}{_cents(amount.at_least_per_year)}",
    )


def _cents(dollars: Decimal) -> str:
    return f"{dollars.quantize(_CENT, rounding=ROUND_HALF_EVEN):,}"


def _plain(amount: Decimal) -> str:
    """Return all digits, without zeros at the end."""
    text = f"{amount:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _prices(summary: CostSummary) -> Iterator[str]:
    used = dict.fromkeys(
        _price_text(line.price) for line in summary.lines if line.price is not None
    )
    yield from used
    if not used:
        yield "no price is set"


def _price_text(price: UsedPrice) -> str:
    listed = price.listed
    if listed is None:
        return f"{price.item}: {_plain(price.amount)} {CURRENCY}/{price.unit}, the owner's own"
    source = listed.source
    less = "" if price.amount == listed.amount else f", {_plain(listed.amount)} before the discount"
    return (
        f"{listed.item} ({listed.offer}, {listed.region}): {_plain(price.amount)} {listed.currency}/{listed.unit}{less}; "
        f"{source.title}, {source.date}, {source.confidence}"
    )


def _comparison_lines(
    comparisons: Sequence[RentComparison], tokens: Mapping[str, Sequence[TokenPrice]]
) -> Iterator[str]:
    if not comparisons:
        yield "owned against rented: no bare-metal site has accelerators"
    for comparison in comparisons:
        where = comparison.region or "an unknown region"
        yield printable(f"owned against rented, site {comparison.site} against {where}:")
        yield f"  owned   {amount_text(comparison.owned)}"
        yield f"  rented  {amount_text(comparison.rented)} (instances on demand alone)"
        for offer, amount in comparison.otherwise:
            yield f"          {amount_text(amount)} ({TERMS[offer]})"
        for match in comparison.matches:
            yield f"  - {printable(str(match))}"
        owned, rented = comparison.owned.per_year, comparison.rented.per_year
        if owned is not None and rented:
            share = (owned / rented * 100).quantize(Decimal("0.1"), rounding=ROUND_HALF_EVEN)
            yield f"  owning costs {share} % of renting on demand"
            if owned < rented:
                yield f"  owning is cheaper where the accelerators are used more than {share} % of the time"
        for price in dict.fromkeys(comparison.prices):
            yield f"  price of {printable(_price_text(price))}"
        for one in tokens.get(comparison.site, ()):
            yield from _token_lines(one)
        for text in dict.fromkeys((*comparison.owned.missing, *comparison.rented.missing)):
            yield f"  missing: {printable(text)}"


def _token_lines(prices: TokenPrice) -> Iterator[str]:
    """Yield USD per 10¹² tokens by who owns the accelerators, then by the years that they serve."""
    if not prices.dollars:
        yield f"  USD per T tokens of '{printable(prices.workload)}': none, the job makes no progress"
        return
    low, high = next((p.low / p.value, p.high / p.value) for p in prices.dollars.values())
    head = f"USD per T tokens of '{printable(prices.workload)}', {prices.use * 100:.3g} % of the hours used"
    yield f"  {head} ({low:.2f} to {high:.2f} times that):"
    counts = list(prices.years)
    if not counts:
        told = (f"{name} {price.value:,.0f}" for name, price in prices.dollars.items())
        yield f"    {', '.join(told)}"
        return
    yield f"    {'years of service':<22}" + "".join(f"{count:>14,}" for count in counts)
    for name in prices.dollars:
        row = "".join(f"{prices.years[count][name]:>14,.0f}" for count in counts)
        yield f"    {name:<22}{row}"
    for name, share in prices.break_even.items():
        if share <= 1:
            yield f"    owning over {counts[-1]} years is cheaper than {name} from {share * 100:.0f} % of the hours on"
        else:
            yield f"    owning over {counts[-1]} years is never cheaper than {name}"


def _amount(amount: Amount) -> dict[str, Any]:
    hour, year = amount.per_hour, amount.per_year
    return {
        "per_hour": None if hour is None else f"{hour:f}",
        "per_year": None if year is None else f"{year:f}",
        "at_least_per_hour": f"{amount.at_least_per_hour:f}",
        "at_least_per_year": f"{amount.at_least_per_year:f}",
        "missing": list(amount.missing),
    }


def _line(line: CostLine) -> dict[str, Any]:
    return {
        "group": line.group,
        "kind": line.kind,
        "what": line.what,
        "per_year": None if line.micros is None else f"{Decimal(line.micros).scaleb(-6):f}",
        "price": None if line.price is None else _price(line.price),
        "missing": list(line.missing),
        "path": list(line.path),
    }


def _price(price: UsedPrice) -> dict[str, Any]:
    listed = price.listed
    return {
        "item": price.item,
        "amount": f"{price.amount:f}",
        "currency": CURRENCY,
        "unit": price.unit,
        "origin": price.origin,
        "listed": None
        if listed is None
        else {
            "amount": f"{listed.amount:f}",
            "item": listed.item,
            "offer": listed.offer.value,
            "region": listed.region,
            "source": listed.source.title,
            "date": listed.source.date.isoformat(),
            "confidence": listed.source.confidence.value,
            "note": listed.note,
        },
    }


def _comparison(comparison: RentComparison) -> dict[str, Any]:
    return {
        "site": comparison.site,
        "region": comparison.region,
        "owned": _amount(comparison.owned),
        "rented": _amount(comparison.rented),
        "rented_otherwise": {
            offer.value: _amount(amount) for offer, amount in comparison.otherwise
        },
        "matches": [
            {
                "group": match.group,
                "chip": match.chip,
                "accelerators": match.accelerators,
                "instance": match.instance,
                "instances": match.instances,
                "price": None if match.line.price is None else _price(match.line.price),
            }
            for match in comparison.matches
        ],
    }


def storage_cost(lines: Iterable[CostLine], site: str) -> str:
    """Return what the file systems and data volumes of a site cost while they exist, as one line."""
    kept = [
        line
        for line in lines
        if line.site == site
        and (
            line.kind == "file-systems"
            or (line.kind == "volumes" and line.path[-1] == "data_volume")
        )
    ]
    amount = add_up(kept)
    bound = "at least " if amount.missing else ""
    names = ", ".join(dict.fromkeys(line.group for line in kept))
    return (
        f"storage that is retained goes on at {bound}{_cents(amount.at_least_per_hour)} USD/h ({names}), until you "
        "delete it"
    )
