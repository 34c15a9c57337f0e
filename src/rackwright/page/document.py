"""HTML page in one file for a disk, an artefact or a mail, which loads nothing.

Values of the blueprint are always text: the template and the drawings escape them, and the data of the page's script
cannot end its element. The content security policy allows only this script, by its digest.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup

from rackwright import __version__
from rackwright.diff.compare import Comparison
from rackwright.drawings.aws import draw_aws
from rackwright.drawings.floor import MEASURES
from rackwright.drawings.style import STYLE
from rackwright.page.budget_rows import BudgetRow, budget_rows
from rackwright.page.changes import view_change
from rackwright.page.finding_rows import MOST_FINDINGS, FindingRow, finding_rows, pieces
from rackwright.page.headline import headline
from rackwright.page.jobs import job_views
from rackwright.page.places import Places
from rackwright.page.racks import Elevations
from rackwright.page.site_views import view_site
from rackwright.plan.base import Path as Place
from rackwright.plan.cost.summary import NOT_COUNTED
from rackwright.plan.derivation.written import name_in_full
from rackwright.plan.model import Plan
from rackwright.policy.engine import Report
from rackwright.report.cost import amount_text, cost_table
from rackwright.report.overview.summary import site_table
from rackwright.report.text import summary
from rackwright.report.wording import lowered_line, printable
from rackwright.resources import bundled
from rackwright.templating import render_file

FIRST_BUDGETS, FIRST_FINDINGS = 12, 8
"""Number of rows that are shown at once; further rows are folded."""
_UNSAFE = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"})


def render_page(
    plan: Plan,
    report: Report,
    comparison: Comparison | None = None,
    *,
    uncompared: str | None = None,
    source: str = "",
    name_of: Callable[[Place], str] | None = None,
    need_of: Callable[[BudgetRow], str] | None = None,
) -> str:
    """Return the page of a plan.

    Args:
        plan: plan to draw.
        report: results of the policies.
        comparison: comparison of the plan with a base; None without a base.
        uncompared: reason for a missing comparison, if a base was given.
        source: file, revision and date of the plan; empty if unknown.
        name_of: function that returns the name of a field as written in the blueprint; the full form if omitted.
        need_of: function that returns the need of the next servers of a budget; not shown if omitted.
    """
    folder = bundled("templates") / "page"
    places = Places(plan)
    rows = finding_rows(report, places)
    elevations = Elevations.empty()
    sites = [view_site(plan, n, report.results, elevations) for n in range(len(plan.onprem))]
    site_head, *site_rows = site_table(plan)
    style = f"{STYLE}{_read(folder / 'page.css')}"
    program = _read(folder / "page.js")
    data = {
        "sites": [site.data for site in sites],
        "findings": list(pieces(rows[:MOST_FINDINGS])),
    }
    budgets = list(budget_rows(report.results, places))
    values = {
        "policy": _content_policy(style, program),
        "style": Markup(style),  # noqa: S704 - our own # nosec B704
        "program": Markup(program),  # noqa: S704 - our own # nosec B704
        "data": Markup(embedded(data)),  # noqa: S704 - it holds no sign that ends an element # nosec B704
        "title": printable(plan.name),
        "headline": headline(plan, report, budgets, need_of),
        "source": printable(source),
        "summary": summary(report).removeprefix(f"{printable(report.blueprint)}: "),
        "exit_code": int(report.exit_code),
        "refused": int(report.exit_code) != 0,
        "lowered": [lowered_line(rule) for rule in report.lowered],
        "site_head": site_head,
        "site_rows": site_rows,
        "budgets": _budget_groups(budgets),
        "findings": _finding_groups(rows[:MOST_FINDINGS]),
        "more_findings": max(0, len(rows) - MOST_FINDINGS),
        "change": None if comparison is None else view_change(comparison),
        "uncompared": None if uncompared is None else printable(uncompared),
        "jobs": list(job_views(plan, name_of or partial(name_in_full, plan))),
        "measures": MEASURES,
        "sites": sites,
        "clouds": [
            (printable(one.name), Markup(draw_aws(one).inline()))  # noqa: S704 - drawings escape # nosec B704
            for one in plan.aws
        ],
        "elevations": [Markup(svg) for svg in elevations.drawn],  # noqa: S704 - drawings escape # nosec B704
        "cost": amount_text(plan.cost.total),
        "cost_rows": cost_table(plan.cost)[1:],
        "cost_missing": [printable(text) for text in plan.cost.missing],
        "not_counted": [
            f"not counted ({provider}): {NOT_COUNTED[provider]}"
            for provider in dict.fromkeys(site.provider for site in plan.cost.sites)
        ],
        "version": __version__,
        "policy_set": report.regime.policy_set,
        "profile": report.regime.profile.value,
        "stage": report.regime.stage.value,
    }
    return render_file(folder / "page.html", values, autoescape=True)


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows of a table or a list, folded behind ``words`` if it is set."""

    rows: Sequence[BudgetRow] | Sequence[FindingRow]
    words: str = ""


def _budget_groups(rows: Sequence[BudgetRow]) -> list[RowGroup]:
    """Return the budgets in three parts: decisive, with more headroom, and exact ones without any."""
    known = [row for row in rows if row.state not in {"unknown", "exact"}]
    unknown = [row for row in rows if row.state == "unknown"]
    exact = [row for row in rows if row.state == "exact"]
    more = known[FIRST_BUDGETS:]
    groups = [
        RowGroup(known[:FIRST_BUDGETS]),
        RowGroup(more, f"{len(more)} more budgets"),
        RowGroup(unknown, f"{len(unknown)} that cannot be checked yet"),
        RowGroup(exact, f"{len(exact)} that are met exactly, with nothing left to use"),
    ]
    return [group for group in groups if group.rows]


def _finding_groups(rows: Sequence[FindingRow]) -> list[RowGroup]:
    """Return the blocking findings with some of the others, then the rest."""
    first = max(FIRST_FINDINGS, sum(row.state in {"crash", "blocks"} for row in rows))
    groups = [RowGroup(rows[:first]), RowGroup(rows[first:], f"{len(rows) - first} more findings")]
    return [group for group in groups if group.rows]


def embedded(data: Any) -> str:
    """Return ``data`` as JSON for an HTML element; no text in it can end the element or start another."""
    return json.dumps(data, separators=(",", ":")).translate(_UNSAFE)


def _content_policy(style: str, program: str) -> str:
    """Return the content security policy of the page: its own style and script, and nothing else."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(program)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
