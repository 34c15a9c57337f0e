"""Text of others for a terminal: nothing in it steers the terminal, or hides."""

from __future__ import annotations

import re

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours and movements
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS …
    r"|\x1b[ -/]*[0-~]?"
)
"""Control sequences by ECMA-48."""


def plain(text: object) -> str:
    """Return ``text`` on one line without control sequences, and without what is not printable."""
    words = str(text)
    if not words.isprintable():
        words = " ".join(_SEQUENCE.sub("", words).split())
        words = "".join(sign for sign in words if sign.isprintable())
    return words
