"""The report as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rackwright.errors import Location
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted
from rackwright.policy.api import Enforcement, Outcome, Profile, Severity
from rackwright.policy.engine import Report, Result
from rackwright.policy.exception_report import BASELINE, ExceptionReport, Notice, NoticeKind
from rackwright.policy.unknowns import OpenQuestion
from rackwright.report.wording import (
    FOUND,
    LOWERED,
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
    printable,
    refused_later,
    standing,
    the_others,
)

_COLOURS = {Outcome.ERROR: "35", Outcome.FAIL: "31", Outcome.UNKNOWN: "33", Outcome.PASS: "32"}
_COUNTED = (
    NoticeKind.EXPIRING,
    NoticeKind.EXPIRED,
    NoticeKind.UNUSED,
    NoticeKind.OVER_BOUND,
    NoticeKind.PROPOSED,
    NoticeKind.SELF_APPROVED,
)
"""What is always counted, even when there is none."""

_MOST_DETAILED = 6
"""Failures that are shown with their causes and fixes; of more, each has one line."""

_VERDICTS = {
    ExitCode.CRASH: "a policy crashed",
    ExitCode.NOTHING: "nothing to check",
    ExitCode.WAIVER: "blocked: the waivers are not in order",
}


def render_text(
    report: Report,
    *,
    verbose: bool = False,
    show_waived: bool = False,
    quiet: bool = False,
    colour: bool = False,
) -> str:
    """Return the findings, then one line with the verdict.

    Args:
        report: what is shown.
        verbose: show what passes and what is waived as well.
        show_waived: show what is waived as well.
        quiet: show what blocks alone, and nothing where nothing does.
        colour: use the colours of a terminal.
    """
    if quiet:
        return _what_blocks(report, colour=colour)
    if verbose:
        blocks = [_block(same, colour=colour) for same in alike(report.results)]
        if report.not_judged:
            blocks.append("\n  ".join(["hazards that no rule checked", *report.not_judged]))
    else:
        blocks = [*_blocking(report, colour=colour), *_warning(report, colour=colour)]
        if show_waived:
            waived = [r for r in report.results if r.outcome is Outcome.WAIVED]
            blocks += [_block(same, colour=colour) for same in alike(waived)]
        if lines := previews(report.results):
            blocks.append("\n  ".join([f"{preview_head(report)} (-v shows all)", *lines]))
    if report.lowered:
        lines = [f"{lowered_line(rule)}{_place(rule.location)}" for rule in report.lowered]
        blocks.append("\n  ".join([LOWERED, *lines]))
    if report.hygiene and (report.hygiene.sources or report.hygiene.notices):
        blocks.append(render_hygiene(report.hygiene, report.count(Outcome.WAIVED)))
    if line := later_line(report):
        blocks.append(line)
    return "\n\n".join([*blocks, summary(report)]) + "\n"


def _blocking(report: Report, *, colour: bool) -> list[str]:
    """Return what blocks: failures by consequence, then facts that are not known by owner."""
    results = sorted((r for r in report.results if r.blocks), key=_consequence)
    asked = {one for one in report.questions if one.blocks}
    failures = alike(r for r in results if r.outcome is not Outcome.UNKNOWN or not r.missing)
    short = len(failures) > _MOST_DETAILED
    blocks = [
        _line(same, colour=colour) if short else _block(same, colour=colour) for same in failures
    ]
    if short:
        blocks = ["\n".join([*blocks, "(-v shows causes and fixes)"])]
    if not asked:  # a report without places, as of a program
        return [
            *blocks,
            *(_block(s, colour=colour) for s in alike(r for r in results if r.missing)),
        ]
    lines = [_coloured(f"unknown, blocks: {counted(len(asked), 'question')}", "33", colour=colour)]
    owner = None
    for question in report.questions:
        if not question.blocks:
            continue
        if question.owner is not owner:
            owner = question.owner
            lines.append(f"  {owner}")
        lines.append(f"    {_question(question)}")
    lines.append("  'rackwright check --todo todo.yaml' writes them to a file to fill in")
    return [*blocks, "\n".join(lines)]


def _warning(report: Report, *, colour: bool) -> list[str]:
    """Return what only warns, a line for each failure and one for all that is not known."""
    shown = [r for r in report.results if not r.blocks and not is_counted(r)]
    failures = sorted((r for r in shown if r.outcome is Outcome.FAIL), key=_consequence)
    lines = [_line(same, colour=colour) for same in alike(failures)]
    if unknown := sorted({r.policy for r in shown if r.outcome is Outcome.UNKNOWN}):
        lines.append(f"unknown, only warns: {', '.join(unknown)}")
    return ["\n".join(lines)] if lines else []


def _question(question: OpenQuestion) -> str:
    where = question.location
    place = f" ({printable(f'{where.file}:{where.line}')})" if where else ""
    return f"{printable(question.field)}{place}  {', '.join(question.rules)}"


def _consequence(result: Result) -> tuple[object, ...]:
    order = (Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM, Severity.LOW)
    return result.outcome is not Outcome.ERROR, order.index(result.severity)


def _line(results: Sequence[Result], *, colour: bool) -> str:
    """Return one finding in one line, with the number of other places."""
    result = results[0]
    more = f" (and {counted(len(results) - 1, 'other')})" if len(results) > 1 else ""
    state = f"; {why}" if (why := standing(result)) else ""
    name = printable(result.subject.name)
    return f"{_head(result, colour=colour)}  {name}{more}: {printable(result.message)}{state}"


def _what_blocks(report: Report, *, colour: bool) -> str:
    if report.exit_code is ExitCode.CLEAN:
        return ""
    blocks = _blocking(report, colour=colour)
    if report.exit_code is ExitCode.WAIVER and report.hygiene:
        blocks.append(render_hygiene(report.hygiene, report.count(Outcome.WAIVED)))
    return "\n\n".join([*blocks, summary(report)]) + "\n"


def _place(where: Location | None) -> str:
    return f"  ({printable(str(where))})" if where else ""


def summary(report: Report) -> str:
    """Return counts and the verdict in one line."""
    new = [r for r in report.results if in_preview(r) and not r.later]
    failed = [r for r in report.results if r.outcome is Outcome.FAIL and not in_preview(r)]
    later = sum(r.later for r in report.results)
    unknown = sum(r.outcome is Outcome.UNKNOWN and not is_counted(r) for r in report.results)
    blocking = sum(1 for r in failed if r.blocks)
    known = sum(1 for r in failed if r.baseline_state and r.baseline_state.tolerated)
    parts = [
        f"{report.count(Outcome.PASS)} passed",
        f"{blocking} failed",
        f"{len(failed) - blocking - known} warned",
        f"{unknown} unknown",
    ]
    if waived := report.count(Outcome.WAIVED):
        parts.append(f"{waived} waived")
    if known:
        parts.append(f"{known} in the baseline")
    if new:
        parts.append(f"{len(new)} in preview")
    if later:
        parts.append(f"{later} later")
    if errors := report.count(Outcome.ERROR):
        parts.append(f"{errors} crashed")
    stage = report.regime.stage
    later_set = refused_later(report)
    alone = f" by policy set {report.regime.policy_set} alone" if later_set else ""
    clean = f"ok for {stage}{alone}{_examples(report)}{_tolerated(report)}"
    verdict = _VERDICTS.get(report.exit_code, f"blocked for {stage}")
    verdict = clean if report.exit_code is ExitCode.CLEAN else verdict
    judged = counted(report.policies, "policy")
    if report.regime.profile is not Profile.PRODUCTION:
        judged += f", profile {report.regime.profile}"
    text = f"{printable(report.blueprint)}: {', '.join(parts)} ({judged}): {verdict}"
    return f"{text}{f'; {later_set}' if later_set else ''}{not_judged(report)}"


def not_judged(report: Report) -> str:
    """Return how many hazards of the sites no rule has judged, for the end of the verdict; else nothing."""
    if not (count := len(report.not_judged)):
        return ""
    return f"; {counted(count, 'hazard')} not checked ('rackwright explain hazards')"


def _examples(report: Report) -> str:
    """Return how many values of a report are examples, for the verdict; else nothing."""
    kinds = {NoticeKind.EXAMPLE, NoticeKind.EXAMPLE_FILE}
    notices = report.hygiene.notices if report.hygiene else ()
    count = sum(notice.number for notice in notices if notice.kind in kinds)
    return f", on {counted(count, 'example value')}" if count else ""


def _tolerated(report: Report) -> str:
    """Return the words about failures and unknowns of a report that block in no policy set."""
    counts = [
        counted(number, noun)
        for outcome, noun in ((Outcome.FAIL, "failure"), (Outcome.UNKNOWN, "unknown"))
        if (
            number := sum(
                r.outcome is outcome and not r.later and r.blocks_from is None
                for r in report.results
            )
        )
    ]
    if not counts:
        return ""
    one = counts[0].startswith("1 ") and len(counts) == 1
    return f", though {' and '.join(counts)} {'does' if one else 'do'} not block"


def render_hygiene(hygiene: ExceptionReport, waived: int, *, whole: bool = False) -> str:
    """Return each notice about waivers and baseline, then their number by kind in one line.

    Args:
        hygiene: what is to be said.
        waived: how many results are waived.
        whole: name each example, and count waivers where there are none too.
    """
    examples = [one for one in hygiene.notices if one.kind is NoticeKind.EXAMPLE]
    lines = [_notice(one) for one in hygiene.notices if whole or one not in examples]
    counts = [f"{hygiene.count(kind)} {_word(kind)}" for kind in _COUNTED]
    counts += [
        f"{number} {_word(kind)}"
        for kind in NoticeKind
        if kind not in {*_COUNTED, *BASELINE, NoticeKind.EXAMPLE_FILE}
        and (number := hygiene.count(kind))
    ]
    if examples:
        first = f"{examples[0].location}: " if examples[0].location else ""
        lines.append(
            printable(
                f"{first}{counted(len(examples), 'example fact')}: write yours, with its source"
            )
        )
    quiet = not (whole or waived or hygiene.sources)
    if quiet and not any(notice.kind in _COUNTED for notice in hygiene.notices):
        return "\n".join(lines)
    lines.append(f"waivers on {hygiene.today}: {waived} waived, {', '.join(counts)}")
    return "\n".join(lines)


def _word(kind: NoticeKind) -> str:
    return kind.value.replace("_", " ")


def _notice(notice: Notice) -> str:
    """Return the notice about a waiver, the baseline or a file."""
    if notice.location and notice.id == notice.location.file:
        of_file = notice.kind is NoticeKind.EXAMPLE_FILE
        place = printable(notice.id if of_file else str(notice.location))
        return f"{place}: {printable(notice.message)}"
    where = f"{printable(str(notice.location))}  " if notice.location else ""
    word = _word(notice.kind)
    return f"{where}{printable(notice.id)} {word}: {printable(notice.message)}"


def _head(result: Result, *, colour: bool) -> str:
    """Return the rule, how grave the finding is, and its place."""
    word = {
        Outcome.PASS: "pass",
        Outcome.NOT_APPLICABLE: "n/a",
        Outcome.UNKNOWN: "unknown",
        Outcome.WAIVED: "waived",
        Outcome.ERROR: "crash",
    }.get(result.outcome, str(result.severity))
    if result.later:
        word = f"{word}, asked at stage {result.stage}"
    elif result.outcome in {Outcome.FAIL, Outcome.UNKNOWN} and not result.blocks:
        kind = "preview" if result.preview else "advisory"
        kind += f" until set {result.blocks_from}" if result.blocks_from else ""
        word = f"{word}, {kind}" if result.enforcement is Enforcement.ADVISORY else word
    head = f"{result.policy} {word}"
    if result.outcome in _COLOURS:
        head = _coloured(head, _COLOURS[result.outcome], colour=colour)
    where = f"  {printable(str(result.location))}" if result.location else ""
    return f"{head}{where}"


def _coloured(text: str, code: str, *, colour: bool) -> str:
    return f"\033[{code}m{text}\033[0m" if colour else text


def _block(results: Sequence[Result], *, colour: bool) -> str:
    """Return one finding with its details, and where else it applies."""
    result = results[0]
    lines = [
        f"{_head(result, colour=colour)}  {printable(result.subject.name)}",
        f"  {printable(result.message)}",
    ]
    if others := the_others(results):
        lines.append(f"  the same: {others}")
    if state := standing(result):
        lines.append(f"  {state}")
    if result.outcome in FOUND:
        if reason := because(result):
            lines.append(f"  because {reason}")
        if result.fix:
            lines.append(f"  fix: {printable(result.fix)}")
        lines += [
            f"  suggested: {printable(str(edit.location))}: {edit_line(edit)}"
            for edit in edits_of(results)
        ]
    return "\n".join(lines)
