"""The JSON Schema of the JSON report, ``rackwright.check/v1``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.policy.api import Enforcement, Outcome, Profile, Severity
from rackwright.policy.hygiene import BaselineState, Kind
from rackwright.report.json import SCHEMA
from rackwright.spec.schema import DIALECT


def report_schema() -> dict[str, Any]:
    """Draft-07. Later additions keep the version, so unknown keys are allowed."""
    return {
        "$schema": DIALECT,
        "$id": "urn:rackwright:check:v1",
        "title": "Rackwright report",
        "description": "What 'rackwright check --json' writes.",
        **_object(
            {
                "schema": {"const": SCHEMA},
                "blueprint": _text("Name of the blueprint."),
                "exit_code": _whole("The verdict, as 'rackwright explain exit-codes' lists them."),
                "policies": _whole("How many policies judged; disabled ones do not count."),
                "profile": _one_of(Profile, "The profile that it was judged by."),
                "policy_set": _text("The policy set that it was judged by; newer rules only warn."),
                "counts": {
                    "description": "Number of results by outcome.",
                    **_object({outcome.value: _whole("") for outcome in Outcome}),
                },
                "hygiene": {
                    "description": "Null when neither waivers nor a baseline were looked at.",
                    "anyOf": [{"$ref": "#/definitions/hygiene"}, {"type": "null"}],
                },
                "results": {
                    "description": "What blocks first, then by outcome, policy and subject.",
                    "type": "array",
                    "items": {"$ref": "#/definitions/result"},
                },
            }
        ),
        "definitions": {
            "result": _result(),
            "location": _location(),
            "contributor": _contributor(),
            "recorded": _recorded(),
            "suggestion": _suggestion(),
            "hygiene": _hygiene(),
            "notice": _notice(),
            "waiver": _waiver(),
        },
    }


def _result() -> dict[str, Any]:
    return {
        "description": "What one policy says about one subject.",
        **_object(
            {
                "policy": _text("Id of the policy, like 'PWR-001'."),
                "title": _text("What the policy demands."),
                "severity": _one_of(Severity, "How bad a violation is."),
                "enforcement": _one_of(Enforcement, "What holds for this result."),
                "outcome": _one_of(Outcome, "What came of the check."),
                "blocks": {"description": "It stops a deployment.", "type": "boolean"},
                "preview": {
                    "description": "The rule is newer than the policy set, so it only warns.",
                    "type": "boolean",
                },
                "subject": _text("What was judged, by names."),
                "path": {
                    "description": "The subject's place in the blueprint: keys and indexes.",
                    "type": "array",
                    "items": {"type": ["string", "integer"]},
                },
                "location": {"anyOf": [{"$ref": "#/definitions/location"}, {"type": "null"}]},
                "message": _text("One sentence with the numbers."),
                "value": _maybe(
                    "number", "What is measured; null when it is unknown or no number."
                ),
                "limit": _maybe("number", "Its limit; null when it is unknown or no number."),
                "unit": _text("Unit of both and of each contributor; empty for a count."),
                "contributors": {
                    "description": "What adds up to the value, the largest first.",
                    "type": "array",
                    "items": {"$ref": "#/definitions/contributor"},
                },
                "fix": _maybe("string", "A computed remedy of a failure."),
                "suggestion": {
                    "description": "The change of one value that mends it; null where a person "
                    "has to choose, or where the value cannot be changed alone.",
                    "anyOf": [{"$ref": "#/definitions/suggestion"}, {"type": "null"}],
                },
                "missing": {
                    "description": "What would have to be known.",
                    "type": "array",
                    "items": {"type": "string"},
                },
                "fingerprint": {
                    "description": "The same for the same rule and subject in any version.",
                    "type": "string",
                    "pattern": "^[0-9a-f]{16}$",
                },
                "waiver": {
                    "description": "What covers it, when it is waived.",
                    "anyOf": [{"$ref": "#/definitions/waiver"}, {"type": "null"}],
                },
                "baseline_state": {
                    "description": "How a failure compares with the baseline.",
                    "enum": [*(state.value for state in BaselineState), None],
                },
                "recorded": {
                    "description": "What the baseline records, in the same unit; null where it "
                    "records no number.",
                    "anyOf": [{"$ref": "#/definitions/recorded"}, {"type": "null"}],
                },
            }
        ),
    }


def _location() -> dict[str, Any]:
    return {
        "description": "A place in a file; both numbers count from one.",
        **_object(
            {
                "file": _text("As it was named on the command line."),
                "line": _whole("", least=1),
                "column": _whole("", least=1),
            }
        ),
    }


def _suggestion() -> dict[str, Any]:
    return {
        "description": "A value in a file of the blueprint, and what would stand there instead.",
        **_object(
            {
                "location": {"$ref": "#/definitions/location"},
                "end_column": _whole("Column behind the value, on the same line.", least=2),
                "old": _text("The value as it is written, with its quotes."),
                "new": _text("What replaces it."),
                "contested": {
                    "description": "Another finding suggests another value for the same place, so "
                    "the patch has neither.",
                    "type": "boolean",
                },
            }
        ),
    }


def _waiver() -> dict[str, Any]:
    return {
        "description": "A permission to violate a rule, which ends.",
        **_object(
            {
                "id": _text("Name of the waiver."),
                "owner": _text("Who answers for it."),
                "ticket": _text("Where it is followed up."),
                "reason": _text("Why."),
                "expires": _day("The last day (UTC) on which it holds."),
                "up_to": _maybe("string", "Its bound; null for a rule without a number."),
                "limit": _maybe("string", "The limit that it was approved against; null if none."),
                "reference": {
                    "description": "The comment of the blueprint that refers to it there.",
                    "anyOf": [{"$ref": "#/definitions/location"}, {"type": "null"}],
                },
            }
        ),
    }


def _hygiene() -> dict[str, Any]:
    return {
        "description": "The state of the waivers and the baseline.",
        **_object(
            {
                "today": _day("The day that decided what has expired."),
                "sources": {
                    "description": "The files that were read; REF:PATH in a revision.",
                    "type": "array",
                    "items": {"type": "string"},
                },
                "strict": {"description": "Problems fail the report.", "type": "boolean"},
                "waivers": _whole("How many waivers hold or could hold."),
                "recorded": _whole("How many failures the baseline records."),
                "counts": {
                    "description": "Number of notices by kind.",
                    **_object({kind.value: _whole("") for kind in Kind}),
                },
                "notices": {"type": "array", "items": {"$ref": "#/definitions/notice"}},
            }
        ),
    }


def _notice() -> dict[str, Any]:
    return {
        "description": "One thing to know about a waiver or about the baseline.",
        **_object(
            {
                "kind": _one_of(Kind, "What is to be said."),
                "problem": {"description": "Strict hygiene fails on it.", "type": "boolean"},
                "id": _text("Of the waiver; 'baseline'; what a change lowers; or a former id."),
                "policy": _text("The rule; empty where it is not about one."),
                "message": _text("One sentence."),
                "location": {"anyOf": [{"$ref": "#/definitions/location"}, {"type": "null"}]},
            }
        ),
    }


def _contributor() -> dict[str, Any]:
    return {
        "description": "Equal things that add up to a value.",
        **_object(
            {
                "name": _text("What they are."),
                "count": {"description": "How many.", "type": "number"},
                "each": {"description": "What one contributes.", "type": "number"},
            }
        ),
    }


def _recorded() -> dict[str, Any]:
    return {
        "description": "A failure of the baseline.",
        **_object(
            {
                "value": {"description": "The value that day.", "type": "number"},
                "limit": {"description": "The limit that day.", "type": "number"},
            }
        ),
    }


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """An object with all of ``properties``; each is required, as a consumer may rely on it."""
    return {"type": "object", "properties": dict(properties), "required": sorted(properties)}


def _text(description: str) -> dict[str, Any]:
    return {"description": description, "type": "string"}


def _whole(description: str, *, least: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "integer", "minimum": least}
    return {"description": description, **found} if description else found


def _day(description: str) -> dict[str, Any]:
    return {"description": description, "type": "string", "format": "date"}


def _maybe(kind: str, description: str) -> dict[str, Any]:
    return {"description": description, "type": [kind, "null"]}


def _one_of(
    words: type[Severity | Enforcement | Outcome | Profile | Kind], description: str
) -> dict[str, Any]:
    return {"description": description, "enum": [word.value for word in words]}
