"""The worse verdict of two judgements of one change: as it is written, and as its base has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report, Result, gravity_of, order_of
from rackwright.policy.exception_report import NoticeKind
from rackwright.policy.settings import STRENGTH

_GOOD = frozenset({Outcome.PASS, Outcome.NOT_APPLICABLE, Outcome.WAIVED})


def worst_of(report: Report, other: Report) -> Report:
    """Return ``report`` with each result of ``other`` that is worse than its own about the same.

    Results that pass, about what ``report`` does not have, are left out where the rule has others:
    both may cut the racks of a site into other groups.
    """
    mine, theirs = _by_topic(report), _by_topic(other)
    judged = {one.policy for one in report.results if one.outcome is not Outcome.NOT_APPLICABLE}
    for key, results in theirs.items():
        if key in mine:
            worse = _gravest(results) < _gravest(mine[key])
        else:
            worse = key[0] not in judged or results[0].outcome not in _GOOD
        if worse:
            mine[key] = results
    found = [one for results in mine.values() for one in results]
    answered = {one.policy for one in found if one.outcome is not Outcome.NOT_APPLICABLE}
    found = [
        one
        for one in found
        if one.outcome is not Outcome.NOT_APPLICABLE or one.policy not in answered
    ]
    more = {one.policy for one in other.results} - {one.policy for one in report.results}
    hygiene = report.hygiene
    if hygiene is not None and other.hygiene is not None:
        both = {*hygiene.notices} & {*other.hygiene.notices}
        either = dict.fromkeys((*hygiene.notices, *other.hygiene.notices))
        # A waiver that one of the judgements uses is no unused one.
        told = [one for one in either if one.kind is not NoticeKind.UNUSED or one in both]
        hygiene = replace(hygiene, notices=tuple(told))
    return replace(
        report,
        results=tuple(sorted(found, key=order_of)),
        policies=report.policies + len(more),
        hygiene=hygiene,
    )


def _gravest(results: Sequence[Result]) -> tuple[object, ...]:
    """Return a key of the gravest result: by verdict, then enforcement, then distance to its limit."""
    return min(
        (*gravity_of(one), -STRENGTH[one.enforcement], one.preview, _margin(one)) for one in results
    )


def _margin(result: Result) -> float:
    """Return how far a value is within its limit, negative beyond it; least where it is unknown."""
    if result.value is None:
        return float("-inf")
    if result.limit is None:
        return -abs(result.value)
    distance = abs(result.value - result.limit)
    return distance if result.outcome is Outcome.PASS else -distance


def _by_topic(report: Report) -> dict[tuple[str, str], list[Result]]:
    """Return the results of a report by rule and subject."""
    found: dict[tuple[str, str], list[Result]] = {}
    for result in report.results:
        found.setdefault((result.policy, result.fingerprint), []).append(result)
    return found
