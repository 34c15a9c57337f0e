"""What a policy yielded, checked before it is believed.

A comparison with NaN is false, so a value that is no number would look like one inside its limit.
Whatever is not exactly what the API promises is an error of the policy, never a pass.
"""

from __future__ import annotations

import math
from typing import Any

from rackwright.plan.model import Contributor, Subject
from rackwright.policy.api import Finding, Measure

_SENSES = ("at_most", "at_least")


def checked(item: object) -> Measure | Finding:
    """``item``, when a report can be made of it.

    Raises:
        TypeError: it, or one of its fields, is of another type.
        ValueError: a number is not finite, or the sense is unknown.
    """
    if not isinstance(item, (Measure, Finding)):
        raise TypeError(f"check yielded a {type(item).__name__}, not a Measure or a Finding")
    _require(item, "at", isinstance(item.at, Subject))
    _require(item, "advisory", isinstance(item.advisory, bool))
    _require(item, "fix", item.fix is None or isinstance(item.fix, str))
    _require(item, "missing", _holds(item.missing, str))
    _require(item, "contributors", _holds(item.contributors, Contributor))
    for contributor in item.contributors:
        _number(contributor.each, "contributors")
        _number(contributor.count, "contributors")
    if isinstance(item, Finding):
        _require(item, "ok", item.ok is None or isinstance(item.ok, bool))
        _text(item, "message")
        _require(item, "what", isinstance(item.what, str))
        return item
    for name in ("value", "limit"):
        value = getattr(item, name)
        if value is not None:
            _number(value, name)
    _require(item, "unit", isinstance(item.unit, str))
    _text(item, "what")
    if item.sense not in _SENSES:
        raise ValueError(f"'sense' is '{item.sense}', not one of {', '.join(_SENSES)}")
    return item


def _require(item: Measure | Finding, name: str, holds: bool) -> None:  # noqa: FBT001 - a condition
    if not holds:
        kind = type(getattr(item, name)).__name__
        raise TypeError(f"'{name}' of a {type(item).__name__} is not valid: a {kind}")


def _text(item: Measure | Finding, name: str) -> None:
    value: Any = getattr(item, name)
    _require(item, name, isinstance(value, str) and value != "")


def _holds(value: Any, kind: type) -> bool:
    return isinstance(value, tuple) and all(isinstance(part, kind) for part in value)


def _number(value: Any, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"'{name}' is a {type(value).__name__}, not a number")
    if not math.isfinite(value):
        raise ValueError(f"'{name}' is {value}, not a finite number")
