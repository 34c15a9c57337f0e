"""The report as JSON, schema ``rackwright.check/v1``."""

from __future__ import annotations

import json
from typing import Any

from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report, Result

SCHEMA = "rackwright.check/v1"


def render_json(report: Report) -> str:
    """The whole report; additions keep the version, removals and changes raise it."""
    return json.dumps(to_document(report), indent=2, ensure_ascii=False) + "\n"


def to_document(report: Report) -> dict[str, Any]:
    """The report as plain data."""
    return {
        "schema": SCHEMA,
        "blueprint": report.blueprint,
        "exit_code": int(report.exit_code),
        "policies": report.policies,
        "profile": report.regime.profile.value,
        "policy_set": report.regime.policy_set,
        "counts": {outcome.value: report.count(outcome) for outcome in Outcome},
        "results": [_result(result) for result in report.results],
    }


def _result(result: Result) -> dict[str, Any]:
    where = result.location
    return {
        "policy": result.policy,
        "title": result.title,
        "severity": result.severity.value,
        "enforcement": result.enforcement.value,
        "outcome": result.outcome.value,
        "blocks": result.blocks,
        "preview": result.preview,
        "subject": result.subject.name,
        "path": list(result.subject.path),
        "location": {"file": where.file, "line": where.line, "column": where.column}
        if where
        else None,
        "message": result.message,
        "value": result.value,
        "limit": result.limit,
        "unit": result.unit,
        "contributors": [
            {"name": c.name, "count": c.count, "each": c.each} for c in result.contributors
        ],
        "fix": result.fix,
        "missing": list(result.missing),
        "fingerprint": result.fingerprint,
    }
