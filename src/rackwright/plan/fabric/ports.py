"""Use of the ports of a fabric: switches that it takes, and collisions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackwright.model.fabric import Patch
from rackwright.plan.fabric.layout import Layout, find_host, find_leaf, port_rate
from rackwright.plan.fabric.racks import RackSet
from rackwright.plan.fabric.sizing import ceil_div, down_ports, spines_for, spines_with_room
from rackwright.plan.hosts import name_of


@dataclass(frozen=True, slots=True)
class TierUse:
    """Ports of the busiest switch of a tier; None where unknown.

    Attributes:
        radix: ports for hosts, lower switches and, without separate ones, for uplinks.
        uplinks: ports that only lead upwards; None where the radix does that, too.
    """

    down: int | None
    up: int | None
    radix: int
    uplinks: int | None

    @property
    def used(self) -> int | None:
        """Ports in use of the radix."""
        if self.uplinks is not None:
            return self.down
        return None if self.down is None or self.up is None else self.down + self.up


@dataclass(frozen=True, slots=True)
class Misplaced:
    """An interface that a patch puts elsewhere than the pattern does."""

    patch: Patch
    meant: str
    """Switch and port of the pattern, in words."""
    index: int
    """Of the patch in the fabric."""


@dataclass(frozen=True, slots=True)
class Collision:
    """A patch that cannot be plugged in."""

    index: int
    reason: str
    fix: str


def needed_switches(layout: Layout) -> tuple[int, ...] | None:
    """Return the fewest switches of each tier; None where the hosts' ports or the shape are not known.

    The upper tiers are sized for the leaves that there are, when they are more than needed: a
    scalable unit is built whole, and only its nodes are added later.
    """
    if layout.endpoints is None or len(layout.tiers) > 3:
        return None
    down, up = leaf_split(layout)
    leaves = _leaves(layout, down)
    most = max(leaves, layout.tiers[0].switches)
    if len(layout.tiers) == 1:
        return (leaves,)
    spines = _spines(layout, most, up)
    if len(layout.tiers) == 2:
        return leaves, spines
    return leaves, spines, _cores(layout, max(spines, layout.tiers[1].switches))


def _leaves(layout: Layout, down: int) -> int:
    """Return the fewest leaves; of a top-of-rack fabric more than there are, if a rack has too few."""
    if layout.rack_sets is not None:
        needed = [(_leaves_of_racks(layout, one, down), one) for one in layout.rack_sets]
        lacking = sum(max(0, count - len(one.leaves)) for count, one in needed)
        if lacking:
            return layout.tiers[0].switches + lacking
        return sum(count for count, _ in needed)
    rails = _leaves_of_rails(layout, down) if any(h.rails for h in layout.hosts) else 0
    return max(ceil_div(layout.endpoints or 0, down), rails)


def _leaves_of_racks(layout: Layout, racks: RackSet, down: int) -> int:
    """Return the fewest leaves for the hosts of a set of racks."""
    count: Counter[int] = Counter()
    for stretch in racks.stretches:
        count[stretch.attachment] += stretch.hosts
    ports = most = 0
    for index, hosts in count.items():
        interfaces = layout.hosts[index].interfaces or 0
        rails = interfaces if layout.hosts[index].rails else 1
        # A host on one leaf takes all its ports there; on rails, one port of each leaf.
        on_leaf = max(1, down // max(1, interfaces // max(1, rails)))
        ports += hosts * interfaces
        most = max(most, rails * ceil_div(hosts, on_leaf))
    return max(ceil_div(ports, down), most)


def racks_short_of_leaves(layout: Layout) -> list[tuple[str, ...]]:
    """Return the sets of racks of a top-of-rack fabric whose leaves are too few for their hosts."""
    down, _ = leaf_split(layout)
    return [
        one.racks
        for one in layout.rack_sets or ()
        if len(one.leaves) < _leaves_of_racks(layout, one, down)
    ]


def racks_without_leaves(layout: Layout, attachment: int) -> tuple[str, ...]:
    """Return the racks with hosts of an attachment that share no leaf of a top-of-rack fabric."""
    return tuple(
        rack
        for one in layout.rack_sets or ()
        if not one.leaves and any(s.attachment == attachment for s in one.stretches)
        for rack in one.racks
    )


def ratio_for_racks(layout: Layout) -> float | None:
    """Return the least oversubscription at which leaves in racks have ports for all their hosts.

    None where their ports, less those in use upwards, are too few at any.
    """
    most = 0
    for one in layout.rack_sets or ():
        ports = sum(s.hosts * (layout.hosts[s.attachment].interfaces or 0) for s in one.stretches)
        if ports and not one.leaves:
            return None
        most = max(most, ceil_div(ports, max(1, len(one.leaves))))
    radix = layout.tiers[0].radix
    # Ports of their own for uplinks leave the radix to hosts at any oversubscription.
    if not most or layout.tiers[0].uplinks or most + max(1, layout.up_ports(0) or 0) > radix:
        return None
    # Rounded up to two digits: the suggested number must pass when it is written back.
    return math.ceil(100 * most / (radix - most)) / 100


def _spines(layout: Layout, leaves: int, up: int) -> int:
    """Return the fewest spines for ``up`` cables from each of ``leaves``."""
    down = layout.tiers[1].radix
    blocks, each = _cut(layout, 0, leaves)
    if len(layout.tiers) == 3:
        down = down_ports(down, layout.fabric.tiers[1].oversubscription or 1.0)
        if not _sized_by_cables(layout):
            return blocks * ceil_div(each * up, down)
    if layout.rack_sets is None:
        return blocks * spines_for(each, up, down)
    return blocks * spines_with_room(each, up, down, _room(layout, 0))


def _cores(layout: Layout, spines: int) -> int:
    """Return the fewest cores above ``spines``."""
    spine, core = layout.tiers[1], layout.tiers[2]
    ratio, below = layout.fabric.tiers[1].oversubscription or 1.0, layout.down_links(1)
    blocks, each = _cut(layout, 1, spines)
    if not below or not _sized_by_cables(layout):
        up = spine.radix - down_ports(spine.radix, ratio)
        return blocks * ceil_div(each * up, core.radix)
    # 1e-9 keeps a whole number from being rounded up because of floating point.
    needed = math.ceil(below * spine.rate / (ratio * spine.up_rate) - 1e-9)
    # Cables that the blueprint lays beyond the need take ports of cores all the same.
    up = max(needed, layout.up_ports(1) or 0)
    return blocks * spines_with_room(each, up, core.radix, _room(layout, 1))


def _sized_by_cables(layout: Layout) -> bool:
    """Return True if the upper two of three tiers are sized by the cables of each block below.

    They are where the blueprint says how far spines are oversubscribed, or racks say what hangs on a
    leaf. Otherwise each switch is to pass upwards whatever its ports can take.
    """
    return layout.rack_sets is not None or layout.fabric.tiers[1].oversubscription is not None


def _cut(layout: Layout, tier: int, switches: int) -> tuple[int, int]:
    """Return the blocks above a tier, and its switches in the largest of them, if it had ``switches``."""
    links = [link for link in layout.links if link.lower == tier]
    if not links:
        return 1, switches
    link = max(links, key=lambda one: one.blocks)
    return link.blocks, link.largest_block(switches)


def _room(layout: Layout, tier: int) -> int:
    """Return the ports that a switch of the tier has for cables upwards."""
    facts = layout.tiers[tier]
    if facts.uplinks:
        return facts.uplinks
    return facts.radix - (max(layout.leaf_use) if tier == 0 else layout.down_links(tier) or 0)


def leaf_split(layout: Layout) -> tuple[int, int]:
    """Return the ports that a leaf is meant to give to hosts, and upwards.

    In a rack there are as many hosts as there are: a leaf at its top passes upwards what they send.
    """
    leaf = layout.tiers[0]
    if len(layout.tiers) == 1:
        return leaf.radix, 0
    down = max(1, down_ports(leaf.radix, layout.fabric.oversubscription))
    if leaf.uplinks:
        down = leaf.radix
    if layout.rack_sets is not None:
        return down, max(_needed_uplinks(layout), layout.up_ports(0) or 0)
    return down, leaf.uplinks or leaf.radix - down


def _needed_uplinks(layout: Layout) -> int:
    """Return the cables upwards of the busiest leaf by its hosts' rates, or by their ports while these are unknown."""
    leaf, below = layout.tiers[0], leaf_bandwidth(layout)
    if below is None:
        below = max(layout.leaf_use) * leaf.rate
    return math.ceil(below / (layout.fabric.oversubscription * leaf.up_rate) - 1e-9)


def _leaves_of_rails(layout: Layout, down: int) -> int:
    """Return the leaves of whole units in which each rail has leaves of its own."""
    unit, last = layout.fabric.unit_hosts or down, layout.fabric.last_unit_hosts
    by_rails: Counter[int] = Counter()
    for hosts in layout.hosts:
        if hosts.rails and hosts.interfaces:
            by_rails[hosts.interfaces] += hosts.count
    most = 0
    for rails, count in by_rails.items():
        units = ceil_div(count, unit)
        blocks = units * ceil_div(unit, down)
        # The last unit may be built smaller, with fewer leaves of each rail.
        if last is not None and count - (units - 1) * unit <= last:
            blocks += ceil_div(last, down) - ceil_div(unit, down)
        most = max(most, rails * blocks)
    return most


def tier_use(layout: Layout, tier: int) -> TierUse:
    """Return the ports of the busiest switch of a tier."""
    facts = layout.tiers[tier]
    down = max(_leaf_counts(layout)) if tier == 0 else layout.down_links(tier)
    if tier == 0 and (layout.endpoints is None or _unknown_rails(layout)):
        down = None
    return TierUse(down, layout.up_ports(tier), facts.radix, facts.uplinks or None)


def _unknown_rails(layout: Layout) -> bool:
    return layout.tiers[0].switches > 1 and any(hosts.rails is None for hosts in layout.hosts)


def _leaf_counts(layout: Layout) -> list[int]:
    counts = list(layout.leaf_use)
    for patch, here, there in _moves(layout):
        if here is not None:
            counts[here[0]] -= 1
        # A patch to a port beyond the radix is a collision, which is reported on its own.
        if there is not None and patch.port <= layout.tiers[0].radix:
            counts[there] += 1
    return counts


def _moves(layout: Layout) -> Iterator[tuple[Patch, tuple[int, int] | None, int | None]]:
    """Yield each patch with the leaf and port of the pattern, and the leaf it names."""
    for patch in layout.fabric.patches:
        yield patch, _meant(layout, patch), find_leaf(layout, patch.switch)


def _meant(layout: Layout, patch: Patch) -> tuple[int, int] | None:
    """Return the leaf index and port that the pattern gives to the interface of a patch."""
    found = find_host(layout, patch.node)
    if found is None or patch.interface > (layout.hosts[found[0]].interfaces or 0):
        return None
    run = layout.run_of(*found)
    return None if run is None else run.place(found[1], patch.interface - 1)


def leaf_bandwidth(layout: Layout) -> float | None:
    """Return the Gbps of the hosts on the busiest leaf; None where a number or a host's place is unknown."""
    if layout.endpoints is None or any(layout.unplaced):
        return None
    rates = [port_rate(hosts) for hosts in layout.hosts]
    if None in rates:
        return None
    if len(set(rates)) == 1:  # as in nearly every fabric: the fullest leaf is the busiest one
        return max(layout.leaf_use) * (rates[0] or 0.0)
    used = [0.0] * layout.tiers[0].switches
    for run in layout.runs:
        interfaces = layout.hosts[run.attachment].interfaces or 0
        for rail, leaf in enumerate(run.leaves):
            ports = run.hosts * _on_rail(interfaces, len(run.leaves), rail)
            used[leaf] += ports * (rates[run.attachment] or 0.0)
    return max(used)


def oversubscription(layout: Layout, tier: int) -> float | None:
    """Return downward over upward bandwidth of the busiest switch of a tier; None where unknown."""
    facts = layout.tiers[tier]
    links = layout.down_links(tier)
    below = leaf_bandwidth(layout) if tier == 0 else None if links is None else links * facts.rate
    up = layout.up_ports(tier)
    return None if below is None or not up else below / (up * facts.up_rate)


def uplinks_for(layout: Layout, tier: int, ratio: float) -> int | None:
    """Return the cables upwards that each switch of a tier needs for no more than ``ratio``."""
    now, up = oversubscription(layout, tier), layout.up_ports(tier)
    return None if now is None or not up else math.ceil(now * up / ratio - 1e-9)


def misplaced(layout: Layout) -> list[Misplaced]:
    """Return the interfaces of hosts on rails that are not on the leaf and port of the pattern."""
    names = layout.tiers[0].names()
    found = []
    for index, (patch, here, there) in enumerate(_moves(layout)):
        host = find_host(layout, patch.node)
        if here is None or host is None or not layout.hosts[host[0]].rails:
            continue
        if (there, patch.port) != here:
            found.append(Misplaced(patch, f"{names[here[0]]} port {here[1]}", index))
    return found


def shared_rails(layout: Layout) -> int:
    """Return the interfaces that share a leaf with another one of their host, though they are rails."""
    return sum(
        run.hosts * max(0, (layout.hosts[run.attachment].interfaces or 0) - len(run.leaves))
        for run in layout.runs
        if layout.hosts[run.attachment].rails
    )


def collisions(layout: Layout) -> list[Collision]:
    """Return the patches that name nothing there is, or a port that another cable is in."""
    taken: dict[tuple[int, int], str] = {}
    # The port of a moved interface is free, even for a patch that is listed before it.
    moved = {(p.node, p.interface) for p in layout.fabric.patches}
    found = []
    for index, (patch, here, there) in enumerate(_moves(layout)):
        where = f"{patch.switch} port {patch.port}"
        if here is None:
            reason = f"there is no interface {patch.interface} of '{patch.node}' on the fabric"
            found.append(Collision(index, reason, "name a host and an interface of an attachment"))
        elif there is None or patch.port > layout.tiers[0].radix:
            last = f"{layout.tiers[0].names()[-1]} port {layout.tiers[0].radix}"
            reason, fix = f"there is no {where}", f"name a port up to {last}"
            found.append(Collision(index, reason, fix))
        elif (owner := taken.get((there, patch.port))) or (
            owner := _owner(layout, there, patch.port, moved)
        ):
            reason = f"{where} already holds {owner}"
            free = _free_port(layout, there, taken)
            fix = f"use port {free}" if free else f"use another leaf: {patch.switch} is full"
            found.append(Collision(index, reason, fix))
        else:
            taken[there, patch.port] = f"interface {patch.interface} of {patch.node}"
    return found


def _owner(layout: Layout, leaf: int, port: int, moved: set[tuple[str, int]]) -> str | None:
    """Return the owner of a port of a leaf by the pattern, unless a patch moves it away."""
    if not layout.tiers[0].uplinks and 0 < port - layout.leaf_ports <= (layout.up_ports(0) or 0):
        return "a cable to the tier above"
    for run in layout.runs:
        hosts = layout.hosts[run.attachment]
        offset = port - run.first_port
        if leaf not in run.leaves or not 0 <= offset < run.hosts * run.ports:
            continue
        interface = run.leaves.index(leaf) + offset % run.ports * len(run.leaves)
        if interface < (hosts.interfaces or 0):
            group, number = hosts.group, run.first + offset // run.ports
            node = name_of(group.name, hosts.count, group.host_names, number, group.name_digits)
            if (node, interface + 1) not in moved:
                return f"interface {interface + 1} of {node}"
    return None


def _free_port(layout: Layout, leaf: int, taken: dict[tuple[int, int], str]) -> int | None:
    for port in range(1, layout.tiers[0].radix + 1):
        if (leaf, port) not in taken and _owner(layout, leaf, port, set()) is None:
            return port
    return None


def unit_share(layout: Layout, attachment: int) -> float | None:
    """Return the percent of a scalable unit's ports that are on one leaf, at most; None where unknown.

    The ports are those of one attachment's hosts; a unit that is not full has fewer.
    """
    hosts = layout.hosts[attachment]
    runs = [run for run in layout.runs if run.attachment == attachment]
    if not runs or layout.unplaced[attachment] or hosts.interfaces is None:
        return None
    used: Counter[int] = Counter()
    for run in runs:
        for rail, leaf in enumerate(run.leaves):
            used[leaf] += run.hosts * _on_rail(hosts.interfaces, len(run.leaves), rail)
    return 100 * max(used.values()) / (min(hosts.count, layout.unit_hosts) * hosts.interfaces)


def share_of_all(
    layout: Layout, attachment: int, together: Sequence[tuple[Layout, int]]
) -> float | None:
    """Return ``unit_share`` of one of several fabrics that share the interfaces of the same hosts.

    ``together`` are all of them, each with its attachment of those hosts.
    """
    share = unit_share(layout, attachment)
    counts = [other.hosts[index].interfaces for other, index in together]
    own = layout.hosts[attachment].interfaces
    if share is None or own is None or None in counts:
        return None
    return share * own / sum(count for count in counts if count is not None)


def _on_rail(interfaces: int, rails: int, rail: int) -> int:
    """Return the interfaces of one host on the leaf of a rail."""
    return interfaces // rails + (1 if rail < interfaces % rails else 0)


def fewest_leaves_of_a_host(layout: Layout, attachment: int) -> int | None:
    """Return the leaves that the worst-placed host of an attachment is on; None where it is not known."""
    runs = [run for run in layout.runs if run.attachment == attachment]
    if not runs or layout.unplaced[attachment]:
        return None
    interfaces = layout.hosts[attachment].interfaces or 0
    return min(min(len(run.leaves), interfaces) for run in runs)


def lids(layout: Layout) -> int | None:
    """Return the unicast LIDs of the largest subnet: its hosts' ports and its switches, with LMC 0."""
    if layout.endpoints is None:
        return None
    switches = sum(tier.switches for tier in layout.tiers)
    return ceil_div(layout.endpoints + switches, layout.fabric.subnets)
