"""Text from a pull request, made safe for the Markdown of GitHub and GitLab."""

from __future__ import annotations

import re

from rackwright.report.wording import printable

BREAK = "&#8203;"
"""A space of no width: what it parts is no mention, reference or address any more."""

_SYNTAX = re.compile(r"([\\`*_\[\]|~#!<>&])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_REFERENCE = re.compile(r"([@#!$%~])(?=[\w\"'])|(&)(?=\w)")
_ADDRESS = re.compile(r"(?i)(:)(?=//)|(?<=\bwww)(\.)|(?<=\bmailto)(:)|(?<=\bxmpp)(:)")
_PARTED = "\ue000"  # of no meaning to anybody; escaped by ``printable`` when a name holds it


def prose(text: str) -> str:
    """Return ``text`` as words in a paragraph or a cell: nothing in it is markup, a mention or a link."""
    line = printable(text)
    line = _REFERENCE.sub(lambda found: f"{found[0]}{_PARTED}", line)
    if line.startswith("/"):  # a command to GitLab at the start of a line
        line = f"{_PARTED}{line}"
    line = _ADDRESS.sub(lambda found: f"{_PARTED}{found[0]}", line)
    line = _SYNTAX.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), line)
    return line.replace(_PARTED, BREAK)


def code(text: str) -> str:
    """Return ``text`` as a code span, which a cell of a table can hold as well."""
    line = printable(text).replace("|", "\\|")
    if not line.strip():
        return ""
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{fence}{space}{line}{space}{fence}"


def shortened(text: str, most: int) -> str:
    """Return ``text`` of at most ``most`` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
