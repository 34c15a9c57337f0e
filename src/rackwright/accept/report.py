"""An acceptance as text, as JSON and as JUnit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from xml.etree import ElementTree as ET

from rackwright.accept.compare import Acceptance, HostAcceptance, ItemResult, Outcome
from rackwright.harmless import harmless_xml, json_text

SCHEMA = "rackwright.verify/v1"
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\u00a1-\ud7ff\ue000-\ufffd]")


def render_text(
    acceptance: Acceptance, not_judged: frozenset[str], drained: Mapping[str, str]
) -> str:
    """What does not pass, host by host, and a summary."""
    lines = []
    for host in acceptance.hosts:
        if host.outcome is Outcome.PASS:
            continue
        lines.append(f"{host.name}: {host.outcome}")
        lines += [_line(item) for item in host.items if item.outcome is not Outcome.PASS]
    lines += [f"drained {node}: {reason}" for node, reason in sorted(drained.items())]
    if not_judged:
        lines.append(
            f"not judged, because these hosts are a lab's: {', '.join(sorted(not_judged))}"
        )
    lines.append(_summary(acceptance))
    return "".join(f"{clean(line)}\n" for line in lines)


def _line(item: ItemResult) -> str:
    allowed = f" ({item.tolerance})" if item.tolerance else ""
    expected = "unknown" if item.expected is None else f"{item.expected}{allowed}"
    found = "unknown" if item.found is None else item.found
    return f"  {item.outcome}  {item.item}: {item.reason}; expected {expected}, found {found}"


def _summary(acceptance: Acceptance) -> str:
    hosts = acceptance.hosts
    counts = {o: sum(host.outcome is o for host in hosts) for o in Outcome}
    items = sum(len(host.items) for host in hosts)
    verdict = {
        Outcome.PASS: "accepted",
        Outcome.FAIL: "not accepted",
        Outcome.UNKNOWN: "not accepted: not everything is known",
    }[acceptance.outcome]
    return (
        f"{verdict}: of {len(hosts)} {'host' if len(hosts) == 1 else 'hosts'} "
        f"{counts[Outcome.PASS]} pass, {counts[Outcome.FAIL]} fail, "
        f"{counts[Outcome.UNKNOWN]} unknown ({items} items)"
    )


def render_json(
    acceptance: Acceptance, not_judged: frozenset[str], drained: Mapping[str, str]
) -> str:
    """The document ``rackwright.verify/v1``, with every item."""
    document = {
        "schema": SCHEMA,
        "outcome": acceptance.outcome,
        "hosts": {
            host.name: {
                "outcome": host.outcome,
                "items": [asdict(item) for item in host.items],
            }
            for host in acceptance.hosts
        },
        "not_judged": sorted(not_judged),
        "drained": dict(sorted(drained.items())),
    }
    return json_text(document)


def render_junit(acceptance: Acceptance) -> str:
    """A suite for each host, a case for each item; what is unknown is an error, never skipped."""
    root = ET.Element("testsuites", name="rackwright verify")
    totals = dict.fromkeys(("tests", "failures", "errors"), 0)
    for host in acceptance.hosts:
        for name, count in _suite(root, host).items():
            totals[name] += count
    for name, count in totals.items():
        root.set(name, str(count))
    ET.indent(root)
    text = harmless_xml(ET.tostring(root, encoding="unicode"))
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _suite(root: ET.Element, host: HostAcceptance) -> dict[str, int]:
    suite = ET.SubElement(root, "testsuite", name=clean(host.name))
    counts = {"tests": len(host.items), "failures": 0, "errors": 0}
    for item in host.items:
        case = ET.SubElement(suite, "testcase", classname=clean(host.name), name=clean(item.item))
        if item.outcome is Outcome.PASS:
            continue
        failed = item.outcome is Outcome.FAIL
        counts["failures" if failed else "errors"] += 1
        element = ET.SubElement(case, "failure" if failed else "error", type=item.outcome)
        element.set("message", clean(item.reason or ""))
        element.text = clean(f"expected {item.expected}, found {item.found}")
    for name, count in counts.items():
        suite.set(name, str(count))
    return counts


def clean(text: str) -> str:
    """``text`` without characters that a terminal obeys or that XML cannot hold."""
    return _UNPRINTABLE.sub("\ufffd", text)
