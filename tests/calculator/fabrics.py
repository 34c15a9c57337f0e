"""Fabrics at random, in every shape that a blueprint can say (``docs/fabrics.md``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import NamedTuple

from calculator.fabric import divisor
from calculator.maker import Maker
from calculator.things import (
    Attached,
    Cables,
    Fabric,
    Loop,
    NodeGroup,
    Product,
    RackGroup,
    Site,
    Supplies,
    Tier,
)


class Drawn(NamedTuple):
    """A fabric with the hosts on it."""

    fabrics: tuple[Fabric, ...]
    groups: tuple[NodeGroup, ...]


NET = ("n01", "n02")


def with_fabric(made: Maker, shape: Callable[[Maker], Drawn]) -> Site:
    """A site whose hosts are on a fabric."""
    drawn = shape(made)
    racks = tuple(dict.fromkeys(rack for group in drawn.groups for rack in group.racks))
    frame, count = made.frame(), made.random.choice((2, 3))
    feeds = made.feeds(count, made.pdu())
    name = (shape.__doc__ or "").rstrip(".").lower()
    rack_groups: tuple[RackGroup, ...] = (
        RackGroup(racks=(*racks, *NET), frame=frame, feeds=feeds, mode="air", aisle=made.aisle()),
    )
    loops: tuple[Loop, ...] = ()
    if any(group.product.whole_rack for group in drawn.groups):
        loops = (made.loop(),)
        cold = RackGroup(
            racks=racks, frame=frame, feeds=made.feeds(count, None), mode="liquid", loop=loops[0].name,
            aisle=made.aisle(),
        )  # fmt: skip
        rack_groups = (cold, replace(rack_groups[0], racks=NET))
    return replace(made.site(name, rack_groups, drawn.groups, loops), fabrics=drawn.fabrics)


def _host(made: Maker, ports: int, name: str = "server", rate: float = 400.0) -> Product:
    product = made.server(name)
    hosts = made.random.choice((1, 1, 1, 2)) if ports % 2 == 0 else 1
    return replace(product, hosts=hosts, ports=ports * hosts, rate=rate)


def _switch(made: Maker, radix: int, name: str, rate: float = 400.0) -> Product:
    power = made.number(400, 2500)
    return Product(
        id=name, height=float(made.random.choice((1, 2))), weight=made.maybe(made.number(8, 30)),
        power=power, airflow=made.random.choice((None, made.number(50, 300))),
        supplies=Supplies(count=made.random.choice((2, 4)), inlet="C14", full=1),
        radix=radix, rate=rate,
    )  # fmt: skip


def _group(
    made: Maker, product: Product, hosts: int, name: str = "server", letter: str = "c"
) -> NodeGroup:
    """So many hosts, or one more where two are in a box, four boxes to a rack."""
    count = ceil(hosts / product.hosts)
    racks = tuple(f"{letter}{n:02d}" for n in range(1, ceil(count / 4) + 1))
    return NodeGroup(name=name, product=product, count=count, racks=racks, per_rack=4)


def _tier(name: str, product: Product, count: int, split: int = 1) -> Tier:
    return Tier(
        name=name, product=product, count=count, racks=NET, per_rack=ceil(count / 2), split=split
    )


def _two_tiers(made: Maker, leaves: int, radix: int, up: int, split: int = 1, rate: float = 400.0,
               planes: int = 1) -> tuple[tuple[Tier, ...], Cables]:  # fmt: skip
    """Leaves with ``up`` cables each, and spines that have ports for them; at times more than needed."""
    spine_radix = radix * made.random.choice((1, 1, 2))
    while spine_radix * planes < leaves:  # a leaf has a cable to each spine at least
        spine_radix *= 2
    least = ceil(leaves / planes) * up / spine_radix
    spines = divisor(up, least)
    if made.random.random() < 0.2 and up % (more := divisor(up, spines + 1)) == 0:
        spines = more
    parallel = max(1, up // spines)
    if spines * parallel * leaves > spines * planes * spine_radix:
        parallel = max(1, spine_radix * planes // leaves)
    tiers = (
        _tier("leaf", _switch(made, radix // split, "leaf-switch", rate), leaves, split),
        _tier(
            "spine",
            _switch(made, spine_radix // split, "spine-switch", rate),
            spines * planes,
            split,
        ),
    )
    link = Cables(name="spines", lower="leaf", upper="spine", parallel=parallel, planes=planes)
    return tiers, link


def rails(made: Maker) -> Drawn:
    """Two tiers on rails."""
    radix, ports = made.random.choice((8, 16, 32, 64)), made.random.choice((2, 4, 8))
    down = radix // 2
    unit = made.random.choice((None, down, 2 * down, made.random.randint(2, down)))
    each = ports * ceil((unit or down) / down)
    units = made.random.randint(1, 3)
    hosts = made.random.randint((units - 1) * (unit or down) + 1, units * (unit or down))
    tiers, link = _two_tiers(made, units * each, radix, down)
    product = _host(made, ports)
    group = _group(made, replace(product, hosts=1, ports=ports), hosts)
    fabric = Fabric(
        name="compute", tiers=tiers, attached=(Attached(group="server"),), links=(link,), rails=True,
        unit_hosts=unit,
    )  # fmt: skip
    return Drawn((fabric,), (group,))


def last_unit(made: Maker) -> Drawn:
    """Two tiers on rails with a smaller last unit."""
    radix, ports = made.random.choice((16, 32)), made.random.choice((2, 4))
    down = radix // 2
    unit, units = 2 * down, made.random.randint(2, 3)
    last = made.random.randint(1, down)
    hosts = (units - 1) * unit + made.random.randint(1, last)
    leaves = ports * (2 * (units - 1) + 1)
    tiers, link = _two_tiers(made, leaves, radix, down)
    group = _group(made, replace(_host(made, ports), hosts=1, ports=ports), hosts)
    fabric = Fabric(
        name="compute", tiers=tiers, attached=(Attached(group="server"),), links=(link,), rails=True,
        unit_hosts=unit, last_unit_hosts=last,
    )  # fmt: skip
    return Drawn((fabric,), (group,))


def two_groups(made: Maker) -> Drawn:
    """Two products on the rails of one fabric."""
    radix, ports = made.random.choice((16, 32, 64)), made.random.choice((2, 4, 8))
    down = radix // 2
    first = made.random.randint(1, down - 1)
    second = made.random.randint(1, down - first)
    groups = tuple(
        _group(made, replace(_host(made, ports, name), hosts=1, ports=ports), hosts, name, letter)
        for name, hosts, letter in (("first", first, "c"), ("second", second, "d"))
    )
    tiers, link = _two_tiers(made, ports, radix, down)
    fabric = Fabric(
        name="compute", tiers=tiers, links=(link,), rails=True,
        attached=(Attached(group="first"), Attached(group="second")),
    )  # fmt: skip
    return Drawn((fabric,), groups)


def uneven(made: Maker) -> Drawn:
    """Rails with a second group of fewer interfaces."""
    radix = made.random.choice((16, 32, 64))
    down, ports = radix // 2, 8
    first = made.random.randint(1, down - 2)
    few = made.random.choice((1, 2, 4))
    groups = (
        _group(made, replace(_host(made, ports, "first"), hosts=1, ports=ports), first, "first"),
        _group(made, replace(_host(made, few, "second"), hosts=1, ports=few), 1, "second", "d"),
    )
    tiers, link = _two_tiers(made, ports, radix, down)
    fabric = Fabric(
        name="compute", tiers=tiers, links=(link,), rails=True,
        attached=(Attached(group="first"), Attached(group="second")),
    )  # fmt: skip
    return Drawn((fabric,), groups)


def in_order(made: Maker) -> Drawn:
    """Two tiers without rails, hosts fill leaves."""
    radix, ports = made.random.choice((8, 16, 32)), made.random.choice((1, 2, 4))
    ratio = made.random.choice((1.0, 3.0, 7.0) if radix > 8 else (1.0, 3.0))
    up = round(radix / (1 + ratio))
    each = (radix - up) // ports
    hosts = made.random.randint(1, 4 * each)
    product = _host(made, ports)
    group = _group(made, product, hosts)
    leaves = ceil(group.count * product.hosts / each)
    tiers, link = _two_tiers(made, leaves, radix, up)
    fabric = Fabric(
        name="compute", tiers=tiers, attached=(Attached(group="server"),), links=(link,), rails=False,
        oversubscription=ratio, top_of_rack=False,
    )  # fmt: skip
    return Drawn((fabric,), (group,))


def one_tier(made: Maker) -> Drawn:
    """One tier."""
    radix, ports = made.random.choice((8, 16, 32)), made.random.choice((1, 2))
    hosts = made.random.randint(1, 2 * radix // ports)
    product = replace(_host(made, ports), hosts=1, ports=ports)
    leaf = _tier("leaf", _switch(made, radix, "leaf-switch"), ceil(hosts * ports / radix))
    fabric = Fabric(
        name="compute", tiers=(leaf,), attached=(Attached(group="server"),), rails=False,
        top_of_rack=False,
    )  # fmt: skip
    return Drawn((fabric,), (_group(made, product, hosts),))


def _above(
    made: Maker, tiers: tuple[Tier, ...], pods: int, up: int, ratio: float | None
) -> tuple[tuple[Tier, ...], tuple[Cables, ...]]:
    """Pods of leaves with ``up`` cables each, joined by cores: each spine of a pod has its own."""
    leaf, spine = tiers
    parallel = up // spine.count
    below = leaf.count * parallel
    wanted = max(1, ceil(below / (ratio or 1.0)))
    radix = spine.product.radix * made.random.choice((1, 2))
    each = divisor(wanted, wanted * pods / radix)
    core = _tier("core", _switch(made, radix, "core-switch"), each * spine.count)
    made_tiers = (
        replace(leaf, count=leaf.count * pods, per_rack=ceil(leaf.count * pods / 2)),
        replace(spine, count=spine.count * pods, per_rack=ceil(spine.count * pods / 2),
                oversubscription=ratio),
        core,
    )  # fmt: skip
    links = (
        Cables(name="spines", lower="leaf", upper="spine", parallel=parallel, pods=pods),
        Cables(
            name="cores", lower="spine", upper="core", parallel=wanted // each, planes=spine.count
        ),
    )
    return made_tiers, links


def three_tiers(made: Maker) -> Drawn:
    """Three tiers in pods."""
    return _pods(made, None)


def three_tiers_over(made: Maker) -> Drawn:
    """Three tiers with an oversubscription above the pods."""
    return _pods(made, float(made.random.choice((2, 3, 7))))


def ratio_at_each(made: Maker) -> Drawn:
    """Three tiers with an oversubscription at each."""
    ratio = float(made.random.choice((2, 3, 7)))
    return _pods(made, ratio, leaf=float(made.random.choice((3, 7))))


def smaller_pod(made: Maker) -> Drawn:
    """Three tiers of which the last pod is smaller."""
    return _pods(made, made.random.choice((None, 2.0)), units=2)


def _pods(made: Maker, ratio: float | None, units: int = 1, leaf: float = 1.0) -> Drawn:
    """Pods of so many units each; with several, the last pod has one less. ``leaf``: ratio of leaves."""
    radix = made.random.choice((8, 16) if units == 1 else (16, 32))
    below = radix - ceil(radix / (1 + (ratio or 1.0)))  # ports of a spine for leaves
    widest = (2, 4) if leaf == 1 else (2, 4, 6)
    ports = made.random.choice([rails for rails in widest if rails * units <= below])
    pods, up = made.random.randint(2, 4), round(radix / (1 + leaf))
    down, each = radix - up, ports * units
    pair = (
        _tier("leaf", _switch(made, radix, "leaf-switch"), each),
        _tier("spine", _switch(made, radix, "spine-switch"), divisor(up, each * up / below)),
    )
    tiers, links = _above(made, pair, pods, up, ratio)
    whole = pods * units
    if units > 1:
        whole -= 1
        tiers = (replace(tiers[0], count=whole * ports), *tiers[1:])
        links = (replace(links[0], pod_switches=each), *links[1:])
    hosts = made.random.randint((whole - 1) * down + 1, whole * down)
    group = _group(made, replace(_host(made, ports), hosts=1, ports=ports), hosts)
    fabric = Fabric(
        name="compute", tiers=tiers, attached=(Attached(group="server"),), links=links, rails=True,
        oversubscription=leaf,
    )  # fmt: skip
    return Drawn((fabric,), (group,))


def split_planes(made: Maker) -> Drawn:
    """Two planes of split ports."""
    radix, ports = made.random.choice((16, 32, 64)), made.random.choice((2, 4))
    down = radix // 2
    units = made.random.randint(1, 2)
    hosts = made.random.randint((units - 1) * down + 1, units * down)
    tiers, link = _two_tiers(made, units * ports * 2, radix, down, split=2, rate=800.0, planes=2)
    group = _group(made, replace(_host(made, ports, rate=800.0), hosts=1, ports=ports), hosts)
    fabric = Fabric(
        name="compute", tiers=tiers, attached=(Attached(group="server", split=2),), links=(link,),
        rails=True,
    )  # fmt: skip
    return Drawn((fabric,), (group,))


def planes_apart(made: Maker) -> Drawn:
    """Two planes that are fabrics of their own."""
    radix, ports = made.random.choice((16, 32)), made.random.choice((2, 4))
    down = radix // 2
    hosts = made.random.randint(1, down)
    group = _group(made, replace(_host(made, ports, rate=800.0), hosts=1, ports=ports), hosts)
    fabrics = []
    for name in ("one", "two"):
        tiers, link = _two_tiers(made, ports, radix, down, split=2, rate=800.0)
        named = tuple(
            replace(tier, product=replace(tier.product, id=f"{name}-{tier.name}")) for tier in tiers
        )
        fabrics.append(
            Fabric(
                name=name,
                tiers=named,
                links=(link,),
                rails=True,
                attached=(Attached(group="server", split=2, interfaces=ports),),
            )
        )
    return Drawn(tuple(fabrics), (group,))


def nvl72(made: Maker) -> Drawn:
    """Rack-scale systems of 18 hosts on rails."""
    racks = made.racks("g", 3)
    product = replace(made.whole_rack(), ports=72)
    group = NodeGroup(name="nvl72", product=product, count=len(racks), racks=racks, per_rack=1)
    radix = made.random.choice((36, 72, 144))
    down = radix // 2
    units = ceil(18 * len(racks) / down)
    tiers, link = _two_tiers(made, 4 * units, radix, down)
    fabric = Fabric(
        name="compute", tiers=tiers, attached=(Attached(group="nvl72"),), links=(link,), rails=True
    )
    return Drawn((fabric,), (group,))


def top_of_rack(made: Maker) -> Drawn:
    """A leaf at the top of each rack."""
    return _in_racks(made, 1, None)


def leaves_of_racks(made: Maker) -> Drawn:
    """A leaf of each rail at the top of each rack."""
    return _in_racks(made, 2, None)


def shared_leaves(made: Maker) -> Drawn:
    """Racks in pairs share the leaf in one of them."""
    return _in_racks(made, 1, 2)


def _in_racks(made: Maker, leaves: int, shared: int | None) -> Drawn:
    pairs = made.random.randint(1, 3)
    count = 2 * pairs
    racks = tuple(f"c{n:02d}" for n in range(1, count + 1))
    ports = 2 if leaves == 2 else made.random.choice((1, 2, 4))
    each = made.random.randint(1, 3)
    product = replace(_host(made, ports), hosts=1, ports=ports)
    hosts = made.random.randint(each * (count - 1) + 1, each * count)
    group = NodeGroup(name="server", product=product, count=hosts, racks=racks, per_rack=each)
    own = racks[::2] if shared else racks
    busiest = each * ports * (shared or 1) // leaves
    up = max(1, busiest // made.random.choice((1, 1, 2)))
    radix = made.random.choice((32, 64))
    ratio = max(1.0, busiest / up)
    leaf = Tier(
        name="leaf", product=_switch(made, radix, "leaf-switch"), count=len(own) * leaves, racks=own,
        per_rack=leaves,
    )  # fmt: skip
    spines = divisor(up, leaf.count * up / radix)
    spine = _tier("spine", _switch(made, radix, "spine-switch"), spines)
    link = Cables(name="spines", lower="leaf", upper="spine", parallel=max(1, up // spines))
    said = made.random.random() < 0.5 or count == 1 or shared is not None or leaves > 1
    fabric = Fabric(
        name="compute", tiers=(leaf, spine), links=(link,), rails=leaves > 1,
        attached=(Attached(group="server"),), top_of_rack=True if said else None,
        shared_racks=tuple(zip(racks[::2], racks[1::2], strict=True)) if shared else (),
        oversubscription=ratio,
    )  # fmt: skip
    return Drawn((fabric,), (group,))


FABRICS: tuple[Callable[[Maker], Drawn], ...] = (
    rails, last_unit, two_groups, uneven, in_order, one_tier, three_tiers, three_tiers_over,
    ratio_at_each, smaller_pod, split_planes, planes_apart, nvl72, top_of_rack, leaves_of_racks, shared_leaves,
)  # fmt: skip
