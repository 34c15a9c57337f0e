"""The report as JSON, schema ``rackwright.check/v2``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, TypeVar, cast

from pydantic_core import to_json

from rackwright.errors import Location
from rackwright.harmless import harmless_json
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report, Result
from rackwright.policy.exception_report import ExceptionReport, NoticeKind
from rackwright.reading.edits import Edit
from rackwright.report.document import (
    HygieneDocument,
    LocationDocument,
    NoticeDocument,
    RecordedDocument,
    ReportDocument,
    ResultDocument,
    SuggestionDocument,
    WaiverDocument,
)

SCHEMA: Final = "rackwright.check/v2"
Document = TypeVar("Document")
_text: Any = str
"""A member of an enumeration as plain text.

A serializer asks each for its value in Python, which would take longer than all the rest of a result.
"""


_LINES = 2_000
"""Results that are rendered at once."""


def render_json(report: Report) -> Iterator[str]:
    """Yield the document in parts that end with a line each, one line for each result.

    Additions keep the version, removals and changes raise it. A site of a million GPUs has 200,000
    results: by ``json``, or indented, they would take much of the time of a check, and all of them
    as one text half of its memory.
    """
    head = json.dumps(_with_results(report, []), indent=2, ensure_ascii=False)
    text = harmless_json(head.removesuffix("]\n}"))
    results = report.results
    for start in range(0, len(results), _LINES):
        yield f"{text}\n"
        chunk = results[start : start + _LINES]
        text = ",\n".join([f"    {_line(_result(result))}" for result in chunk])
        if start + _LINES < len(results):
            text += ","
    yield f"{text}\n  ]\n}}\n" if results else f"{text}]\n}}\n"


def _line(result: ResultDocument) -> str:
    """Return a result on one line that is harmless behind a line's end and blanks."""
    line = _json(result)
    # JSON escapes every other sign of ASCII that steers, and a command at the begin of a line has no
    # brace before it: most lines hold nothing to look for.
    plain = line.isascii() and "#" not in line and "\x7f" not in line
    return line if plain else harmless_json(line)


def _json(result: ResultDocument) -> str:
    try:
        return to_json(result).decode()
    except ValueError:  # a name of a file that is no text
        return json.dumps(result, ensure_ascii=False, separators=(",", ":"))


def to_document(report: Report) -> ReportDocument:
    """Return the report as plain data."""
    return _with_results(report, [_result(result) for result in report.results])


def _with_results(report: Report, results: list[ResultDocument]) -> ReportDocument:
    return {
        "schema": SCHEMA,
        "blueprint": report.blueprint,
        "exit_code": int(report.exit_code),
        "policies": report.policies,
        "profile": report.regime.profile,
        "policy_set": report.regime.policy_set,
        "stage": report.regime.stage,
        "counts": {outcome.value: report.count(outcome) for outcome in Outcome},
        "hygiene": hygiene_document(report.hygiene) if report.hygiene else None,
        "not_judged": list(report.not_judged),
        "results": results,
    }


def hygiene_document(hygiene: ExceptionReport) -> HygieneDocument:
    """Return the notices about waivers and baseline as plain data."""
    return {
        "today": hygiene.today.isoformat(),
        "sources": list(hygiene.sources),
        "strict": hygiene.strict,
        "waivers": hygiene.waivers,
        "recorded": hygiene.recorded,
        "counts": {kind.value: hygiene.count(kind) for kind in NoticeKind},
        "notices": [
            filled(NoticeDocument, notice, location=location_document(notice.location))
            for notice in hygiene.notices
        ],
    }


def filled(document: type[Document], record: object, **others: Any) -> Document:
    """Return a document whose keys are attributes of ``record``, except for ``others``."""
    values = {
        key: others[key] if key in others else getattr(record, key)
        for key in document.__annotations__
    }
    return cast("Document", values)


def location_document(where: Location | None) -> LocationDocument | None:
    """Return a place in a file as plain data."""
    return None if where is None else _place(where)


def _place(where: Location) -> LocationDocument:
    return {"file": where.file, "line": where.line, "column": where.column}


def _result(result: Result) -> ResultDocument:
    return {
        "policy": result.policy,
        "title": result.title,
        "severity": _text(result.severity),
        "enforcement": _text(result.enforcement),
        "outcome": _text(result.outcome),
        "blocks": result.blocks,
        "preview": result.preview,
        "blocks_from": result.blocks_from,
        "stage": _text(result.stage),
        "later": result.later,
        "subject": result.subject.name,
        "path": list(result.subject.path),
        "location": None if result.location is None else _place(result.location),
        "message": result.message,
        "value": result.value,
        "limit": result.limit,
        "unit": result.unit,
        "contributors": [
            {"name": c.name, "count": c.count, "each": c.each} for c in result.contributors
        ]
        if result.contributors
        else [],
        "fix": result.fix,
        "suggestion": _suggestion(result.edit) if result.edit else None,
        "missing": list(result.missing),
        "fingerprint": result.fingerprint,
        "waiver": filled(WaiverDocument, result.waiver, expires=result.waiver.expires.isoformat())
        if result.waiver
        else None,
        "baseline_state": result.baseline_state,
        "recorded": filled(RecordedDocument, result.recorded) if result.recorded else None,
    }


def _suggestion(edit: Edit) -> SuggestionDocument:
    return {
        "location": _place(edit.location),
        "end_column": edit.end,
        "old": edit.old,
        "new": edit.new,
        "contested": edit.contested,
    }
