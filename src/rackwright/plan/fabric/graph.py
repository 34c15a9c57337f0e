"""The graph of a fabric: which switch is cabled to which, and which hosts hang on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rackwright.plan.fabric.layout import Layout, connected


@dataclass(frozen=True, slots=True)
class SwitchNode:
    """A switch with what hangs below it.

    Attributes:
        children: names of the switches that it is cabled to below.
        nodes: names of the hosts on it.
    """

    name: str
    tier: int
    children: tuple[str, ...]
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeafGroup:
    """Hosts that share the same leaves: a scalable unit, or the nodes of one switch."""

    leaves: tuple[str, ...]
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class FabricTopology:
    """The switches of a fabric, tier by tier from the nodes upwards."""

    fabric: str
    switches: tuple[SwitchNode, ...]

    @property
    def tiers(self) -> int:
        """Number of tiers."""
        return 1 + max(switch.tier for switch in self.switches)

    @cached_property
    def leaf_groups(self) -> tuple[LeafGroup, ...]:
        """The hosts by the leaves they share, in the order of the leaves; each host once."""
        leaves: dict[str, list[str]] = {}
        for switch in self.switches:
            for node in switch.nodes:
                leaves.setdefault(node, []).append(switch.name)
        groups: dict[tuple[str, ...], list[str]] = {}
        for node, found in leaves.items():
            groups.setdefault(tuple(found), []).append(node)
        return tuple(LeafGroup(key, tuple(nodes)) for key, nodes in groups.items())


def graph_of(layout: Layout) -> FabricTopology | None:
    """Return the graph of a fabric's switches.

    None when the blueprint leaves open where hosts or switches are cabled.
    """
    linked = {link.lower for link in layout.links}
    if any(layout.unplaced) or not linked.issuperset(range(len(layout.tiers) - 1)):
        return None
    names = [tier.names() for tier in layout.tiers]
    nodes = _nodes_by_leaf(layout)
    made = []
    for index, tier in enumerate(layout.tiers):
        below: list[list[str]] = [[] for _ in range(tier.switches)]
        for link in layout.links:
            if link.upper == index:
                for lower, uppers in connected(layout, link):
                    for upper in uppers:
                        below[upper].append(names[link.lower][lower])
        made += [
            SwitchNode(name, index, tuple(children), nodes.get(number, ()) if index == 0 else ())
            for number, (name, children) in enumerate(zip(names[index], below, strict=True))
        ]
    return FabricTopology(layout.fabric.name, tuple(made))


def _nodes_by_leaf(layout: Layout) -> dict[int, tuple[str, ...]]:
    """Return the hosts of each leaf in the order of their ports, patches applied."""
    leaf_of = {name: index for index, name in enumerate(layout.tiers[0].names())}
    patches = {(p.node, p.interface): leaf_of.get(p.switch) for p in layout.fabric.patches}
    names = [hosts.names for hosts in layout.hosts]
    found: dict[int, dict[str, None]] = {}
    for run in layout.runs:
        for host in range(run.first, run.first + run.hosts):
            name = names[run.attachment][host]
            for interface in range(layout.hosts[run.attachment].interfaces or 0):
                leaf = patches.get((name, interface + 1), run.place(host, interface)[0])
                if leaf is not None:
                    found.setdefault(leaf, {})[name] = None
    return {leaf: tuple(nodes) for leaf, nodes in found.items()}
