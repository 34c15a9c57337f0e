"""Waivers: permissions to violate one rule at one place, up to a number and until a day.

A waiver names its owner, a ticket and a reason, and it ends. Whether it covers a result is decided
in one function, ``applies``, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from rackwright.model import units
from rackwright.model.base import Model
from rackwright.model.quantities import format_quantity
from rackwright.policy.api import Outcome, Severity
from rackwright.policy.engine import Result
from rackwright.policy.exceptions.subject_patterns import check_pattern, matches
from rackwright.policy.excess import Mark, Trend, trend
from rackwright.policy.reasons import length, says_something

LONGEST_DAYS = {
    Severity.CRITICAL: 7,
    Severity.HIGH: 30,
    Severity.MEDIUM: 90,
    Severity.LOW: 90,
}
"""Days ahead that a waiver may run, by the severity of its rule."""

SHORTEST_REASON = 15
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_BOUND = re.compile(
    r"([+-]?\d+(?:[_,]\d{3})*(?:\.\d+)?(?:[eE][+-]?\d{1,2})?)\s*([^\s\d.,_+-].*)?", re.ASCII
)
_LONGEST_TEXT = 64
_DIMENSIONS = {
    found.unit: found for found in vars(units).values() if isinstance(found, units.Dimension)
}


class WaiverDecision(StrEnum):
    """Effect of one waiver on one result."""

    ELSEWHERE = "elsewhere"
    """It is about something else, or there is nothing to waive."""
    COVERS = "covers"
    EXPIRED = "expired"
    TOO_LONG = "too_long"
    OVER_BOUND = "over_bound"
    LIMIT_MOVED = "limit_moved"
    """The value is within the bound, but further beyond the limit than was approved."""
    NOT_WAIVABLE = "not_waivable"
    """The rule admits no waivers."""
    ERROR = "error"
    """The rule crashed; it is unknown what would be waived."""
    UNKNOWN = "unknown"
    """The number is unknown, and the waiver does not cover that."""
    KNOWN = "known"
    """The waiver covers the unknown only, and the rule fails."""
    NO_NUMBER = "no_number"
    """It has a bound, and the rule measures nothing."""
    UNBOUNDED = "unbounded"
    """It has no bound, and the rule measures something."""
    OTHER_UNIT = "other_unit"


def read_day(value: Any) -> date:
    """Return the day that a text like ``2026-12-12`` names.

    Raises:
        ValueError: it is anything else; a number would be taken for seconds since 1970.
    """
    if isinstance(value, date):
        return value
    if isinstance(value, str) and _DAY.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    raise ValueError(f"'{value}' is not a day; write it like '2026-12-12'")


def _to_text(value: Any) -> Any:
    """Return a bare number as text: what a count is compared with has no unit."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if is_number else value


def _check_bound(text: str) -> str:
    if len(text) > _LONGEST_TEXT or not _BOUND.fullmatch(text.strip()):
        raise ValueError(f"'{text[:_LONGEST_TEXT]}' is not a quantity; write it like '47 kW'")
    return text


def _check_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("it holds characters that cannot be printed")
    if not text.strip():
        raise ValueError("it is blank")
    return text


def _check_reason(text: str) -> str:
    if length(text) < SHORTEST_REASON:
        raise ValueError(
            f"a reason has at least {SHORTEST_REASON} characters, or {SHORTEST_REASON // 3} signs of "
            "a script that writes syllables or words"
        )
    if not says_something(text):
        raise ValueError("a reason says something")
    return text


def _check_match(match: dict[str, str]) -> dict[str, str]:
    for key, pattern in match.items():
        check_pattern(key, pattern)
    if all(not pattern.strip("*?") for pattern in match.values()):
        raise ValueError("it matches everything; name what is waived, like 'rack: r12'")
    return match


Line = Annotated[str, AfterValidator(_check_line), Field(max_length=200)]


Bound = Annotated[
    str,
    BeforeValidator(_to_text),
    AfterValidator(_check_bound),
    WithJsonSchema({"type": ["string", "number"], "examples": ["47 kW"]}),
]


class Waiver(Model):
    """One permission."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    """Name of the waiver, once in a file, like "W-2026-014"."""
    policy: Annotated[str, Field(pattern=r"^[A-Z]{2,8}-\d{3}$")]
    """Id of the rule that it is about."""
    match: Annotated[dict[str, str], AfterValidator(_check_match)]
    """What it is about, by the words of the report: "site: sjc1", "rack: c[01-04]", "feed: A", or
    the whole "subject"; "what" is what is measured. All have to fit; "*" and "?" are wildcards."""
    up_to: Bound | None = None
    """The worst value that is covered, in the unit of the measure; for a minimum, the lowest.
    Required where the rule measures something."""
    limit: Bound | None = None
    """The limit that "up_to" was approved against. Where the limit moves, what is further beyond it
    than "up_to" is beyond this one is not covered, absolutely or in relation to the limit."""
    unknown: bool = False
    """It covers what cannot be checked because a number is missing, and nothing else."""
    reason: Annotated[str, AfterValidator(_check_line), AfterValidator(_check_reason)]
    """Why, in 15 characters or more."""
    owner: Line
    """Who answers for it."""
    ticket: Line
    """Where it is followed up."""
    expires: Annotated[
        date,
        BeforeValidator(read_day),
        WithJsonSchema({"type": "string", "format": "date", "examples": ["2026-12-12"]}),
    ]
    """The last day (UTC) on which it holds: at most 7 days ahead for a critical rule, 30 for one
    of high severity, else 90."""

    @model_validator(mode="after")
    def _bound_or_unknown(self) -> Waiver:
        if self.unknown and self.up_to is not None:
            raise ValueError("a bound cannot hold for what is unknown; give 'up_to' or 'unknown'")
        if self.limit is not None and self.up_to is None:
            raise ValueError("'limit' says what 'up_to' was approved against; give 'up_to' as well")
        return self


class WaiverFile(Model):
    """The file ``policies/waivers.yaml``."""

    NAME: ClassVar[str] = "waivers.yaml"

    waivers: tuple[Waiver, ...]
    """Every waiver; ids differ."""

    @model_validator(mode="after")
    def _ids_differ(self) -> WaiverFile:
        seen: set[str] = set()
        for waiver in self.waivers:
            if waiver.id in seen:
                raise ValueError(f"the waiver '{waiver.id}' is given twice")
            seen.add(waiver.id)
        return self


def applies(waiver: Waiver, result: Result, today: date) -> WaiverDecision:
    """Return the effect of ``waiver`` on ``result`` on ``today``; only ``COVERS`` waives it.

    The day of expiry is the last one on which it covers anything.
    """
    if result.outcome not in {Outcome.FAIL, Outcome.UNKNOWN, Outcome.ERROR}:
        return WaiverDecision.ELSEWHERE
    if waiver.policy != result.policy or not matches(waiver.match, result):
        return WaiverDecision.ELSEWHERE
    if result.outcome is Outcome.ERROR:
        return WaiverDecision.ERROR
    if not result.waivable:
        return WaiverDecision.NOT_WAIVABLE
    if today > waiver.expires:
        return WaiverDecision.EXPIRED
    if (waiver.expires - today).days > LONGEST_DAYS[result.severity]:
        return WaiverDecision.TOO_LONG
    if result.outcome is Outcome.UNKNOWN:
        return WaiverDecision.COVERS if waiver.unknown else WaiverDecision.UNKNOWN
    return WaiverDecision.KNOWN if waiver.unknown else within(waiver, result)


def within(waiver: Waiver, result: Result) -> WaiverDecision:
    """Return the effect of a waiver's bound on a failure that it fits in every other way.

    A waiver that names its limit covers what is no worse than its bound at that limit. One that
    names none, as those of older versions, covers by the value alone until it ends; the report asks
    for the limit, and ``diff`` finds worse what it covers at a limit that has become stricter.
    """
    if result.value is None or result.limit is None:
        return WaiverDecision.COVERS if waiver.up_to is None else WaiverDecision.NO_NUMBER
    if waiver.up_to is None:
        return WaiverDecision.UNBOUNDED
    bound = in_unit(waiver.up_to, result.unit)
    approved = result.limit if waiver.limit is None else in_unit(waiver.limit, result.unit)
    if bound is None or approved is None:
        return WaiverDecision.OTHER_UNIT
    now = Mark(result.value, result.limit)
    # At one limit, the value alone decides.
    if trend(Mark(bound, now.limit), now, at_most=now.is_above) is Trend.WORSE:
        return WaiverDecision.OVER_BOUND
    if trend(Mark(bound, approved), now, at_most=now.is_above) is Trend.WORSE:
        return WaiverDecision.LIMIT_MOVED
    return WaiverDecision.COVERS


def limit_for(waiver: Waiver, results: Iterable[Result]) -> str | None:
    """Return the limit that a new waiver is about, to be written into it; None where there is none.

    Of several, it is the strictest: the bound has to be enough for each of them.
    """
    if waiver.up_to is None:
        return None
    found: dict[tuple[str, bool], list[float]] = {}
    for result in results:
        if waiver.policy != result.policy or not matches(waiver.match, result):
            continue
        if result.value is None or result.limit is None or result.value == result.limit:
            continue
        at_most = (result.value > result.limit) is (result.outcome is Outcome.FAIL)
        bound = in_unit(waiver.up_to, result.unit)
        if bound is not None and bound != result.limit and (bound > result.limit) is at_most:
            found.setdefault((result.unit, at_most), []).append(result.limit)
    if len(found) != 1:
        return None
    (((unit, at_most), limits),) = found.items()
    strictest = min(limits) if at_most else max(limits)
    return exact_text(strictest, unit)


def exact_text(value: float, unit: str) -> str:
    """Return ``value`` as text that reads back as just this value, in the unit of people where it can."""
    text = format_quantity(value, unit)
    return text if in_unit(text, unit) == value else f"{value!r} {unit}".rstrip()


def in_unit(text: str, unit: str) -> float | None:
    """Return the quantity ``text`` in ``unit``, or None when it is of another kind."""
    if dimension := _DIMENSIONS.get(unit):
        try:
            return dimension.parse(text)
        except ValueError:
            return None
    match = _BOUND.fullmatch(text.strip())
    if match is None or (match.group(2) or "").strip() != unit:
        return None
    return float(match.group(1).replace("_", "").replace(",", ""))
