"""NET-001: a fabric has enough switches for its size."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, rule
from rackwright.model.names import compress_hostlist
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.fabric.links import TierLink
from rackwright.plan.fabric.ports import leaf_split, needed_switches, racks_short_of_leaves
from rackwright.policy.helpers.fabrics import (
    FabricAt,
    fabrics_of,
    unattached,
    unknown_ports,
    unknown_uplinks,
)


@rule(
    "NET-001",
    "A fabric has enough switches for its size",
    Severity.HIGH,
    since="0.2",
    stage="concept",
)
class SwitchCounts(Policy):
    """Each tier has enough switches, and cables spread evenly over the tier above."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each tier, and a finding about the cables between two tiers."""
        for found in fabrics_of(plan):
            if found.layout is None:
                yield unattached(found, "whether the fabric has enough switches")
                continue
            yield from _counts(found, found.layout)
            if len(found.layout.tiers) > 1:
                yield _evenness(found, found.layout)


def _counts(found: FabricAt, layout: Layout) -> Iterator[Measure]:
    needed = needed_switches(layout)
    missing = unknown_ports(layout, found.path)
    if len(layout.tiers) > 3:
        what = f"how to size a tree of {len(layout.tiers)} tiers"
        missing += (Missing(what, (*found.path, "tiers")),)
    for index, tier in enumerate(layout.tiers):
        limit = None if needed is None or missing else needed[index]
        short = limit is not None and tier.switches < limit
        yield Measure(
            found.tier(index),
            value=tier.switches,
            limit=limit,
            unit="switches",
            what=f"number of switches for {layout.endpoints or 'an unknown number of'} ports of nodes",
            sense="at_least",
            fix=_provide(layout, index, limit) if short and limit else None,
            missing=missing,
        )


def _provide(layout: Layout, tier: int, count: int) -> str:
    fix = (
        f"provide {count:,} switches {layout.tiers[tier].type} in tier '{layout.tiers[tier].name}'"
    )
    if tier == 0 and (racks := racks_short_of_leaves(layout)):
        others = f" and {len(racks) - 1:,} more" if len(racks) > 1 else ""
        fix += f": those of the racks '{compress_hostlist(racks[0])}'{others} are too few"
    return fix


def _evenness(found: FabricAt, layout: Layout) -> Finding:
    """Check that the cables of a leaf come out even over the switches that it is cabled to."""
    _, up = leaf_split(layout)
    if layout.rack_sets is not None:
        up = layout.up_ports(0) or up
    above = [link for link in layout.links if link.lower == 0]
    at = found.tier(0)
    if not above:
        missing = unknown_uplinks(layout, found.path, 0)
        return Finding(at, ok=None, message="how leaves are cabled upwards", missing=missing)
    uppers = sum(layout.tiers[link.upper].switches // link.blocks for link in above)
    for link in layout.links:
        if uncut := _uncut(layout, link):
            return Finding(at, ok=False, message=uncut[0], fix=uncut[1])
    if uppers and up % uppers == 0:
        return Finding(at, ok=True, message=f"the {up} uplinks of a leaf spread evenly")
    even = next((n for n in range(uppers, up + 1) if n and up % n == 0), None)
    return Finding(
        at,
        ok=False,
        message=f"the {up} uplinks of a leaf do not spread evenly over {uppers} switches",
        fix=f"cable each leaf to {even} switches, a divisor of {up}"
        if even
        else f"cut both tiers in 'pods' or 'planes', so that a leaf is cabled to {up} at most",
    )


def _uncut(layout: Layout, link: TierLink) -> tuple[str, str] | None:
    """Return the reason why the tiers of some cables cannot be cut in blocks, with a fix; None if they can."""
    lower, upper = layout.tiers[link.lower], layout.tiers[link.upper]
    pods, each = link.blocks, link.per_block
    for tier in (upper,) if each else (lower, upper):
        if tier.switches % pods:
            return (
                f"{tier.switches} switches of '{tier.name}' are not {pods} equal blocks",
                f"make the number of switches of '{tier.name}' a multiple of {pods}",
            )
    if each and not each * (pods - 1) < lower.switches <= each * pods:
        parts = f"{pods} pods of {each}, the last one smaller"
        return (
            f"{lower.switches} switches of '{lower.name}' are not {parts}",
            f"set 'pods' of '{link.cables.name}' to {-(-lower.switches // each)}",
        )
    return None
