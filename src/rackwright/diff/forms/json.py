"""The comparison as JSON, schema ``rackwright.diff/v1``."""

from __future__ import annotations

from typing import Final

from rackwright.diff.actions import FieldUpdate
from rackwright.diff.budgets import Budget
from rackwright.diff.compare import Comparison
from rackwright.diff.costs import Cost, CostChange
from rackwright.diff.forms import wording
from rackwright.diff.forms.document import (
    BudgetDocument,
    ComparedResultDocument,
    ComparisonDocument,
    CostChangeDocument,
    CostDocument,
    FindingDocument,
    HostsDocument,
    ProductDocument,
    SideDocument,
    UpdateDocument,
)
from rackwright.diff.hardware import HostChange, ProductChange
from rackwright.diff.results import Pair
from rackwright.diff.revisions import Side
from rackwright.harmless import json_text
from rackwright.model.names import compress_hostlist
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report, Result
from rackwright.report.json import location_document

SCHEMA: Final = "rackwright.diff/v1"


def render_json(comparison: Comparison) -> str:
    """The whole comparison; additions keep the version, removals and changes raise it."""
    return json_text(to_document(comparison))


def to_document(comparison: Comparison) -> ComparisonDocument:
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
            "new": [_pair(pair) for pair in comparison.findings.new],
            "regressions": [_pair(pair) for pair in comparison.findings.regressions],
            "fixed": [_pair(pair) for pair in comparison.findings.fixed],
            "unchanged": [
                {"policy": result.policy, "subject": result.subject.name, "blocks": result.blocks}
                for result in comparison.unchanged
            ],
        },
        "costs": [_cost_change(change) for change in comparison.costs],
        "workloads": [
            {
                "name": change.workload,
                "before": None if change.before is None else change.before.value,
                "after": None if change.after is None else change.after.value,
            }
            for change in comparison.yields
        ],
        "hardware": [_product(product) for product in comparison.products],
        "hosts": [_hosts(change) for change in comparison.hosts],
        "files": [
            {
                "name": file.name,
                "added": file.added,
                "removed": file.removed,
                "diff": list(file.diff),
            }
            for file in comparison.files.changes
        ],
        "switches": [
            {
                "site": wave.site,
                "fabric": wave.fabric,
                "switches": compress_hostlist(wave.switches),
                "cut_off": compress_hostlist(wave.cut_off),
            }
            for wave in comparison.switches
        ],
        "files_not_compared": list(comparison.files.problems),
        "updates": [_update(update) for update in comparison.updates],
        "layers_not_in_base": [str(path) for path in comparison.unlayered],
    }


def _side(side: Side, report: Report | None) -> SideDocument:
    return {
        "revision": side.label,
        "commit": side.commit,
        "exit_code": None if report is None else int(report.exit_code),
        "counts": None
        if report is None
        else {outcome.value: report.count(outcome) for outcome in Outcome},
    }


def _budget(budget: Budget) -> BudgetDocument:
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
        "outcome": budget.outcome,
        "blocks": budget.blocks,
        "known": budget.known,
    }


def _pair(pair: Pair) -> FindingDocument:
    return {
        "policy": pair.result.policy,
        "title": pair.result.title,
        "severity": pair.result.severity,
        "subject": pair.subject,
        "before": _result(pair.before),
        "after": _result(pair.after),
    }


def _result(result: Result | None) -> ComparedResultDocument | None:
    if result is None:
        return None
    return {
        "outcome": result.outcome,
        "enforcement": result.enforcement,
        "blocks": result.blocks,
        "baseline_state": result.baseline_state,
        "message": result.message,
        "value": result.value,
        "limit": result.limit,
        "unit": result.unit,
        "fix": result.fix,
        "missing": list(result.missing),
        "location": location_document(result.location),
        "fingerprint": result.fingerprint,
    }


def _product(change: ProductChange) -> ProductDocument:
    return {
        "site": change.site,
        "kind": change.kind,
        "product": change.product,
        "before": change.before,
        "after": change.after,
    }


def _hosts(change: HostChange) -> HostsDocument:
    return {
        "site": change.site,
        "group": change.group,
        "before": change.before,
        "after": change.after,
        "added": change.added,
        "removed": change.removed,
    }


def _cost_change(change: CostChange) -> CostChangeDocument:
    return {
        "site": change.site,
        "currency": "USD",
        "before": _cost(change.before),
        "after": _cost(change.after),
    }


def _cost(cost: Cost | None) -> CostDocument | None:
    if cost is None:
        return None
    return {
        "per_hour": float(cost.per_hour),
        "per_year": float(cost.per_year),
        "complete": cost.complete,
    }


def _update(update: FieldUpdate) -> UpdateDocument:
    change = update.change
    return {
        "path": change.path,
        "kind": change.kind,
        "before": change.before,
        "after": change.after,
        "action": update.action,
        "reason": update.reason,
        "location": location_document(change.location),
    }
