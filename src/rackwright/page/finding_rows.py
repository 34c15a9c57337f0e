"""Rows of the page with findings and their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackwright.page.places import Place, Places
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report, Result
from rackwright.report.wording import FOUND, alike, explanation, in_preview, is_counted, printable

MOST_FINDINGS = 1_000
"""Maximum number of findings that are shown; equal ones count as one."""
MOST_SUBJECTS = 40
"""Maximum number of subjects of equal findings with a button each."""
_ORDER = (Outcome.ERROR, Outcome.FAIL, Outcome.UNKNOWN, Outcome.WAIVED)


@dataclass(frozen=True, slots=True)
class SubjectRow:
    """Subject of a finding, with its place on the page if it has one."""

    name: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One finding, or several that differ only in their subjects.

    Attributes:
        number: number from 0; the id of its row is ``f`` and the number.
        state: ``crash``, ``blocks``, ``unknown``, ``warns``, ``preview`` or ``waived``.
        weight: state in words.
        policy: id of the rule.
        title: requirement of the rule.
        lines: message, exceptions, contributors and fix.
        location: line of the blueprint; empty without one.
        subjects: subjects of the finding.
        more: number of further subjects.
        places: places of all subjects that have one.
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
    """Return the findings: blocking ones first, then warnings and unknowns, then waived ones."""
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
    """Yield the short name and the place of each finding, for the script of the page."""
    for row in rows:
        yield {
            "t": f"{row.policy} {row.weight}: {row.lines[0]}",
            "s": row.state,
            "p": [place_data(place) for place in row.places],
        }


def place_data(place: Place) -> dict[str, object]:
    """Return a place as plain data, without empty values."""
    named = {"c": place.classes, "o": place.source, "w": place.cooling, "f": place.fabric}
    return {"i": place.site} | {key: value for key, value in named.items() if value}
