"""``ledger``: parts by serial number, lemons, spares and packets for returns."""

from __future__ import annotations

import argparse
import datetime as dt
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.cli.options.arguments import BLUEPRINT, add_layers, in_folder
from rackwright.cli.options.output_files import OutputFile, add_output
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted, json_text, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rackwright.nodelife.ledger import Ledger
    from rackwright.plan.model import Plan

SCHEMA = "rackwright.ledger/v1"
DAYS = 30


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the actions of ``ledger``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, summary in (
        ("show", "show the history of a node or a part"),
        ("lemons", "list nodes that fail more often than chance explains"),
        ("spares", "compare planned spares with what the failure rates need"),
        ("note", "write a note about a node or a part"),
        ("packet", "write the packet for the return of a part, without secrets"),
    ):
        action = actions.add_parser(name, help=summary, description=summary)
        if name in ("show", "note"):
            action.add_argument("name", help="a node, or a serial number")
        if name == "note":
            action.add_argument("text", help="what was done")
        if name == "packet":
            action.add_argument("serial", help="serial number of the part")
            kind = OutputFile({"tar.gz": (".tar.gz", ".tgz")})
            add_output(action, kind, "archive to write, a .tar.gz", required=True)
            action.add_argument(
                "--attach", type=Path, action="append", default=[], metavar="FILE",
                help="a text to attach: nvidia-bug-report.log.gz, the SEL of the controller; repeatable",
            )  # fmt: skip
        if name in ("lemons", "spares"):
            action.add_argument("--days", type=int, default=DAYS, help=f"days to look back (default: {DAYS})")  # fmt: skip
        action.add_argument(
            "--blueprint", type=in_folder, default=Path(BLUEPRINT), metavar="FILE",
            help=f"the blueprint, or its folder (default: {BLUEPRINT})",
        )  # fmt: skip
        add_layers(action)
        action.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Run the action; 3 where the ledger has nothing about the name."""
    from rackwright.nodelife.ledger import open_ledger
    from rackwright.nodelife.store import store_path
    from rackwright.plan.load import load_plan

    plan = load_plan(arguments.blueprint, layers=tuple(arguments.layer)).plan
    now = time.time()
    with open_ledger(store_path(plan.name)) as ledger:
        match arguments.action:
            case "show":
                document = _history(ledger, arguments.name)
                lines = list(_history_lines(document))
            case "lemons":
                document = _lemons(ledger, plan, now, arguments.days)
                lines = [
                    f"{one['node']}: {one['incidents']} incidents, {one['expected']:.2g} expected, score {one['score']:.1f}"
                    for one in document["lemons"]
                ] or ["no node fails more often than chance explains"]
            case "spares":
                document = _spares(ledger, plan, now, arguments.days)
                lines = list(_spare_lines(document))
            case "note":
                document = _note(ledger, arguments.name, arguments.text, now)
                lines = ["written"]
            case _:
                document = _packet(ledger, arguments, now)
                lines = [f"{arguments.output}: {counted(len(document['files']), 'file')}"]
                lines += [
                    f"  {one['name']}: {one['secrets_removed']} secrets removed"
                    for one in document["files"]
                    if one["secrets_removed"]
                ]
    if arguments.json:
        sys.stdout.write(json_text({"schema": SCHEMA, **document}))
    else:
        sys.stdout.write("".join(f"{visible(line)}\n" for line in lines))
    empty = arguments.action == "show" and not (document["places"] or document["entries"])
    return ExitCode.NOTHING if empty else ExitCode.CLEAN


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat(timespec="seconds")


def _history(ledger: Ledger, name: str) -> dict[str, Any]:
    """Return the places and entries of a node or a serial number."""
    stays = ledger.stays(node=name) or ledger.stays(serial=name)
    entries = ledger.entries(node=name) or ledger.entries(serial=name)
    return {
        "name": name,
        "places": [
            {
                "kind": s.kind, "serial": s.serial, "model": s.model, "node": s.node, "slot": s.slot,
                "since": _time(s.since), "until": _time(s.until),
            }
            for s in stays
        ],
        "entries": [
            {"at": _time(e.at), "what": e.what, "node": e.node, "kind": e.kind, "serial": e.serial, "text": e.text}
            for e in entries
        ],
    }  # fmt: skip


def _history_lines(document: dict[str, Any]) -> Iterator[str]:
    for place in document["places"]:
        until = f"to {place['until']}" if place["until"] else "until now"
        yield (
            f"{place['kind']} {place['serial']} {place['model']}: {place['node']} {place['slot']}, "
            f"from {place['since']} {until}"
        )
    for entry in document["entries"]:
        part = f" {entry['kind']} {entry['serial']}" if entry["serial"] else ""
        yield f"{entry['at']} {entry['what']} {entry['node']}{part}: {entry['text']}"
    if not document["places"] and not document["entries"]:
        yield f"the ledger has nothing about '{document['name']}'"


def _lemons(ledger: Ledger, plan: Plan, now: float, days: int) -> dict[str, Any]:
    from rackwright.nodelife.burnin.groups import nodes_of
    from rackwright.nodelife.ledger_figures import lemons

    since = now - days * 86400
    names = [node.name for node in nodes_of(plan)]
    found = lemons(ledger.incidents(since), names, since)
    return {
        "days": days,
        "lemons": [
            {"node": one.node, "score": one.score, "incidents": one.incidents, "expected": one.expected}
            for one in found
        ],
    }  # fmt: skip


def _spares(ledger: Ledger, plan: Plan, now: float, days: int) -> dict[str, Any]:
    from rackwright.nodelife.ledger_figures import spare_needs

    begin = max(now - days * 86400, ledger.began() or now)
    needs = spare_needs(plan, ledger.incidents(begin), begin, now)
    return {
        "days": round((now - begin) / 86400, 2),
        "groups": [
            {
                "site": one.site, "group": one.group, "hosts": one.hosts, "planned": one.planned,
                "by_plan": one.by_plan, "failures_per_1000_days": one.observed, "by_ledger": one.by_ledger,
            }
            for one in needs
        ],
    }  # fmt: skip


def _spare_lines(document: dict[str, Any]) -> Iterator[str]:
    for one in document["groups"]:
        shown = {
            name: "unknown" if one[name] is None else one[name]
            for name in ("planned", "by_plan", "by_ledger")
        }
        seen = one["failures_per_1000_days"]
        rate = "" if seen is None else f" ({seen:.2f} failures of 1,000 hosts in a day)"
        yield (
            f"{one['group']} of {one['site']}, {one['hosts']} hosts: {shown['planned']} spares planned, "
            f"{shown['by_plan']} by the rates of the plan, {shown['by_ledger']} by the last {document['days']:g} days{rate}"
        )


def _note(ledger: Ledger, name: str, text: str, now: float) -> dict[str, Any]:
    stays = ledger.stays(serial=name)
    if stays:
        last = stays[-1]
        ledger.write("note", last.node, text, now, kind=last.kind, serial=name)
    else:
        ledger.write("note", name, text, now)
    return {"name": name, "text": text}


def _packet(ledger: Ledger, arguments: argparse.Namespace, now: float) -> dict[str, Any]:
    """Write the packet.

    Raises:
        UsageError: its name is that of no archive.
    """
    from rackwright.nodelife.return_packet import write_packet

    found = write_packet(ledger, arguments.serial, arguments.output.path, arguments.attach, now)
    return {name: value for name, value in found.items() if name != "schema"}
