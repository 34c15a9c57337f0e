"""The network as Slurm sees it: a tree of switches, or blocks of hosts.

Slurm knows trees only, and a fat tree is none: a leaf has many parents, and with rails a host has
many leaves. So hosts that share all their leaves become one switch of the tree, and those become
one above when their leaves are joined by the same switches of the next tier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rackwright.model.names import expand_hostlist
from rackwright.model.scheduler import DeclaredSwitch, Scheduler
from rackwright.plan.base import Path
from rackwright.plan.expansion import Expansion, SitePlan
from rackwright.plan.fabric.graph import FabricTopology
from rackwright.plan.hosts import numbered
from rackwright.plan.problems import PlanProblem
from rackwright.plan.slurm.nodes import SCHEDULER, NodeSet, covers, node_sets, scheduler_of
from rackwright.reading.suggest import did_you_mean

LONGEST_NAME = 64
"""Characters of a switch's name in Slurm (manual of topology.yaml)."""

TOPOLOGY: Path = (*SCHEDULER, "topology")


@dataclass(frozen=True, slots=True)
class TreeSwitch:
    """A switch of a tree: hosts or switches are below it, never both."""

    name: str
    nodes: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """Hosts that one NVLink domain joins."""

    name: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlannedTopology:
    """Parts of one topology of Slurm."""

    kind: str
    switches: tuple[TreeSwitch, ...] = ()
    blocks: tuple[Block, ...] = ()
    block_sizes: tuple[int, ...] = ()


@dataclass
class _Tree:
    switches: list[TreeSwitch] = field(default_factory=list)
    problems: list[PlanProblem] = field(default_factory=list)


def topologies(
    plan: Expansion, sets: Sequence[NodeSet]
) -> tuple[tuple[PlannedTopology, ...], list[PlanProblem]]:
    """Return every topology that the partitions use, the cluster's own first, and what is amiss."""
    scheduler = scheduler_of(plan)
    own = scheduler.topology.plugin
    kinds = [own, *sorted({p.topology for p in scheduler.partitions if p.topology} - {own})]
    made, problems = [], []
    for kind in kinds:
        users = members(scheduler, sets, kind)
        if kind == "tree":
            tree = slurm_tree(plan, users)
            problems += tree.problems
            made.append(PlannedTopology(kind, switches=tuple(tree.switches)))
        elif kind == "block":
            blocks, wrong = slurm_blocks(users)
            sizes = scheduler.topology.block_sizes or base_block(users)
            if not sizes and not wrong:
                hint = "give 'block_sizes': the units of these groups differ"
                wrong.append(PlanProblem(TOPOLOGY, "there is no common size of a block", hint))
            problems += wrong
            made.append(PlannedTopology(kind, blocks=blocks, block_sizes=sizes))
        else:
            made.append(PlannedTopology(kind))
    return tuple(made), problems


def members(scheduler: Scheduler, sets: Sequence[NodeSet], kind: str) -> tuple[NodeSet, ...]:
    """Return the node sets that a topology must hold.

    Those of its partitions; and those of no partition, if it is the cluster's own.
    """
    own = scheduler.topology.plugin
    used: dict[str, set[str]] = {}
    for partition in scheduler.partitions:
        for group in partition.groups:
            used.setdefault(group, set()).add(partition.topology or own)
    return tuple(nodes for nodes in sets if kind in used.get(nodes.group, {own}))


def slurm_tree(plan: Expansion, sets: Sequence[NodeSet]) -> _Tree:
    """Return the tree that holds every host of ``sets`` once, as written by hand or of the fabrics."""
    scheduler = scheduler_of(plan)
    if not scheduler.topology.switches:
        return _fabric_trees(plan, sets)
    tree = _Tree(list(declared_tree(scheduler.topology.switches)))
    known = {name for nodes in node_sets(plan) for name in nodes.names}
    for index, switch in enumerate(tree.switches):
        if strange := [name for name in switch.nodes if name not in known]:
            where = (*TOPOLOGY, "switches", index, "nodes")
            hint = did_you_mean(strange[0], known)
            message = f"there is no compute node '{strange[0]}'"
            tree.problems.append(PlanProblem(where, message, hint))
    tree.problems += _check_tree(tree.switches, sets)
    return tree


def plan_tree(
    plan: Expansion, sets: Sequence[NodeSet]
) -> tuple[tuple[TreeSwitch, ...], list[PlanProblem]]:
    """Return the tree that follows from the fabrics, whatever is written by hand, and what is amiss."""
    tree = _fabric_trees(plan, sets)
    return tuple(tree.switches), tree.problems


def _fabric_trees(plan: Expansion, sets: Sequence[NodeSet]) -> _Tree:
    tree = _Tree()
    bare = [p for p in plan.onprem if covers(scheduler_of(plan), p.name)]
    for planned in bare:
        own = [nodes for nodes in sets if nodes.site == planned.name]
        prefix = f"{planned.name}-" if len(bare) > 1 else ""
        _add_site(tree, planned, own, prefix)
    for cloud in plan.aws:
        _add_cloud(tree, [nodes for nodes in sets if nodes.site == cloud.spec.name])
    tree.problems += _check_tree(tree.switches, sets)
    return tree


def _add_site(tree: _Tree, site: SitePlan, sets: Sequence[NodeSet], prefix: str) -> None:
    """Return the trees of a bare-metal site's compute fabrics."""
    left = {name for nodes in sets for name in nodes.names}
    for fabric in site.fabrics:
        if fabric.fabric.role == "compute" and left:
            graph = fabric.graph
            if graph is not None:
                made = fabric_tree(graph, left)
                tree.switches += _prefixed(made, prefix)
                left -= {node for switch in made for node in switch.nodes}
    for nodes in sets:
        if not left.isdisjoint(nodes.names) and nodes.known_gres is None:
            # Hosts without accelerators need no compute fabric: a root of their own.
            tree.switches.append(TreeSwitch(f"{nodes.site}-{nodes.group}", nodes=nodes.names))


def _add_cloud(tree: _Tree, sets: Sequence[NodeSet]) -> None:
    """Return a switch for each group of a site on AWS: its network shows only after the launch."""
    made = [TreeSwitch(f"{nodes.site}-{nodes.group}", nodes=nodes.names) for nodes in sets]
    tree.switches += made
    if len(made) > 1:
        tree.switches.append(TreeSwitch(sets[0].site, children=tuple(s.name for s in made)))


def _prefixed(switches: Sequence[TreeSwitch], prefix: str) -> Iterator[TreeSwitch]:
    for switch in switches:
        children = tuple(prefix + child for child in switch.children)
        yield TreeSwitch(prefix + switch.name, switch.nodes, children)


def declared_tree(switches: Sequence[DeclaredSwitch]) -> tuple[TreeSwitch, ...]:
    """Return the tree that a site has written by hand."""
    return tuple(
        TreeSwitch(
            switch.name,
            expand_hostlist(switch.nodes) if switch.nodes else (),
            expand_hostlist(switch.children) if switch.children else (),
        )
        for switch in switches
    )


def fabric_tree(graph: FabricTopology, wanted: set[str]) -> tuple[TreeSwitch, ...]:
    """Return the tree of a fabric's ``wanted`` hosts, leaves first.

    Hosts on the same leaves are one switch: the leaf itself, or a scalable unit where a host has
    several. Units are joined at the lowest tier where each of their leaves is reached.
    """
    units = [
        (group.leaves, nodes)
        for group in graph.leaf_groups
        if (nodes := tuple(node for node in group.nodes if node in wanted))
    ]
    names = _unit_names(graph, [leaves for leaves, _ in units])
    made = [TreeSwitch(name, nodes=nodes) for name, (_, nodes) in zip(names, units, strict=True)]
    tops = list(names)  # the switch above each unit, so far
    for tier in range(1, graph.tiers):
        joined = _joined(graph, tier)
        classes: dict[frozenset[str], list[int]] = {}
        for index, (leaves, _) in enumerate(units):
            classes.setdefault(frozenset(joined[leaf] for leaf in leaves), []).append(index)
        several = [m for m in classes.values() if len({tops[index] for index in m}) > 1]
        above = numbered(f"{graph.fabric}-tier{tier + 1}", len(several))
        for name, inside in zip(above, several, strict=True):
            children = tuple(dict.fromkeys(tops[index] for index in inside))
            made.append(TreeSwitch(name, children=children))
            for index in inside:
                tops[index] = name
    return tuple(made)


def _unit_names(graph: FabricTopology, units: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    if all(len(leaves) == 1 for leaves in units):
        return tuple(leaves[0] for leaves in units)
    return numbered(f"{graph.fabric}-unit", len(units))


def _joined(graph: FabricTopology, highest: int) -> Mapping[str, str]:
    """Return, for each switch, one that stands for all it is joined with by tiers up to ``highest``."""
    parent = {switch.name: switch.name for switch in graph.switches}

    def find(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for switch in graph.switches:
        if switch.tier <= highest:
            for child in switch.children:
                parent[find(child)] = find(switch.name)
    return {name: find(name) for name in parent}


def slurm_blocks(sets: Sequence[NodeSet]) -> tuple[tuple[Block, ...], list[PlanProblem]]:
    """Return a block for each unit of a rack-scale product, and what is none."""
    made: list[Block] = []
    problems: list[PlanProblem] = []
    for nodes in sets:
        size = nodes.unit_hosts
        if size is None or size < 2:
            message = f"{nodes.entry} joins no hosts by NVLink, so '{nodes.group}' has no blocks"
            hint = "give its partitions another 'topology'"
            problems.append(PlanProblem((*nodes.path, "type"), message, hint))
            continue
        hosts = nodes.names
        starts = range(0, len(hosts), size)
        names = numbered(f"{nodes.group}-block", len(starts))
        made += [
            Block(name, hosts[start : start + size])
            for name, start in zip(names, starts, strict=True)
        ]
    return tuple(made), problems


def base_block(sets: Sequence[NodeSet]) -> tuple[int, ...]:
    """Return the one size of all units, or nothing where they differ."""
    sizes = {nodes.unit_hosts for nodes in sets if nodes.unit_hosts}
    return (sizes.pop(),) if len(sizes) == 1 else ()


def _check_tree(switches: Sequence[TreeSwitch], sets: Sequence[NodeSet]) -> list[PlanProblem]:
    """Return the hosts that are missing, and a graph that is no tree."""
    problems = [PlanProblem(TOPOLOGY, message) for message in tree_faults(switches)]
    on = {node for switch in switches for node in switch.nodes}
    for nodes in sets:
        missing = [name for name in nodes.names if name not in on]
        if missing:
            message = (
                f"{len(missing)} of {nodes.count} hosts of '{nodes.group}' are in no "
                f"topology, '{missing[0]}' first: no compute fabric of '{nodes.site}' says where "
                "they are cabled"
            )
            hint = (
                "attach the group to a compute fabric with the links of its tiers, write "
                "'scheduler.topology.switches', or use the topology 'flat'"
            )
            problems.append(PlanProblem(nodes.path, message, hint))
    return problems


def tree_faults(switches: Sequence[TreeSwitch]) -> tuple[str, ...]:
    """Return the reasons why Slurm would reject the switches: not a tree, or a name that is too long."""
    return (*_wrong_names(switches), *_wrong_parents(switches))


def _wrong_names(switches: Sequence[TreeSwitch]) -> Iterator[str]:
    known = {switch.name for switch in switches}
    for switch in switches:
        if len(switch.name) > LONGEST_NAME:
            yield f"the switch name '{switch.name}' is longer than {LONGEST_NAME} characters"
        for child in switch.children:
            if child not in known:
                yield f"the switch '{child}' below '{switch.name}' does not exist"


def _wrong_parents(switches: Sequence[TreeSwitch]) -> Iterator[str]:
    parent: dict[str, str] = {}
    for switch in switches:
        for below in (*switch.nodes, *switch.children):
            if (first := parent.setdefault(below, switch.name)) != switch.name:
                yield f"'{below}' is below two switches: '{first}' and '{switch.name}'"
    for switch in switches:
        above, steps = switch.name, 0
        while above in parent and steps <= len(switches):
            above, steps = parent[above], steps + 1
        if steps > len(switches):
            yield f"the switch '{switch.name}' is above itself"
            return
