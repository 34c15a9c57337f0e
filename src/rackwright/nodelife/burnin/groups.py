"""Groups of nodes that grow: node, pair, rack, leaf, hall."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from rackwright.nodelife.status import parts_of
from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan

GroupKind = Literal["node", "pair", "rack", "leaf", "hall"]
KINDS: tuple[GroupKind, ...] = get_args(GroupKind)


@dataclass(frozen=True, slots=True)
class BurnInNode:
    """A node that can be burnt in.

    Attributes:
        name: in Slurm.
        host: in the inventory.
        group: node group; collectives run among nodes of one group.
        hall: hall, or the site where no hall is known: limits are those of a hall.
        accelerators: of NVIDIA or AMD, as Slurm hands them out.
    """

    name: str
    host: str
    site: str
    group: str
    hall: str
    rack: str
    accelerators: int


@dataclass(frozen=True, slots=True)
class GroupUnderTest:
    """Nodes of one node group that are run together."""

    kind: GroupKind
    name: str
    nodes: tuple[str, ...]


def nodes_of(plan: Plan) -> tuple[BurnInNode, ...]:
    """Return the nodes of Slurm, in the order of the plan."""
    slurm = plan.slurm
    if slurm is None:
        return ()
    counts = {(one.site, one.group): one.accelerators or 0 for one in slurm.nodes}
    vendors = {(board.site, board.group): board.accelerators.vendor for board in plan.boards}
    return tuple(
        _node(host, counts[host.site, host.group], vendors.get((host.site, host.group), ""))
        for host in plan.hosts
        if (host.site, host.group) in counts
    )


def _node(host: Host, accelerators: int, vendor: str) -> BurnInNode:
    place = host.place
    return BurnInNode(
        name=host.name,
        host=host.inventory_name,
        site=host.site,
        group=host.group,
        hall=host.site if place is None else place.hall,
        rack="" if place is None else place.rack,
        accelerators=accelerators if vendor in ("nvidia", "amd") else 0,
    )


def groups_of(
    plan: Plan, kind: GroupKind, nodes: Sequence[BurnInNode], chosen: Collection[str]
) -> list[GroupUnderTest]:
    """Return the groups of a kind among the ``chosen`` nodes, each with two nodes or more of one node group."""
    if kind == "node":
        return [
            GroupUnderTest(kind, node.name, (node.name,)) for node in nodes if node.name in chosen
        ]
    by_name = {node.name: node for node in nodes}
    keys: Mapping[str, str]
    if kind == "leaf":
        keys = {
            node: part.name
            for part, own in parts_of(plan).items()
            if part.kind == "leaf"
            for node in own
        }
    elif kind == "rack":
        keys = {node.name: node.rack for node in nodes}
    else:
        keys = {node.name: node.hall for node in nodes}
    found: dict[tuple[str, str, str], list[str]] = {}
    for node in nodes:
        if node.name in chosen and (key := keys.get(node.name)):
            found.setdefault((by_name[node.name].site, key, node.group), []).append(node.name)
    made = []
    for (_, key, group), own in found.items():
        if kind == "pair":
            pairs = [own[start : start + 2] for start in range(0, len(own) - 1, 2)]
            pairs += [own[-2:]] if len(own) % 2 and len(own) > 1 else []
            made += [GroupUnderTest(kind, f"{one[0]} and {one[1]}", tuple(one)) for one in pairs]
        elif len(own) > 1:
            made.append(GroupUnderTest(kind, f"{key} ({group})", tuple(own)))
    return made
