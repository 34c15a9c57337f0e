"""The report as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rackwright.policy.api import Enforcement, Outcome, Profile
from rackwright.policy.engine import Report, Result
from rackwright.report.quantities import format_quantity

_SHOWN = (Outcome.ERROR, Outcome.FAIL, Outcome.UNKNOWN)
_COLOURS = {Outcome.ERROR: "35", Outcome.FAIL: "31", Outcome.UNKNOWN: "33", Outcome.PASS: "32"}
_MOST_CONTRIBUTORS = 4
_MOST_SUBJECTS = 6


def render_text(
    report: Report, *, verbose: bool = False, colour: bool = False, width: int = 100
) -> str:
    """The findings, then one line with the verdict; ``verbose`` shows what passes as well."""
    shown = [r for r in report.results if verbose or r.outcome in _SHOWN]
    blocks = [_block(same, colour=colour) for same in _alike(shown)]
    return "\n\n".join([*blocks, summary(report)]) + "\n"


def summary(report: Report) -> str:
    """Counts and the verdict in one line."""
    failed = [r for r in report.results if r.outcome is Outcome.FAIL]
    blocking = sum(1 for r in failed if r.blocks)
    parts = [
        f"{report.count(Outcome.PASS)} passed",
        f"{blocking} failed",
        f"{len(failed) - blocking} warned",
        f"{report.count(Outcome.UNKNOWN)} unknown",
    ]
    if errors := report.count(Outcome.ERROR):
        parts.append(f"{errors} crashed")
    verdict = {0: "ok", 1: "a policy crashed", 3: "nothing to check", 5: "refused"}
    text = verdict.get(int(report.exit_code), "refused: unknown is not a pass")
    judged = f"{report.policies} policies"
    if report.regime.profile is not Profile.PRODUCTION:
        judged += f", profile {report.regime.profile}"
    return f"{report.blueprint}: {', '.join(parts)} ({judged}): {text}"


def _alike(results: Sequence[Result]) -> list[list[Result]]:
    """Results that differ in their subject only, together."""
    groups: dict[tuple[object, ...], list[Result]] = {}
    for result in results:
        key = (
            result.policy,
            result.outcome,
            result.enforcement,
            result.preview,
            result.message,
            result.fix,
        )
        groups.setdefault(key, []).append(result)
    return list(groups.values())


def _block(results: Sequence[Result], *, colour: bool) -> str:
    """One finding, and where else it holds."""
    result = results[0]
    word = {
        Outcome.PASS: "pass",
        Outcome.NOT_APPLICABLE: "n/a",
        Outcome.UNKNOWN: "unknown",
        Outcome.ERROR: "crash",
    }.get(result.outcome, str(result.severity))
    if result.outcome in {Outcome.FAIL, Outcome.UNKNOWN} and not result.blocks:
        kind = "preview" if result.preview else "advisory"
        word = f"{word}, {kind}" if result.enforcement is Enforcement.ADVISORY else word
    head = f"{result.policy} {word}"
    if colour and result.outcome in _COLOURS:
        head = f"\033[{_COLOURS[result.outcome]}m{head}\033[0m"
    where = f"  {result.location}" if result.location else ""
    lines = [f"{head}{where}  {result.subject.name}", f"  {result.message}"]
    if others := [r.subject.name for r in results[1:]]:
        named = ", ".join(others[:_MOST_SUBJECTS])
        more = len(others) - _MOST_SUBJECTS
        lines.append(f"  the same: {named}" + (f" and {more:,} more" if more > 0 else ""))
    if result.outcome in _SHOWN:
        if because := _because(result):
            lines.append(f"  because {because}")
        if result.preview:
            lines.append("  preview: newer than the blueprint's policy set, so it only warns")
        if result.fix:
            lines.append(f"  fix: {result.fix}")
        lines.append(f"  explain: rackwright explain {result.policy}")
    return "\n".join(lines)


def _because(result: Result) -> str:
    parts = [
        f"{c.count:,} × {c.name} at {format_quantity(c.each, result.unit)}"
        for c in result.contributors[:_MOST_CONTRIBUTORS]
    ]
    rest = result.contributors[_MOST_CONTRIBUTORS:]
    if rest:
        parts.append(f"{format_quantity(sum(c.total for c in rest), result.unit)} other")
    return " + ".join(parts)
