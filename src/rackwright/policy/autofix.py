"""Changes of the blueprint's files that a report suggests; nothing is ever changed here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rackwright.errors import Location, SpecErrors
from rackwright.policy.api import Outcome, Suggestion
from rackwright.policy.engine import Report
from rackwright.reading.edits import (
    BOM,
    Edit,
    Position,
    Revised,
    applied,
    changes_only,
    means,
    scalar_text,
    spans,
)
from rackwright.reading.tree import Item, Tree
from rackwright.reading.yaml_reader import read_raw

Read = Callable[[Path], bytes]


@dataclass(frozen=True, slots=True)
class _Wish:
    """Suggestion of one result at the place where the value is written."""

    result: int
    item: Item
    suggestion: Suggestion

    @property
    def position(self) -> Position:
        return self.item.line, self.item.column


def with_edits(report: Report, tree: Tree, read: Read = read_raw) -> Report:
    """Return ``report`` with the edits that its failures suggest, and with the files they would make.

    A value that cannot be changed alone, or that no file of the blueprint holds, gets no edit.

    Args:
        report: finished.
        tree: the document that was judged.
        read: the content of a file of ``tree``.
    """
    by_file: dict[str, list[_Wish]] = {}
    for number, result in enumerate(report.results):
        suggestion = result.suggest
        if suggestion is None or result.outcome is not Outcome.FAIL:
            continue
        item = tree.find(suggestion.path)
        if item is None or isinstance(item.value, (dict, list)) or item.file not in tree.files:
            continue
        if item.derived:  # what stands at its place is something else
            continue
        if type(item.value) is type(suggestion.value) and item.value == suggestion.value:
            continue
        by_file.setdefault(item.file, []).append(_Wish(number, item, suggestion))
    if not by_file:
        return report
    results, revised = list(report.results), []
    for file, wishes in by_file.items():
        edits, made = _of_file(file, wishes, read)
        for number, edit in edits.items():
            results[number] = replace(results[number], edit=edit)
        if made is not None:
            revised.append(made)
    return replace(report, results=tuple(results), revised=tuple(revised))


def _of_file(
    file: str, wishes: Sequence[_Wish], read: Read
) -> tuple[Mapping[int, Edit], Revised | None]:
    """Return the edits of one file by the number of their result, and the file with them."""
    try:
        whole = read(Path(file)).decode("utf-8")
    except (SpecErrors, UnicodeDecodeError):
        return {}, None
    text = whole.removeprefix(BOM)
    edits = _edits(file, text, wishes)
    by_place: dict[Position, dict[str, _Wish]] = {}
    for wish in wishes:
        if wish.result in edits:
            by_place.setdefault(wish.position, {})[edits[wish.result].new] = wish
    first = {place: next(iter(by.values())) for place, by in by_place.items()}
    trial = [edits[wish.result] for wish in first.values()]
    if not changes_only(text, applied(text, trial), trial):
        return {}, None
    marked = {
        wish.result: replace(edits[wish.result], contested=len(by_place[wish.position]) > 1)
        for wish in wishes
        if wish.result in edits
    }
    sure = [edits[w.result] for place, w in first.items() if len(by_place[place]) == 1]
    if not sure:
        return marked, None
    mark = whole[: len(whole) - len(text)]
    lines = sorted({edit.location.line - 1 for edit in sure})
    return marked, Revised(file, whole, mark + applied(text, sure), tuple(lines))


def _edits(file: str, text: str, wishes: Sequence[_Wish]) -> dict[int, Edit]:
    found = spans(text, {wish.position for wish in wishes})
    edits = {}
    for wish in wishes:
        if (span := found.get(wish.position)) is None:
            continue
        old, key = text[span.start : span.stop], wish.suggestion.path[-1]
        new = scalar_text(wish.suggestion.value, span.style)
        if not means(old, wish.item.value) or not means(new, wish.suggestion.value):
            continue
        line, column = wish.position
        edits[wish.result] = Edit(
            Location(file, line, column),
            column + len(old),
            span.start,
            key if isinstance(key, str) else "",
            old,
            new,
        )
    return edits
