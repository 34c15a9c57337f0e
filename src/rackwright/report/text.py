"""The report as text for a terminal."""

from __future__ import annotations

from rackwright.policy.api import Enforcement, Outcome
from rackwright.policy.engine import Report, Result
from rackwright.report.quantities import format_quantity

_SHOWN = (Outcome.ERROR, Outcome.FAIL, Outcome.UNKNOWN)
_COLOURS = {Outcome.ERROR: "35", Outcome.FAIL: "31", Outcome.UNKNOWN: "33", Outcome.PASS: "32"}
_MOST_CONTRIBUTORS = 4


def render_text(
    report: Report, *, verbose: bool = False, colour: bool = False, width: int = 100
) -> str:
    """The findings, then one line with the verdict; ``verbose`` shows what passes as well."""
    shown = [r for r in report.results if verbose or r.outcome in _SHOWN]
    blocks = [_block(result, colour=colour) for result in shown]
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
    return f"{report.blueprint}: {', '.join(parts)} ({report.policies} policies): {text}"


def _block(result: Result, *, colour: bool) -> str:
    word = {
        Outcome.PASS: "pass",
        Outcome.NOT_APPLICABLE: "n/a",
        Outcome.UNKNOWN: "unknown",
        Outcome.ERROR: "crash",
    }.get(result.outcome, str(result.severity))
    if result.outcome in {Outcome.FAIL, Outcome.UNKNOWN} and not result.blocks:
        word = f"{word}, advisory" if result.enforcement is Enforcement.ADVISORY else word
    head = f"{result.policy} {word}"
    if colour and result.outcome in _COLOURS:
        head = f"\033[{_COLOURS[result.outcome]}m{head}\033[0m"
    where = f"  {result.location}" if result.location else ""
    lines = [f"{head}{where}  {result.subject.name}", f"  {result.message}"]
    if result.outcome in _SHOWN:
        if because := _because(result):
            lines.append(f"  because {because}")
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
