"""Cost of a bare-metal site: energy, the yearly part of the purchase price, and opex.

Energy = IT power × utilisation × PUE × price. Hardware = purchase price / years of amortisation.
Opex = a share of the purchase price. Cables, software and networks to the outside are not part of
it; the building is, where the owner states its yearly cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from rackwright.model.cost import HOURS_PER_YEAR, Costs, OwnedRates
from rackwright.model.prices import Offer, Prices
from rackwright.plan.base import Path
from rackwright.plan.cost import money
from rackwright.plan.cost.lines import CostLine, Kind, UsedPrice
from rackwright.plan.expansion import SitePlan
from rackwright.plan.missing import Missing, of_product

RATES = "the owned rates in 'costs'"
"""What rates of all sites are in; those of one site win."""
_OWNED: Path = ("costs", "owned")


@dataclass
class _Group:
    """Equal products that serve one purpose."""

    entry: str
    name: str
    path: Path
    count: int = 0
    power: float | None = 0.0
    """Continuous power of all of them, None when unknown."""
    draws: bool = False
    """It is IT equipment: its power is billed."""


@dataclass(frozen=True)
class OwnedPricing:
    """The owner's rates at one site, and the lists for what the owner leaves open."""

    prices: Prices
    costs: Costs
    site: SitePlan
    rates: OwnedRates = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rates", self.costs.rates(self.site.spec.name))

    def rate(self, name: str) -> Path:
        """Return the place at which the owner states a rate: of this site, if it has something, or of all."""
        site = self.site.spec.name
        return ("costs", "sites", site, name) if site in self.costs.sites else (*_OWNED, name)

    def purchase(self, entry: str) -> tuple[UsedPrice | None, tuple[str, ...]]:
        """Return the price of one unit; an estimate only where the site allows them."""
        own = self.costs.capex.get(entry)
        if own is not None:
            return UsedPrice(entry, own, "unit", None), ()
        found = self.prices.find(Offer.CAPEX, "world", entry)
        if found is None:
            what = f"purchase price of '{entry}' ('capex' of the costs)"
            return None, (Missing(what, ("costs", "capex", entry)),)
        if found.is_estimate and not self.site.spec.allow_estimates:
            only = f"purchase price of '{entry}' ('capex' of the costs; there is only an estimate)"
            return None, (Missing(only, ("costs", "capex", entry)),)
        return UsedPrice(entry, found.amount, "unit", found), ()

    def energy(self) -> tuple[UsedPrice | None, tuple[str, ...]]:
        """Return the price of a kilowatt hour."""
        what = f"energy at {self.site.spec.name}"
        if self.rates.energy is not None:
            return UsedPrice(what, self.rates.energy, "kWh", None), ()
        if periods := self.rates.time_of_use:
            mean = sum(period.hours * period.price for period in periods) / HOURS_PER_YEAR
            return UsedPrice(f"{what} by time of use", Decimal(mean), "kWh", None), ()
        region = self.rates.energy_region
        if region is None:
            text = f"'energy' or 'energy_region' of {RATES}"
            return None, (Missing(text, self.rate("energy"), self.rate("energy_region")),)
        found = self.prices.find(Offer.ENERGY, region, "industrial")
        if found is None:
            text = f"energy price in '{region}' ('energy' of {RATES})"
            return None, (Missing(text, self.rate("energy")),)
        return UsedPrice(what, found.amount, "kWh", found), ()


def onprem_lines(site: SitePlan, costs: Costs, prices: Prices) -> Iterator[CostLine]:
    """Yield the lines of ``site``: energy, hardware and opex of each product in each group."""
    pricing = OwnedPricing(prices, costs, site)
    for group in _groups(site):
        if group.draws:
            yield _energy(pricing, group)
            if pricing.rates.demand is not None:
                yield _demand(pricing, group, pricing.rates.demand)
        yield from _ownership(pricing, group)
    if pricing.rates.facility is not None:
        what = f"facility of {site.spec.name}"
        price = UsedPrice(what, pricing.rates.facility, "year", None)
        micros = money.to_micros(price.amount)
        path = ("costs",)
        yield CostLine(site.spec.name, "facility", "facility", what, micros, price, (), path)


def _energy(pricing: OwnedPricing, group: _Group) -> CostLine:
    rates, pue = pricing.rates, pricing.site.spec.pue
    price, missing = pricing.energy()
    if group.power is None:
        missing += (of_product(group.entry, "max_power", "published power"),)
    if rates.utilisation is None:
        missing += (Missing(f"'utilisation' of {RATES}", pricing.rate("utilisation")),)
    if pue is None:
        text = f"'pue' of site {pricing.site.spec.name}"
        missing += (Missing(text, (*pricing.site.path, "pue")),)
    micros = None
    if not (price is None or group.power is None or rates.utilisation is None or pue is None):
        micros = money.energy(group.power, rates.utilisation, pue, price.amount)
    what = f"energy of {group.count:,} × {group.entry}"
    return _line(pricing, group, "energy", what, micros, price, missing)


def _demand(pricing: OwnedPricing, group: _Group, amount: Decimal) -> CostLine:
    site, pue = pricing.site, pricing.site.spec.pue
    missing: tuple[str, ...] = ()
    if group.power is None:
        missing += (of_product(group.entry, "max_power", "published power"),)
    if pue is None:
        missing += (Missing(f"'pue' of site {site.spec.name}", (*site.path, "pue")),)
    micros = None
    if group.power is not None and pue is not None:
        micros = money.demand(group.power, pue, amount)
    price = UsedPrice(f"highest power at {site.spec.name}", amount, "kW and month", None)
    what = f"demand of {group.count:,} × {group.entry}"
    return _line(pricing, group, "demand", what, micros, price, missing)


def _ownership(pricing: OwnedPricing, group: _Group) -> Iterator[CostLine]:
    rates = pricing.rates
    price, unpriced = pricing.purchase(group.entry)
    total = None if price is None else money.recurring(Decimal(group.count), price.amount, 1)
    years, missing, micros = rates.amortisation_years, unpriced, None
    if years is None:
        text = f"'amortisation_years' of {RATES}"
        missing += (Missing(text, pricing.rate("amortisation_years")),)
    elif total is not None:
        micros = money.amortise(total, years)[0]
    what = f"{group.count:,} × {group.entry}"
    yield _line(pricing, group, "hardware", what, micros, price, missing)
    missing, micros = unpriced, None
    if rates.opex is None:
        missing += (Missing(f"'opex' of {RATES}", pricing.rate("opex")),)
    elif total is not None:
        micros = money.share(total, rates.opex)
    what = f"opex of {group.count:,} × {group.entry}"
    yield _line(pricing, group, "opex", what, micros, price, missing)


def _line(
    pricing: OwnedPricing,
    group: _Group,
    kind: Kind,
    what: str,
    micros: int | None,
    price: UsedPrice | None,
    missing: tuple[str, ...],
) -> CostLine:
    site = pricing.site.spec.name
    return CostLine(site, group.name, kind, what, micros, price, missing, group.path)


def _groups(site: SitePlan) -> list[_Group]:
    """Return the contents of the site by product and purpose, in the order of the racks."""
    found: dict[tuple[str, str], _Group] = {}

    def add(name: str, entry: str, path: Path, count: int) -> _Group:
        group = found.setdefault((name, entry), _Group(entry, name, path))
        group.count += count
        return group

    for racks in site.racks:
        # A rack-scale product is bought with its rack and its power shelves.
        whole = any(device.whole_rack for device in racks.kind.devices)
        if not whole:
            add("racks", racks.kind.type, racks.path, racks.count)
        for device in racks.kind.devices:
            if device.kind == "shelf" and whole:
                continue
            path = racks.path_of(device)
            group = add(_purpose(site, device.kind, path), device.entry, path, racks.count)
            if device.kind in {"node", "switch"}:
                group.draws = True
                each, so_far = device.power_w, group.power
                if each is None or so_far is None:
                    group.power = None
                else:
                    group.power = so_far + each * racks.count
    for index, loop in enumerate(site.spec.loops):
        if loop.in_rack:  # they are among the devices
            continue
        add("cooling", loop.cdu, (*site.path, "loops", index), loop.count)
    for index, hall in enumerate(site.spec.halls):
        if hall.air is not None:
            add("cooling", hall.air.type, (*site.path, "halls", index, "air"), hall.air.count)
    return list(found.values())


def _purpose(site: SitePlan, kind: str, path: Path) -> str:
    """Return the group of a device: node group, ``fabric/tier``, or ``racks`` for what feeds it."""
    match path[len(site.path) :]:
        case ("node_groups", int(index)):
            return site.spec.node_groups[index].name
        case ("fabrics", int(fabric), "tiers", int(tier)):
            made = site.spec.fabrics[fabric]
            return f"{made.name}/{made.tiers[tier].name}"
        case _:
            return {"pdu": "racks", "shelf": "racks", "cdu": "cooling"}.get(kind, kind)
