"""An acceptance as text, as JSON and as JUnit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict

from rackwright.accept.compare import Acceptance, ItemOutcome, ItemResult
from rackwright.harmless import json_text
from rackwright.report.ci.junit_xml import Case, render_suites

SCHEMA = "rackwright.verify/v1"
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\u00a1-\ud7ff\ue000-\ufffd]")


def render_text(
    acceptance: Acceptance, not_judged: frozenset[str], drained: Mapping[str, str]
) -> str:
    """Return the items that do not pass, host by host, and a summary."""
    lines = []
    for host in acceptance.hosts:
        if host.outcome is ItemOutcome.PASS:
            continue
        lines.append(f"{host.name}: {host.outcome}")
        lines += [_line(item) for item in host.items if item.outcome is not ItemOutcome.PASS]
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
    counts = {o: sum(host.outcome is o for host in hosts) for o in ItemOutcome}
    items = sum(len(host.items) for host in hosts)
    verdict = {
        ItemOutcome.PASS: "accepted",
        ItemOutcome.FAIL: "not accepted",
        ItemOutcome.UNKNOWN: "not accepted: not everything is known",
    }[acceptance.outcome]
    return (
        f"{verdict}: of {len(hosts)} {'host' if len(hosts) == 1 else 'hosts'} "
        f"{counts[ItemOutcome.PASS]} pass, {counts[ItemOutcome.FAIL]} fail, "
        f"{counts[ItemOutcome.UNKNOWN]} unknown ({items} items)"
    )


def render_json(
    acceptance: Acceptance, not_judged: frozenset[str], drained: Mapping[str, str]
) -> str:
    """Return the document ``rackwright.verify/v1``, with every item."""
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
    """Return a suite for each host, a case for each item; what is unknown is an error, never skipped."""
    suites = ((clean(host.name), map(_case, host.items)) for host in acceptance.hosts)
    return render_suites("rackwright verify", suites)


def _case(item: ItemResult) -> Case:
    if item.outcome is ItemOutcome.PASS:
        return Case(clean(item.item))
    return Case(
        clean(item.item),
        "failure" if item.outcome is ItemOutcome.FAIL else "error",
        clean(item.reason or ""),
        item.outcome,
        clean(f"expected {item.expected}, found {item.found}"),
    )


def clean(text: str) -> str:
    """Return ``text`` without characters that a terminal obeys."""
    return _UNPRINTABLE.sub("\ufffd", text)
