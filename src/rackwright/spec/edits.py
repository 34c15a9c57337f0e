"""Edits of single scalars in the text of a YAML file; everything around them stays as it is.

Nothing here writes a file. An edit is believed only when the edited text reads as the same document
with just the values that were meant changed, so that no anchor, tag, quote or odd character can make
it change anything else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from rackwright.errors import Location, SpecErrors
from rackwright.spec.tree import Item
from rackwright.spec.yaml_reader import read_text

Scalar = str | int | float | bool
Position = tuple[int, int]
"""Line and column, from one."""

BOM = "\ufeff"
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
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
class Span:
    """The characters of a scalar in a text: ``text[start:stop]``."""

    start: int
    stop: int
    style: str


def spans(text: str, wanted: Collection[Position]) -> dict[Position, Span]:
    """The scalars that begin at ``wanted`` and can be edited there.

    Left out are block scalars, those over several lines, with a tag or an anchor, and all inside of
    something with an anchor, which may stand for other places as well. There are none in a text
    that is not YAML.
    """
    found: dict[Position, Span] = {}
    anchored: list[bool] = []
    loader = _Loader(text)
    try:
        while loader.check_event():
            event = loader.get_event()
            if isinstance(event, yaml.CollectionStartEvent):
                above = bool(anchored) and anchored[-1]
                anchored.append(above or event.anchor is not None)
            elif isinstance(event, yaml.CollectionEndEvent):
                anchored.pop()
            elif isinstance(event, yaml.ScalarEvent):
                mark: Any = event.start_mark
                end: Any = event.end_mark
                position = (mark.line + 1, mark.column + 1)
                if position not in wanted or event.anchor or event.tag:
                    continue
                if anchored and anchored[-1]:
                    continue
                span = Span(mark.index, end.index, event.style or "")
                if _is_editable(text, span, position):
                    found[position] = span
    except (yaml.YAMLError, UnicodeError):
        return {}
    finally:
        loader.dispose()
    return found


def _is_editable(text: str, span: Span, position: Position) -> bool:
    """Whether the scalar is on one line, and that line has the number that editors give it."""
    old = text[span.start : span.stop]
    if not old or span.style not in {"", "'", '"'} or len(old.splitlines()) != 1:
        return False
    line = text.count("\n", 0, span.start) + 1
    column = span.start - text.rfind("\n", 0, span.start)
    here: Position = (line, column)
    return here == position


def scalar_text(value: Scalar, style: str) -> str:
    """``value`` as YAML, in the quotes of ``style`` where it is text that needs or had some."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    if style == "'" and value.isprintable():
        return "'{}'".format(value.replace("'", "''"))
    if style == "" and _PLAIN.fullmatch(value) and _reads_as(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _reads_as(text: str) -> bool:
    """Whether ``text`` without quotes is that text: ``24.05`` is a number."""
    try:
        return bool(read_text(text, "").value == text)
    except SpecErrors:
        return False


def applied(text: str, edits: Sequence[Edit]) -> str:
    """``text`` with ``edits``, which do not overlap."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda one: one.start):
        parts += [text[at : edit.start], edit.new]
        at = edit.start + len(edit.old)
    return "".join([*parts, text[at:]])


def changes_only(before: str, after: str, meant: Mapping[Position, tuple[Any, Scalar]]) -> bool:
    """Whether two texts read as documents that differ in ``meant`` and in nothing else.

    Args:
        before: a text that can be read.
        after: the edited one.
        meant: old and new value by the position in ``before``.
    """
    try:
        found = list(_differences(read_text(before, ""), read_text(after, "")))
    except SpecErrors:
        return False
    expected = [(position, *values) for position, values in meant.items()]
    return sorted(map(repr, found)) == sorted(map(repr, expected))


def _differences(one: Item, other: Item) -> Iterator[tuple[Position, Any, Any]]:
    old, new = one.value, other.value
    if isinstance(old, dict) and isinstance(new, dict) and list(old) == list(new):
        for key in old:
            yield from _differences(old[key].item, new[key].item)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for before, after in zip(old, new, strict=True):
            yield from _differences(before, after)
    elif type(old) is not type(new) or old != new:
        yield (one.line, one.column), old, new
