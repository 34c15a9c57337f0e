"""State of a cluster's nodes: by state, shared parts of those out of service, differences from the bill.

Pure; ``rackwright.cli.options.site_status`` asks Slurm and the hosts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from rackwright.accept.compare import Acceptance
from rackwright.harmless import json_text
from rackwright.model.names import compress_hostlist
from rackwright.nodelife.service import ServiceFigures
from rackwright.nodelife.slurm_nodes import NodeState
from rackwright.nodelife.worklist import HandTask, WorkItem
from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan
from rackwright.plan.slurm.node_health import mount_points

SCHEMA = "rackwright.site-status/v1"
LEAST_NODES, LEAST_SHARE = 2, 0.5
"""Our judgement: a part is named as what nodes share when that many of them, and that share of the nodes
that hang on it, are out of service."""
BILLED = "version "
"""Prefix of the items of a comparison that are versions of software."""

PartKind = Literal["rack", "leaf", "loop", "feed", "file-system"]
_KINDS: tuple[PartKind, ...] = get_args(PartKind)
"""The nearest to a node first."""
_SILENT = "[file-system-silent]"
"""Mark by which the health check of a node names a shared file system that does not answer."""


@dataclass(frozen=True, slots=True, order=True)
class PlanPart:
    """Something that nodes hang on: a rack, a leaf switch, a cooling loop, the power source of a feed, a file system.

    Attributes:
        name: in the plan; of a file system the mount point.
    """

    site: str
    kind: PartKind
    name: str


@dataclass(frozen=True, slots=True)
class PartOutOfService:
    """Part that nodes out of service share.

    Attributes:
        nodes: those of them, sorted.
        of: all nodes that hang on the part.
    """

    part: PlanPart
    nodes: tuple[str, ...]
    of: int


@dataclass(frozen=True, slots=True)
class SiteStatus:
    """State of a cluster.

    Attributes:
        states: nodes by their state, as Slurm has it, in small letters without marks.
        reasons: of nodes that are out of service or do not answer; the state where nobody gave one.
        missing: nodes of the blueprint that Slurm does not know.
        shared: what several of the two have in common.
        alone: the others of them.
        differs: what differs from the software entry, by host.
        silent: hosts that did not tell what they have, with the reason.
        repairs: state of each node that is under repair, by the journal, with the reason.
        work: tasks for hands in the hall, in the order of a walk.
        service: incidents, repairs and lost node time; None without a ledger.
    """

    cluster: str
    states: Mapping[str, tuple[str, ...]]
    reasons: Mapping[str, str]
    missing: tuple[str, ...]
    shared: tuple[PartOutOfService, ...]
    alone: tuple[str, ...]
    differs: Mapping[str, tuple[str, ...]]
    silent: Mapping[str, str]
    repairs: Mapping[str, str] = field(default_factory=dict)
    work: tuple[WorkItem, ...] = ()
    service: ServiceFigures | None = None


def parts_of(plan: Plan) -> Mapping[PlanPart, frozenset[str]]:
    """Return the parts that nodes of the cluster depend on, with the nodes; in the cloud these are file systems."""
    found: dict[PlanPart, set[str]] = {}
    sites: dict[str, str] = {}
    for host in _node_hosts(plan):
        sites[host.name] = host.site
        if host.place is not None:
            found.setdefault(PlanPart(host.site, "rack", host.place.rack), set()).add(host.name)
    for planned in plan.onprem:
        for racks in planned.racks:
            loops = (racks.kind.loop, racks.kind.door_loop)
            parts: set[tuple[PartKind, str]] = {("loop", one) for one in loops if one}
            parts |= {("feed", source) for source in racks.sources}
            for rack in racks.names:
                nodes = found.get(PlanPart(planned.name, "rack", rack), set())
                for kind, name in parts if nodes else ():
                    found.setdefault(PlanPart(planned.name, kind, name), set()).update(nodes)
    own = () if plan.slurm is None or not plan.slurm.nodes else plan.slurm.topologies
    for switch in (switch for topology in own for switch in topology.switches):
        for name in switch.nodes:
            if name in sites and not switch.children:
                found.setdefault(PlanPart(sites[name], "leaf", switch.name), set()).add(name)
    for one in () if plan.slurm is None else plan.slurm.nodes:
        for place in mount_points(plan, one.site, one.group, "compute"):
            found.setdefault(PlanPart(one.site, "file-system", place.path), set()).update(one.names)
    return {part: frozenset(nodes) for part, nodes in found.items()}


def _node_hosts(plan: Plan) -> list[Host]:
    """Return the hosts that are nodes of Slurm, in the order of the plan."""
    sets = () if plan.slurm is None else plan.slurm.nodes
    groups = {(nodes.site, nodes.group) for nodes in sets}
    return [host for host in plan.hosts if (host.site, host.group) in groups]


def shared_parts(
    parts: Mapping[PlanPart, frozenset[str]], troubled: Collection[str]
) -> tuple[tuple[PartOutOfService, ...], tuple[str, ...]]:
    """Return the parts that nodes in trouble share, and the nodes that share none.

    A node is counted once: with the part of which the largest share is in trouble, of equal ones the one
    with the most of them, then the nearest.
    """
    left, found = set(troubled), list[PartOutOfService]()
    while True:
        candidates = [
            (len(nodes & left) / len(nodes), len(nodes & left), -_KINDS.index(part.kind), part)
            for part, nodes in sorted(parts.items())
            if len(nodes & left) >= LEAST_NODES and len(nodes & left) / len(nodes) >= LEAST_SHARE
        ]
        if not candidates:
            return tuple(found), tuple(sorted(left))
        *_, best = max(candidates, key=lambda one: one[:3])
        mine = parts[best] & left
        found.append(PartOutOfService(best, tuple(sorted(mine)), len(parts[best])))
        left -= mine


def status_of(
    plan: Plan, nodes: Mapping[str, NodeState], acceptance: Acceptance, silent: Mapping[str, str]
) -> SiteStatus:
    """Return the state of a cluster from the answers of Slurm and the hosts.

    Args:
        plan: the cluster.
        nodes: in Slurm, by name.
        acceptance: hosts compared with the blueprint.
        silent: hosts that told nothing, with the reason.
    """
    wanted = [host.name for host in _node_hosts(plan)]
    there = {name: nodes[name] for name in wanted if name in nodes}
    missing = tuple(name for name in wanted if name not in nodes)
    states: dict[str, list[str]] = {}
    for name, node in there.items():
        states.setdefault(plain_state(node.state), []).append(name)
    reasons = {
        name: node.reason or plain_state(node.state)
        for name, node in there.items()
        if not node.takes_jobs
    }
    parts = parts_of(plan)
    systems = {part: nodes for part, nodes in parts.items() if part.kind == "file-system"}
    others = {part: nodes for part, nodes in parts.items() if part not in systems}
    waiting = {name for name, why in reasons.items() if _SILENT in why}
    shared, alone = shared_parts(others, [*(reasons.keys() - waiting), *missing])
    shared_systems, alone_waiting = shared_parts(systems, waiting)
    differs = {
        host.name: tuple(
            item.reason or item.item for item in host.failures if item.item.startswith(BILLED)
        )
        for host in acceptance.hosts
    }
    return SiteStatus(
        cluster=plan.name,
        states={state: tuple(names) for state, names in sorted(states.items())},
        reasons=reasons,
        missing=missing,
        shared=(*shared_systems, *shared),
        alone=tuple(sorted((*alone, *alone_waiting))),
        differs={host: items for host, items in differs.items() if items},
        silent=dict(sorted(silent.items())),
    )


def plain_state(state: str) -> str:
    """Return a state in small letters without Slurm's marks, but with the word for a node that does not answer."""
    words = [word.rstrip("*~#!%$@^-") for word in state.lower().split("+")]
    if "*" in state and "not_responding" not in words:
        words.append("not_responding")
    return "+".join(words)


def render_status_text(status: SiteStatus) -> str:
    """Return the status for people, with a line break at its end."""
    return "\n".join(_lines(status)) + "\n"


def _lines(status: SiteStatus) -> Iterator[str]:
    total = sum(map(len, status.states.values())) + len(status.missing)
    bad = len(status.reasons) + len(status.missing)
    yield f"{status.cluster}: {total - bad:,} of {total:,} nodes take jobs"
    for state, names in status.states.items():
        yield f"  {state}: {len(names):,} × {compress_hostlist(names)}"
    if status.missing:
        yield f"  unknown to Slurm: {len(status.missing):,} × {compress_hostlist(status.missing)}"
    for one in status.shared:
        yield (
            f"{one.part.kind} {one.part.name} of {one.part.site}: {len(one.nodes):,} of its {one.of:,} "
            "nodes are out of service"
        )
        yield from _reasons(status, one.nodes)
    if status.alone:
        yield "out of service by themselves:"
        yield from _reasons(status, status.alone)
    if status.differs:
        yield "other than the software entry:"
        for host, items in status.differs.items():
            yield f"  {host}: {'; '.join(items)}"
    for host, reason in status.silent.items():
        yield f"not known of {host}: {reason}"
    if status.repairs:
        yield "under repair:"
        yield from (f"  {node}: {state}" for node, state in status.repairs.items())
    if status.work:
        yield "work in the hall:"
        yield from (f"  {item}" for item in status.work)
    if status.service is not None:
        yield from _service(status.service)


def _service(known: ServiceFigures) -> Iterator[str]:
    """Yield the figures of a window, and what the node time was lost for."""
    days = known.window_s / 86400
    between = "none" if known.mtbi_s is None else f"{known.mtbi_s / 86400:,.1f} node days apart"
    repair = "" if known.mttr_s is None else f", {known.mttr_s / 3600:,.1f} h to repair"
    yield f"last {days:.0f} days: {known.incidents:,} incidents, {between}{repair}"
    if known.lost_s:
        yield f"lost: {100 * known.lost_share:.3g} % of the node time"
    for cause, seconds in known.lost_s.items():
        yield f"  {cause}: {seconds / 3600:,.1f} node hours"


def tasks_of(status: SiteStatus, given: Collection[HandTask] = ()) -> list[HandTask]:
    """Return the tasks that follow from a status: those of the journal, and one for each reason in Slurm.

    Nodes that share a part are one task, so that nobody opens them one by one.
    """
    known = {task.node for task in given}
    tasks = list(given)
    for one in status.shared:
        part, more = one.part, f"{len(one.nodes)} of its {one.of} nodes are out of service"
        if not known & set(one.nodes):
            tasks.append(HandTask(part.name, "look at", more, part=part.kind))
    for node in status.alone:
        if node not in known:
            reason = status.reasons.get(node, "unknown to Slurm")
            tasks.append(HandTask(node, "look at", reason))
    return tasks


def _reasons(status: SiteStatus, nodes: Sequence[str]) -> Iterator[str]:
    """Yield the nodes with one reason on one line."""
    by_reason: dict[str, list[str]] = {}
    for name in nodes:
        by_reason.setdefault(status.reasons.get(name, "unknown to Slurm"), []).append(name)
    for reason, names in by_reason.items():
        yield f"  {compress_hostlist(names)}: {reason}"


def render_status_json(status: SiteStatus) -> str:
    """Return the status for programs; its ``schema`` is ``SCHEMA``."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "cluster": status.cluster,
        "states": {state: list(names) for state, names in status.states.items()},
        "out_of_service": dict(status.reasons),
        "missing": list(status.missing),
        "shared": [
            {
                "site": one.part.site,
                "kind": one.part.kind,
                "name": one.part.name,
                "nodes": list(one.nodes),
                "of": one.of,
            }
            for one in status.shared
        ],
        "alone": list(status.alone),
        "differs": {host: list(items) for host, items in status.differs.items()},
        "silent": dict(status.silent),
        "repairs": dict(status.repairs),
        "work": [item.as_data() for item in status.work],
        "service": None if status.service is None else status.service.as_data(),
    }
    return json_text(document)
