"""Comparisons for policies of scheduling: cabling, blocks and partitions of a Slurm cluster.

The work grows with groups, leaves and partitions; hosts are named only where a topology was
written by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rackwright.model.scheduler import Scheduler
from rackwright.plan.expansion import Expansion
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.slurm.nodes import NodeSet, PartitionSets
from rackwright.plan.slurm.topology import TreeSwitch, declared_tree, members, plan_tree


@dataclass(frozen=True, slots=True)
class Cabling:
    """Cabling of a group by the compute fabrics.

    Attributes:
        fabric: the fabric that it is attached to; None where it is attached to none.
        unplaced: hosts that find no port there.
        units: sets of hosts that share all their leaves.
        linked: every tier of the fabric is cabled to one above it.
    """

    nodes: NodeSet
    fabric: str | None
    unplaced: int = 0
    units: int = 0
    linked: bool = True


def cabling(plan: Expansion, sets: Sequence[NodeSet]) -> tuple[Cabling, ...]:
    """Return the cabling of each bare-metal group with accelerators; the others need no fabric."""
    layouts = {
        planned.name: [one for one in planned.layouts if one.fabric.role == "compute"]
        for planned in plan.onprem
    }
    return tuple(
        _cabling(nodes, layouts[nodes.site])
        for nodes in sets
        if not nodes.is_cloud and (nodes.known_gres is not None or nodes.uneven)
    )


def _cabling(nodes: NodeSet, layouts: Iterable[Layout]) -> Cabling:
    for layout in layouts:
        for index, hosts in enumerate(layout.hosts):
            if hosts.group.name == nodes.group:
                leaves = {run.leaves for run in layout.runs if run.attachment == index}
                tiers = range(len(layout.tiers) - 1)
                linked = {link.lower for link in layout.links}.issuperset(tiers)
                unplaced = layout.unplaced[index]
                return Cabling(nodes, layout.fabric.name, unplaced, len(leaves), linked)
    return Cabling(nodes, None)


@dataclass(frozen=True, slots=True)
class TreeDifference:
    """A tree written by hand against that of the fabric.

    Attributes:
        hosts: those on a switch with other hosts than they share leaves with; the fewest to move.
        first: one of them, and the fabric's name of the switch that it belongs to.
        above: sets of hosts that the fabric joins higher up and the tree does not, or the reverse;
            zero as long as hosts are on wrong switches, which would change them all.
    """

    hosts: tuple[str, ...]
    first: tuple[str, str] | None
    above: int


def difference(
    plan: Expansion, scheduler: Scheduler, sets: Sequence[NodeSet]
) -> TreeDifference | None:
    """Return the differences of the declared tree; None if the fabric's own tree is unknown."""
    derived, problems = plan_tree(plan, sets)
    if problems:
        return None
    written = declared_tree(scheduler.topology.switches)
    meant, said = _switch_of(derived), _switch_of(written)
    twin = _twins(meant, said)
    wrong = [node for node, switch in meant.items() if twin.get(switch) != said.get(node, "")]
    first = (wrong[0], meant[wrong[0]]) if wrong else None
    leaves = {frozenset(switch.nodes) for switch in (*derived, *written)}
    above = (_host_sets(derived) ^ _host_sets(written)) - leaves
    return TreeDifference(tuple(wrong), first, 0 if wrong else len(above))


def _switch_of(switches: Sequence[TreeSwitch]) -> Mapping[str, str]:
    return {node: switch.name for switch in switches for node in switch.nodes}


def _twins(meant: Mapping[str, str], said: Mapping[str, str]) -> Mapping[str, str]:
    """Return, for each switch that is meant, the written one that shares most hosts; each is used once."""
    shared = Counter((switch, said[node]) for node, switch in meant.items() if node in said)
    found: dict[str, str] = {}
    for (switch, other), _ in sorted(shared.items(), key=lambda pair: (-pair[1], pair[0])):
        if switch not in found and other not in found.values():
            found[switch] = other
    return found


def _host_sets(switches: Sequence[TreeSwitch]) -> set[frozenset[str]]:
    """Return the hosts below each switch; a switch above a single other adds nothing to what it joins."""
    by_name = {switch.name: switch for switch in switches}
    made: dict[str, frozenset[str]] = {}

    def below(name: str, seen: tuple[str, ...]) -> frozenset[str]:
        if name not in made:
            switch = by_name.get(name)
            parts = () if switch is None or name in seen else switch.children
            own = frozenset(switch.nodes) if switch is not None else frozenset()
            made[name] = own.union(*(below(child, (*seen, name)) for child in parts))
        return made[name]

    return {below(switch.name, ()) for switch in switches}


def blocked(scheduler: Scheduler, sets: Sequence[NodeSet]) -> tuple[NodeSet, ...]:
    """Return the groups that some partition schedules by blocks."""
    wanted = {partition.topology or scheduler.topology.plugin for partition in scheduler.partitions}
    wanted.add(scheduler.topology.plugin)
    return members(scheduler, sets, "block") if "block" in wanted else ()


def wrong_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes that are no power-of-two multiple of the one before (Slurm's topology.yaml manual)."""
    wrong = []
    for before, size in pairwise(sizes):
        ratio, rest = divmod(size, before)
        if rest or ratio < 2 or ratio & (ratio - 1):
            wrong.append(size)
    return tuple(wrong)


def right_sizes(base: int, hosts: int) -> tuple[int, ...]:
    """Return the sizes that a base allows: doubled as long as the hosts suffice."""
    sizes = [base]
    while sizes[-1] * 2 <= hosts:
        sizes.append(sizes[-1] * 2)
    return tuple(sizes)


def idle_sets(sets: Sequence[NodeSet], partitions: Sequence[PartitionSets]) -> list[NodeSet]:
    """Return the groups that no partition sends jobs to."""
    used = {n.group for p in partitions if p.partition.state == "UP" for n in p.sets}
    return [nodes for nodes in sets if nodes.group not in used]


def defaults(partitions: Sequence[PartitionSets]) -> list[str]:
    """Return the names of the partitions that say they are the default one."""
    return [entry.partition.name for entry in partitions if entry.partition.default]


def shared_tiers(partitions: Sequence[PartitionSets]) -> Iterator[tuple[str, str]]:
    """Yield the partitions that share hosts and stand on one tier, so that neither gives way."""
    for index, one in enumerate(partitions):
        for other in partitions[index + 1 :]:
            groups = {nodes.group for nodes in one.sets} & {nodes.group for nodes in other.sets}
            if groups and one.partition.priority_tier == other.partition.priority_tier:
                yield one.partition.name, other.partition.name
