"""A blueprint on one screen, as text and as JSON, schema ``rackwright.show/v1``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rackwright.harmless import json_text
from rackwright.plan.model import Plan
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report
from rackwright.report.cost import amount_text
from rackwright.report.escaping import shortened
from rackwright.report.overview.headroom import (
    BudgetHeadroom,
    Headroom,
    budgets,
    left_text,
    share_text,
    value_text,
)
from rackwright.report.text import summary
from rackwright.report.wording import printable, quantity_text

SCHEMA = "rackwright.show/v1"
MOST_BUDGETS = 16
"""Budgets of a screen; all are shown on demand."""
BAR = 10
"""Characters of a bar."""
_WIDEST = 60
"""Most characters of what is measured."""
_NARROWEST = 40
"""Characters that what is measured and where have at least, on the narrowest terminal."""
_RED, _YELLOW, _GREEN, _BOLD, _OFF = "\033[31m", "\033[33m", "\033[32m", "\033[1m", "\033[m"
TIGHT = 0.1
"""Share of a limit below which what is left is shown as little."""


def render_overview(
    plan: Plan,
    report: Report,
    *,
    whole: bool = False,
    colour: bool = False,
    width: int | None = None,
) -> str:
    """Return the sites, the cost, the headroom of every budget with the worst first, and the verdict.

    Args:
        plan: what is shown.
        report: what the policies measured of it.
        whole: show every budget.
        colour: use the colours of a terminal.
        width: columns that a line of a budget has; None for as many as it needs.
    """
    lines = [*_table(site_table(plan)), "", f"cost: {amount_text(plan.cost.total)}"]
    found = budgets(report.results)
    left = [one for one in found if not one.worst.is_exact]
    exact = [one for one in found if one.worst.is_exact]
    shown = left if whole else left[:MOST_BUDGETS]
    if shown:
        lines += ["", "headroom of each budget where least is left, the worst first:"]
        lines += _budget_lines(shown, width, colour=colour)
        if len(left) > len(shown):
            lines.append(f"  and {len(left) - len(shown)} with more ('--all' shows them)")
    if exact:
        lines += ["", f"met exactly, with nothing left to use: {_exact(exact, whole=whole)}"]
    return "\n".join([*lines, "", summary(report)]) + "\n"


def site_table(plan: Plan) -> Iterator[tuple[str, ...]]:
    """Yield the sites as a table, its head first; numbers begin with the third column."""
    yield "site", "provider", "racks", "hosts", "accelerators", "IT power", "facility", "weight"
    for site in plan.onprem:
        total = site.totals
        yield (
            printable(site.name),
            "onprem",
            f"{total.racks:,}",
            f"{total.hosts:,}",
            f"{plan.accelerators[site.name]:,}",
            quantity_text(total.it_power_w, "W"),
            quantity_text(total.facility_w, "W"),
            quantity_text(total.weight_kg, "kg"),
        )
    for name in _cloud_sites(plan):
        hosts = sum(group.hosts for group in plan.groups if group.site == name)
        row = printable(name), "aws", "-", f"{hosts:,}", f"{plan.accelerators[name]:,}"
        yield (*row, "-", "-", "-")


def _cloud_sites(plan: Plan) -> list[str]:
    bare = {site.name for site in plan.onprem}
    return [name for name in plan.site_names if name not in bare]


def _table(rows: Iterator[tuple[str, ...]]) -> list[str]:
    """Return columns under their heads, the first two to the left and numbers to the right."""
    found = list(rows)
    widths = [max(len(row[column]) for row in found) for column in range(len(found[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in found
    ]


def _budget_lines(
    shown: Sequence[BudgetHeadroom], width: int | None, *, colour: bool
) -> Iterator[str]:
    cells = [
        (
            share_text(one.worst),
            left_text(one.worst),
            value_text(one.worst),
            one.policy,
            shortened(printable(one.what), _WIDEST),
            _where(one),
        )
        for one in shown
    ]
    head = ("left", "", "value", "rule", "what", "where")
    widths = [max(len(row[column]) for row in (head, *cells)) for column in range(6)]
    if width is not None:
        room = max(_NARROWEST, width - BAR - sum(widths[:4]) - 14)
        widths[5] = min(widths[5], max(room // 2, room - widths[4]))
        widths[4] = min(widths[4], room - widths[5])
    yield f"  {' ' * BAR}  {_columns(head, widths)}"
    for one, row in zip(shown, cells, strict=True):
        yield f"  {_paint(bar(one.worst), one.worst, colour=colour)}  {_columns(row, widths)}"


def _columns(row: Sequence[str], widths: Sequence[int]) -> str:
    share, left, value, *rest = row
    numbers = f"{share:>{widths[0]}}  {left:>{widths[1]}}  {value:>{widths[2]}}"
    words = "  ".join(
        shortened(cell, width).ljust(width) for cell, width in zip(rest, widths[3:], strict=True)
    )
    return f"{numbers}  {words}".rstrip()


def bar(row: Headroom) -> str:
    """Return the used share of the limit as ``BAR`` characters: full is at the limit or beyond it."""
    if row.left is None:
        return "?" * BAR
    share = (0.0 if row.left < 0 else 1.0) if row.share is None else row.share
    used = min(1.0, max(0.0, 1.0 - share))
    full = round(used * BAR)
    if row.left > 0 and full == BAR:
        full -= 1  # full means that nothing is left
    return "█" * full + "░" * (BAR - full)


def _paint(text: str, row: Headroom, *, colour: bool) -> str:
    if not colour:
        return text
    if row.left is None or (row.left >= 0 and row.share is not None and row.share < TIGHT):
        return f"{_YELLOW}{text}{_OFF}"
    return f"{_RED if row.left < 0 else _GREEN}{text}{_OFF}"


def _where(one: BudgetHeadroom) -> str:
    name = printable(one.worst.result.subject.name)
    others = len(one.rows) - 1
    return f"{name} (and {others} more)" if others else name


def _exact(exact: Sequence[BudgetHeadroom], *, whole: bool) -> str:
    if not whole:
        return f"{len(exact)} ('--all' shows them)"
    lines = [
        f"  {one.policy}  {printable(one.what)}: {value_text(one.worst)}  {_where(one)}"
        for one in exact
    ]
    return "\n".join(["", *lines])


def overview_json(plan: Plan, report: Report) -> str:
    """Return the same with every budget at every subject; additions keep the version."""
    total = plan.cost.total
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "blueprint": plan.name,
        "exit_code": int(report.exit_code),
        "counts": {outcome.value: report.count(outcome) for outcome in Outcome},
        "sites": [*_onprem_documents(plan), *_aws_documents(plan)],
        "cost": {
            "currency": "USD",
            "per_hour": None if total.per_hour is None else f"{total.per_hour:f}",
            "per_year": None if total.per_year is None else f"{total.per_year:f}",
            "at_least_per_hour": f"{total.at_least_per_hour:f}",
            "at_least_per_year": f"{total.at_least_per_year:f}",
            "missing": list(total.missing),
        },
        "budgets": [
            {
                "policy": one.policy,
                "what": one.what,
                "unit": one.worst.result.unit,
                "subjects": [_row(row) for row in one.rows],
            }
            for one in budgets(report.results)
        ],
    }
    return json_text(document)


def _onprem_documents(plan: Plan) -> Iterator[dict[str, Any]]:
    for site in plan.onprem:
        total = site.totals
        yield {
            "name": site.name,
            "provider": "onprem",
            "racks": total.racks,
            "hosts": total.hosts,
            "accelerators": plan.accelerators[site.name],
            "it_power_w": total.it_power_w,
            "facility_w": total.facility_w,
            "heat_air_w": total.heat_air_w,
            "heat_liquid_w": total.heat_liquid_w,
            "weight_kg": total.weight_kg,
        }


def _aws_documents(plan: Plan) -> Iterator[dict[str, Any]]:
    for name in _cloud_sites(plan):
        yield {
            "name": name,
            "provider": "aws",
            "racks": None,
            "hosts": sum(group.hosts for group in plan.groups if group.site == name),
            "accelerators": plan.accelerators[name],
            "it_power_w": None,
            "facility_w": None,
            "heat_air_w": None,
            "heat_liquid_w": None,
            "weight_kg": None,
        }


def _row(row: Headroom) -> dict[str, Any]:
    result = row.result
    return {
        "subject": result.subject.name,
        "path": list(result.subject.path),
        "outcome": result.outcome,
        "value": result.value,
        "limit": result.limit,
        "left": row.left,
        "share_left": row.share,
        "blocks": result.blocks,
        "fingerprint": result.fingerprint,
    }
