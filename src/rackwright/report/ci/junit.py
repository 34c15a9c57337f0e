"""The report as JUnit XML: a suite for each policy, a case for each of its results."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report, Result
from rackwright.policy.exception_report import ExceptionReport
from rackwright.report.ci.junit_xml import Case, render_suites
from rackwright.report.formats import Context
from rackwright.report.wording import explanation, printable, standing


def render_junit(report: Report, context: Context) -> str:
    """Return the case of a finding; one that does not block is skipped, with the reason."""
    return render_suites(f"rackwright {report.blueprint}", _suites(report, context.file))


def _suites(report: Report, file: str) -> Iterator[tuple[str, list[Case]]]:
    """Yield the policies; then waivers and baseline, when there is something to say about them."""
    ordered = sorted(report.results, key=lambda result: result.policy)
    for policy, results in groupby(ordered, key=lambda result: result.policy):
        yield policy, [_case(result, file) for result in results]
    if report.hygiene is not None and report.hygiene.notices:
        yield "waivers", list(_about_waivers(report.hygiene))


def _about_waivers(hygiene: ExceptionReport) -> Iterator[Case]:
    for notice in hygiene.notices:
        fails = hygiene.fails and notice.problem
        yield Case(
            name=printable(f"{notice.id} {notice.kind.value}"),
            tag="failure" if fails else "skipped",
            message=printable(notice.message),
        )


def _case(result: Result, file: str) -> Case:
    subject = printable(result.subject.name)
    name = f"{subject}: {printable(result.what)}" if result.what else subject
    place = {"file": file} if file else {}
    if where := result.location:
        place = {"file": where.file, "line": str(where.line)}
    message, text = printable(result.message), "\n".join(explanation(result))
    if result.outcome is Outcome.ERROR:
        return Case(name, "error", message, "crash", text, place)
    if result.blocks:
        kind = "violation" if result.outcome is Outcome.FAIL else "unknown"
        return Case(name, "failure", message, kind, text, place)
    if result.outcome is Outcome.PASS:
        return Case(name, place=place)
    why = f"asked at stage {result.stage}" if result.later else standing(result)
    why = why or _WORDS[result.outcome]
    return Case(name, "skipped", f"{why}: {message}", place=place)


_WORDS = {
    Outcome.FAIL: "advisory",
    Outcome.UNKNOWN: "advisory, unknown",
    Outcome.WAIVED: "waived",
    Outcome.NOT_APPLICABLE: "not applicable",
}
