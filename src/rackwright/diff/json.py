"""The comparison as JSON, schema ``rackwright.diff/v1``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rackwright.diff import wording
from rackwright.diff.actions import Update
from rackwright.diff.budgets import Budget
from rackwright.diff.compare import Comparison
from rackwright.diff.costs import Cost, CostChange
from rackwright.diff.findings import Findings
from rackwright.diff.results import Pair
from rackwright.diff.revisions import Side
from rackwright.errors import Location
from rackwright.harmless import json_text
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report, Result

SCHEMA = "rackwright.diff/v1"


def render_json(comparison: Comparison) -> str:
    """The whole comparison; additions keep the version, removals and changes raise it."""
    return json_text(to_document(comparison))


def to_document(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain data."""
    return {
        "schema": SCHEMA,
        "blueprint": comparison.blueprint,
        "base": _side(comparison.base, comparison.before),
        "head": _side(comparison.head, comparison.after),
        "exit_code": int(comparison.exit_code),
        "summary": wording.headline(comparison),
        "empty": comparison.is_empty,
        "budgets": [_budget(budget) for budget in comparison.budgets],
        "findings": {
            **_findings(comparison.findings),
            "unchanged": [
                {"policy": result.policy, "subject": result.subject.name, "blocks": result.blocks}
                for result in comparison.unchanged
            ],
        },
        "costs": [_cost_change(change) for change in comparison.costs],
        "hardware": [asdict(product) for product in comparison.products],
        "hosts": [asdict(change) for change in comparison.hosts],
        "files": [
            {
                "name": file.name,
                "added": file.added,
                "removed": file.removed,
                "diff": list(file.diff),
            }
            for file in comparison.files.changes
        ],
        "files_not_compared": list(comparison.files.problems),
        "updates": [_update(update) for update in comparison.updates],
        "layers_not_in_base": [str(path) for path in comparison.unlayered],
    }


def _side(side: Side, report: Report | None) -> dict[str, Any]:
    return {
        "revision": side.label,
        "commit": side.commit,
        "exit_code": None if report is None else int(report.exit_code),
        "counts": None
        if report is None
        else {outcome.value: report.count(outcome) for outcome in Outcome},
    }


def _budget(budget: Budget) -> dict[str, Any]:
    return {
        "policy": budget.policy,
        "subject": budget.subject,
        "what": budget.what,
        "unit": budget.unit,
        "before": budget.before,
        "after": budget.after,
        "limit_before": budget.limit_before,
        "limit": budget.limit,
        "headroom_before": budget.headroom_before,
        "headroom": budget.headroom,
        "outcome": budget.outcome.value if budget.outcome else None,
        "blocks": budget.blocks,
        "known": budget.known,
    }


def _findings(findings: Findings) -> dict[str, Any]:
    return {
        "new": [_pair(pair) for pair in findings.new],
        "regressions": [_pair(pair) for pair in findings.regressions],
        "fixed": [_pair(pair) for pair in findings.fixed],
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "policy": pair.result.policy,
        "title": pair.result.title,
        "severity": pair.result.severity.value,
        "subject": pair.subject,
        "before": _result(pair.before),
        "after": _result(pair.after),
    }


def _result(result: Result | None) -> dict[str, Any] | None:
    if result is None:
        return None
    return {
        "outcome": result.outcome.value,
        "enforcement": result.enforcement.value,
        "blocks": result.blocks,
        "baseline_state": result.baseline_state.value if result.baseline_state else None,
        "message": result.message,
        "value": result.value,
        "limit": result.limit,
        "unit": result.unit,
        "fix": result.fix,
        "missing": list(result.missing),
        "location": _location(result.location),
        "fingerprint": result.fingerprint,
    }


def _cost_change(change: CostChange) -> dict[str, Any]:
    return {
        "site": change.site,
        "currency": "USD",
        "before": _cost(change.before),
        "after": _cost(change.after),
    }


def _cost(cost: Cost | None) -> dict[str, Any] | None:
    if cost is None:
        return None
    return {
        "per_hour": float(cost.per_hour),
        "per_year": float(cost.per_year),
        "complete": cost.complete,
    }


def _update(update: Update) -> dict[str, Any]:
    change = update.change
    return {
        "path": change.path,
        "kind": change.kind,
        "before": change.before,
        "after": change.after,
        "action": update.action.value,
        "reason": update.reason,
        "location": _location(change.location),
    }


def _location(where: Location | None) -> dict[str, Any] | None:
    if where is None:
        return None
    return {"file": where.file, "line": where.line, "column": where.column}
