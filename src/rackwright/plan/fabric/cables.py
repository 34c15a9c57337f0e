"""The cables of a fabric: how long, how far they reach, what is at their ends."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rackwright.model.connections import Cable
from rackwright.model.fabric import CableRoute, Cables
from rackwright.model.hardware import fact_value
from rackwright.plan.base import Path
from rackwright.plan.fabric.layout import Layout, Tier, connected, port_rate
from rackwright.plan.fabric.racks import racks_in_order
from rackwright.plan.missing import Missing, ProductField

SLACK = 0.1
"""Share of the routed length that is added for slack, at least ``LEAST_SLACK``."""
LEAST_SLACK = 1.0
"""Metres."""
FIBRES = {"mmf": ("OM3", "OM4"), "smf": ("OS2",)}
"""Fibres of each optical medium; the other media bring their own cable."""


@dataclass(frozen=True, slots=True)
class End:
    """One end of a kind of cables.

    Attributes:
        name: the node group or tier.
        rate: of its port in Gbps; None where unknown.
        cage: shell that its cage takes, None where any does.
        cable: the product at this end; None where it is not said.
        shell: shell that is declared.
    """

    name: str
    rate: float | None
    cage: str | None
    cable: Cable | None
    shell: str | None


def routed_length(link: Cables) -> float | None:
    """Return the metres of the longest cable: as declared, or along its route with both drops and slack."""
    return link.length if link.route is None else length_of(link.route)


def length_of(route: CableRoute) -> float:
    """Return the metres along the tray and both drops, with 10 % of slack but no less than a metre."""
    return with_slack(route.tray + 2 * route.drop)


def with_slack(way: float) -> float:
    """Return the metres of a cable along a way of so many."""
    return way + max(LEAST_SLACK, SLACK * way)


def reach(cable: Cable, fibre: str | None) -> float | None:
    """Return the metres that ``cable`` bridges over ``fibre``; None where it is not known."""
    if cable.medium == "mmf":
        by_fibre = {"OM3": fact_value(cable.reach_om3), "OM4": fact_value(cable.reach)}
        return by_fibre.get(fibre or "")
    return fact_value(cable.reach)


def cross_section(layout: Layout, link: Cables) -> float | None:
    """Return the section of a kind of cables in m², the share of one port in it; None if unknown."""
    part = layout.catalogue.get(Cable, link.cable) if link.cable else None
    # A transceiver has no cable of its own: the blueprint states the diameter of the fibre.
    if part is None or part.medium in FIBRES:
        diameter, joined = link.diameter, 1
    else:
        diameter, joined = fact_value(part.diameter) or link.diameter, part.joined_ports
    return None if diameter is None else math.pi / 4 * diameter**2 / joined


def missing_diameter(layout: Layout, link: Cables, path: Path) -> Missing:
    """Return the fields that would state the diameter of the cables at ``path``."""
    place = (*path, "diameter")
    part = layout.catalogue.get(Cable, link.cable) if link.cable else None
    if part is None or part.medium in FIBRES:
        return Missing(f"'diameter' of the cables '{link.name}'", place)
    return Missing(f"{part.id}: diameter", ProductField(part.id, "diameter"), place)


def bend_space(link: Cables, end: End) -> float | None:
    """Return the metres behind a port that plug and bend of a cable take at an end; None if unknown."""
    published = None if end.cable is None else fact_value(end.cable.bend_space)
    return link.bend_space if published is None else published


def ends(layout: Layout, link: Cables) -> tuple[End, End]:
    """Return the lower and the upper end of a kind of cables."""
    lower = layout.catalogue.get(Cable, link.cable) if link.cable else None
    upper = layout.catalogue.get(Cable, link.upper_cable) if link.upper_cable else lower
    tiers = {tier.name: tier for tier in layout.tiers}
    top = tiers[link.upper]
    above = End(link.upper, top.rate, _switch_cage(top), upper, link.upper_shell)
    if link.lower in tiers:
        tier = tiers[link.lower]
        cage = _switch_cage(tier)
        return End(link.lower, tier.up_rate, cage, lower, link.lower_shell), above
    hosts = next(h for h in layout.hosts if h.group.name == link.lower)
    # NVIDIA's nodes have OSFP cages with a riding heat sink, which take flat-top shells only.
    cage = "flat-top" if hosts.port and hosts.port.cage == "OSFP" else None
    return End(link.lower, port_rate(hosts), cage, lower, link.lower_shell), above


def _switch_cage(tier: Tier) -> str | None:
    """Return the shell that the cages of a switch take: twin-port OSFP cages cool it by its fins."""
    return "finned-top" if tier.ports_per_cage == 2 else None


def mismatches(layout: Layout, link: Cables) -> tuple[tuple[str, str], ...]:
    """Return each mismatch along a kind of cables, with its remedy."""
    return tuple(dict.fromkeys(_mismatches(layout, link)))


def _mismatches(layout: Layout, link: Cables) -> Iterator[tuple[str, str]]:
    lower, upper = ends(layout, link)
    for tier in layout.tiers:
        if tier.name not in {link.lower, link.upper} or layout.technology is None:
            continue
        if tier.technology != layout.technology:
            yield (
                f"{tier.type} of '{tier.name}' is for {tier.technology}, not {layout.technology}",
                f"order switches for {layout.technology}",
            )
    for end in (lower, upper):
        if end.cable and layout.technology and layout.technology not in end.cable.technology:
            yield (
                f"{end.cable.id} is not made for {layout.technology}",
                f"use one of {_suitable(layout, end.cable.medium)}",
            )
        if end.cage and end.shell and end.cage != end.shell:
            yield (
                f"the cages of '{end.name}' take {end.cage} shells, not {end.shell}",
                f"order {end.cage} shells for '{end.name}'",
            )
    yield from _media(link, lower.cable, upper.cable)


def _media(link: Cables, lower: Cable | None, upper: Cable | None) -> Iterator[tuple[str, str]]:
    if lower is None or upper is None:
        return
    fibres = FIBRES.get(lower.medium)
    if lower.medium != upper.medium:
        yield (
            f"{lower.id} is {lower.medium} and {upper.id} at the other end is {upper.medium}",
            f"use {lower.id} at both ends",
        )
    elif fibres is None and lower.id != upper.id:
        yield (
            f"{lower.id} is a cable with both its ends, and {upper.id} is another one",
            "leave out 'upper_cable'",
        )
    if fibres is None and link.fibre is not None:
        yield f"{lower.id} brings its own cable, no {link.fibre}", "leave out 'fibre'"
    elif fibres is not None and link.fibre is not None and link.fibre not in fibres:
        yield f"{lower.id} is {lower.medium} and the fibre is {link.fibre}", f"lay {fibres[-1]}"


def unsaid(layout: Layout, link: Cables, path: Path) -> tuple[Missing, ...]:
    """Return the facts that are missing to tell if everything along the cables at ``path`` fits."""
    lower, upper = ends(layout, link)
    found: list[Missing] = []
    if not layout.technology:
        found.append(Missing("'technology' of the fabric", (*path[:-2], "technology")))
    lacking = []
    if lower.cable is None:
        lacking.append("cable")
    elif lower.cable.medium in FIBRES and link.fibre is None:
        lacking.append("fibre")
    if lower.cage and lower.shell is None:
        lacking.append("lower_shell")
    if upper.cage and upper.shell is None:
        lacking.append("upper_shell")
    return (*found, *(Missing(f"'{name}'", (*path, name)) for name in lacking))


def _suitable(layout: Layout, medium: str) -> str:
    entries = (layout.catalogue.get(Cable, name) for name in layout.catalogue.ids(Cable))
    fitting = [
        entry.id
        for entry in entries
        if layout.technology in entry.technology and entry.medium == medium
    ]
    return ", ".join(fitting) or f"another medium than {medium}"


def reaching(layout: Layout, link: Cables, length: float, like: Cable) -> str | None:
    """Return the product of shortest reach that bridges ``length`` at the rates of ``like``, or None.

    Of several, it is one for more technologies: the others are for some switches or cages alone.
    """
    found = []
    for name in layout.catalogue.ids(Cable):
        entry = layout.catalogue.get(Cable, name)
        far = reach(entry, link.fibre or FIBRES.get(entry.medium, ("",))[-1])
        fits = like.rate is None or _rates(entry) == _rates(like)
        if far is not None and far >= length and fits and layout.technology in entry.technology:
            found.append((far, -len(entry.technology), entry.id))
    return min(found)[-1] if found else None


def _rates(entry: Cable) -> tuple[float | None, float | None]:
    return fact_value(entry.rate), fact_value(entry.port_rate)


@dataclass(frozen=True, slots=True)
class Wire:
    """One cable: a device and port at either end; ports count from 1."""

    lower: str
    lower_port: int
    upper: str
    upper_port: int
    kind: str
    """Name of the kind of cables, empty where the blueprint has none for it."""


def wires(layout: Layout) -> Iterator[Wire]:
    """Yield every cable of the fabric, patches applied: the list for those who pull them."""
    yield from host_wires(layout)
    names = [tier.names() for tier in layout.tiers]
    # Ports are dealt in the order of the links, the same in each run: cable labels depend on it.
    next_up = [[_below(layout, n)] * tier.switches for n, tier in enumerate(layout.tiers)]
    next_down = [[0] * tier.switches for tier in layout.tiers]
    for link in layout.links:
        for lower, uppers in connected(layout, link):
            for upper in uppers:
                for _ in range(link.parallel or 0):
                    next_up[link.lower][lower] += 1
                    next_down[link.upper][upper] += 1
                    yield Wire(
                        names[link.lower][lower],
                        next_up[link.lower][lower],
                        names[link.upper][upper],
                        next_down[link.upper][upper],
                        link.cables.name,
                    )


def host_wires(layout: Layout, attachment: int | None = None) -> Iterator[Wire]:
    """Yield every cable of a host, of one attachment or of all, patches applied."""
    leaves = layout.tiers[0].names()
    patches = {(p.node, p.interface): (p.switch, p.port) for p in layout.fabric.patches}
    hosts = [one.names for one in layout.hosts]
    kinds = [_kinds_of(layout, index) for index in range(len(hosts))]
    for run in layout.runs:
        if attachment not in {None, run.attachment}:
            continue
        for host in range(run.first, run.first + run.hosts):
            for interface in range(layout.hosts[run.attachment].interfaces or 0):
                leaf, port = run.place(host, interface)
                name = hosts[run.attachment][host]
                switch, port = patches.get((name, interface + 1), (leaves[leaf], port))
                kind = kinds[run.attachment](host, switch)
                yield Wire(name, interface + 1, switch, port, kind)


def _kinds_of(layout: Layout, attachment: int) -> Callable[[int, str], str]:
    """Return the kind of the cable from the n-th host of an attachment to a leaf, by its name.

    It is the first that is for such cables; empty where there is none.
    """
    group = layout.hosts[attachment].group
    links = [link for link in layout.fabric.links if link.lower == group.name]
    first = links[0].name if links else ""
    if all(link.same_rack is None for link in links):
        return lambda host, switch: first
    leaf, tier = layout.fabric.tiers[0], layout.tiers[0]
    rack_of = racks_in_order(group, layout.hosts[attachment].count // group.count)
    rack_of_leaf = racks_in_order(leaf, tier.switches // leaf.count)
    racks = {name: rack_of_leaf(index) for index, name in enumerate(tier.names())}

    def kind(host: int, switch: str) -> str:
        same = rack_of(host) == racks.get(switch)
        return next((link.name for link in links if link.same_rack in {None, same}), "")

    return kind


def _below(layout: Layout, tier: int) -> int:
    """Return the ports of a switch before its uplinks; separate uplinks are counted after the radix."""
    if layout.tiers[tier].uplinks:
        return layout.tiers[tier].radix
    return layout.leaf_ports if tier == 0 else (layout.down_links(tier) or 0)


def digest(layout: Layout) -> str:
    """Return sixteen hex digits that change with everything that routing depends on."""
    shape: dict[str, Any] = {
        "technology": layout.technology,
        "tiers": [(t.own_names or t.prefix, t.switches, t.radix, t.uplinks) for t in layout.tiers],
        "hosts": [(h.group.name, h.count, h.interfaces, h.rails) for h in layout.hosts],
        "unit": layout.unit_hosts,
        "leaf": layout.leaf_ports,
        "links": [
            (k.lower, k.upper, k.parallel, k.blocks, k.by_plane)
            + (() if k.per_block is None else (k.per_block,))
            for k in layout.links
        ],
        "patches": [p.model_dump() for p in layout.fabric.patches],
        "subnets": layout.fabric.subnets,
    }
    if layout.rack_sets is not None:
        shape["racks"] = [
            (one.leaves, [(s.attachment, s.first, s.hosts) for s in one.stretches])
            for one in layout.rack_sets
        ]
    # Keys of later releases are left out if unset, so that digests of existing fabrics stay valid.
    if layout.fabric.last_unit_hosts is not None:
        shape["last_unit"] = layout.fabric.last_unit_hosts
    return hashlib.sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:16]
