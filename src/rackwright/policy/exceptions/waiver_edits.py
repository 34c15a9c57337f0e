"""Changes to the text of a file of waivers; comments and the order of everything else stay."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence

from rackwright.errors import RackwrightError, SpecErrors
from rackwright.policy.exceptions.waivers import Waiver, WaiverFile
from rackwright.reading.loader import Loaded, load_text

_EMPTY = re.compile(r"^waivers:[ \t]*\[[ \t]*\]", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._@/-]*( [A-Za-z0-9._@/-]+)*|\d{4}-\d\d-\d\d", re.ASCII)
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off"})


class UneditableError(RackwrightError):
    """A file is written in a way that cannot be changed without losing something."""

    code = "waivers-uneditable"


def appended(text: str | None, waiver: Waiver) -> str:
    """Return ``text``, or a new file, with ``waiver`` at its end.

    Raises:
        SpecErrors: the text is no file of waivers, or has a waiver of that id.
        UneditableError: it is written in an unusual way.
    """
    if text is None:
        return "waivers:\n" + "".join(_lines(waiver, "  "))
    loaded = load_text(text, WaiverFile)
    held = loaded.value.waivers
    if held:
        indent = " " * max(0, loaded.tree.locate(("waivers", 0)).column - 3)
        made = text.rstrip("\n") + "\n" + "".join(_lines(waiver, indent))
    else:
        item = "".join(_lines(waiver, "  "))
        made = _EMPTY.sub(lambda _: "waivers:\n" + item.rstrip("\n"), text, count=1)
    return _checked(made, (*held, waiver), f"add '{waiver.id}' to it by hand")


def without(text: str, ids: Collection[str]) -> str:
    """Return ``text`` without the waivers called ``ids`` and the comments above them.

    Raises:
        SpecErrors: the text is no file of waivers.
        UneditableError: it is written in an unusual way.
    """
    loaded = load_text(text, WaiverFile)
    lines = text.splitlines(keepends=True)
    gone: set[int] = set()
    for number, (start, end) in enumerate(_spans(lines, loaded)):
        if loaded.value.waivers[number].id in ids:
            gone.update(range(start, end))
    made = "".join(line for number, line in enumerate(lines) if number not in gone)
    left = tuple(waiver for waiver in loaded.value.waivers if waiver.id not in ids)
    if not left:
        made = re.sub(r"^waivers:", "waivers: []", made, count=1, flags=re.MULTILINE)
    return _checked(made, left, f"remove {', '.join(sorted(ids))} from it by hand")


def next_id(waivers: Sequence[Waiver], year: int) -> str:
    """Return the next free id of the year, like ``W-2026-014``."""
    taken = {waiver.id for waiver in waivers}
    number = 1
    while f"W-{year}-{number:03}" in taken:
        number += 1
    return f"W-{year}-{number:03}"


def _checked(text: str, expected: tuple[Waiver, ...], hint: str) -> str:
    """Return ``text``, when it reads as ``expected``.

    Raises:
        SpecErrors: something is given twice in it.
        UneditableError: it reads otherwise.
    """
    try:
        made = load_text(text, WaiverFile).value.waivers
    except SpecErrors as error:
        if any("given twice" in item.summary for item in error.errors):
            raise
        made = ()
    if made != expected:
        raise UneditableError("the file of waivers is written in an unusual way", hint=hint)
    return text


def _spans(lines: Sequence[str], loaded: Loaded[WaiverFile]) -> Iterator[tuple[int, int]]:
    """Yield the first line of each waiver, its comments included, and the line after its last; from zero."""
    starts = []
    for number in range(len(loaded.value.waivers)):
        start = loaded.tree.locate(("waivers", number)).line - 1
        while start > 0 and lines[start - 1].lstrip(" ").startswith("#"):
            start -= 1
        starts.append(start)
    end = len(lines)
    while end > 0 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1
    for number, start in enumerate(starts):
        yield start, starts[number + 1] if number + 1 < len(starts) else end


def _lines(waiver: Waiver, indent: str) -> Iterator[str]:
    """Yield the waiver as an item of a list."""
    lead = f"{indent}- "
    for key, value in waiver.model_dump(mode="json", exclude_defaults=True).items():
        if isinstance(value, dict):
            yield f"{lead}{key}:\n"
            for name, pattern in value.items():
                yield f"{indent}    {name}: {_scalar(pattern)}\n"
        else:
            yield f"{lead}{key}: {_scalar(value)}\n"
        lead = f"{indent}  "


def _scalar(value: object) -> str:
    """Return a value that reads back as it is."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)
