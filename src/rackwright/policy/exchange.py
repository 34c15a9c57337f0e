"""Yields of rules as JSON: how they come back from the process that a team's pack runs in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rackwright.policy.api import Finding, Measure
from rackwright.policy.yielded import checked

_KINDS: dict[str, type[Measure | Finding]] = {"measure": Measure, "finding": Finding}


class RuleFailedError(Exception):
    """A rule of a pack failed; the text says how, in the words of a report."""


def encode(item: Measure | Finding) -> dict[str, Any]:
    """``item`` as plain data."""
    return {"measure" if isinstance(item, Measure) else "finding": asdict(item)}


def decode(data: object) -> Measure | Finding:
    """The measure or finding that ``data`` says.

    Raises:
        RuleFailedError: it says none that a report can be made of.
    """
    try:
        if not isinstance(data, dict) or len(data) != 1:
            raise TypeError("neither a measure nor a finding")
        ((kind, fields),) = data.items()
        return checked(_adapter(kind).validate_python(fields))
    except (KeyError, TypeError, ValueError) as error:  # a ValidationError is a ValueError
        text = _first(error) if isinstance(error, ValidationError) else str(error)
        raise RuleFailedError(f"the pack sent what is no result: {text}") from None


def decode_all(items: Iterable[object]) -> list[Measure | Finding]:
    """The measures and findings that ``items`` say.

    Raises:
        RuleFailedError: one of them says none.
    """
    return [decode(item) for item in items]


@cache
def _adapter(kind: object) -> TypeAdapter[Any]:
    if not isinstance(kind, str) or kind not in _KINDS:
        raise TypeError("neither a measure nor a finding")
    return TypeAdapter(_KINDS[kind])


def _first(error: ValidationError) -> str:
    detail = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}"
