"""Headline of the page: the design and its next limit, or the findings that block it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted
from rackwright.page.budget_rows import BudgetRow
from rackwright.plan.model import Plan
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report


def headline(
    plan: Plan,
    report: Report,
    rows: Sequence[BudgetRow],
    need_of: Callable[[BudgetRow], str] | None = None,
) -> str:
    """Return one sentence about the design and one about its next limit.

    Args:
        plan: plan of the design.
        report: results of the policies.
        rows: budgets, decisive ones first.
        need_of: function that returns the need of the next servers of a budget; empty if unknown.
    """
    count = sum(group.hosts for group in plan.groups if group.compute)
    servers = counted(count, "server")
    broken = sum(r.outcome is Outcome.FAIL and r.blocks for r in report.results)
    asked = sum(question.blocks and not question.later for question in report.questions)
    if report.exit_code is ExitCode.CLEAN:
        first = f"{servers} fit, by what is checked for {report.regime.stage}."
    elif broken:
        places = f"{broken:,} {'limit is' if broken == 1 else 'limits are'} broken"
        first = f"{servers} do not fit yet: {places}."
    elif asked:
        facts = f"{asked:,} {'fact is' if asked == 1 else 'facts are'} missing"
        first = f"Not known yet whether {servers} fit: {facts}."
    else:
        return f"The check of {servers} ended with exit code {int(report.exit_code)}."
    row = next((one for one in rows if one.state in {"broken", "tight", "fine"}), None)
    if row is None:
        return first
    left = f"{row.left} ({row.share})" if row.left else row.share
    if row.state == "broken":
        return f"{first} First: {row.what} at {row.where}, {row.value}."
    need = need_of(row) if need_of else ""
    more = f"; {need}" if need else ""
    return f"{first} Next limit: {row.what} at {row.where}, {left} left{more}."
