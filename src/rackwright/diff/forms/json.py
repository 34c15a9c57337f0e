"""The comparison as JSON, schema ``rackwright.diff/v1``."""

from __future__ import annotations

from typing import Final

from rackwright.diff.actions import FieldUpdate
from rackwright.diff.compare import Comparison
from rackwright.diff.costs import Cost, CostChange
from rackwright.diff.forms import wording
from rackwright.diff.forms.document import (
    BudgetDocument,
    ComparedResultDocument,
    ComparisonDocument,
    CostChangeDocument,
    CostDocument,
    FileDocument,
    FindingDocument,
    HostsDocument,
    ProductDocument,
    SideDocument,
    UpdateDocument,
)
from rackwright.diff.results import Pair
from rackwright.diff.revisions import Side
from rackwright.harmless import json_text
from rackwright.model.names import compress_hostlist
from rackwright.plan.workload.run import Bounds
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report, Result
from rackwright.report.json import filled, location_document

SCHEMA: Final = "rackwright.diff/v1"


def render_json(comparison: Comparison) -> str:
    """Return the whole comparison; additions keep the version, removals and changes raise it."""
    return json_text(to_document(comparison))


def to_document(comparison: Comparison) -> ComparisonDocument:
    """Return the comparison as plain data."""
    return {
        "schema": SCHEMA,
        "blueprint": comparison.blueprint,
        "base": _side(comparison.base, comparison.before),
        "head": _side(comparison.head, comparison.after),
        "exit_code": int(comparison.exit_code),
        "summary": wording.headline(comparison),
        "empty": comparison.is_empty,
        "budgets": [filled(BudgetDocument, budget) for budget in comparison.budgets],
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
                "before": _middle(change.before.a_day),
                "after": _middle(change.after.a_day),
                "dollars_before": _middle(change.before.dollars),
                "dollars_after": _middle(change.after.dollars),
            }
            for change in comparison.yields
        ],
        "hardware": [filled(ProductDocument, product) for product in comparison.products],
        "hosts": [filled(HostsDocument, change) for change in comparison.hosts],
        "files": [filled(FileDocument, file) for file in comparison.files.changes],
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
    location = location_document(result.location)
    return filled(ComparedResultDocument, result, location=location)


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


def _middle(value: Bounds | None) -> float | None:
    return None if value is None else value.value


def _update(update: FieldUpdate) -> UpdateDocument:
    change, location = update.change, location_document(update.change.location)
    return filled(
        UpdateDocument, change, action=update.action, reason=update.reason, location=location
    )
