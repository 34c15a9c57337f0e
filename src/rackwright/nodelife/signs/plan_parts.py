"""Shared parts of a plan with the nodes that hang on each, and where each part is. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from rackwright.model.names import compress_hostlist
from rackwright.nodelife.signs.shared import PartMap, SharedPart
from rackwright.nodelife.status import parts_of
from rackwright.plan.fabric.cables import host_wires
from rackwright.plan.model import Plan
from rackwright.render.sheets import stands


def part_map(plan: Plan) -> PartMap:
    """Return racks, loops, feeds, PDUs, leaves, spines and firmware with their nodes."""
    found: dict[SharedPart, set[str]] = defaultdict(set)
    by_name = {host.name: host for host in plan.hosts}
    nodes: set[str] = set()
    for part, members in parts_of(plan).items():
        nodes |= members
        if part.kind != "leaf":
            found[SharedPart(part.kind, part.name)] |= members
    nodes |= {name for group in _slurm_groups(plan) for name in group}
    for site in plan.onprem:
        known = stands(plan, site)
        for planned in site.fabrics:
            for wire in () if planned.layout is None else host_wires(planned.layout):
                if wire.lower in nodes:
                    stand = known.get(wire.upper)
                    unit = "" if stand is None or stand.unit is None else f" U{stand.unit:g}"
                    place = "" if stand is None else f"{stand.rack}{unit}"
                    found[SharedPart("leaf", wire.upper, place)].add(wire.lower)
        for racks in site.racks:
            for rack in racks.names:
                inside = {
                    name for name in nodes
                    if (spot := by_name[name].place) is not None and spot.rack == rack
                }  # fmt: skip
                for circuit in racks.kind.circuits if inside else ():
                    name = f"{rack}/{circuit.feed}{circuit.pdu + 1}"
                    found[SharedPart("pdu", name, rack)] |= inside
    for switch in (s for t in ([] if plan.slurm is None or not plan.slurm.nodes else plan.slurm.topologies) for s in t.switches if s.children):  # fmt: skip
        below = _below(plan, switch.name)
        if below and below < nodes:
            found[SharedPart("spine", switch.name)] |= below
    for versions, hosts in _firmware(plan).items():
        found[SharedPart("firmware", versions)] |= hosts & nodes
    return PartMap(_told_apart(found))


def _told_apart(found: Mapping[SharedPart, set[str]]) -> dict[SharedPart, frozenset[str]]:
    """Return the parts with several nodes; parts of one kind with the same nodes, like the leaves of rails, are one."""
    alike: dict[tuple[str, frozenset[str]], list[SharedPart]] = defaultdict(list)
    for part, nodes in found.items():
        if len(nodes) > 1:
            alike[part.kind, frozenset(nodes)].append(part)
    made = {}
    for (kind, members), parts in alike.items():
        (first, *_), last = parts, parts[-1]
        if first is not last:
            places = dict.fromkeys(place for part in (first, last) if (place := part.place))
            name = f"one of {compress_hostlist(part.name for part in parts)}"
            first = SharedPart(kind, name, " to ".join(places))
        made[first] = members
    return made


def partitions_of(plan: Plan) -> dict[str, frozenset[str]]:
    """Return the nodes of each partition of Slurm."""
    if plan.slurm is None:
        return {}
    return {
        one.partition.name: frozenset(name for nodes in one.sets for name in nodes.names)
        for one in plan.slurm.partitions
    }


def _slurm_groups(plan: Plan) -> list[tuple[str, ...]]:
    return [] if plan.slurm is None else [tuple(nodes.names) for nodes in plan.slurm.nodes]


def _below(plan: Plan, name: str) -> set[str]:
    """Return the nodes below a switch of Slurm's topologies."""
    assert plan.slurm is not None  # noqa: S101 - it has the switch
    switches = {
        switch.name: switch for topology in plan.slurm.topologies for switch in topology.switches
    }
    found: set[str] = set()
    left = [name]
    while left:
        switch = switches.get(left.pop())
        if switch is not None:
            found |= set(switch.nodes)
            left += switch.children
    return found


def _firmware(plan: Plan) -> dict[str, set[str]]:
    """Return the hosts of each product and set of versions."""
    baselines = (
        {one.type: one.versions for one in plan.operations.firmware} if plan.operations else {}
    )
    found: dict[str, set[str]] = defaultdict(set)
    for site in plan.onprem:
        for group in site.groups:
            versions = baselines.get(group.product.id)
            text = (
                ""
                if versions is None
                else " " + " ".join(f"{k} {v}" for k, v in sorted(versions.items()))
            )
            found[f"{group.product.id}{text}"] |= set(group.host_names)
    return found
