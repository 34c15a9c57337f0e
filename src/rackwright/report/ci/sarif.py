"""The report as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from rackwright import __version__
from rackwright.errors import Location
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text
from rackwright.policy.api import Outcome, Severity
from rackwright.policy.engine import Report, Result
from rackwright.policy.exception_report import BaselineState, Permission
from rackwright.reading.edits import Edit
from rackwright.report.formats import Context
from rackwright.report.rules import RuleText
from rackwright.report.wording import edit_line, explanation, printable

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RESULTS = 25_000
"""GitHub refuses a run with more."""
LONGEST_MESSAGE = 1000
"""Characters of a message before it is cut; names from a pull request can be of any length."""

_LEVELS = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
}
_PROBLEMS = {"error": "error", "warning": "warning", "note": "recommendation"}
_SHOWN = (Outcome.FAIL, Outcome.UNKNOWN, Outcome.WAIVED)
_BASELINE = {
    BaselineState.NEW: "new",
    BaselineState.UNCHANGED: "unchanged",
    BaselineState.IMPROVED: "updated",
    BaselineState.REGRESSED: "updated",
}
_RANK = {"error": 0, "warning": 1, "note": 2}


def render_sarif(report: Report, context: Context) -> str:
    """Return one run with what failed, what is unknown and what is waived (as suppressed).

    An unknown is a ``fail`` here, not ``open``: viewers hide what is open, and an unknown never
    passes. A policy that crashed is no result but a notification about the run.
    """
    shown = [result for result in report.results if result.outcome in _SHOWN and not result.later]
    shown.sort(key=lambda r: (r.outcome is Outcome.WAIVED, not r.blocks, _RANK[_level(r)]))
    kept = shown[:MOST_RESULTS]
    rules = _rules(kept, context.rules)
    index = {rule["id"]: position for position, rule in enumerate(rules)}
    seen: dict[tuple[str, str], int] = {}
    run = {
        "tool": {
            "driver": {
                "name": "rackwright",
                "semanticVersion": __version__,
                "rules": rules,
            }
        },
        "automationDetails": {"id": f"rackwright/policy/{report.blueprint}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report, hidden=len(shown) - len(kept))],
        "results": [_result(result, index[result.policy], seen) for result in kept],
        "properties": {"policies": report.policies, "exitCode": int(report.exit_code)},
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_text(document)


def _level(result: Result) -> str:
    """Return the level by severity; at most a warning if it does not block."""
    level = _LEVELS[result.severity]
    held = result.blocks or result.outcome is Outcome.WAIVED
    return level if held or level != "error" else "warning"


def _rules(results: Sequence[Result], texts: Mapping[str, RuleText]) -> list[dict[str, Any]]:
    by_id = {result.policy: result for result in results}
    return [_rule(by_id[policy], texts.get(policy)) for policy in sorted(by_id)]


def _rule(result: Result, text: RuleText | None) -> dict[str, Any]:
    level = _LEVELS[result.severity]
    rule: dict[str, Any] = {
        "id": result.policy,
        "shortDescription": {"text": result.title},
        "defaultConfiguration": {"level": level},
        "properties": {"problem.severity": _PROBLEMS[level], "precision": "very-high"},
    }
    if text is not None:
        rule["fullDescription"] = {"text": text.summary}
        rule["help"] = {"text": text.markdown, "markdown": text.markdown}
        rule["properties"]["tags"] = [text.family, f"since-{text.since}"]
    return rule


def _invocation(report: Report, *, hidden: int) -> dict[str, Any]:
    notes = [
        _note("error", f"{result.policy}: {result.message}")
        for result in report.results
        if result.outcome is Outcome.ERROR
    ]
    if report.hygiene:
        notes += [
            _note("warning" if notice.problem else "note", f"{notice.id}: {notice.message}")
            for notice in report.hygiene.notices
        ]
    if hidden > 0:
        notes.append(_note("warning", f"{hidden:,} results of the lowest severity are left out"))
    return {
        "executionSuccessful": report.exit_code is not ExitCode.CRASH,
        "exitCode": int(report.exit_code),
        "toolExecutionNotifications": notes,
    }


def _note(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": _message(text)}}


def _result(result: Result, rule_index: int, seen: dict[tuple[str, str], int]) -> dict[str, Any]:
    key = (result.policy, result.fingerprint)
    seen[key] = seen.get(key, 0) + 1
    made: dict[str, Any] = {
        "ruleId": result.policy,
        "ruleIndex": rule_index,
        "kind": "fail",
        "level": _level(result),
        "message": {"text": _message(_sentence(result))},
        "locations": [_location(result)],
        "partialFingerprints": {
            "rackwright/v1": result.fingerprint,
            # The only one that GitHub reads; by default it hashes the line, which moves.
            "primaryLocationLineHash": f"{result.fingerprint}:{seen[key]}",
        },
        "properties": _properties(result),
    }
    if result.edit and not result.edit.contested:
        made["fixes"] = [_fix(result.edit)]
    if result.outcome is Outcome.WAIVED:
        made["suppressions"] = [_suppression(result.waiver)]
    if result.baseline_state:
        made["baselineState"] = _BASELINE[result.baseline_state]
    return made


def _fix(edit: Edit) -> dict[str, Any]:
    """Return the edit, for a viewer that offers to make it."""
    where = edit.location
    region = {
        "startLine": where.line,
        "startColumn": where.column,
        "endLine": where.line,
        "endColumn": edit.end,
    }
    replacement = {"deletedRegion": region, "insertedContent": {"text": edit.new}}
    return {
        "description": {"text": _message(edit_line(edit))},
        "artifactChanges": [
            {"artifactLocation": _artifact(where.file), "replacements": [replacement]}
        ],
    }


def _suppression(waiver: Permission | None) -> dict[str, Any]:
    made: dict[str, Any] = {"kind": "external", "status": "accepted"}
    if waiver:
        made["justification"] = printable(waiver.reason)
        made["properties"] = {
            "waiver": waiver.id,
            "owner": waiver.owner,
            "ticket": waiver.ticket,
            "expires": waiver.expires.isoformat(),
        }
        if waiver.up_to:
            made["properties"]["upTo"] = waiver.up_to
        if waiver.limit:
            made["properties"]["limit"] = waiver.limit
    return made


def _sentence(result: Result) -> str:
    first, *rest = explanation(result)
    return ". ".join([f"{printable(result.subject.name)}: {first}", *rest])


def _message(text: str) -> str:
    """Return ``text`` as SARIF's plain text: braces are doubled, and nothing in it is a link."""
    line = printable(text)
    if len(line) > LONGEST_MESSAGE:
        line = f"{line[: LONGEST_MESSAGE - 1]}…"
    return line.replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _location(result: Result) -> dict[str, Any]:
    made: dict[str, Any] = {
        "logicalLocations": [{"fullyQualifiedName": printable(result.subject.name)}]
    }
    if result.location:
        made["physicalLocation"] = _physical(result.location)
    return made


def _physical(where: Location) -> dict[str, Any]:
    return {
        "artifactLocation": _artifact(where.file),
        "region": {"startLine": where.line, "startColumn": where.column},
    }


def _artifact(file: str) -> dict[str, Any]:
    """Return the file; one outside the repository is a ``file:`` URI."""
    name = quote(file, errors="surrogateescape")  # of bytes that are no text as well
    if file.startswith("/"):
        return {"uri": f"file://{name}"}
    return {"uri": name, "uriBaseId": "%SRCROOT%"}


def _properties(result: Result) -> dict[str, Any]:
    made: dict[str, Any] = {
        "outcome": result.outcome.value,
        "enforcement": result.enforcement.value,
        "severity": result.severity.value,
        "blocks": result.blocks,
        "preview": result.preview,
    }
    for name in ("value", "limit", "fix"):
        if (value := getattr(result, name)) is not None:
            made[name] = value
    if result.recorded:
        made["recorded"] = {"value": result.recorded.value, "limit": result.recorded.limit}
    if result.unit:
        made["unit"] = result.unit
    if result.missing:
        made["missing"] = list(result.missing)
    if result.contributors:
        made["contributors"] = [
            {"name": c.name, "count": c.count, "each": c.each} for c in result.contributors
        ]
    return made
