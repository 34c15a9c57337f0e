"""HTML page with the view of all sites, in one file that loads nothing from elsewhere.

Each rack is one mark, so the page stays small even for a million accelerators.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from rackwright.fleet.view import FleetSite, FleetView
from rackwright.harmless import counted
from rackwright.model.names import compress_hostlist
from rackwright.plan.model import Plan

MOST_RACKS = 20_000
"""Maximum number of racks of a site that are drawn; above it, the page only states the number."""
MOST_REASONS = 200
"""Maximum number of reasons that are listed for a site."""
_STYLE = """
:root{color-scheme:light dark}body{font:14px/1.4 system-ui,sans-serif;margin:1.5rem;max-width:80rem}
table{border-collapse:collapse}th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #8884}
th:first-child,td:first-child{text-align:left}.bad{color:#c22}.row{font:10px/10px monospace;letter-spacing:1px;word-break:break-all}
.row b{color:#c22}summary{cursor:pointer}
"""


def render_page(fleet: FleetView, plan: Plan) -> str:
    """Return the view as an HTML document."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{escape(fleet.name)}</title><style>{_STYLE}</style>",
        f"<h1>{escape(fleet.name)}</h1><p>{escape(fleet.at)}</p>",
        *_table(fleet),
    ]
    members = {member.spec.site: member.plan for member in plan.members}
    for site in fleet.sites:
        parts += _section(site, members[site.site])
    return "\n".join(parts) + "\n"


def _table(fleet: FleetView) -> Iterator[str]:
    yield "<table><tr><th>Site<th>GPUs<th>Serving<th>Busy<th>Lost<th>Running<th>Waiting<th>Longest"
    yield "<th>Draws<th>At most<th>USD/h<th>Lost USD/h"
    for site in fleet.sites:
        capacity, queue = site.capacity, site.queue
        yield f"<tr><td><a href='#{escape(site.site)}'>{escape(site.site)}</a>"
        if capacity is None or queue is None:
            yield f"<td colspan=8 class=bad>does not answer: {escape(site.failed)}"
        else:
            wait = queue.longest_wait_s
            yield "".join(
                f"<td>{count:,}"
                for count in (capacity.planned, capacity.serving, capacity.busy, capacity.lost)
            )
            yield f"<td>{queue.running:,}<td>{queue.pending:,}"
            yield f"<td>{'–' if wait is None else f'{wait / 60:,.0f} min'}<td>{_kilowatts(site.measured_w)}"
        yield f"<td>{_kilowatts(site.planned_w)}"
        for money in (site.cost_per_hour, site.lost_per_hour):
            yield f"<td>{'unknown' if money is None else f'{money:,.2f}'}"
    yield "</table>"


def _kilowatts(watts: float | None) -> str:
    return "unknown" if watts is None else f"{watts / 1000:,.0f} kW"


def _section(site: FleetSite, plan: Plan) -> Iterator[str]:
    yield f"<h2 id='{escape(site.site)}'>{escape(site.site)}: {escape(site.cluster)}</h2>"
    if site.change:
        yield f"<p>{escape(site.change)}"
    status = site.status
    if status is None:
        yield f"<p class=bad>does not answer: {escape(site.failed)}"
        return
    states = ", ".join(f"{len(names):,} {escape(state)}" for state, names in status.states.items())
    yield f"<p>{counted(site.nodes, 'node')}: {states or 'none known to Slurm'}"
    if status.missing:
        yield f"<p class=bad>{len(status.missing):,} are unknown to Slurm"
    for one in status.shared:
        yield (
            f"<p class=bad>{escape(one.part.kind)} {escape(one.part.name)}: {len(one.nodes):,} of its "
            f"{one.of:,} nodes are out of service"
        )
    bad = {*status.reasons, *status.missing}
    yield from _racks(plan, bad)
    yield from _reasons(status.reasons)


def _racks(plan: Plan, bad: set[str]) -> Iterator[str]:
    """Yield a line of marks for each row of racks: the number of nodes out of service (at most 9), or a dot."""
    rows: dict[tuple[str, str], list[str]] = {}
    total = sum(racks.count for planned in plan.onprem for racks in planned.racks)
    if total > MOST_RACKS:
        yield f"<p>{counted(total, 'rack')}: too many to draw"
        return
    for planned in plan.onprem:
        # By rack and slot: a node may be one of several hosts of a device.
        hosts = plan.racked[planned.name]
        for racks in planned.racks:
            marks = rows.setdefault((racks.hall, racks.row), [])
            for name in racks.names:
                units = hosts.get(name, {}).values()
                out = sum(1 for unit in units for host in unit if host in bad)
                marks.append(f"<b>{min(out, 9)}</b>" if out else "·")
    if rows:
        yield "<details open><summary>Racks, with their nodes out of service</summary>"
        for (hall, row), marks in rows.items():
            yield f"<div class=row title='{escape(hall)} {escape(row)}'>{''.join(marks)}</div>"
        yield "</details>"


def _reasons(reasons: Mapping[str, str]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for node, reason in reasons.items():
        by_reason.setdefault(reason, []).append(node)
    if not by_reason:
        return
    yield "<details><summary>Reasons</summary><table>"
    ordered = sorted(by_reason.items(), key=lambda one: -len(one[1]))
    for reason, nodes in ordered[:MOST_REASONS]:
        names = compress_hostlist(nodes)
        yield f"<tr><td>{escape(reason)}<td>{len(nodes):,}<td>{escape(names[:2000])}"
    yield "</table></details>"
    if len(ordered) > MOST_REASONS:
        yield f"<p>{len(ordered) - MOST_REASONS:,} more reasons"
