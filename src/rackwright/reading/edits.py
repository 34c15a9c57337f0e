"""Edits of single scalars in the text of a YAML file; everything around them stays as it is.

Nothing here writes a file. An edit is believed only when the parser sees the same document with just
the scalars that were meant changed, so that no anchor, tag, quote or odd character can make it change
anything else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import yaml

from rackwright.errors import Location, SpecErrors
from rackwright.reading.yaml_reader import events, read_text

Scalar = str | int | float | bool
Position = tuple[int, int]
"""Line and column, from one."""

BOM = "\ufeff"
_PLAIN = re.compile(r"[A-Za-z0-9/]([A-Za-z0-9 ._/%°+-]*[A-Za-z0-9%°])?")


@dataclass(frozen=True, slots=True)
class Edit:
    """A scalar of a file, and what would stand there instead.

    Attributes:
        location: where it begins.
        end: column behind its last character, on the same line.
        start: number of characters of the text before it; a byte order mark does not count.
        key: the key that it is the value of; empty for an item of a list.
        old: its text, with its quotes.
        new: the text that would replace it.
        contested: another finding suggests another text for the same place.
    """

    location: Location
    end: int
    start: int
    key: str
    old: str
    new: str
    contested: bool = False


@dataclass(frozen=True, slots=True)
class Revised:
    """A file as it is and as edits would make it; a byte order mark is part of both.

    Attributes:
        lines: numbers of the lines that differ, from zero; no edit adds or removes a line.
    """

    file: str
    before: str
    after: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TextSpan:
    """The characters of a scalar in a text: ``text[start:stop]``."""

    start: int
    stop: int
    style: str


def spans(text: str, wanted: Collection[Position]) -> dict[Position, TextSpan]:
    """Return the scalars that begin at ``wanted`` and can be edited there.

    Left out are block scalars, those over several lines, with a tag or an anchor, and all inside of
    something with an anchor, which may stand for other places as well. There are none in a text
    that is not YAML.
    """
    found: dict[Position, TextSpan] = {}
    left = set(wanted)
    anchored: list[bool] = []
    try:
        for event in events(text):
            if isinstance(event, yaml.CollectionStartEvent):
                above = bool(anchored) and anchored[-1]
                anchored.append(above or event.anchor is not None)
            elif isinstance(event, yaml.CollectionEndEvent):
                anchored.pop()
            elif isinstance(event, yaml.ScalarEvent):
                mark: Any = event.start_mark
                end: Any = event.end_mark
                position = (mark.line + 1, mark.column + 1)
                if position not in left:
                    continue
                left.discard(position)
                alone = not (event.anchor or event.tag or (anchored and anchored[-1]))
                span = TextSpan(mark.index, end.index, event.style or "")
                if alone and _is_editable(text, span, position):
                    found[position] = span
                if not left:
                    break
    except (yaml.YAMLError, UnicodeError):
        return {}
    return found


def _is_editable(text: str, span: TextSpan, position: Position) -> bool:
    """Return True if the scalar is on one line, and that line has the number that editors give it."""
    old = text[span.start : span.stop]
    if not old or span.style not in {"", "'", '"'} or len(old.splitlines()) != 1:
        return False
    line = text.count("\n", 0, span.start) + 1
    column = span.start - text.rfind("\n", 0, span.start)
    here: Position = (line, column)
    return here == position


def scalar_text(value: Scalar, style: str) -> str:
    """Return ``value`` as YAML, in the quotes of ``style`` where it is text that needs or had some."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    if style == "'" and value.isprintable():
        return "'{}'".format(value.replace("'", "''"))
    if style == "" and _PLAIN.fullmatch(value) and means(value, value):
        return value
    return json.dumps(value, ensure_ascii=False)


def applied(text: str, edits: Sequence[Edit]) -> str:
    """Return ``text`` with ``edits``, which do not overlap."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda one: one.start):
        parts += [text[at : edit.start], edit.new]
        at = edit.start + len(edit.old)
    return "".join([*parts, text[at:]])


def changes_only(before: str, after: str, edits: Sequence[Edit]) -> bool:
    """Return True if the parser sees the same in both texts, apart from the scalars of ``edits``.

    Looking begins before the first edit, by more than a key can reach back, and ends soon behind the
    last one: what follows is the same text, and the parser comes to it in the same state.
    """
    by_start = {edit.start: edit for edit in edits}
    last, left, seen = max(by_start, default=0), _EVENTS_BEHIND, 0
    since = min(by_start, default=0) - _REACH
    for one, other in zip_longest(_events(before, since), _events(after, since)):
        if one is None or other is None:
            return False
        if one.text and (edit := by_start.get(one.start)):
            seen += 1
            if one.seen != _seen(edit.old) or other.seen != _seen(edit.new):
                return False
        elif one.seen != other.seen:
            return False
        left -= one.start > last
        if not left:
            break
    return seen == len(by_start)


_EVENTS_BEHIND = 8
_REACH = 4096
"""Characters; a key without a mark of its own has at most 1,024, all on one line."""


@dataclass(frozen=True, slots=True)
class _Event:
    """Event of the parser and its position; ``text`` is True for a scalar with text."""

    seen: tuple[object, ...]
    start: int
    text: bool


def _events(text: str, since: int = 0) -> Iterator[_Event]:
    """Yield the events of ``text`` that begin at ``since`` or behind it.

    They end without the end of the stream where it is not YAML.
    """
    try:
        for event in events(text):
            start: Any = event.start_mark
            if start.index < since:
                continue
            names = ("value", "style", "anchor", "tag", "flow_style")
            seen = (type(event), *(getattr(event, name, None) for name in names))
            end: Any = event.end_mark
            is_text = isinstance(event, yaml.ScalarEvent) and end.index > start.index
            yield _Event(seen, start.index, is_text)
    except (yaml.YAMLError, UnicodeError):
        return


def _seen(scalar: str) -> tuple[object, ...]:
    """Return the parser's events of a scalar alone."""
    return next((event.seen for event in _events(scalar) if event.text), ())


def means(scalar: str, value: object) -> bool:
    """Return True if a scalar, as it is written, is ``value``."""
    try:
        found = read_text(scalar, "").value
    except SpecErrors:
        return False
    return type(found) is type(value) and bool(found == value)
