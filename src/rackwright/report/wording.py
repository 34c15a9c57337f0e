"""Words that several forms of the report share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rackwright.harmless import counted, visible
from rackwright.model.quantities import format_quantity
from rackwright.policy.api import Outcome, Severity, Stage
from rackwright.policy.engine import Report, Result
from rackwright.policy.exception_report import BaselineState, Lowered, Permission
from rackwright.reading.edits import Edit

MOST_CONTRIBUTORS = 4
MOST_SUBJECTS = 6

FOUND = (Outcome.ERROR, Outcome.FAIL, Outcome.UNKNOWN)
"""Outcomes that need attention."""


LOWERED = "lowered by the blueprint:"
"""What stands above the rules that it makes weaker."""


def printable(text: str) -> str:
    """``text`` in one line, with escapes for what would steer a terminal or turn a line around.

    Names in a report come from the pull request that is judged. Control characters, ANSI
    sequences and characters that change the direction of writing are shown, not obeyed.
    """
    if text.isprintable() and "  " not in text:
        return text
    line = " ".join(text.split())
    return visible(line)


def quantity_text(value: float | None, unit: str) -> str:
    """Return the value in the unit of people, or ``unknown``."""
    return "unknown" if value is None else format_quantity(value, unit)


def quantity_of(value: float | None, limit: float | None, unit: str) -> str:
    """Return the value as ``quantity_text`` has it, and of how much it is where that is known."""
    told = quantity_text(value, unit)
    return told if limit is None else f"{told} of {format_quantity(limit, unit)}"


def lowered_line(rule: Lowered) -> str:
    """Return the change of a rule by the blueprint, and its reason, in one line."""
    reason = f": {printable(rule.reason)}" if rule.reason else ""
    return f"{rule.policy}  {rule.enforcement}, normally {rule.own}{reason}"


def alike(results: Iterable[Result]) -> list[list[Result]]:
    """Return results that differ in their subject only, together, in the order of the first of each."""
    groups: dict[tuple[object, ...], list[Result]] = {}
    for result in results:
        key = (
            result.policy,
            result.outcome,
            result.enforcement,
            result.preview,
            result.waiver,
            result.baseline_state,
            result.message,
            result.fix,
        )
        groups.setdefault(key, []).append(result)
    return list(groups.values())


def in_preview(result: Result) -> bool:
    """Return True if a rule finds it that is newer than the blueprint's set, and nothing more.

    A team that has not moved to the newer set sees how much there is, not every finding of it.
    """
    return result.preview and not result.blocks and result.outcome in FOUND


def is_counted(result: Result) -> bool:
    """Return True if a finding is only counted: in preview, or a question of a later stage."""
    return result.later or in_preview(result)


def later_line(report: Report) -> str:
    """Return the line that counts what is asked at later stages; empty if nothing is."""
    later = [result for result in report.results if result.later]
    if not later:
        return ""
    count = sum(question.later for question in report.questions) or len(later)
    last = max((result.stage for result in later), key=tuple(Stage).index)
    return f"{counted(count, 'question')} of later stages: 'rackwright check --stage {last}' lists them"


def refused_later(report: Report) -> str:
    """Return the words about the first later policy set that refuses the blueprint; empty if none does.

    A failure that only a newer set blocks is as true as any other: the verdict says so.
    """
    open_results = [
        result
        for result in report.results
        if result.blocks_from is not None
        and not result.blocks
        and not result.later
        and not (result.baseline_state and result.baseline_state.tolerated)
    ]
    named = min((str(result.blocks_from) for result in open_results), default="")
    failed, unknown = (
        sum(one.outcome is outcome and one.blocks_from == named for one in open_results)
        for outcome in (Outcome.FAIL, Outcome.UNKNOWN)
    )
    counts = [
        counted(number, noun)
        for number, noun in ((failed, "failure"), (unknown, "unknown"))
        if number
    ]
    return f"policy set {named} blocks it for {' and '.join(counts)}" if counts else ""


def preview_head(report: Report) -> str:
    """Return the heading of the findings in preview."""
    named = report.regime.policy_set
    if words := refused_later(report):
        return f"{words}; set {named} only warns"
    return f"in preview: newer than policy set {named}"


def previews(results: Iterable[Result]) -> list[str]:
    """Return a line for each rule in preview that fails, and one for all that cannot be checked yet.

    The first failure of a rule stands for the others; the gravest come first.
    """
    order = list(reversed(Severity))
    failed: dict[str, int] = {}
    first: dict[str, Result] = {}
    for result in results:
        if in_preview(result):
            bad = result.outcome is Outcome.FAIL
            failed[result.policy] = failed.get(result.policy, 0) + bad
            if bad:
                first.setdefault(result.policy, result)
    lines = [
        f"{policy}  {first[policy].severity}, {failed[policy]} failed: "
        f"{printable(first[policy].subject.name)}: {printable(first[policy].message)}"
        for policy in sorted(
            first, key=lambda policy: (order.index(first[policy].severity), policy)
        )
    ]
    if unknown := sorted(policy for policy, count in failed.items() if not count):
        more = len(unknown) - MOST_SUBJECTS
        named = ", ".join(unknown[:MOST_SUBJECTS]) + (f" and {more} more" if more > 0 else "")
        lines.append(f"not known yet: {named}")
    return lines


def the_others(results: Sequence[Result]) -> str:
    """Return the subjects of all results but the first, in words; empty when there is only one."""
    names = [printable(result.subject.name) for result in results[1:]]
    more = len(names) - MOST_SUBJECTS
    return ", ".join(names[:MOST_SUBJECTS]) + (f" and {more:,} more" if more > 0 else "")


def because(result: Result) -> str:
    """Return the largest contributors with their numbers; empty when there are none."""
    parts = [
        f"{c.count:,} × {printable(c.name)} at {format_quantity(c.each, result.unit)}"
        for c in result.contributors[:MOST_CONTRIBUTORS]
    ]
    rest = result.contributors[MOST_CONTRIBUTORS:]
    if rest:
        parts.append(f"{format_quantity(sum(c.total for c in rest), result.unit)} other")
    return " + ".join(parts)


def edit_line(edit: Edit) -> str:
    """Return an edit in one line, like ``'per_rack: 5' -> '4'``."""
    old = f"{edit.key}: {edit.old}" if edit.key else edit.old
    other = " (not in the patch: another finding suggests another value)" if edit.contested else ""
    return f"'{printable(old)}' -> '{printable(edit.new)}'{other}"


def edits_of(results: Iterable[Result]) -> list[Edit]:
    """Return the edits that ``results`` suggest, each once and the first few only."""
    return list(dict.fromkeys(r.edit for r in results if r.edit))[:MOST_SUBJECTS]


def explanation(result: Result) -> list[str]:
    """Return the message, how it stands, what it is made of, the fix and its edit, a line each."""
    lines = [printable(result.message)]
    if reason := standing(result):
        lines.append(reason)
    if reason := because(result):
        lines.append(f"because {reason}")
    if result.fix:
        lines.append(f"fix: {printable(result.fix)}")
    if result.edit:
        lines.append(f"suggested: {edit_line(result.edit)}")
    return lines


def permission(waiver: Permission) -> str:
    """Return owner, end and reason of a waiver in one line."""
    bound = f" up to {waiver.up_to}" if waiver.up_to else ""
    bound += f" at a limit of {waiver.limit}" if waiver.limit else ""
    return printable(
        f"waived{bound} by {waiver.id} ({waiver.owner}, {waiver.ticket}) "
        f"until {waiver.expires.isoformat()}: {waiver.reason}"
    )


def standing(result: Result) -> str | None:
    """Return the reason why a failure does not block, or blocks again, apart from its own enforcement."""
    if result.waiver:
        return permission(result.waiver)
    if result.baseline_state and result.baseline_state.tolerated:
        return f"in the baseline: {result.baseline_state.value}"
    if result.baseline_state is BaselineState.REGRESSED:
        return "worse than the baseline records"
    if result.preview:
        return "preview: newer than the blueprint's policy set, so it only warns"
    return None
