"""Pairs of results of two reports about the same thing.

A subject such as ``sjc1 racks c[01-08] feed A`` stands for many racks, and another count of nodes
cuts the racks into other classes. So results are paired rack by rack, and told again together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rackwright.model.names import compress_hostlist, expand_hostlist
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report, Result

_RACKS = re.compile(r"(?P<site>\S+) racks? (?P<racks>\S+)(?P<rest>( .*)?)")

_VARIABLE = re.compile(r"'[^']*'|(?<=after losing ).*|\d[\d.,/]*")
"""What of a measure's words may differ between revisions: the worst loss, a name, a number."""

_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Pair:
    """Results of a policy before and now for one subject, or for equal racks.

    Attributes:
        subject: in words; with the racks that changed alike.
        before: None where the subject is new, or the policy did not apply.
        after: None where it is gone.
    """

    subject: str
    before: Result | None
    after: Result | None

    @property
    def result(self) -> Result:
        """The newer of the two."""
        result = self.after or self.before
        assert result is not None  # noqa: S101 - a pair holds one at least
        return result


@dataclass(frozen=True, slots=True)
class _Topic:
    """One rule and what it is about, racks and the names in its words left out."""

    policy: str
    site: str
    rest: str
    what: str


def pair(before: Report | None, after: Report | None) -> tuple[Pair, ...]:
    """Return every pair whose results differ, in the order of the newer report."""
    one, other = _by_topic(before), _by_topic(after)
    pairs: list[Pair] = []
    for topic in dict.fromkeys((*other, *one)):
        old, new = _unlike(one.get(topic, ()), other.get(topic, ()))
        if topic.site:
            pairs += _by_rack(topic, old, new)
        else:
            pairs += _in_turn(old, new)
    return tuple(pairs)


def same(one: Result, other: Result) -> bool:
    """Return True if two results of a rule are equal, apart from positions and words."""
    return (
        one.outcome is other.outcome
        and one.blocks is other.blocks
        and one.unit == other.unit
        and equal(one.value, other.value)
        and equal(one.limit, other.limit)
        and (bool(one.what) or one.message == other.message)
        and one.what == other.what
    )


def equal(one: float | None, other: float | None) -> bool:
    """Return True if two numbers differ by rounding at most; unknown is equal to unknown only."""
    if one is None or other is None:
        return one is other
    return abs(one - other) <= _TOLERANCE * max(abs(one), abs(other))


def _by_topic(report: Report | None) -> dict[_Topic, list[Result]]:
    found: dict[_Topic, list[Result]] = {}
    for result in report.results if report else ():
        if result.outcome is Outcome.NOT_APPLICABLE:
            continue
        parts = _racks_of(result)
        what = _VARIABLE.sub("", result.what)
        if parts is None:
            topic = _Topic(result.policy, "", result.subject.name, what)
        else:
            topic = _Topic(result.policy, parts["site"], parts["rest"].strip(), what)
        found.setdefault(topic, []).append(result)
    return found


def _racks_of(result: Result) -> re.Match[str] | None:
    return _RACKS.fullmatch(result.subject.name)


def _unlike(before: Sequence[Result], after: Sequence[Result]) -> tuple[list[Result], list[Result]]:
    """Return the results that have no equal of the same subject on the other side."""
    one, other = _by_subject(before), _by_subject(after)
    return (
        [r for r in before if not any(same(r, new) for new in other.get(r.subject.name, ()))],
        [r for r in after if not any(same(old, r) for old in one.get(r.subject.name, ()))],
    )


def _by_subject(results: Iterable[Result]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.subject.name, []).append(result)
    return found


def _in_turn(before: Sequence[Result], after: Sequence[Result]) -> Iterator[Pair]:
    """Yield results of one subject: those with the same words first, then the first with the first."""
    rest = list(before)
    single: list[Result] = []
    for result in after:
        equal = next((old for old in rest if _words(old) == _words(result)), None)
        if equal is None:
            single.append(result)
        else:
            rest.remove(equal)
            yield Pair(result.subject.name, equal, result)
    for index in range(max(len(rest), len(single))):
        old = rest[index] if index < len(rest) else None
        new = single[index] if index < len(single) else None
        if newest := new or old:
            yield Pair(newest.subject.name, old, new)


def _words(result: Result) -> str:
    return result.what or result.message


def _by_rack(topic: _Topic, before: Sequence[Result], after: Sequence[Result]) -> Iterator[Pair]:
    """Yield results of racks, told together for racks that had and have the same."""
    old, new = _spread(before), _spread(after)
    alike: dict[tuple[tuple[int, ...], tuple[int, ...]], list[str]] = {}
    for rack in dict.fromkeys((*new, *old)):
        key = (tuple(old.get(rack, ())), tuple(new.get(rack, ())))
        alike.setdefault(key, []).append(rack)
    for (olds, news), racks in alike.items():
        was, now = [before[index] for index in olds], [after[index] for index in news]
        noun = "rack" if len(racks) == 1 else "racks"
        name = f"{topic.site} {noun} {compress_hostlist(racks)} {topic.rest}".rstrip()
        # Whatever other racks the subjects name, equal results are no news for these.
        gone = [result for result in was if not any(same(result, other) for other in now)]
        come = [result for result in now if not any(same(other, result) for other in was)]
        for found in _in_turn(gone, come):
            yield Pair(name, found.before, found.after)


def _spread(results: Iterable[Result]) -> dict[str, list[int]]:
    """Return the indexes of the results about each rack."""
    found: dict[str, list[int]] = {}
    for index, result in enumerate(results):
        parts = _racks_of(result)
        for rack in expand_hostlist(parts["racks"]) if parts else ():
            found.setdefault(rack, []).append(index)
    return found
