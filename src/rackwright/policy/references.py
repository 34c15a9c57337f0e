"""Comments of a blueprint that refer to a waiver: ``# waiver: W-2026-014``.

A reference waives nothing. It tells a reader of the blueprint that there is a waiver, so it is
checked: the waiver exists, has not expired, and covers a finding at what the comment stands beside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from rackwright.errors import Location, SpecErrors
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report, Result
from rackwright.policy.hygiene import Kind, Notice
from rackwright.policy.waivers import Decision, Waiver, applies
from rackwright.policy.waiving import Waivers
from rackwright.spec.comments import MOST_COMMENTS, Comment, marked_comments
from rackwright.spec.suggest import did_you_mean
from rackwright.spec.tree import Item, Tree
from rackwright.spec.tree import Path as SpecPath
from rackwright.spec.yaml_reader import LARGEST_FILE, read_raw

MARK = "waiver:"
_ID = re.compile(r"[ \t]+([A-Za-z0-9][A-Za-z0-9._-]{0,63})(?=[ \t,;:]|$)")
_MOST_PATHS = 16
"""Places of one line that are looked at; an alias can make many of it."""

_MOST_GUESSES = 10
"""Notices up to which another id is suggested; more are no slips of the pen."""

Read = Callable[[Path], bytes]


@dataclass(frozen=True, slots=True)
class _Reference:
    """The id in one comment; empty where the comment names none.

    Attributes:
        paths: what begins on the line that it is about.
    """

    id: str
    place: Location
    paths: tuple[SpecPath, ...]

    def is_at(self, result: Result) -> bool:
        """Whether a result is about what the comment stands beside, a part of it or its whole."""
        path = result.subject.path
        return bool(path) and any(
            path[: len(own)] == own or own[: len(path)] == path for own in self.paths
        )


def with_references(
    report: Report,
    tree: Tree,
    waivers: Waivers,
    today: date,
    *,
    only: Collection[str] = (),
    read: Read = read_raw,
) -> Report:
    """``report`` with a notice about each reference that is wrong, and the place of the others.

    Args:
        report: with ``waivers`` applied.
        tree: the document that was judged.
        waivers: the files.
        today: the day (UTC) that decides what has expired.
        only: ids of the policies that were judged; empty means all.
        read: the content of a file of ``tree``.
    """
    by_file = {
        file: found for file in dict.fromkeys(tree.files) if (found := _comments(file, read))
    }
    if not by_file or report.hygiene is None:
        return report
    references = list(_references(by_file, tree))
    known = {w.id: w for w in (waivers.head.value.waivers if waivers.head else ())}
    places: dict[int, Location] = {}
    notices = [_too_many(file) for file, found in by_file.items() if len(found) > MOST_COMMENTS]
    concerned: dict[str, list[tuple[int, Result]]] = {}
    for number, result in enumerate(report.results):
        if result.outcome in {Outcome.WAIVED, Outcome.FAIL, Outcome.UNKNOWN}:
            concerned.setdefault(result.policy, []).append((number, result))
    for reference in references:
        waiver = known.get(reference.id)
        if waiver is None:
            guess = known if len(notices) < _MOST_GUESSES else ()
            notices.append(_missing(reference, guess))
            continue
        here = [pair for pair in concerned.get(waiver.policy, []) if reference.is_at(pair[1])]
        covered = [n for n, result in here if result.waiver and result.waiver.id == waiver.id]
        for number in covered:
            places.setdefault(number, reference.place)
        if today > waiver.expires:
            notices.append(_notice(waiver, reference, f"expired on {waiver.expires}"))
        elif not reference.paths:
            notices.append(_notice(waiver, reference, "is about no value of the blueprint here"))
        elif covered or (only and waiver.policy not in only):
            continue
        # One that is proposed covers nothing yet; its own notice says so.
        elif not any(applies(waiver, result, today) is Decision.COVERS for _, result in here):
            notices.append(_notice(waiver, reference, "covers no finding at this place"))
    results = list(report.results)
    for number, place in places.items():
        waived = results[number].waiver
        if waived is not None:
            results[number] = replace(results[number], waiver=replace(waived, reference=place))
    hygiene = replace(report.hygiene, notices=(*report.hygiene.notices, *notices))
    return replace(report, results=tuple(results), hygiene=hygiene)


def _comments(file: str, read: Read) -> list[Comment]:
    """The marked comments of a file; none of one that was not read from the disk."""
    try:
        raw = read(Path(file))
    except SpecErrors:
        return []
    if MARK.encode() not in raw or len(raw) > LARGEST_FILE:
        return []
    try:
        return marked_comments(raw.decode("utf-8-sig"), MARK)
    except UnicodeDecodeError:
        return []


def _references(by_file: dict[str, list[Comment]], tree: Tree) -> Iterator[_Reference]:
    wanted = {
        (file, comment.target)
        for file, found in by_file.items()
        for comment in found
        if comment.target is not None
    }
    paths: dict[tuple[str, int], list[SpecPath]] = {}
    _collect(tree.root, (), wanted, paths)
    for file, found in by_file.items():
        for comment in found[:MOST_COMMENTS]:
            place = Location(file, comment.line, comment.column)
            target = () if comment.target is None else paths.get((file, comment.target), ())
            match = _ID.match(comment.text)
            yield _Reference(match[1] if match else "", place, tuple(target))


def _collect(
    item: Item,
    path: SpecPath,
    wanted: Collection[tuple[str, int]],
    paths: dict[tuple[str, int], list[SpecPath]],
) -> None:
    """Note the outermost values that begin on the wanted lines, by their key or by themselves."""
    children: list[tuple[str | int, Item, int]] = []
    if isinstance(item.value, dict):
        children = [(key, entry.item, entry.line) for key, entry in item.value.items()]
    elif isinstance(item.value, list):
        children = [(number, child, child.line) for number, child in enumerate(item.value)]
    for part, child, line in children:
        here = (child.file, line)
        own = (*path, part)
        if here in wanted:
            known = paths.setdefault(here, [])
            inside = any(own[: len(outer)] == outer for outer in known)
            if not inside and len(known) < _MOST_PATHS:
                known.append(own)
        _collect(child, own, wanted, paths)


def _missing(reference: _Reference, known: Collection[str]) -> Notice:
    if not reference.id:
        text = "the comment names no waiver; write it like '# waiver: W-2026-014'"
        return Notice(Kind.REFERENCE, "waiver", "", text, reference.place)
    near = did_you_mean(reference.id, known)
    text = "the comment refers to a waiver that does not exist"
    text = f"{text}; {near}" if near else text
    return Notice(Kind.REFERENCE, reference.id, "", text, reference.place)


def _notice(waiver: Waiver, reference: _Reference, what: str) -> Notice:
    text = f"the comment refers to a waiver that {what}"
    return Notice(Kind.REFERENCE, waiver.id, waiver.policy, text, reference.place)


def _too_many(file: str) -> Notice:
    text = f"more than {MOST_COMMENTS:,} comments refer to waivers; the others are not looked at"
    return Notice(Kind.REFERENCE, "waiver", "", text, Location(file, 1, 1))
