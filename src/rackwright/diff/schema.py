"""The JSON Schema of the JSON comparison, ``rackwright.diff/v1``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.diff.actions import Action
from rackwright.diff.json import SCHEMA
from rackwright.policy.api import Enforcement, Outcome, Severity
from rackwright.policy.hygiene import BaselineState
from rackwright.spec.schema import DIALECT

_TEXT: Mapping[str, Any] = {"type": "string"}
_FLAG: Mapping[str, Any] = {"type": "boolean"}
_WHOLE: Mapping[str, Any] = {"type": "integer", "minimum": 0}
_NUMBER: Mapping[str, Any] = {"type": ["number", "null"]}
_WORDS: Mapping[str, Any] = {"type": "array", "items": _TEXT}


def comparison_schema() -> dict[str, Any]:
    """Draft-07. Later additions keep the version, so unknown keys are allowed."""
    return {
        "$schema": DIALECT,
        "$id": "urn:rackwright:diff:v1",
        "title": "Rackwright comparison",
        "description": "What 'rackwright diff --json' writes.",
        **_object(
            schema={"const": SCHEMA},
            blueprint=_TEXT,
            base=_ref("side"),
            head=_ref("side"),
            exit_code=_said(
                _WHOLE,
                "The verdict on the head; 5 as well when data would be destroyed, or a mandatory "
                "rule fails anew or worse.",
            ),
            summary=_said(_TEXT, "The verdict in words."),
            empty=_said(_FLAG, "Nothing changes."),
            budgets=_said(_list("budget"), "Measures that changed, what blocks first."),
            findings=_object(
                new=_said(_list("finding"), "Not there in the base."),
                regressions=_said(_list("finding"), "There in the base, and worse now."),
                fixed=_said(_list("finding"), "Gone in the head."),
                unchanged=_said(_list("known"), "There in the base, and no worse now."),
            ),
            costs=_list("cost_change"),
            hardware=_said(_list("product"), "Products of which there are more or fewer."),
            hosts=_said(_list("hosts"), "Node groups whose hosts changed."),
            files=_said(_list("file"), "Generated files that differ."),
            files_not_compared=_said(_WORDS, "Why files of one side cannot be generated."),
            updates=_said(_list("update"), "Changed fields, the gravest first."),
            layers_not_in_base=_WORDS,
        ),
        "definitions": _definitions(),
    }


def _definitions() -> dict[str, Any]:
    counts = _object(**{outcome.value: _WHOLE for outcome in Outcome})
    return {
        "side": _object(
            revision=_said(_TEXT, "As the user named it."),
            commit=_said({"type": ["string", "null"]}, "Null for the working tree."),
            exit_code=_said(_maybe(_WHOLE), "Null where there is no such blueprint."),
            counts=_maybe(counts),
        ),
        "budget": _object(
            policy=_TEXT,
            subject=_TEXT,
            what=_said(_TEXT, "What is measured."),
            unit=_said(_TEXT, "Canonical unit of all numbers."),
            before=_NUMBER,
            after=_NUMBER,
            limit_before=_NUMBER,
            limit=_NUMBER,
            headroom_before=_NUMBER,
            headroom=_said(_NUMBER, "What is left to the limit; negative when it is broken."),
            outcome=_said(
                {"enum": [*(outcome.value for outcome in Outcome), None]},
                "Of the head; null where the subject is gone.",
            ),
            blocks=_FLAG,
            known=_said(_FLAG, "The baseline puts up with it."),
        ),
        "finding": _object(
            policy=_TEXT,
            title=_TEXT,
            severity={"enum": [severity.value for severity in Severity]},
            subject=_TEXT,
            before=_maybe(_ref("result")),
            after=_maybe(_ref("result")),
        ),
        "known": _object(policy=_TEXT, subject=_TEXT, blocks=_FLAG),
        "result": _object(
            outcome={"enum": [outcome.value for outcome in Outcome]},
            enforcement={"enum": [level.value for level in Enforcement]},
            blocks=_FLAG,
            baseline_state={"enum": [*(state.value for state in BaselineState), None]},
            message=_TEXT,
            value=_NUMBER,
            limit=_NUMBER,
            unit=_said(_TEXT, "Canonical unit of both."),
            fix={"type": ["string", "null"]},
            missing=_WORDS,
            location=_maybe(_ref("location")),
            fingerprint=_TEXT,
        ),
        "location": _object(
            file=_said(_TEXT, "Like 'REVISION:path' in a revision."), line=_WHOLE, column=_WHOLE
        ),
        "cost_change": _object(
            site=_TEXT,
            currency={"const": "USD"},
            before=_maybe(_ref("cost")),
            after=_maybe(_ref("cost")),
        ),
        "cost": _object(
            per_hour={"type": "number"},
            per_year={"type": "number"},
            complete=_said(_FLAG, "False: a price is missing, and it costs at least so much."),
        ),
        "product": _object(site=_TEXT, kind=_TEXT, product=_TEXT, before=_WHOLE, after=_WHOLE),
        "hosts": _object(
            site=_TEXT,
            group=_TEXT,
            before=_WHOLE,
            after=_WHOLE,
            added=_said(_TEXT, "A host list; empty on AWS, where names come with instances."),
            removed=_TEXT,
        ),
        "file": _object(
            name=_TEXT,
            added=_said(_WHOLE, "Lines."),
            removed=_WHOLE,
            diff=_said(_WORDS, "Lines of a unified diff."),
        ),
        "update": _object(
            path=_said(_TEXT, "The field, list items by name."),
            kind={"enum": ["added", "removed", "changed"]},
            before={},
            after={},
            action={"enum": [action.value for action in Action]},
            reason=_TEXT,
            location=_maybe(_ref("location")),
        ),
    }


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """An object with all of ``properties``; each is required, as a consumer may rely on it."""
    return {"type": "object", "properties": properties, "required": sorted(properties)}


def _said(schema: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {"description": description, **schema}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/definitions/{name}"}


def _list(name: str) -> dict[str, Any]:
    return {"type": "array", "items": _ref(name)}


def _maybe(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}
