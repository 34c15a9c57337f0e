"""The report as a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rackwright.errors import Location
from rackwright.exit_codes import ExitCode
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report, Result
from rackwright.policy.exception_report import Notice
from rackwright.report.escaping import code, prose, shortened
from rackwright.report.formats import Context
from rackwright.report.text import summary
from rackwright.report.wording import (
    FOUND,
    MOST_SUBJECTS,
    alike,
    because,
    edit_line,
    edits_of,
    in_preview,
    is_counted,
    later_line,
    lowered_line,
    preview_head,
    previews,
    refused_later,
    standing,
)

LARGEST = 65_536
"""Most bytes of a comment, counted in UTF-8, as GitHub counts them."""
LONGEST = 600
"""Most characters of one text from the blueprint; a name can be of any length."""
REFUSED = "- **Refused**"
"""How a line of the comparison begins that refuses the change; no name can begin a line."""
UNCOMPARED = "- **Not compared**"
"""How the line begins that stands for a comparison which failed."""
_NOTE = "\n*{count:,} more did not fit here; the job's artefacts contain all of them.*\n"
_RESERVED = 160
"""Bytes kept for that note, whatever its number."""


@dataclass(frozen=True)
class Section:
    """A part of the comment that may lose items from its end.

    Attributes:
        fold: its title when it is folded away; None when it is open.
        head: what stands before the items.
        items: Markdown, each with its final newline.
    """

    items: tuple[str, ...]
    head: str = ""
    fold: str | None = None

    @property
    def opening(self) -> str:
        """Text before the items."""
        folded = f"<details><summary>{self.fold}</summary>\n\n" if self.fold else ""
        return f"\n{folded}{self.head}"

    @property
    def closing(self) -> str:
        """Text behind the items."""
        return "\n</details>\n" if self.fold else ""


def marker(file: str) -> str:
    """Return the hidden line that the comment about a blueprint is found again by.

    The file names it, not the cluster: one that cannot be read has no cluster's name.
    """
    return f"<!-- rackwright:pr:{re.sub(r'[^A-Za-z0-9._-]', '-', file)} -->"


def render_markdown(report: Report, context: Context, *, largest: int = LARGEST) -> str:
    """Return the verdict, the changed budgets, what was found; details are folded away.

    The result has at most ``largest`` bytes. Details are dropped from the end, the verdict never.
    """
    headline = _headline(report, context.delta or "")
    start = f"{marker(context.file or report.blueprint)}\n### {headline}\n"
    run = f" ([the run]({context.link}))" if context.link else ""
    end = f"\n{prose(summary(report))}{run}\n"
    table, folded = _delta(context.delta)
    return _fit(start, [*table, *_sections(report), *folded], end, largest)


def _headline(report: Report, delta: str) -> str:
    name = _prose(report.blueprint)
    lines = delta.splitlines()
    blocking = sum(1 for result in report.results if result.blocks)
    if report.exit_code is ExitCode.NOTHING:
        return f"rackwright: nothing to check in {name}"
    if report.exit_code is ExitCode.WAIVER:
        return f"rackwright: waivers of {name} are not in order"
    if not blocking and any(line.startswith(UNCOMPARED) for line in lines):
        return f"rackwright: the change to {name} cannot be compared with its base"
    if not blocking and any(line.startswith(REFUSED) for line in lines):
        return f"rackwright: the change to {name} is refused"
    if not blocking and (words := refused_later(report)):
        return f"rackwright: {name} passes policy set {report.regime.policy_set}, but {words}"
    if not blocking:
        return f"rackwright: {name} passes"
    return f"rackwright: {blocking:,} blocking finding{'s' if blocking != 1 else ''} in {name}"


def _delta(text: str | None) -> tuple[list[Section], list[Section]]:
    """Return the table of changed budgets, and what is folded below it: one item, kept whole or not."""
    if not text or not text.strip():
        return [], []
    table, fold, rest = text.strip().partition("<details")
    lines = tuple(f"{line}\n" for line in table.rstrip().splitlines())
    return [Section(lines)], [Section((f"{fold}{rest}\n",))] if fold else []


def _sections(report: Report) -> list[Section]:
    found = alike(r for r in report.results if r.outcome in FOUND and not is_counted(r))
    blocking = tuple(_finding(group) for group in found if group[0].blocks)
    known = [group for group in found if _is_known(group[0])]
    others = [group for group in found if not group[0].blocks and not _is_known(group[0])]
    waived = tuple(
        _finding(group) for group in alike(r for r in report.results if r.outcome is Outcome.WAIVED)
    )
    sections = []
    if blocking:
        sections.append(Section(blocking))
    if waived:
        sections.append(Section(waived, head="#### Waived\n\n"))
    if report.lowered:
        lowered = tuple(
            f"- {_prose(lowered_line(rule))}{_place(rule.location)}\n" for rule in report.lowered
        )
        sections.append(Section(lowered, head="#### Lowered by the blueprint\n\n"))
    if report.hygiene and report.hygiene.notices:
        notices = sorted(report.hygiene.notices, key=lambda notice: not notice.problem)
        sections.append(
            Section(tuple(map(_notice, notices)), head="#### Waivers, baseline and settings\n\n")
        )
    for title, groups in (("Warnings", others), ("Known to the baseline", known)):
        if groups:
            fold = f"{title} ({sum(map(len, groups)):,})"
            sections.append(Section(tuple(map(_finding, groups)), fold=fold))
    if lines := previews(report.results):
        new = sum(1 for result in report.results if in_preview(result))
        head = preview_head(report)
        fold = f"{head[:1].upper()}{head[1:]} ({new:,})"
        sections.append(Section(tuple(f"- {_prose(line)}\n" for line in lines), fold=fold))
    if line := later_line(report):
        sections.append(Section((f"\n{_prose(line)}\n",)))
    return sections


def _is_known(result: Result) -> bool:
    return bool(result.baseline_state and result.baseline_state.tolerated)


def _place(where: Location | None) -> str:
    return f" ({code(f'{where.file}:{where.line}')})" if where else ""


def _notice(notice: Notice) -> str:
    place = _place(notice.location)
    word = prose(notice.kind.value.replace("_", " "))
    return f"- {word}: **{_prose(notice.id)}** {_prose(notice.message)}{place}\n"


def _finding(results: Sequence[Result]) -> str:
    """Return one finding as an item of a list."""
    result = results[0]
    place = _place(result.location)
    lines = [
        f"- **{result.policy}** {_prose(result.title)}: **{_prose(result.subject.name)}**{place}",
        f"  {_prose(result.message)}",
    ]
    if names := [_prose(other.subject.name) for other in results[1 : MOST_SUBJECTS + 1]]:
        more = len(results) - 1 - len(names)
        lines.append(f"  The same: {', '.join(names)}" + (f" and {more:,} more" if more else ""))
    if state := standing(result):
        lines.append(f"  {_prose(state[:1].upper() + state[1:])}")
    if reason := because(result):
        lines.append(f"  Because: {_prose(reason)}")
    if result.fix:
        lines.append(f"  Fix: {_prose(result.fix)}")
    lines += [f"  Suggested: {_prose(edit_line(e))}{_place(e.location)}" for e in edits_of(results)]
    return "<br>\n".join(lines) + "\n"


def _prose(text: str) -> str:
    return prose(shortened(text, LONGEST))


def _fit(start: str, sections: Sequence[Section], end: str, largest: int) -> str:
    """Return the sections between ``start`` and ``end``, as far as they fit.

    Raises:
        ValueError: not even ``start`` and ``end`` fit.
    """
    left = largest - _size(start) - _size(end) - _RESERVED
    if left < 0:
        raise ValueError(f"a comment of {largest} bytes cannot hold the verdict")
    parts = [start]
    dropped = 0
    for section in sections:
        used = _size(section.opening) + _size(section.closing)
        kept: list[str] = []
        for item in section.items:
            if dropped or used + _size(item) > left:
                break
            kept.append(item)
            used += _size(item)
        dropped += len(section.items) - len(kept)
        if kept:
            parts += [section.opening, *kept, section.closing]
            left -= used
    if dropped:
        parts.append(_NOTE.format(count=dropped))
    return "".join([*parts, end])


def _size(text: str) -> int:
    return len(text.encode("utf-8"))
