"""The suggested edits as a patch, for ``git apply`` and ``patch -p1``.

Only lines with an edit differ, and none is added or removed, so the hunks follow from their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rackwright.policy.engine import Report
from rackwright.reading.edits import Revised
from rackwright.report.formats import Context

CONTEXT = 3
"""Lines around an edit that show where it belongs."""
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def render_patch(report: Report, context: Context) -> str:
    """Return one unified diff of every file that would change; empty when nothing is suggested.

    Names are from the top of the repository; those of files outside it from the root folder.
    """
    return "".join(line for one in report.revised for line in _file(one))


def _file(revised: Revised) -> Iterator[str]:
    name = revised.file.lstrip("/")
    old, new = _name(f"a/{name}"), _name(f"b/{name}")
    # A name with a space ends at a tab, or 'patch' would take the rest for a date.
    tab = "\t" if " " in name else ""
    yield f"diff --git {old} {new}\n--- {old}{tab}\n+++ {new}{tab}\n"
    before, after = revised.before.split("\n"), revised.after.split("\n")
    ended = before[-1] == ""  # the last line has its newline
    total = len(before) - ended
    for group in _hunks(revised.lines):
        first, last = max(0, group[0] - CONTEXT), min(total, group[-1] + CONTEXT + 1)
        span = f"{first + 1},{last - first}"
        yield f"@@ -{span} +{span} @@\n"
        yield from _hunk(before, after, range(first, last), None if ended else total - 1)


def _hunks(lines: Sequence[int]) -> Iterator[list[int]]:
    """Yield the changed lines, those together whose context would touch."""
    group: list[int] = []
    for line in lines:
        if group and line - group[-1] > 2 * CONTEXT:
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _hunk(
    before: Sequence[str], after: Sequence[str], numbers: range, unended: int | None
) -> Iterator[str]:
    """Yield the lines of a hunk: removed ones of a run first, as every tool writes them."""
    removed: list[str] = []
    added: list[str] = []
    for number in numbers:
        end = "\n\\ No newline at end of file\n" if number == unended else "\n"
        if before[number] == after[number]:
            yield from (*removed, *added)
            removed, added = [], []
            yield f" {before[number]}{end}"
        else:
            removed.append(f"-{before[number]}{end}")
            added.append(f"+{after[number]}{end}")
    yield from (*removed, *added)


def _name(path: str) -> str:
    """Return a path as git writes it: in quotes with octal bytes where it is not plain."""
    if all(" " <= c < "\x7f" and c not in _ESCAPES for c in path):
        return path
    made = [
        _ESCAPES.get(c, c)
        if c in _ESCAPES or " " <= c < "\x7f"
        else "".join(f"\\{byte:03o}" for byte in c.encode("utf-8", "surrogateescape"))
        for c in path
    ]
    return f'"{"".join(made)}"'
