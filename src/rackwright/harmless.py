r"""Text of others made harmless: nothing that shows it, or that reads a job's log, obeys it.

Names, reasons and messages come from a change that is judged, from hosts and from programs that
are driven. In a log they can be more than text:

- GitHub's runner obeys ``##[command]`` anywhere in a line, and ``::command::`` at its begin after
  blanks. It compares by the rules of a language, for which a character without width is not there.
  Other runners have ``##vso[`` and ``##teamcity[``.
- GitLab folds what stands between ``section_start`` and ``section_end``, marked by a carriage
  return and an escape sequence.
- A terminal obeys control characters, and turns lines around by marks of direction.

What is obeyed is shown by escapes instead. Documents keep their values: what reads them gets back
what was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_STEERING = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters, but not tabs and ends of lines
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufff9-\ufffb"
    "\U000e0000-\U000e007f"  # no width, another direction, another line
    "\ud800-\udfff]"  # no text at all
    "|\r(?!\n)"
)
# All beyond ASCII counts as without width: some of it is, in one language or another, and none is
# part of a command. The sets say what is not in them, which is compiled in no time.
_NO_WIDTH = r"[^\x00-\x7f]"
_LETTER = r"[^\x00-@\[-`{-\x7f]"
_BLANK = r"[^\x00-\x08\n-\x1f!-\x7f]"
_MARK = re.compile(rf"#{_NO_WIDTH}*#{_LETTER}*\[")
_BEGIN = re.compile(rf"\n{_BLANK}*:{_NO_WIDTH}*:")
_BEGUN = re.compile(rf"(?:#{_NO_WIDTH}*(?:#{_LETTER}*)?|^{_BLANK}*(?::{_NO_WIDTH}*)?)\Z")
"""The end of a line so far with which more text could make a command."""

_WRITTEN = "."
"""Stands for the begin of a line with which no command at its begin can be made any more."""

COLOURS = re.compile(r"\x1b\[(?:3[1-6]|[01])?m")
"""Our own colours."""
DRAWING = re.compile(rf"{COLOURS.pattern}|\r|\x1b\[2K")
"""What draws a line of a terminal again."""
ANNOTATIONS = re.compile(r"(?m)^::(?:error|warning|notice) (?=[^\n]*::)")
"""Our own commands to GitHub's runner; their values are of others."""


class OpenLine:
    """The line that is being written, in parts that may come one by one."""

    def __init__(self) -> None:
        self._begun = ""

    def shown(self, text: str) -> str:
        """Return the next part, made harmless."""
        # An escape is put for the last character of a command, and what has begun holds no other.
        made = _escaped(text, _escape, self._begun)
        start = made.rfind("\n") + 1
        rest = made[start:] if start else self._begun + made
        begun = _BEGUN.search(rest)
        if begun is None:
            self._begun = _WRITTEN
        else:
            self._begun = rest if begun.start() == 0 else _WRITTEN + begun[0]
        return made

    def go_on(self, other: OpenLine) -> None:
        """Be where ``other`` is."""
        self._begun = other._begun

    def own(self, text: str) -> str:
        """Return the next part, which is our own and stays as it is."""
        self._begun = "" if text.endswith(("\r", "\n")) else _WRITTEN
        return text


def harmless(text: str, keep: re.Pattern[str] | None = None, line: OpenLine | None = None) -> str:
    """Return ``text``, lines and all, as it can be shown: escapes stand for what would be obeyed.

    Args:
        text: what is to be shown.
        keep: what is our own in it, and meant to be obeyed.
        line: what it goes on with; it begins a line unless one is given.
    """
    line = line or OpenLine()
    if keep is None:
        return line.shown(text)
    parts, end = [], 0
    for found in keep.finditer(text):
        parts += [line.shown(text[end : found.start()]), line.own(found[0])]
        end = found.end()
    return "".join([*parts, line.shown(text[end:])])


def harmless_json(text: str) -> str:
    """Return a document of JSON that says the same, and holds nothing that is obeyed."""
    return _escaped(text, _json_escape)


def harmless_xml(text: str) -> str:
    """Return a document of XML that says the same, and holds nothing that is obeyed."""
    # A reader would take the end of a line that has two signs for one of one sign.
    return _escaped(text.replace("\r", "&#13;"), lambda sign: f"&#{ord(sign)};")


def harmless_diagnostic(text: str) -> str:
    """Return ``text`` for Pulumi's engine, which takes ``<{%`` and what follows for a colour."""
    return harmless(text.replace("<{%", "<\\x7b%"))


def json_text(
    document: Any,
    *,
    indent: int = 2,
    sort_keys: bool = False,
    default: Callable[[Any], object] | None = None,
) -> str:
    """Return ``document`` as JSON that can be shown, with an end of line."""
    import json

    text = json.dumps(
        document, indent=indent, ensure_ascii=False, sort_keys=sort_keys, default=default
    )
    return harmless_json(text) + "\n"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 host``, ``1,024 hosts``, ``2 switches``, ``2 policies``."""
    if number != 1:
        if noun.endswith("y") and noun[-2:-1] not in "aeiou":
            noun = f"{noun[:-1]}ie"
        elif noun.endswith(("s", "x", "ch", "sh")):
            noun += "e"
        noun += "s"
    return f"{number:,} {noun}"


def visible(text: str, blanks: str = "") -> str:
    """Return ``text`` on one line: escapes stand for all that cannot be seen, but not for ``blanks``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in blanks else _escape(c) for c in text)


def _escaped(text: str, escape: Callable[[str], str], begun: str = "") -> str:
    """Return ``text``, after ``begun`` on the same line, with escapes for what would be obeyed."""
    # Most text is printable, which is seen faster than that nothing in it steers.
    if not text.replace("\n", "").isprintable():
        text = _STEERING.sub(lambda found: escape(found[0]), text)
    before = f"\n{begun}"
    whole = before + text
    for command in (_MARK, _BEGIN):
        whole = command.sub(lambda found: f"{found[0][:-1]}{escape(found[0][-1])}", whole)
    return whole[len(before) :]


def _escape(sign: str) -> str:
    made = sign.encode("unicode_escape").decode()
    return made if made != sign else f"\\x{ord(sign):02x}"


def _json_escape(sign: str) -> str:
    """Return the escape of ``sign`` in JSON, which is that of UTF-16."""
    units = sign.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
