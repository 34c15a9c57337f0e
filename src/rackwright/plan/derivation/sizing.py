"""Number of switches of a preset: tiers are tried in the plan's own layout until they fit.

No number of switches is computed here: ``needed_switches`` says them, as it does for NET-001.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rackwright.catalog.loader import Catalogue
from rackwright.errors import RackwrightError
from rackwright.model.fabric import Fabric
from rackwright.model.hardware import Switch
from rackwright.model.onprem import NodeGroup, OnPremSite
from rackwright.plan.fabric.layout import Layout, lay_out
from rackwright.plan.fabric.ports import leaf_split, needed_switches
from rackwright.plan.fabric.sizing import ceil_div, down_ports, most_endpoints, spines_for

TIERS = ("leaf", "spine", "core")
_MOST_TURNS = 8
"""Each turn settles the counts of one more tier; the shapes here take four."""

Links = tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Shape:
    """A fabric whose tiers have been counted.

    Attributes:
        layout: as the plan lays it out.
        counts: products of each tier.
        links: of each tier to the one above: ``parallel`` and how both are cut in blocks.
        spread: every switch has the same number of cables to each switch above it.
    """

    layout: Layout
    counts: tuple[int, ...]
    links: Links = field(default=())
    spread: bool = True

    @property
    def leaf(self) -> tuple[int, int]:
        """Ports that a leaf gives to hosts, and upwards."""
        return leaf_split(self.layout)


class UnsizedError(RackwrightError):
    """The ports of the hosts are not known, or are more than three tiers carry."""


def shape(
    fabric: Fabric,
    groups: Sequence[NodeGroup],
    catalogue: Catalogue,
    written: Mapping[str, int],
    *,
    least: int,
) -> Shape:
    """Return the fewest tiers, and the fewest switches in each, that carry the hosts of a fabric.

    Args:
        fabric: with the products of ``TIERS``, one of each, and what is attached.
        groups: the node groups of its site.
        catalogue: where products are looked up.
        written: counts that hold whatever would follow, by the names of tiers.
        least: tiers that it has at least.

    Raises:
        UnsizedError: no number of tiers carries them, or their ports are not known.
        UnknownEntryError: a product is not in the catalogue.
    """  # noqa: DOC501 - both functions make the UnsizedError
    first = _laid(fabric, groups, catalogue, [1]).layout
    if first.endpoints is None:
        raise _unknown_ports(first)
    if first.endpoints > 2 * most_endpoints(first.tiers[0].radix, len(TIERS)):
        raise _too_many(first)  # at any oversubscription; nothing so large is laid out
    tiers = least
    while True:
        found = _settled(fabric, groups, catalogue, written, tiers)
        if found.spread or TIERS[tiers - 1] in written:
            return found
        if tiers == len(TIERS):
            raise _too_many(found.layout)
        tiers += 1


def _too_many(layout: Layout) -> UnsizedError:
    leaf = layout.tiers[0]
    return UnsizedError(
        f"{layout.endpoints:,} ports of hosts are more than three tiers of {leaf.type} carry, "
        f"which is {most_endpoints(leaf.radix, len(TIERS)):,} at 1 to 1",
        hint="cut the nodes into several fabrics, by 'groups', or write the fabric without 'preset'",
    )


def _settled(
    fabric: Fabric,
    groups: Sequence[NodeGroup],
    catalogue: Catalogue,
    written: Mapping[str, int],
    tiers: int,
) -> Shape:
    """Return the counts of so many tiers: those with which the plan asks for no others.

    Raises:
        UnsizedError: it is not known how many ports of the hosts are on the fabric.
        UnknownEntryError: a product is not in the catalogue.
    """  # noqa: DOC501 - _unknown_ports() makes the UnsizedError
    chassis = [catalogue.get(Switch, tier.type).switches for tier in fabric.tiers]
    counts = [written.get(name, 1) for name in TIERS[:tiers]]
    found = _laid(fabric, groups, catalogue, counts)
    for _ in range(_MOST_TURNS):
        needed = needed_switches(found.layout)
        if needed is None:
            raise _unknown_ports(found.layout)
        wanted = list(needed)
        wanted[0] = max(wanted[0], found.layout.tiers[0].switches + _leaves_short(found.layout))
        if tiers == len(TIERS):
            wanted[2] = max(wanted[2], _even_cores(found))
        now = [
            written.get(name, max(1, ceil_div(number, chassis[n])))
            for n, (name, number) in enumerate(zip(TIERS, wanted, strict=False))
        ]
        if now == counts:
            break
        counts = now
        found = _laid(fabric, groups, catalogue, counts)
    return found


def _leaves_short(layout: Layout) -> int:
    """Return the leaves for the hosts that find no port, because a host has all its ports on one leaf.

    Nothing where hosts are cabled to no leaf yet, as one leaf for eight rails.
    """
    short = 0
    for hosts, unplaced in zip(layout.hosts, layout.unplaced, strict=True):
        if unplaced and not hosts.rails:
            each = max(1, layout.leaf_ports // (hosts.interfaces or 1))
            short += ceil_div(unplaced, each)
    return short


def _unknown_ports(layout: Layout) -> UnsizedError:
    hosts = next(one for one in layout.hosts if one.endpoints is None)
    return UnsizedError(
        f"it is not stated how many ports of {hosts.group.type} are on the fabric",
        hint="write what is 'attached', with its 'interfaces'",
    )


def _laid(
    fabric: Fabric, groups: Sequence[NodeGroup], catalogue: Catalogue, counts: Sequence[int]
) -> Shape:
    """Return the fabric with so many switches in each tier, as the plan lays it out."""
    bare = _site(groups, _with(fabric, counts, ()))
    layout = lay_out(bare, bare.fabrics[0], catalogue)
    assert layout is not None  # noqa: S101 - it has tiers, and something is attached
    links, spread = _links(layout)
    site = _site(groups, _with(fabric, counts, links))
    layout = lay_out(site, site.fabrics[0], catalogue)
    assert layout is not None  # noqa: S101 - the same
    return Shape(layout, tuple(counts), links, spread)


def _with(fabric: Fabric, counts: Sequence[int], links: Links) -> Fabric:
    tiers = [
        tier.model_copy(update={"count": count, "per_rack": count})
        for tier, count in zip(fabric.tiers, counts, strict=False)
    ]
    between = [
        {"name": f"above-{TIERS[n]}", "lower": TIERS[n], "upper": TIERS[n + 1], **link}
        for n, link in enumerate(links)
    ]
    data = {name: getattr(fabric, name) for name in fabric.model_fields_set}
    data |= {"tiers": tuple(tiers), "links": between}
    if fabric.rate is not None:
        data["rate"] = f"{fabric.rate!r} Gbps"
    return Fabric.model_validate(data)


def _site(groups: Sequence[NodeGroup], fabric: Fabric) -> OnPremSite:
    """Return a site in which nothing but the nodes and the fabric is said."""
    return OnPremSite.model_validate(
        {
            "provider": "onprem",
            "name": "trial",
            "power": {"continuous_derate": "100 %", "power_factor": 1, "sources": []},
            "halls": [],
            "node_groups": list(groups),
            "fabrics": [fabric],
        }
    )


def _links(layout: Layout) -> tuple[Links, bool]:
    """Return the cables between the tiers, and whether each switch has as many to each one above."""
    _, up = leaf_split(layout)
    sizes = [tier.switches for tier in layout.tiers]
    if len(sizes) == 1:
        return (), sizes[0] == 1
    if len(sizes) == 2:
        return ({"parallel": max(1, up // sizes[1])},), up % sizes[1] == 0 and sizes[1] <= up
    pods, each = _pods(layout)
    spines = max(1, sizes[1] // pods)
    cores = max(1, sizes[2] // spines)
    spine_up = layout.tiers[1].radix - down_ports(layout.tiers[1].radix)
    below = {"parallel": max(1, up // spines), "pods": pods, "pod_switches": each}
    above = {"parallel": max(1, spine_up // cores), "planes": spines}
    even = not (up % spines or spine_up % cores or sizes[1] % pods or sizes[2] % spines)
    return (below, above), even and cores <= spine_up and spines <= up


def _pods(layout: Layout) -> tuple[int, int]:
    """Return the pods of a tree of three tiers, and the leaves of each but the last."""
    each = max(1, down_ports(layout.tiers[1].radix))
    return ceil_div(layout.tiers[0].switches, each), each


def _even_cores(found: Shape) -> int:
    """Return the fewest cores to which spines have as many cables each, the same number in each plane."""
    layout = found.layout
    pods, _ = _pods(layout)
    planes = max(1, layout.tiers[1].switches // pods)
    spine = layout.tiers[1].radix
    return planes * spines_for(pods, spine - down_ports(spine), layout.tiers[2].radix)
