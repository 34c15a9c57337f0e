"""Comments of a YAML text that begin with a mark, told from the same characters inside a scalar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import yaml

from rackwright.spec.yaml_reader import events

MOST_COMMENTS = 1_000
"""Marked comments of one text that are looked at; more are no notes of people."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment that begins with the mark.

    Attributes:
        line: of its ``#``, from one; the same for ``column``.
        text: what follows the mark, to the end of the line.
        target: line that it is about: its own, or, where it stands alone, the next one that is
            neither blank nor a comment; None where none follows soon.
    """

    line: int
    column: int
    text: str
    target: int | None


def marked_comments(text: str, mark: str) -> list[Comment]:
    """The comments ``# mark…`` of ``text``, which is acceptable YAML, in order.

    A text without the mark costs one search for it.
    """
    if mark not in text:
        return []
    found = re.finditer(rf"(?:^|(?<=[ \t\n\r]))#[ \t]*{re.escape(mark)}", text)
    return _placed(text, list(islice(_outside(text, found), MOST_COMMENTS + 1)))


def _outside(text: str, found: Iterator[re.Match[str]]) -> Iterator[re.Match[str]]:
    """The matches that begin the comment of their line.

    Both scalars and matches come in the order of the text, so one pass over both is enough.
    """
    match = next(found, None)
    done = 0
    for start, stop in _scalars(text):
        if match is None:
            return
        while match is not None and match.start() < start:
            if match.start() >= done:
                if _begins(text, done, match.start()):
                    yield match
                # Behind a comment there is nothing else on its line.
                done = _end_of_line(text, match.end())
            match = next(found, None)
        done = max(done, stop)
    while match is not None:
        if match.start() >= done:
            if _begins(text, done, match.start()):
                yield match
            done = _end_of_line(text, match.end())
        match = next(found, None)


def _scalars(text: str) -> Iterator[tuple[int, int]]:
    """Where each scalar begins and ends, in order; none behind what is not YAML."""
    try:
        for event in events(text):
            if isinstance(event, yaml.ScalarEvent):
                start: Any = event.start_mark
                end: Any = event.end_mark
                yield start.index, end.index
    except (yaml.YAMLError, UnicodeError):
        yield len(text), len(text)


def _begins(text: str, done: int, at: int) -> bool:
    """Whether no other comment begins on the line before ``at``; scalars end before ``done``."""
    start = max(done, text.rfind("\n", 0, at) + 1)
    return re.search(r"(?:^|[ \t])#", text[start:at]) is None


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _placed(text: str, matches: list[re.Match[str]]) -> list[Comment]:
    made = []
    line, counted = 1, 0
    for match in matches:
        at, end = match.start(), _end_of_line(text, match.end())
        line += text.count("\n", counted, at)
        counted = at
        start = text.rfind("\n", 0, at) + 1
        alone = not text[start:at].strip(" \t")
        target = _below(text, line, end) if alone else line
        made.append(Comment(line, at - start + 1, text[match.end() : end].rstrip("\r"), target))
    return made


_MOST_BELOW = 20
"""Lines below a comment that are looked at for what it is about."""
_BELOW = re.compile(r"[ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)")


def _below(text: str, line: int, end: int) -> int | None:
    """The next line with something on it, behind line number ``line`` that ends at ``end``."""
    at = end + 1
    for number in range(line + 1, line + 1 + _MOST_BELOW):
        if at >= len(text):
            return None
        match = _BELOW.match(text, at)
        if match is None:
            return number
        at = match.end()
    return None
