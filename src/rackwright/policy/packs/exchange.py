"""Yields of rules as JSON: how they come back from the process that a team's pack runs in."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rackwright.plan.base import Path
from rackwright.plan.missing import Missing, ProductField, fields_of
from rackwright.policy.api import Finding, Measure
from rackwright.policy.result_validation import RuleFailedError, checked

_KINDS: dict[str, type[Measure | Finding]] = {"measure": Measure, "finding": Finding}


def encode(item: Measure | Finding) -> dict[str, Any]:
    """Return ``item`` as plain data."""
    fields = asdict(item)
    fields["missing"] = [{"text": str(one), "fields": _told(one)} for one in item.missing]
    return {"measure" if isinstance(item, Measure) else "finding": fields}


def decode(data: object) -> Measure | Finding:
    """Return the measure or finding that ``data`` says.

    Raises:
        RuleFailedError: it says none that a report can be made of.
    """  # noqa: DOC501 - it is caught below
    try:
        if not isinstance(data, dict) or len(data) != 1:
            raise TypeError("neither a measure nor a finding")
        ((kind, fields),) = data.items()
        if not isinstance(fields, dict):
            raise TypeError("neither a measure nor a finding")
        missing = _LACKING.validate_python(fields.get("missing", []))
        made = _adapter(kind).validate_python({**fields, "missing": ()})
        return checked(replace(made, missing=tuple(map(_missing, missing))))
    except (KeyError, TypeError, ValueError) as error:  # a ValidationError is a ValueError
        text = _first(error) if isinstance(error, ValidationError) else str(error)
        raise RuleFailedError(f"the pack sent what is no result: {text}") from None


@dataclass(frozen=True, slots=True)
class _Lacking:
    """Missing fact as plain data."""

    text: str
    fields: list[ProductField | Path]


_LACKING = TypeAdapter(list[_Lacking])


def _told(missing: str) -> list[Any]:
    fields = fields_of(missing)
    return [asdict(one) if isinstance(one, ProductField) else list(one) for one in fields]


def _missing(told: _Lacking) -> str:
    return Missing(told.text, *told.fields) if told.fields else told.text


@cache
def _adapter(kind: object) -> TypeAdapter[Any]:
    if not isinstance(kind, str) or kind not in _KINDS:
        raise TypeError("neither a measure nor a finding")
    return TypeAdapter(_KINDS[kind])


def _first(error: ValidationError) -> str:
    detail = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}"
