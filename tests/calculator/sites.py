"""Sites at random: the same seed makes the same site, and each seed in turn another design."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from calculator.fabrics import FABRICS, with_fabric
from calculator.maker import Maker
from calculator.things import (
    Door,
    Manifolds,
    NodeGroup,
    Product,
    RackGroup,
    Shelf,
    Shelves,
    Site,
    Supplies,
    TapOff,
    Unit,
)


def corded(made: Maker, design: str, feeds: int, pdus: int = 1) -> Site:
    """Servers with power supplies of their own, on several feeds."""
    racks, pdu = made.racks("c"), made.pdu()
    group = RackGroup(
        racks=racks, frame=made.frame(), feeds=made.feeds(feeds, pdu, pdus), mode="air",
        aisle=made.aisle(),
    )  # fmt: skip
    return made.site(design, (group,), _filled(made, racks, made.server("server")))


def _filled(made: Maker, racks: tuple[str, ...], *products: Product) -> tuple[NodeGroup, ...]:
    """Some of each product in the racks, the last rack perhaps not full."""
    groups = []
    for product in products:
        per_rack = made.random.randint(1, 4)
        count = made.random.randint(1, per_rack * len(racks))
        groups.append(
            NodeGroup(name=product.id, product=product, count=count, racks=racks, per_rack=per_rack)
        )
    return tuple(groups)


def two_feeds(made: Maker) -> Site:
    return corded(made, "two feeds", 2)


def three_feeds(made: Maker) -> Site:
    return corded(made, "three feeds", 3)


def several_pdus(made: Maker) -> Site:
    return corded(
        made, "several PDUs a feed", made.random.choice((2, 3)), made.random.choice((2, 3))
    )


def stated_supplies(made: Maker) -> Site:
    """The blueprint says which supplies are on which feed."""

    site = corded(made, "stated supplies", made.random.choice((2, 3)))
    feeds = len(site.rack_groups()[0].feeds)
    group = site.groups[0]
    if group.product.supplies is None:
        return site
    cuts = sorted(made.random.randint(0, group.product.supplies.count) for _ in range(feeds - 1))
    ends = (*cuts, group.product.supplies.count)
    per_feed = tuple(b - a for a, b in zip((0, *cuts), ends, strict=True))
    return replace(site, groups=(replace(group, per_feed=per_feed),))


def capped(made: Maker) -> Site:
    """Servers are capped below their plates, some lower than they can be."""

    site = corded(made, "capped nodes", made.random.choice((2, 3)))
    group = site.groups[0]
    plate = group.product.power or 5000.0
    return replace(site, groups=(replace(group, cap=round(plate * made.number(0.2, 0.98), 1)),))


def mixed(made: Maker) -> Site:
    """Several products in one rack, on one loop where some are cold plates."""
    racks, pdu = made.racks("m"), made.pdu()
    liquid = made.random.random() < 0.5
    loop = made.loop()
    products = [made.server("first"), made.server("second", "hybrid" if liquid else "air")]
    if liquid:
        products.append(made.server("third", "liquid"))
    group = RackGroup(
        racks=racks, frame=made.frame(), feeds=made.feeds(made.random.choice((2, 3)), pdu),
        mode="liquid" if liquid else "air", loop=loop.name if liquid else None, aisle=made.aisle(),
    )  # fmt: skip
    return made.site(
        "mixed racks", (group,), _filled(made, racks, *products), (loop,) if liquid else ()
    )


def rear_doors(made: Maker) -> Site:
    racks, pdu, loop = made.racks("d"), made.pdu(), made.loop()
    door = _door(made)
    group = RackGroup(
        racks=racks, frame=made.frame(), feeds=made.feeds(made.random.choice((2, 3)), pdu),
        mode="rear-door", loop=loop.name, door=door, aisle=made.aisle(),
    )  # fmt: skip
    return made.site("rear doors", (group,), _filled(made, racks, made.server("server")), (loop,))


def cold_plates(made: Maker) -> Site:
    racks, pdu, loop = made.racks("l"), made.pdu(), made.loop()
    group = RackGroup(
        racks=racks, frame=made.frame(), feeds=made.feeds(made.random.choice((2, 3)), pdu),
        mode="liquid", loop=loop.name, aisle=made.aisle(),
    )  # fmt: skip
    medium = made.random.choice(("liquid", "hybrid"))
    nodes = _filled(made, racks, made.server("plate", medium))
    if made.random.random() < 0.4:
        cap = (nodes[0].product.power or 5000.0) * made.number(0.5, 0.98)
        nodes = (replace(nodes[0], cap=round(cap, 1)),)
    return made.site("cold plates", (group,), nodes, (loop,))


def _shelf(made: Maker) -> Shelf:
    rating = made.number(15_000, 35_000)
    return Shelf(
        id="shelf", rating=rating, rating_n1=rating * 0.8, height=made.maybe(1.0),
        weight=made.maybe(made.number(20, 60)),
    )  # fmt: skip


def _shelves(made: Maker, feeds: int) -> Shelves:
    count = made.random.randint(feeds, 8)
    per_feed = None
    if made.random.random() < 0.5:
        first = made.random.randint(0, count)
        per_feed = (first, count - first, *(0,) * (feeds - 2))
    return Shelves(shelf=_shelf(made), count=count, per_feed=per_feed)


def whole_racks(made: Maker) -> Site:
    """Rack-scale systems with power shelves, on a loop."""
    racks, loop = made.racks("g", 3), made.loop()
    feeds = made.random.choice((2, 2, 3))
    group = RackGroup(
        racks=racks, frame=made.frame(), feeds=made.feeds(feeds, None), mode="liquid", loop=loop.name,
        shelves=_shelves(made, feeds) if made.random.random() < 0.85 else None, aisle=made.aisle(),
    )  # fmt: skip
    product = made.whole_rack(made.random.random() < 0.7)
    nodes = (NodeGroup(name="nvl72", product=product, count=len(racks), racks=racks, per_rack=1),)
    return made.site("whole racks with shelves", (group,), nodes, (loop,))


def bus_bars(made: Maker) -> Site:
    """Servers that draw from shelves over a bus bar."""
    racks = made.racks("b", 3)
    feeds = made.random.choice((2, 3))
    group = RackGroup(
        racks=racks, frame=made.frame(), feeds=made.feeds(feeds, None), mode="air",
        shelves=_shelves(made, feeds), aisle=made.aisle(),
    )  # fmt: skip
    return made.site(
        "bus bars", (group,), _filled(made, racks, made.server("clip", inlet="busbar"))
    )


def _door(made: Maker) -> Door:
    return Door(
        capacity=made.number(5e3, 5e4), difference=made.number(5, 25),
        weight=made.maybe(made.number(80, 200)),
    )  # fmt: skip


def plates_and_doors(made: Maker) -> Site:
    """Cold plates, and a rear door on the same loop or on one of its own."""
    racks, pdu, plates, doors = made.racks("p"), made.pdu(), made.loop("plates"), made.loop("doors")
    doors = replace(doors, unit=replace(doors.unit, id="cdu-of-doors"))
    apart = made.random.random() < 0.7
    group = RackGroup(
        racks=racks, frame=made.frame(), feeds=made.feeds(made.random.choice((2, 3)), pdu),
        mode="liquid-rear-door", loop=plates.name, door_loop=doors.name if apart else plates.name,
        door=_door(made), aisle=made.aisle(),
    )  # fmt: skip
    nodes = _filled(made, racks, made.server("plate", "hybrid"), made.server("air"))
    loops = (plates, doors) if apart else (plates,)
    return made.site("cold plates with rear doors", (group,), nodes, loops)


def _cdu_in_rack(made: Maker) -> Unit:
    supplies = Supplies(count=2, inlet="C14", full=1, degraded=1)
    product = Product(
        id="rack-cdu", height=made.random.choice((0.0, 2.0, 4.0)), weight=made.number(50, 150),
        power=made.number(500, 3000), airflow=made.random.choice((None, made.number(50, 300))),
        supplies=supplies,
    )  # fmt: skip
    return Unit(
        id="rack-cdu", capacity=made.number(4e4, 2e5), flow=made.maybe(made.number(50, 300)),
        power=product.power, in_rack=product, pump_lost=made.maybe(made.number(30, 200)),
    )  # fmt: skip


def cdus_in_racks(made: Maker) -> Site:
    """Racks with CDUs and manifolds of their own."""
    racks, pdu = made.racks("r"), made.pdu()
    loop = replace(
        made.loop("own"), unit=_cdu_in_rack(made), count=made.random.randint(1, 2), in_rack=True
    )
    manifolds = Manifolds(
        count=made.random.randint(0, 8), height=made.random.choice((0.0, 1.0)),
        weight=made.maybe(made.number(5, 20)),
    )  # fmt: skip
    group = RackGroup(
        racks=racks, frame=made.frame(), feeds=made.feeds(made.random.choice((2, 3)), pdu),
        mode="liquid", loop=loop.name, manifolds=manifolds, aisle=made.aisle(),
    )  # fmt: skip
    nodes = _filled(made, racks, made.server("plate", made.random.choice(("liquid", "hybrid"))))
    return made.site("CDUs in racks", (group,), nodes, (loop,))


def tanks(made: Maker) -> Site:
    """Immersion tanks with CDUs beside them, or one in each."""
    racks, pdu, loop = made.racks("t"), made.pdu(), made.loop("tanks")
    loop = replace(loop, fluid="dielectric", heat_capacity=made.maybe(made.number(1.2, 2)))
    if made.random.random() < 0.5:
        loop = replace(loop, unit=_cdu_in_rack(made), count=1, in_rack=True)
    frame = replace(
        made.frame(), id="tank", tank=True, fluid_weight=made.maybe(made.number(300, 800))
    )
    group = RackGroup(
        racks=racks, frame=frame, feeds=made.feeds(made.random.choice((2, 3)), pdu),
        mode="immersion", loop=loop.name, aisle=made.aisle(),
    )  # fmt: skip
    nodes = _filled(made, racks, replace(made.server("hung", "immersion"), airflow=None))
    return made.site("immersion tanks", (group,), nodes, (loop,))


def tap_off_boxes(made: Maker) -> Site:
    """Feeds from busways by boxes, which some racks share."""
    site = corded(
        made, "busways with tap-off boxes", made.random.choice((2, 3)), made.random.choice((1, 2))
    )
    box = TapOff(
        current=made.number(30, 250), racks=made.random.randint(1, 3),
        continuous=made.random.random() < 0.3,
    )  # fmt: skip
    (hall,) = site.halls
    (group,) = hall.groups
    feeds = tuple(replace(feed, tap_off=box) for feed in group.feeds)
    sources = tuple(
        replace(source, kind="busway") if source.name.startswith("panel-") else source
        for source in site.sources
    )
    hall = replace(hall, groups=(replace(group, feeds=feeds),))
    return replace(site, halls=(hall,), sources=sources)


def mixed_loop(made: Maker) -> Site:
    """Racks of other products, in two groups, on one loop."""
    first, second, pdu, loop = made.racks("a"), made.racks("b"), made.pdu(), made.loop()
    groups = tuple(
        RackGroup(
            racks=racks, frame=made.frame(), feeds=made.feeds(2, pdu), mode="liquid",
            loop=loop.name, aisle=made.aisle(),
        )
        for racks in (first, second)
    )  # fmt: skip
    groups = (groups[0], replace(groups[1], frame=groups[0].frame))
    nodes = _filled(made, first, made.server("first", "hybrid"))
    nodes += _filled(made, second, made.server("second", "liquid"), made.server("third", "hybrid"))
    return made.site("mixed products on one loop", groups, nodes, (loop,))


DESIGNS: tuple[Callable[[Maker], Site], ...] = (
    two_feeds, three_feeds, several_pdus, stated_supplies, capped, mixed, rear_doors, cold_plates,
    whole_racks, bus_bars, plates_and_doors, cdus_in_racks, tanks, tap_off_boxes, mixed_loop,
)  # fmt: skip
"""Designs of racks. Every second site has one of them, the others a fabric of ``fabrics.FABRICS``."""


def a_site(seed: int) -> Site:
    """The site of a seed."""
    half, is_fabric = divmod(seed, 2)
    made = Maker(seed)
    if is_fabric:
        return with_fabric(made, FABRICS[half % len(FABRICS)])
    return DESIGNS[half % len(DESIGNS)](made)
