"""Findings as rows of the page, each with its place on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackwright.page.places import Place, Places
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report, Result
from rackwright.report.wording import FOUND, alike, explanation, in_preview, is_counted, printable

MOST_FINDINGS = 1_000
"""Findings that are shown, equal ones as one."""
MOST_SUBJECTS = 40
"""Subjects of equal findings that have a button each."""
_ORDER = (Outcome.ERROR, Outcome.FAIL, Outcome.UNKNOWN, Outcome.WAIVED)


@dataclass(frozen=True, slots=True)
class SubjectRow:
    """A subject of a finding and its place on the page, where it has one."""

    name: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One finding, or several that differ in their subjects alone.

    Attributes:
        number: counted from 0; its row is ``f`` and the number.
        state: ``crash``, ``blocks``, ``unknown``, ``warns``, ``preview`` or ``waived``.
        weight: the same in words.
        policy: id of the rule.
        title: what the rule demands.
        lines: the message, how it stands, why, and the fix.
        location: the line of the blueprint; empty where there is none.
        subjects: where it is.
        more: subjects beyond those.
        places: the place of every subject, without those that have none.
    """

    number: int
    state: str
    weight: str
    policy: str
    title: str
    lines: Sequence[str]
    location: str
    subjects: Sequence[SubjectRow]
    more: int
    places: Sequence[Place]


def finding_rows(report: Report, places: Places) -> list[FindingRow]:
    """Return the findings: what blocks first, then what warns or is not known, then what is waived."""
    shown = [r for r in report.results if r.outcome in {*FOUND, Outcome.WAIVED}]
    groups = sorted(alike(shown), key=lambda same: _gravity(same[0]))
    return [_row(number, same, places) for number, same in enumerate(groups)]


def _row(number: int, same: Sequence[Result], places: Places) -> FindingRow:
    first = same[0]
    found = [SubjectRow(printable(one.subject.name), places.of(one.subject.path)) for one in same]
    return FindingRow(
        number=number,
        state=_state(first),
        weight=_weight(first),
        policy=first.policy,
        title=printable(first.title),
        lines=tuple(explanation(first)),
        location=printable(str(first.location)) if first.location else "",
        subjects=found[:MOST_SUBJECTS],
        more=max(0, len(found) - MOST_SUBJECTS),
        places=tuple(dict.fromkeys(one.place for one in found if one.place is not None)),
    )


def _gravity(result: Result) -> tuple[bool, bool, int]:
    return not result.blocks, is_counted(result), _ORDER.index(result.outcome)


def _state(result: Result) -> str:
    if result.outcome is Outcome.ERROR:
        return "crash"
    if result.outcome is Outcome.WAIVED:
        return "waived"
    if result.outcome is Outcome.UNKNOWN:
        return "unknown"
    if result.blocks:
        return "blocks"
    return "preview" if result.preview else "warns"


def _weight(result: Result) -> str:
    if result.later:
        return f"unknown, asked at stage {result.stage}"
    if result.outcome is Outcome.UNKNOWN and not in_preview(result):
        return "unknown, blocks" if result.blocks else "unknown, warns"
    return "unknown, preview" if result.outcome is Outcome.UNKNOWN else _state(result)


def pieces(rows: Sequence[FindingRow]) -> Iterator[dict[str, object]]:
    """Yield the data of each finding for the page's program: a short name, and its place."""
    for row in rows:
        yield {
            "t": f"{row.policy} {row.weight}: {row.lines[0]}",
            "s": row.state,
            "p": [place_data(place) for place in row.places],
        }


def place_data(place: Place) -> dict[str, object]:
    """Return a place as plain data, without what it does not have."""
    named = {"c": place.classes, "o": place.source, "w": place.cooling, "f": place.fabric}
    return {"i": place.site} | {key: value for key, value in named.items() if value}
