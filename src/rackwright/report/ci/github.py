"""The report as workflow commands: GitHub shows them beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rackwright.harmless import harmless
from rackwright.policy.engine import Report, Result
from rackwright.policy.exception_report import Notice
from rackwright.report.formats import Context
from rackwright.report.text import summary
from rackwright.report.wording import FOUND, alike, explanation, is_counted, printable, the_others

MOST_OF_A_KIND = 10
"""GitHub shows ten errors and ten warnings of a step and drops the others without a word."""


def render_github(report: Report, context: Context) -> str:
    """Return ``::error`` for what blocks, ``::warning`` for what does not, ``::notice`` with the verdict.

    Findings that differ in their subject only are one annotation; previews are counted only.
    """
    groups = alike(
        result for result in report.results if result.outcome in FOUND and not is_counted(result)
    )
    lines: list[str] = []
    verdict = summary(report)
    for kind, blocks in (("error", True), ("warning", False)):
        chosen = [group for group in groups if group[0].blocks is blocks]
        lines += [_annotation(kind, group, context.file) for group in chosen[:MOST_OF_A_KIND]]
        if hidden := len(chosen) - MOST_OF_A_KIND:
            verdict += f"; {hidden} more {kind}s are not shown here" if hidden > 0 else ""
    if report.hygiene:
        lines += [_notice(notice) for notice in report.hygiene.notices[:MOST_OF_A_KIND]]
    lines.append(command("notice", {"title": "rackwright"}, printable(verdict)))
    return "\n".join(lines) + "\n"


def _annotation(kind: str, results: Sequence[Result], file: str) -> str:
    result = results[0]
    where = {"file": result.location.file if result.location else file}
    if result.location:
        where |= {"line": str(result.location.line), "col": str(result.location.column)}
    where["title"] = printable(f"{result.policy} {result.title}")
    lines = [printable(result.subject.name), *explanation(result)]
    if others := the_others(results):
        lines.append(f"the same: {others}")
    return command(kind, where, "\n".join(lines))


def _notice(notice: Notice) -> str:
    where = {}
    if notice.location and ":" not in notice.location.file:  # else it is of another revision
        where = {"file": notice.location.file, "line": str(notice.location.line)}
    where["title"] = printable(notice.id)
    return command("warning" if notice.problem else "notice", where, printable(notice.message))


def command(kind: str, properties: Mapping[str, str], text: str) -> str:
    """Return a workflow command; neither a property nor ``text``, which may have lines, can end it."""
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
    return f"::{kind} {given}::{_data(text)}"


def _data(text: str) -> str:
    """Return ``text``, escaped as the message of a workflow command."""
    return harmless(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Return ``text``, escaped as a property of a workflow command.

    A line break stays one, for the runner to decode; what would steer a terminal does not.
    """
    return (
        _data("".join(c if c in "\r\n" else printable(c) for c in text))
        .replace(":", "%3A")
        .replace(",", "%2C")
    )
