"""What a site of the generator really has, read from its parts and not from its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from calculator.fabric import is_top_of_rack
from calculator.things import Fabric, Loop, NodeGroup, RackGroup, Site


def _attached(site: Site, fabric: Fabric) -> tuple[NodeGroup, ...]:
    names = {one.group for one in fabric.attached}
    return tuple(group for group in site.groups if group.name in names)


def _top_of_rack(site: Site) -> bool:
    return any(is_top_of_rack(site, fabric) for fabric in site.fabrics)


def _ratio_at_each_tier(site: Site) -> bool:
    return any(
        len(fabric.tiers) == 3
        and fabric.oversubscription > 1
        and (fabric.tiers[1].oversubscription or 1) > 1
        for fabric in site.fabrics
    )


def _planes_in_a_fabric(site: Site) -> bool:
    return any(
        link.planes > 1 and link.lower == fabric.tiers[0].name
        for fabric in site.fabrics
        for link in fabric.links
    )


def _planes_apart(site: Site) -> bool:
    names = [one.group for fabric in site.fabrics for one in fabric.attached]
    return len(site.fabrics) > 1 and len(names) > len(set(names))


def _breakouts(site: Site) -> bool:
    return any(
        fabric.tiers[0].split > 1 and any(one.split > 1 for one in fabric.attached)
        for fabric in site.fabrics
    )


def _nvl72(site: Site) -> bool:
    return any(
        group.product.whole_rack and group.product.hosts > 1
        for fabric in site.fabrics
        for group in _attached(site, fabric)
    )


def _uneven_rails(site: Site) -> bool:
    return any(
        bool(fabric.rails)
        and len({one.product.ports / one.product.hosts for one in _attached(site, fabric)}) > 1
        for fabric in site.fabrics
    )


def _plates_and_door(site: Site) -> bool:
    return any(
        group.mode == "liquid-rear-door" and group.door is not None for group in site.rack_groups()
    )


def _on_loops(site: Site) -> Iterator[tuple[Loop, tuple[RackGroup, ...]]]:
    for loop in site.loops:
        yield loop, tuple(group for group in site.rack_groups() if group.loop == loop.name)


def _cdu_in_rack(site: Site) -> bool:
    """It takes units of the rack, beside manifolds."""
    return any(
        loop.in_rack
        and loop.unit.in_rack is not None
        and bool(loop.unit.in_rack.height)
        and any(group.manifolds is not None and group.manifolds.count for group in groups)
        for loop, groups in _on_loops(site)
    )


def _tanks(site: Site) -> bool:
    return any(
        group.frame.tank and group.mode == "immersion" and group.frame.fluid_weight is not None
        for group in site.rack_groups()
    )


def _tap_off_boxes(site: Site) -> bool:
    """Several racks share a box of a busway."""
    busways = {source.name for source in site.sources if source.kind == "busway"}
    return any(
        feed.source in busways and feed.tap_off is not None and feed.tap_off.racks > 1
        for group in site.rack_groups()
        for feed in group.feeds
    )


def _mixed_loop(site: Site) -> bool:
    for _, groups in _on_loops(site):
        racks = {rack for group in groups for rack in group.racks}
        cold = [
            one for one in site.groups if racks & set(one.racks) and one.product.medium != "air"
        ]
        if len({one.product.id for one in cold}) > 1:
            return True
    return False


HAS: Mapping[str, Callable[[Site], bool]] = {
    "top of rack": _top_of_rack,
    "three tiers with a ratio at each": _ratio_at_each_tier,
    "planes in one fabric": _planes_in_a_fabric,
    "planes in fabrics apart": _planes_apart,
    "breakout ports": _breakouts,
    "NVL72 domains": _nvl72,
    "uneven rail groups": _uneven_rails,
    "cold plates with a rear door": _plates_and_door,
    "CDU and manifolds in the rack": _cdu_in_rack,
    "immersion tanks": _tanks,
    "busway with shared tap-off boxes": _tap_off_boxes,
    "mixed products on one loop": _mixed_loop,
}
"""Designs that the generator has to draw, and how each is told."""
