"""The report as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rackwright.errors import Location
from rackwright.exit_codes import ExitCode
from rackwright.policy.api import Enforcement, Outcome, Profile
from rackwright.policy.engine import Report, Result
from rackwright.policy.exception_report import BASELINE, ExceptionReport, Notice, NoticeKind
from rackwright.report.wording import (
    FOUND,
    LOWERED,
    alike,
    because,
    edit_line,
    edits_of,
    in_preview,
    lowered_line,
    previews,
    printable,
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

_VERDICTS = {
    ExitCode.CLEAN: "ok",
    ExitCode.CRASH: "a policy crashed",
    ExitCode.NOTHING: "nothing to check",
    ExitCode.UNKNOWN: "refused: unknown is not a pass",
    ExitCode.WAIVER: "refused: the waivers are not in order",
}


def render_text(
    report: Report,
    *,
    verbose: bool = False,
    show_waived: bool = False,
    quiet: bool = False,
    colour: bool = False,
    width: int = 100,
) -> str:
    """The findings, then one line with the verdict.

    Args:
        report: what is shown.
        verbose: show what passes and what is waived as well.
        show_waived: show what is waived as well.
        quiet: show what blocks alone, and nothing where nothing does.
        colour: use the colours of a terminal.
        width: columns of the terminal.
    """
    if quiet:
        return _what_blocks(report, colour=colour)
    wanted = {*FOUND, Outcome.WAIVED} if show_waived else set(FOUND)
    shown = [r for r in report.results if verbose or (r.outcome in wanted and not in_preview(r))]
    blocks = [_block(same, colour=colour) for same in alike(shown)]
    if verbose and report.not_judged:
        blocks.append("\n  ".join(["no rule judged these hazards", *report.not_judged]))
    if not verbose and (lines := previews(report.results)):
        blocks.append("\n  ".join([_preview_head(report), *lines]))
    if report.lowered:
        lines = [f"{lowered_line(rule)}{_place(rule.location)}" for rule in report.lowered]
        blocks.append("\n  ".join([LOWERED, *lines]))
    if report.hygiene and (report.hygiene.sources or report.hygiene.notices):
        blocks.append(render_hygiene(report.hygiene, report.count(Outcome.WAIVED)))
    return "\n\n".join([*blocks, summary(report)]) + "\n"


def _what_blocks(report: Report, *, colour: bool) -> str:
    if report.exit_code is ExitCode.CLEAN:
        return ""
    blocks = [
        _block(same, colour=colour) for same in alike([r for r in report.results if r.blocks])
    ]
    if report.exit_code is ExitCode.WAIVER and report.hygiene:
        blocks.append(render_hygiene(report.hygiene, report.count(Outcome.WAIVED)))
    return "\n\n".join([*blocks, summary(report)]) + "\n"


def _place(where: Location | None) -> str:
    return f"  ({printable(str(where))})" if where else ""


def _preview_head(report: Report) -> str:
    return f"preview: newer than policy set {report.regime.policy_set}, only warning (-v shows all)"


def summary(report: Report) -> str:
    """Counts and the verdict in one line."""
    new = [r for r in report.results if in_preview(r)]
    failed = [r for r in report.results if r.outcome is Outcome.FAIL and not in_preview(r)]
    unknown = report.count(Outcome.UNKNOWN) - sum(r.outcome is Outcome.UNKNOWN for r in new)
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
    if errors := report.count(Outcome.ERROR):
        parts.append(f"{errors} crashed")
    verdict = _VERDICTS.get(report.exit_code, "refused") + _tolerated(report)
    judged = f"{report.policies} policies"
    if report.regime.profile is not Profile.PRODUCTION:
        judged += f", profile {report.regime.profile}"
    text = f"{printable(report.blueprint)}: {', '.join(parts)} ({judged}): {verdict}"
    return text + not_judged(report)


def not_judged(report: Report) -> str:
    """Return how many hazards of the sites no rule has judged, for the end of the verdict; else nothing."""
    count = len(report.not_judged)
    if not count:
        return ""
    noun = "hazard" if count == 1 else "hazards"
    return f"; {count} {noun} not judged ('rackwright explain hazards')"


def _tolerated(report: Report) -> str:
    """What failed or is unknown in a report that refuses nothing."""
    if report.exit_code is not ExitCode.CLEAN:
        return ""
    counts = [
        f"{number} {noun}{'s' if number > 1 else ''}"
        for outcome, noun in ((Outcome.FAIL, "failure"), (Outcome.UNKNOWN, "unknown"))
        if (number := report.count(outcome))
    ]
    if not counts:
        return ""
    one = counts[0].startswith("1 ") and len(counts) == 1
    return f", though {' and '.join(counts)} {'does' if one else 'do'} not block"


def render_hygiene(hygiene: ExceptionReport, waived: int) -> str:
    """Each notice about waivers and baseline, then their number by kind in one line.

    Args:
        hygiene: what is to be said.
        waived: how many results are waived.
    """
    lines = [_notice(notice) for notice in hygiene.notices]
    counts = [f"{hygiene.count(kind)} {_word(kind)}" for kind in _COUNTED]
    counts += [
        f"{number} {_word(kind)}"
        for kind in NoticeKind
        if kind not in _COUNTED and kind not in BASELINE and (number := hygiene.count(kind))
    ]
    if examples := hygiene.count(NoticeKind.EXAMPLE):
        several = "number is an example" if examples == 1 else "numbers are examples"
        lines.append(f"{examples} stated {several}: put in what holds, with its source")
    lines.append(f"waivers on {hygiene.today}: {waived} waived, {', '.join(counts)}")
    return "\n".join(lines)


def _word(kind: NoticeKind) -> str:
    return kind.value.replace("_", " ")


def _notice(notice: Notice) -> str:
    """What is to be said about a waiver or the baseline."""
    where = f"{printable(str(notice.location))}  " if notice.location else ""
    word = _word(notice.kind)
    return f"{where}{printable(notice.id)} {word}: {printable(notice.message)}"


def _block(results: Sequence[Result], *, colour: bool) -> str:
    """One finding, and where else it holds."""
    result = results[0]
    word = {
        Outcome.PASS: "pass",
        Outcome.NOT_APPLICABLE: "n/a",
        Outcome.UNKNOWN: "unknown",
        Outcome.WAIVED: "waived",
        Outcome.ERROR: "crash",
    }.get(result.outcome, str(result.severity))
    if result.outcome in {Outcome.FAIL, Outcome.UNKNOWN} and not result.blocks:
        kind = "preview" if result.preview else "advisory"
        word = f"{word}, {kind}" if result.enforcement is Enforcement.ADVISORY else word
    head = f"{result.policy} {word}"
    if colour and result.outcome in _COLOURS:
        head = f"\033[{_COLOURS[result.outcome]}m{head}\033[0m"
    where = f"  {printable(str(result.location))}" if result.location else ""
    lines = [f"{head}{where}  {printable(result.subject.name)}", f"  {printable(result.message)}"]
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
        lines.append(f"  explain: rackwright explain {result.policy}")
    return "\n".join(lines)
