"""The report as GitLab Code Quality JSON, which merge requests show beside the lines."""

from __future__ import annotations

import hashlib
from typing import Any

from rackwright.harmless import json_text
from rackwright.policy.api import Outcome, Severity
from rackwright.policy.engine import Report, Result
from rackwright.policy.exception_report import Notice
from rackwright.report.formats import Context
from rackwright.report.wording import FOUND, because, edit_line, printable

WAIVERS = "policies/waivers.yaml"
"""Where a notice without a position is put; GitLab needs a path."""
_BLOCKING = {
    Severity.CRITICAL: "blocker",
    Severity.HIGH: "critical",
    Severity.MEDIUM: "major",
    Severity.LOW: "minor",
}


def render_gitlab(report: Report, context: Context) -> str:
    """Return the findings; a waived finding is accepted and therefore left out."""
    seen: dict[str, int] = {}
    found = [
        _issue(result, context.file, seen)
        for result in report.results
        if result.outcome in FOUND and not result.later
    ]
    if report.hygiene:
        found += [_of_waiver(notice, seen) for notice in report.hygiene.problems]
    return json_text(found)


def _issue(result: Result, file: str, seen: dict[str, int]) -> dict[str, Any]:
    description = f"{printable(result.subject.name)}: {printable(result.message)}"
    if reason := because(result):
        description += f"; because {reason}"
    if result.fix:
        description += f"; fix: {printable(result.fix)}"
    if result.edit:
        description += f"; suggested: {edit_line(result.edit)}"
    where = result.location
    return {
        "description": description,
        "check_name": result.policy,
        "fingerprint": _unique(result.fingerprint, seen),
        "severity": _severity(result),
        "location": {
            "path": where.file if where else file,
            "lines": {"begin": where.line if where else 1},
        },
    }


def _of_waiver(notice: Notice, seen: dict[str, int]) -> dict[str, Any]:
    """Return the problem of a waiver, in the file that holds it."""
    where = notice.location
    name = f"{notice.kind.value}\n{notice.id}\n{notice.policy}"
    return {
        "description": f"{printable(notice.id)}: {printable(notice.message)}",
        "check_name": f"waivers/{notice.kind.value}",
        "fingerprint": _unique(hashlib.sha256(name.encode()).hexdigest()[:16], seen),
        "severity": "minor",
        "location": {
            "path": where.file.rpartition(":")[2] if where else WAIVERS,
            "lines": {"begin": where.line if where else 1},
        },
    }


def _severity(result: Result) -> str:
    """Return the severity; minor at most if the finding does not block: GitLab has no word for advisory."""
    if result.outcome is Outcome.ERROR:
        return "blocker"
    if result.blocks:
        return _BLOCKING[result.severity]
    return "info" if result.severity is Severity.LOW else "minor"


def _unique(fingerprint: str, seen: dict[str, int]) -> str:
    """Return a fingerprint; a repeated one is numbered, since GitLab drops it otherwise."""
    seen[fingerprint] = seen.get(fingerprint, 0) + 1
    count = seen[fingerprint]
    return fingerprint if count == 1 else f"{fingerprint}-{count}"
