"""The tree of switches that AWS tells of its instances, in place of a switch for each node group.

EC2 says for each instance which network nodes are above it, from the top down (DescribeInstanceTopology). Instances that
share the lowest one are nearest to each other (Amazon EC2 User Guide, "Amazon EC2 topology").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from rackwright.model.names import compress_hostlist
from rackwright.plan.expansion import Expansion
from rackwright.plan.slurm.nodes import node_sets
from rackwright.plan.slurm.topology import TreeSwitch, plan_tree

Above = Mapping[str, Sequence[str]]
"""Network nodes above each host, the highest first."""


def told_tree(plan: Expansion, site: str, above: Above) -> tuple[TreeSwitch, ...]:
    """Return the tree of all sites, with what AWS tells of the hosts of ``site``.

    Args:
        plan: the plan, with a scheduler.
        site: a site on AWS.
        above: what AWS tells; a host of which it tells nothing stays below the switch of its group.
    """
    sets = node_sets(plan)
    groups = {nodes.group: nodes.names for nodes in sets if nodes.site == site}
    switches, _ = plan_tree(plan, sets)
    made = {site, *(f"{site}-{group}" for group in groups)}
    others = [switch for switch in switches if switch.name not in made]
    return (*others, *site_tree(site, groups, above))


def site_tree(
    site: str, groups: Mapping[str, Sequence[str]], above: Above
) -> tuple[TreeSwitch, ...]:
    """Return the tree of one site: switches with hosts first, one above all of them last where there are several.

    Args:
        site: its name, which the highest switch gets.
        groups: the hosts of each node group.
        above: what AWS tells.
    """
    hosts: dict[str, list[str]] = {}
    children: dict[str, dict[str, None]] = {}
    depth: dict[str, int] = {}
    for group, names in groups.items():
        for host in names:
            chain = tuple(above.get(host, ())) or (f"{site}-{group}",)
            hosts.setdefault(chain[-1], []).append(host)
            for parent, child in pairwise(chain):
                children.setdefault(parent, {})[child] = None
            for level, name in enumerate(chain):
                depth[name] = max(level, depth.get(name, 0))
    made = []
    for name, below in hosts.items():
        if name in children:  # a switch has hosts below it, or switches
            children[name][f"{name}-hosts"] = None
        made.append(TreeSwitch(f"{name}-hosts" if name in children else name, nodes=tuple(below)))
    upper = sorted(children, key=lambda name: -depth[name])
    made += [TreeSwitch(name, children=tuple(children[name])) for name in upper]
    lower = {child for below in children.values() for child in below}
    roots = tuple(switch.name for switch in made if switch.name not in lower)
    return (*made, TreeSwitch(site, children=roots)) if len(roots) > 1 else tuple(made)


def switches_layer(switches: Sequence[TreeSwitch]) -> str:
    """Return a layer with the tree, for ``scheduler.topology.switches`` of the blueprint."""
    return "".join(_lines(switches))


def _lines(switches: Sequence[TreeSwitch]) -> Iterator[str]:
    yield "# What AWS tells of the network of its instances: 'rackwright hosts --topology FILE' writes it again.\n"
    yield "scheduler:\n  topology:\n    switches:\n"
    for switch in switches:
        if switch.nodes:
            yield f'      - {{name: {switch.name}, nodes: "{compress_hostlist(switch.nodes)}"}}\n'
        else:
            yield f'      - {{name: {switch.name}, children: "{",".join(switch.children)}"}}\n'
