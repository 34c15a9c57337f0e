"""The report as JUnit XML: a suite for each policy, a case for each of its results."""

from __future__ import annotations

import re
from itertools import groupby
from xml.etree import ElementTree as ET

from rackwright.harmless import harmless_xml
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Report, Result
from rackwright.policy.hygiene import Hygiene
from rackwright.report.formats import Context
from rackwright.report.wording import explanation, printable, standing

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(report: Report, context: Context) -> str:
    """JUnit has no warning: what does not block is a skipped case that says why."""
    root = ET.Element("testsuites", name=_clean(f"rackwright {report.blueprint}"))
    ordered = sorted(report.results, key=lambda result: result.policy)
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for policy, results in groupby(ordered, key=lambda result: result.policy):
        suite = ET.SubElement(root, "testsuite", name=policy)
        counts = dict.fromkeys(totals, 0)
        for result in results:
            counts["tests"] += 1
            if kind := _case(suite, result, context.file):
                counts[kind] += 1
        for name, count in counts.items():
            suite.set(name, str(count))
            totals[name] += count
    for name, count in _hygiene(root, report.hygiene).items():
        totals[name] += count
    for name, count in totals.items():
        root.set(name, str(count))
    ET.indent(root)
    text = harmless_xml(ET.tostring(root, encoding="unicode"))
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _hygiene(root: ET.Element, hygiene: Hygiene | None) -> dict[str, int]:
    """A suite about waivers and baseline, when there is something to say; its counters."""
    if hygiene is None or not hygiene.notices:
        return {}
    suite = ET.SubElement(root, "testsuite", name="waivers")
    counts = {"tests": len(hygiene.notices), "failures": 0, "errors": 0, "skipped": 0}
    for notice in hygiene.notices:
        name = _clean(printable(f"{notice.id} {notice.kind.value}"))
        case = ET.SubElement(suite, "testcase", classname="waivers", name=name)
        fails = hygiene.fails and notice.problem
        counts["failures" if fails else "skipped"] += 1
        element = ET.SubElement(case, "failure" if fails else "skipped")
        element.set("message", _clean(printable(notice.message)))
    for name, count in counts.items():
        suite.set(name, str(count))
    return counts


def _case(suite: ET.Element, result: Result, file: str) -> str | None:
    """Adds the case; the counter that it belongs to besides ``tests``."""
    subject = printable(result.subject.name)
    case = ET.SubElement(
        suite,
        "testcase",
        classname=result.policy,
        name=_clean(f"{subject}: {printable(result.what)}" if result.what else subject),
    )
    if where := result.location:
        case.set("file", _clean(where.file))
        case.set("line", str(where.line))
    elif file:
        case.set("file", _clean(file))
    message = _clean(printable(result.message))
    if result.outcome is Outcome.ERROR:
        element, kind = ET.SubElement(case, "error", message=message, type="crash"), "errors"
    elif result.blocks:
        word = "violation" if result.outcome is Outcome.FAIL else "unknown"
        element, kind = ET.SubElement(case, "failure", message=message, type=word), "failures"
    elif result.outcome is Outcome.PASS:
        return None
    else:
        reason = f"{_clean(standing(result) or _WORDS[result.outcome])}: {message}"
        ET.SubElement(case, "skipped", message=reason)
        return "skipped"
    element.text = _clean("\n".join(explanation(result)))
    return kind


_WORDS = {
    Outcome.FAIL: "advisory",
    Outcome.UNKNOWN: "advisory, unknown",
    Outcome.WAIVED: "waived",
    Outcome.NOT_APPLICABLE: "not applicable",
}


def _clean(text: str) -> str:
    """``text`` without the characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
