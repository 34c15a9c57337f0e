"""The report of a burn-in: as text, as Markdown for a signature, and as JSON."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from rackwright.harmless import counted, json_text, visible
from rackwright.nodelife.burnin.limits import Judged, RateOutcome
from rackwright.nodelife.burnin.suite import GroupResult, NodeResult, Suite, SuiteVerdict

SCHEMA = "rackwright.burn-in-report/v1"


def render_text(suite: Suite) -> str:
    """Return the nodes and groups that do not pass, with reasons, and a summary."""
    lines = []
    for node in suite.nodes:
        if node.verdict is not SuiteVerdict.PASS:
            lines.append(f"{node.node.name}: {node.verdict}")
            lines += [f"  {reason}" for reason in node.reasons]
    for group in suite.groups:
        if group.verdict is not SuiteVerdict.PASS:
            lines += _group_lines(group)
    if suite.lab:
        lines.append("not judged, because these hosts are a lab's: accelerators")
    lines.append(_summary(suite))
    return "".join(f"{visible(line)}\n" for line in lines)


def _group_lines(group: GroupResult) -> Iterator[str]:
    yield f"{group.group.kind} {group.group.name}: {group.verdict}: {_value(group)}"
    if (search := group.search) is not None:
        found = [*search.faulty, *(f"between {one} and {other}" for one, other in search.paths)]
        found += [f"{one} or {other}" for one, other in search.unclear]
        what = ", ".join(found) or "nothing that is seen twice"
        yield f"  found in {counted(len(search.runs), 'run')}: {what}"


def _value(group: GroupResult) -> str:
    if group.value is None:
        return group.problem or "no result"
    if group.limit is None:
        return f"{group.value:g} GB/s; state 'across' in 'operations.all_reduce' to have it judged"
    return f"{group.value:g} GB/s, at least {group.limit:g} GB/s is needed"


def _summary(suite: Suite) -> str:
    counts = {one: sum(node.verdict is one for node in suite.nodes) for one in SuiteVerdict}
    rates = [one for node in suite.nodes for one in node.judged]
    recorded = sum(one.outcome is RateOutcome.RECORDED for one in rates)
    verdict = {
        SuiteVerdict.PASS: "passed",
        SuiteVerdict.FAIL: "not passed",
        SuiteVerdict.UNKNOWN: "not passed: not everything is known",
    }[suite.verdict]
    total = len(suite.nodes)
    return (
        f"{verdict}: of {total} {'node' if total == 1 else 'nodes'} {counts[SuiteVerdict.PASS]} pass, "
        f"{counts[SuiteVerdict.FAIL]} fail, {counts[SuiteVerdict.UNKNOWN]} unknown; {counted(len(suite.groups), 'group')}; "
        f"{counted(len(rates), 'rate')}, {recorded} of them without a limit"
    )


def as_data(suite: Suite) -> dict[str, Any]:
    """Return the document ``rackwright.burn-in-report/v1``."""
    return {
        "schema": SCHEMA,
        "cluster": suite.cluster,
        "began": _time(suite.began),
        "ended": _time(suite.ended),
        "hours": suite.hours,
        "verdict": str(suite.verdict),
        "not_judged": ["accelerators"] if suite.lab else [],
        "nodes": {node.node.name: _node(node) for node in suite.nodes},
        "groups": [_group(group) for group in suite.groups],
    }


def _node(result: NodeResult) -> dict[str, Any]:
    return {
        "verdict": str(result.verdict),
        "site": result.node.site,
        "hall": result.node.hall,
        "group": result.node.group,
        "reasons": list(result.reasons),
        "rates": [_rate(one) for one in result.judged],
    }


def _rate(one: Judged) -> dict[str, Any]:
    rate, limit = one.measured, one.limit
    return {
        "part": rate.part.name,
        "model": rate.part.model,
        "serial": rate.part.serial or None,
        "name": rate.name,
        "size": rate.size,
        "value": rate.value,
        "unit": rate.unit,
        "least": None if limit is None else limit.least,
        "basis": None if limit is None else limit.basis,
        "outcome": str(one.outcome),
    }


def _group(result: GroupResult) -> dict[str, Any]:
    search = result.search
    return {
        "kind": result.group.kind,
        "name": result.group.name,
        "nodes": list(result.group.nodes),
        "verdict": str(result.verdict),
        "gb_s": result.value,
        "least_gb_s": result.limit,
        "problem": result.problem,
        "found": None
        if search is None
        else {
            "faulty": search.faulty,
            "between": [list(pair) for pair in search.paths],
            "unclear": [list(pair) for pair in search.unclear],
            "runs": len(search.runs),
        },
    }


def render_json(suite: Suite) -> str:
    """Return the report for programs."""
    return json_text(as_data(suite))


def render_markdown(suite: Suite) -> str:
    """Return the report for a buyer: every part by serial number with its limits, and room for signatures.

    It names the digest of the JSON report, which is the record of what was signed.
    """
    digest = hashlib.sha256(render_json(suite).encode()).hexdigest()
    lines = [
        f"# Burn-in of {_cell(suite.cluster)}",
        "",
        f"{_time(suite.began)} to {_time(suite.ended)}, {suite.hours:g} h of load asked for on each node.",
        "",
        f"Result: **{suite.verdict}**.",
        "",
        _cell(_summary(suite)) + ".",
        "",
        "| Node | Result | Reasons |",
        "|---|---|---|",
        *(
            f"| {_cell(n.node.name)} | {n.verdict} | {_cell('; '.join(n.reasons)) or '–'} |"
            for n in suite.nodes
        ),
        "",
        "## Parts",
        "",
        "| PartUnderTest | Model | Serial number | Measurement | Value | Least | Result | Basis of the limit |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for node in suite.nodes:
        for one in node.judged:
            rate, limit = one.measured, one.limit
            least = "none known" if limit is None else f"{limit.least:.4g}"
            row = (
                rate.part.name, rate.part.model, rate.part.serial or "–", f"{rate.name}, size {rate.size:,}",
                f"{rate.value:g} {rate.unit}", least, one.outcome, "–" if limit is None else limit.basis,
            )  # fmt: skip
            lines.append("| " + " | ".join(_cell(str(word)) for word in row) + " |")
    if suite.groups:
        lines += [
            "",
            "## Groups",
            "",
            "| Group | Nodes | Result | Bus bandwidth |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| {g.group.kind} {_cell(g.group.name)} | {len(g.group.nodes)} | {g.verdict} | {_cell(_value(g))} |"
            for g in suite.groups
        ]
    lines += [
        "",
        "## Signatures",
        "",
        f"SHA-256 of the report in JSON: `{digest}`",
        "",
        "| | Name | Date | Signature |",
        "|---|---|---|---|",
        "| Supplier | | | |",
        "| Buyer | | | |",
        "",
    ]
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Return the text of a host for a cell of a table: on one line, without marks that Markdown obeys."""
    plain = " ".join(visible(text).split())
    return "".join(f"\\{sign}" if sign in "|\\`*_[]<>" else sign for sign in plain)


def _time(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat(timespec="seconds")


def render_layer(suite: Suite) -> str:
    """Return a layer of the blueprint that states the results, for OPS-004 to evaluate."""
    import yaml

    from rackwright.model.names import compress_hostlist

    groups: dict[tuple[str, str], list[NodeResult]] = {}
    for node in suite.nodes:
        groups.setdefault((node.node.site, node.node.group), []).append(node)
    entries = [
        _entry(suite, site, group, own, compress_hostlist) for (site, group), own in groups.items()
    ]
    layer = {"operations": {"burn_in": {"results": entries}}}
    return str(yaml.safe_dump(layer, sort_keys=False))


def _entry(
    suite: Suite, site: str, group: str, own: Sequence[NodeResult], short: Any
) -> dict[str, Any]:
    passed = [node.node.name for node in own if node.verdict is SuiteVerdict.PASS]
    entry = {
        "site": site,
        "group": group,
        "date": dt.datetime.fromtimestamp(suite.ended, dt.UTC).date(),
        "duration": f"{suite.hours:g} h",
    }
    return {**entry, "passed": short(passed)} if passed else entry
