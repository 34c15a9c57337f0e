"""Bill of materials of bare-metal sites: what a design buys, counted from its plan."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any, Literal

from rackwright.catalog.loader import Catalogue
from rackwright.model.connections import Cable
from rackwright.model.cost import Costs
from rackwright.model.fabric import Cables
from rackwright.model.hardware import fact_value
from rackwright.model.quantities import format_quantity
from rackwright.model.reliability import Reliability
from rackwright.plan.cost.onprem import OwnedPricing
from rackwright.plan.expansion import SitePlan
from rackwright.plan.fabric.cables import FIBRES, End, Wire, routed_length, wires
from rackwright.plan.fabric.cables import ends as ends_of
from rackwright.plan.fabric.fabrics import FabricPlan
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.model import Plan
from rackwright.plan.reliability.failures import DAY, daily_rate, spares_needed

SCHEMA = "rackwright.bom/v1"
LENGTHS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 2000)
"""Length classes of cables, in m; a cable is bought in the shortest class that reaches."""
INCLUDED = "included in the device"
"""Note of articles that are not bought alone."""
QUANTILE = 0.99
"""Share of the time in which spare hosts are enough."""

COLUMNS = (
    "site", "category", "quantity", "product", "part", "name", "detail", "note", "unit_price_usd", "price_usd",
    "lead_time_days",
)  # fmt: skip
"""Attributes of an article in the order of a table."""

Category = Literal[
    "rack", "node", "switch", "pdu", "shelf", "cdu", "manifold", "door", "fluid", "power supply",
    "transceiver", "cable", "power source", "air handler", "plant", "spare",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Article:
    """Equal articles of one site.

    Attributes:
        product: catalogue id, or words where no product is named.
        part: part number to order it by; empty where the catalogue has none.
        detail: what tells it from others of the same product, like the length of a cable.
        quantity: number of pieces.
        note: how the number comes about, where it is not bought as it is.
        unit_price_usd: purchase price of one piece, in USD; None if unknown or included in another article.
        lead_time_days: time from order to delivery, in days; None if unknown or included in another article.
    """

    site: str
    category: Category
    product: str
    part: str
    name: str
    detail: str
    quantity: int
    note: str = ""
    unit_price_usd: float | None = None
    lead_time_days: float | None = None

    @property
    def price_usd(self) -> float | None:
        """Purchase price of all pieces, in USD; None if unknown."""
        return None if self.unit_price_usd is None else self.unit_price_usd * self.quantity

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Identity of the article in any revision, bought alone or included in another one."""
        return self.site, self.category, self.product, self.detail


@dataclass(frozen=True, slots=True)
class ArticleChange:
    """An article of which two revisions need different numbers."""

    line: Article
    before: int
    after: int


def bill_of_materials(plan: Plan, site: str | None = None) -> list[Article]:
    """Return the articles of all bare-metal sites, or of one of them, in a fixed order."""
    found: list[Article] = []
    for one in plan.onprem:
        if site in {None, one.name}:
            articles = (_racked(plan, one), _cabling(plan, one), _plant(one), _spares(plan, one))
            pricing = OwnedPricing(plan.catalogue.prices, plan.costs or Costs(), one)
            found += [_offered(article, pricing) for article in chain(*articles)]
    return found


def _offered(article: Article, pricing: OwnedPricing) -> Article:
    """Return an article with its price and its lead time by the owner's costs, or by a price list."""
    if article.note == INCLUDED:
        return article
    price, _ = pricing.purchase(article.product)
    wait = pricing.costs.lead_times.get(article.product)
    wait = pricing.prices.lead_time(article.product) if wait is None else wait
    return replace(
        article,
        unit_price_usd=None if price is None else float(price.amount),
        lead_time_days=None if wait is None else wait / DAY,
    )


def compare(before: Iterable[Article], after: Iterable[Article]) -> list[ArticleChange]:
    """Return the articles whose number differs, those of ``after`` first and in its order."""
    old, new = _by_key(before), _by_key(after)
    changes = [
        ArticleChange(line, old[key].quantity if key in old else 0, line.quantity)
        for key, line in new.items()
        if key not in old or old[key].quantity != line.quantity
    ]
    return changes + [
        ArticleChange(line, line.quantity, 0) for key, line in old.items() if key not in new
    ]


def _by_key(lines: Iterable[Article]) -> dict[tuple[str, str, str, str], Article]:
    """Return the articles by their key, those that are bought together with those that are included."""
    found: dict[tuple[str, str, str, str], Article] = {}
    for line in lines:
        same = found.get(line.key)
        found[line.key] = (
            line if same is None else replace(line, quantity=same.quantity + line.quantity)
        )
    return found


def to_document(name: str, lines: Iterable[Article]) -> dict[str, Any]:
    """Return the bill as plain data."""
    return {"schema": SCHEMA, "blueprint": name, "lines": [asdict(line) for line in lines]}


def _racked(plan: Plan, site: SitePlan) -> Iterator[Article]:
    """Yield racks, what is in them, and the power supplies that come with the devices."""
    racks: Counter[str] = Counter()
    devices: Counter[tuple[Category, str, str]] = Counter()
    supplies: Counter[str] = Counter()
    for own in site.racks:
        # A rack-scale product is bought with its power shelves, as the costs count it.
        whole = any(device.whole_rack for device in own.kind.devices)
        if not any(device.whole_rack or device.includes_rack for device in own.kind.devices):
            racks[own.kind.type] += own.count
        for device in own.kind.devices:
            note = INCLUDED if whole and device.kind == "shelf" else ""
            devices[device.kind, device.entry, note] += own.count
            if device.psu_count:
                supplies[device.entry] += own.count * device.psu_count
    yield from (_line(plan.catalogue, site, "rack", rack, "", n) for rack, n in racks.items())
    for (kind, entry, note), count in devices.items():
        yield replace(_line(plan.catalogue, site, kind, entry, "", count), note=note)
    for entry, count in supplies.items():
        name = f"power supply of {entry}"
        yield Article(site.name, "power supply", entry, "", name, "", count, INCLUDED)


def _line(
    catalogue: Catalogue, site: SitePlan, category: Category, product: str, detail: str, count: int
) -> Article:
    key = catalogue.keys.get(product)
    entry = None if key is None else catalogue.get(*key)
    name = product if entry is None else f"{entry.vendor} {entry.name}"
    part = "" if entry is None else entry.part or ""
    return Article(site.name, category, product, part, name, detail, count)


def _cabling(plan: Plan, site: SitePlan) -> Iterator[Article]:
    parts: Counter[tuple[Category, str, str]] = Counter()
    for fabric in site.fabrics:
        if fabric.layout is not None:
            parts.update(_of_fabric(plan.catalogue, site, fabric))
    for (category, product, detail), count in parts.items():
        yield _line(plan.catalogue, site, category, product, detail, count)


def _of_fabric(
    catalogue: Catalogue, site: SitePlan, fabric: FabricPlan
) -> Mapping[tuple[Category, str, str], int]:
    """Return transceivers and cables of one fabric, by product and length class."""
    layout = fabric.layout
    assert layout is not None  # noqa: S101 - the caller looked
    links = {link.name: link for link in layout.fabric.links}
    routes = site.cable_routes(fabric)
    ends: Counter[tuple[str, str, int]] = Counter()
    """Ports by their device, the transceiver in them, and how many ports one of it serves."""
    served = {link.name: _ports_served(layout, link) for link in layout.fabric.links}
    pairs: Counter[tuple[str, str, str, str]] = Counter()
    """Cables with both their ends, by product, length class and devices."""
    found: Counter[tuple[Category, str, str]] = Counter()
    for wire in wires(layout):
        link = links.get(wire.kind)
        length = None if link is None else routed_length(link)
        if length is None and routes is not None:
            length = routes.of_wire(wire)
        lower, upper = _parts(catalogue, link)
        if lower is None or upper is None:
            found["cable", _unnamed(fabric, wire), length_class(length)] += 1
        elif lower.medium in FIBRES:
            fibre = (link.fibre if link else None) or f"{lower.medium} fibre"
            found["cable", fibre, length_class(length)] += 1
            below, above = served[wire.kind]
            ends[wire.lower, lower.id, below] += 1
            ends[wire.upper, upper.id, above] += 1
        else:
            pairs[lower.id, length_class(length), wire.lower, wire.upper] += 1
    for (_, product, each), ports in ends.items():
        found["transceiver", product, ""] += math.ceil(ports / each)
    for (product, length_text, _, _), ports in pairs.items():
        joined = catalogue.get(Cable, product).joined_ports
        found["cable", product, length_text] += math.ceil(ports / joined)
    return found


def _ports_served(layout: Layout, link: Cables) -> tuple[int, int]:
    """Return the ports that one transceiver serves at the lower and at the upper end of cables.

    One of 800 Gbps serves two ports of 400 Gbps of its device.
    """

    def served(end: End) -> int:
        rate = None if end.cable is None else fact_value(end.cable.rate)
        if end.cable is None or rate is None or not end.rate:
            return 1
        return max(end.cable.joined_ports, int(rate / end.rate + 1e-9), 1)

    lower, upper = ends_of(layout, link)
    return served(lower), served(upper)


def _parts(catalogue: Catalogue, link: Cables | None) -> tuple[Cable | None, Cable | None]:
    """Return the products at the lower and the upper end of cables."""
    if link is None or link.cable is None:
        return None, None
    lower = catalogue.get(Cable, link.cable)
    return lower, catalogue.get(Cable, link.upper_cable) if link.upper_cable else lower


def _unnamed(fabric: FabricPlan, wire: Wire) -> str:
    links = f" '{wire.kind}'" if wire.kind else ""
    return f"cables{links} of '{fabric.name}', no product named"


def length_class(length: float | None) -> str:
    """Return the shortest class that reaches, like ``up to 10 m``."""
    if length is None:
        return "length unknown"
    fitting = next((metres for metres in LENGTHS if metres >= length - 1e-9), None)
    return f"up to {fitting or math.ceil(length)} m"


def _plant(site: SitePlan) -> Iterator[Article]:
    """Yield sources of power, air handlers, CDUs and mechanical plant."""
    sources: Counter[tuple[str, str]] = Counter()
    for source in site.spec.power.sources:
        if source.kind == "utility":
            continue  # delivered by the utility, not bought
        product, detail, count = source.product or source.kind, "", 1
        if source.modules is not None:
            count = source.modules.count
            module = source.modules.capacity
            size = "" if module is None else f" of {format_quantity(module, 'W')}"
            detail = f"module{size}"
        elif source.circuit is not None:
            amperes = format_quantity(source.circuit.current, "A")
            detail = f"{amperes}, {format_quantity(source.circuit.voltage, 'V')}"
        elif source.capacity is not None:
            detail = format_quantity(source.capacity, "W")
        sources[product, detail] += count
    for (product, detail), count in sources.items():
        yield Article(site.name, "power source", product, "", product, detail, count)
    handlers: Counter[str] = Counter()
    for hall in site.spec.halls:
        if hall.air is not None:
            handlers[hall.air.type] += hall.air.count
    for product, count in handlers.items():
        yield Article(site.name, "air handler", product, "", product, "", count)
    cdus: Counter[str] = Counter()
    for loop in site.spec.loops:
        cdus[loop.cdu] += loop.count
    racked = {d.entry for own in site.racks for d in own.kind.devices if d.kind == "cdu"}
    for product, count in cdus.items():
        if product not in racked:  # else it is counted with its rack
            yield Article(site.name, "cdu", product, "", product, "", count)
    plant: Counter[tuple[str, str]] = Counter()
    for machine in site.spec.plant or ():
        size = "" if machine.capacity is None else format_quantity(machine.capacity, "W")
        plant[machine.product or machine.kind, size] += machine.count
    for (product, detail), count in plant.items():
        yield Article(site.name, "plant", product, "", product, detail, count)


def _spares(plan: Plan, site: SitePlan) -> Iterator[Article]:
    """Yield hosts that failures take away at once beyond the spares that the groups have."""
    reliability = plan.reliability or Reliability()
    products = {group.name: group.type for group in site.spec.node_groups}
    for group in plan.groups:
        if group.site != site.name or not group.compute:
            continue
        known = reliability.of_group(group.site, group.group)
        rate, repair = known.node_failures_per_1000_days, known.repair_time
        if rate is None or repair is None:
            continue
        needed = spares_needed(group.hosts * daily_rate(rate) * repair / DAY, QUANTILE)
        more = (needed or 0) - (known.spares or 0)
        if more > 0:
            product = products[group.group]
            note = f"{needed} of '{group.group}' are down at once 1 % of the time or less"
            yield Article(site.name, "spare", product, "", f"spare {product}", "", more, note)
