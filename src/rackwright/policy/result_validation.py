"""Validation of the results that a policy yields.

A comparison with NaN is false, so a value that is no number would look like one inside its limit.
Whatever is not exactly what the API promises is an error of the policy, never a pass.
"""

from __future__ import annotations

import math
from typing import Any

from rackwright.plan.base import Contributor, Subject
from rackwright.plan.missing import ProductField, fields_of
from rackwright.policy.api import Finding, Measure, Suggestion

_SENSES = ("at_most", "at_least")
_PLAIN_PARTS = frozenset((str, int))
"""Types of the parts of a path; a bool is none of them, though it is an int."""


class RuleFailedError(Exception):
    """A rule of a pack failed; the text says how, in the words of a report."""


def checked(item: object) -> Measure | Finding:
    """Return ``item``, when a report can be made of it.

    Raises:
        TypeError: it, or one of its fields, is of another type.
        ValueError: a number is not finite, or the sense is unknown.
    """  # noqa: DOC501 - _wrong() makes the TypeError
    if not isinstance(item, (Measure, Finding)):
        raise TypeError(f"check yielded a {type(item).__name__}, not a Measure or a Finding")
    if not isinstance(item.at, Subject):
        raise _wrong(item, "at")
    if not isinstance(item.advisory, bool):
        raise _wrong(item, "advisory")
    if not (item.fix is None or isinstance(item.fix, str)):
        raise _wrong(item, "fix")
    # Of 100,000 results nearly all have neither.
    if item.missing != () and not (
        _holds(item.missing, str) and all(map(_is_missing, item.missing))
    ):
        raise _wrong(item, "missing")
    if item.contributors != ():
        if not _holds(item.contributors, Contributor):
            raise _wrong(item, "contributors")
        for contributor in item.contributors:
            _number(contributor.each, "contributors")
            _number(contributor.count, "contributors")
    if item.suggest is not None:
        _suggestion(item, item.suggest)
    if isinstance(item, Finding):
        if not (item.ok is None or isinstance(item.ok, bool)):
            raise _wrong(item, "ok")
        if not _is_text(item.message):
            raise _wrong(item, "message")
        if not isinstance(item.what, str):
            raise _wrong(item, "what")
        return item
    if item.value is not None:
        _number(item.value, "value")
    if item.limit is not None:
        _number(item.limit, "limit")
    if not isinstance(item.unit, str):
        raise _wrong(item, "unit")
    if not _is_text(item.what):
        raise _wrong(item, "what")
    if item.sense not in _SENSES:
        raise ValueError(f"'sense' is '{item.sense}', not one of {', '.join(_SENSES)}")
    return item


def _suggestion(item: Measure | Finding, given: Any) -> None:
    if not isinstance(given, Suggestion):
        raise _wrong(item, "suggest")
    path: Any = given.path
    if not isinstance(path, tuple) or not all(isinstance(part, (str, int)) for part in path):
        raise TypeError("the path of a Suggestion is not a tuple of keys and indexes")
    if not isinstance(given.value, (str, bool)):
        _number(given.value, "value of the Suggestion")


def _wrong(item: Measure | Finding, name: str) -> TypeError:
    kind = type(getattr(item, name)).__name__
    return TypeError(f"'{name}' of a {type(item).__name__} is not valid: a {kind}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _holds(value: Any, kind: type) -> bool:
    return isinstance(value, tuple) and all(isinstance(part, kind) for part in value)


def _is_missing(value: str) -> bool:
    """Return True if the fields of a missing fact are fields."""
    fields: Any = fields_of(value)
    return isinstance(fields, tuple) and all(map(_is_field, fields))


def _is_field(value: Any) -> bool:
    if isinstance(value, ProductField):
        return _is_text(value.product) and _is_text(value.name)
    if not isinstance(value, tuple) or not value:
        return False
    # A large site has 100,000 such paths, nearly all of plain keys and indexes.
    return _PLAIN_PARTS.issuperset(map(type, value)) or all(map(_is_part, value))


def _is_part(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _number(value: Any, name: str) -> None:
    if type(value) is not float and (
        isinstance(value, bool) or not isinstance(value, (int, float))
    ):
        raise TypeError(f"'{name}' is a {type(value).__name__}, not a number")
    if not math.isfinite(value):
        raise ValueError(f"'{name}' is {value}, not a finite number")
