"""View of all sites of a fleet: capacity, queue, health, cost and power."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from rackwright.accept.compare import Acceptance
from rackwright.fleet.asking import SiteAnswer
from rackwright.fleet.reading import JobReport, NodeReport
from rackwright.harmless import counted, json_text
from rackwright.nodelife.slurm_nodes import NodeState
from rackwright.nodelife.status import SiteStatus, status_of
from rackwright.plan.federation.members import Member
from rackwright.plan.model import Plan

SCHEMA = "rackwright.fleet/v1"
RUNNING, PENDING = frozenset({"RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED"}), "PENDING"


@dataclass(frozen=True, slots=True)
class Capacity:
    """Accelerators of a site.

    Attributes:
        planned: accelerators in the blueprint.
        serving: accelerators of nodes that accept jobs.
        busy: accelerators that are allocated to jobs.
        lost: accelerators of nodes that are out of service, do not answer or are unknown to Slurm.
    """

    planned: int
    serving: int
    busy: int
    lost: int


@dataclass(frozen=True, slots=True)
class Queue:
    """Jobs of a site.

    Attributes:
        running: number of running jobs.
        pending: number of pending jobs.
        asked: number of accelerators that pending jobs request.
        longest_wait_s: wait of the oldest pending job, in s; None if unknown.
    """

    running: int
    pending: int
    asked: int
    longest_wait_s: float | None


@dataclass(frozen=True, slots=True)
class FleetSite:
    """View of one site at one moment.

    Attributes:
        failed: reason why the site did not answer; empty if it did. If set, the numbers from answers are None.
        measured_w: current power of the nodes, in W; None unless Slurm measures all of them.
        planned_w: maximum power of the racks in the plan, in W; None if unknown.
        cost_per_hour: cost of the site, in USD/h; None if unknown.
        lost_per_hour: share of this cost for nodes out of service, in USD/h; None if unknown.
        change: rollout in progress, in words; empty without one.
    """

    site: str
    cluster: str
    nodes: int
    failed: str
    capacity: Capacity | None
    queue: Queue | None
    status: SiteStatus | None
    measured_w: float | None
    planned_w: float | None
    cost_per_hour: Decimal | None
    lost_per_hour: Decimal | None
    change: str = ""


@dataclass(frozen=True)
class FleetView:
    """View of all sites at one moment.

    Attributes:
        name: name of the blueprint.
        at: time of the view, as text in UTC.
    """

    name: str
    at: str
    sites: tuple[FleetSite, ...]

    @property
    def silent(self) -> tuple[FleetSite, ...]:
        """Sites that did not answer."""
        return tuple(site for site in self.sites if site.failed)


def view_site(
    plan: Plan, member: Member[Plan], answer: SiteAnswer, now: float, change: str = ""
) -> FleetSite:
    """Return the view of a site from its answer.

    Args:
        plan: plan of all sites.
        member: cluster of the site.
        answer: answer of the site.
        now: current time, in s since 1970.
        change: rollout in progress, in words.
    """
    site = member.spec.site
    slurm = member.plan.slurm
    sets = () if slurm is None else slurm.nodes
    planned = sum(nodes.count * nodes.accelerators for nodes in sets)
    each = {name: nodes.accelerators for nodes in sets for name in nodes.names}
    failed = answer.failed
    if not failed and each and not any(node.name in each for node in answer.nodes):
        # The answer of another cluster, or with hidden nodes: it does not prove that the nodes of the site are lost.
        failed = f"its answer names none of the {counted(len(each), 'node')} of '{member.cluster}'"
    cost = next((one.amount.per_hour for one in plan.cost.sites if one.name == site), None)
    power = next((one.totals.it_power_w for one in member.plan.onprem), None)
    common: dict[str, Any] = {
        "site": site,
        "cluster": member.cluster,
        "nodes": len(each),
        "failed": failed,
        "planned_w": power,
        "cost_per_hour": cost,
        "change": change,
    }
    if failed:
        return FleetSite(
            **common, capacity=None, queue=None, status=None, measured_w=None, lost_per_hour=None
        )
    states = {one.name: NodeState(one.name, one.state, one.reason) for one in answer.nodes}
    status = status_of(member.plan, states, Acceptance(()), {})
    lost = sum(each.get(name, 0) for name in (*status.reasons, *status.missing))
    capacity = Capacity(
        planned=planned,
        serving=planned - lost,
        busy=sum(node.used for node in answer.nodes if node.name in each),
        lost=lost,
    )
    return FleetSite(
        **common,
        capacity=capacity,
        queue=_queue(answer.jobs, now),
        status=status,
        measured_w=_measured(answer.nodes),
        lost_per_hour=None if cost is None or not planned else cost * lost / planned,
    )


def _queue(jobs: tuple[JobReport, ...], now: float) -> Queue:
    waiting = [job for job in jobs if job.state == PENDING]
    times = [now - job.eligible for job in waiting if job.eligible is not None]
    return Queue(
        running=sum(1 for job in jobs if job.state in RUNNING),
        pending=len(waiting),
        asked=sum(job.gpus for job in waiting),
        longest_wait_s=max(0.0, *times) if times else None,
    )


def _measured(nodes: tuple[NodeReport, ...]) -> float | None:
    # A sum over some nodes would look like the power of the site.
    watts = [node.watts for node in nodes]
    known = [one for one in watts if one is not None]
    return sum(known) if known and len(known) == len(watts) else None


def render_text(fleet: FleetView) -> str:
    """Return the view as a table that ends with a line break."""
    lines = [f"{fleet.name}, {fleet.at}"]
    head = (
        "site",
        "GPUs",
        "serving",
        "busy",
        "lost",
        "jobs",
        "waiting",
        "longest",
        "kW",
        "USD/h",
        "lost USD/h",
    )
    rows = [head, *(_row(site) for site in fleet.sites)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        cells = [
            row[0].ljust(widths[0]),
            *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
        ]
        lines.append("  ".join(cells).rstrip())
    for site in fleet.sites:
        if site.failed:
            lines.append(f"{site.site} does not answer: {site.failed}")
        if site.change:
            lines.append(f"{site.site}: {site.change}")
        lines += _troubles(site)
    return "\n".join(lines) + "\n"


def _row(site: FleetSite) -> tuple[str, ...]:
    capacity, queue = site.capacity, site.queue
    watts = site.measured_w
    if capacity is None or queue is None:
        cost = _text(site.cost_per_hour, 2)
        return (site.site, *("?",) * 8, cost, "?")
    return (
        site.site,
        *(
            f"{count:,}"
            for count in (capacity.planned, capacity.serving, capacity.busy, capacity.lost)
        ),
        f"{queue.running:,}",
        f"{queue.pending:,}",
        "-" if queue.longest_wait_s is None else f"{queue.longest_wait_s / 60:,.0f} min",
        "?" if watts is None else f"{watts / 1000:,.0f}",
        _text(site.cost_per_hour, 2),
        _text(site.lost_per_hour, 2),
    )


def _text(value: Decimal | None, places: int) -> str:
    return "?" if value is None else f"{value:,.{places}f}"


def _troubles(site: FleetSite) -> list[str]:
    status = site.status
    if status is None:
        return []
    lines = [
        f"{site.site}: {one.part.kind} {one.part.name}: {len(one.nodes):,} of its {one.of:,} nodes "
        "are out of service"
        for one in status.shared
    ]
    if status.alone:
        lines.append(f"{site.site}: {len(status.alone):,} more nodes are out of service")
    return lines


def render_json(fleet: FleetView) -> str:
    """Return the view as JSON with ``schema`` ``SCHEMA``."""
    return json_text(
        {
            "schema": SCHEMA,
            "name": fleet.name,
            "at": fleet.at,
            "sites": [_data(s) for s in fleet.sites],
        }
    )


def _data(site: FleetSite) -> Mapping[str, Any]:
    status = site.status
    return {
        "site": site.site,
        "cluster": site.cluster,
        "nodes": site.nodes,
        "failed": site.failed or None,
        "capacity": None if site.capacity is None else asdict(site.capacity),
        "queue": None if site.queue is None else asdict(site.queue),
        "measured_w": site.measured_w,
        "planned_w": site.planned_w,
        "cost_per_hour_usd": None if site.cost_per_hour is None else str(site.cost_per_hour),
        "lost_per_hour_usd": None if site.lost_per_hour is None else str(site.lost_per_hour),
        "change": site.change or None,
        "states": {} if status is None else {state: len(n) for state, n in status.states.items()},
        "out_of_service": {} if status is None else dict(status.reasons),
        "missing": [] if status is None else list(status.missing),
        "shared": []
        if status is None
        else [
            {"kind": one.part.kind, "name": one.part.name, "nodes": len(one.nodes), "of": one.of}
            for one in status.shared
        ],
    }
