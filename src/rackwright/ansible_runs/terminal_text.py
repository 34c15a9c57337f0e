"""Text of others for a terminal: nothing in it steers the terminal, or hides."""

from __future__ import annotations

import re
import unicodedata

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours and movements
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS …
    r"|\x1b[ -/]*[0-~]?"
)
"""Control sequences by ECMA-48."""


def plain(text: object) -> str:
    """``text`` on one line without control sequences, and without what is not printable."""
    words = str(text)
    if not words.isprintable():
        words = " ".join(_SEQUENCE.sub("", words).split())
        words = "".join(sign for sign in words if sign.isprintable())
    return words


def cells(text: str) -> int:
    """The columns that printable ``text`` takes on a terminal."""
    return len(text) if text.isascii() else sum(map(_cell, text))


def cut(text: str, room: int) -> str:
    """``text`` in at most ``room`` columns, with an ellipsis where something is missing."""
    if cells(text) <= room:
        return text
    if room < 1:
        return ""
    kept, used = [], 0
    for sign in text:
        used += _cell(sign)
        if used > room - 1:
            break
        kept.append(sign)
    return f"{''.join(kept)}…"


def _cell(sign: str) -> int:
    if unicodedata.combining(sign):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1
