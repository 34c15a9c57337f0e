"""``faults``: list, show and test the table of faults, and find faults in a recording."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted, json_text, visible
from rackwright.terminal import print_table

if TYPE_CHECKING:
    from rackwright.catalog.fault_table import FaultTable
    from rackwright.model.faults import Fault

LARGEST_RECORDING = 64 * 1024 * 1024
"""Bytes of a file of a recording."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``faults``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="list the faults, built in and the team's own")
    listing.add_argument("--subject", help="only faults of one subject, like 'nvlink'")
    listing.add_argument("--all", action="store_true", help="include every Xid of the catalogue")
    showing = actions.add_parser("show", help="show signs, actions and sources of a fault")
    showing.add_argument("id", help="id of the fault, or 'xid-79'")
    testing = actions.add_parser("test", help="check that the examples of every fault are detected")
    testing.add_argument("folder", type=Path, nargs="?", help="only faults of this folder")
    explaining = actions.add_parser("explain", help="find the faults in files of a recording")
    explaining.add_argument(
        "sources", nargs="+", metavar="SOURCE=FILE", help="like kernel=dmesg.txt or redfish=leak.json"
    )  # fmt: skip
    for action in (listing, showing, testing, explaining):
        action.add_argument("--json", action="store_true", help="as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Do what is asked for."""
    actions = {"list": _list, "show": _show, "test": _test, "explain": _explain}
    return actions[arguments.action](arguments)


def _table() -> FaultTable:
    from rackwright.catalog.fault_table import faults_for

    return faults_for(Path.cwd() / "blueprint.yaml")


def _row(table: FaultTable, fault: Fault) -> dict[str, Any]:
    return {
        "id": fault.id,
        "name": fault.name,
        "subject": fault.subject,
        "severity": fault.severity.value,
        "action": fault.action.value,
        "again": [action.value for action in fault.again],
        "documented": fault.documented,
        "sources": [
            {"title": one.title, "date": one.date.isoformat(), "confidence": one.confidence}
            for one in table.sources_of(fault)
        ],
    }


def _list(arguments: argparse.Namespace) -> int:
    from typing import get_args

    from rackwright.model.faults import Subject

    table = _table()
    if arguments.subject not in {None, *get_args(Subject)}:
        raise UsageError(
            f"there is no subject '{visible(arguments.subject)}'",
            hint=f"subjects are {', '.join(get_args(Subject))}",
        )
    rows = [
        _row(table, fault)
        for fault in table.faults.values()
        if arguments.subject in {None, fault.subject}
        and (arguments.all or fault.examples or not fault.id.startswith("xid-"))
    ]
    if arguments.json:
        sys.stdout.write(json_text({"schema": "rackwright.faults/v1", "faults": rows}))
    else:
        print_table(
            ("id", "subject", "severity", "action", "again", "fault"),
            [
                (row["id"], row["subject"], row["severity"], row["action"],
                 ", ".join(row["again"]), visible(row["name"]))
                for row in rows
            ],
            "{:<26} {:<10} {:<8} {:<15} {:<16} {}",
        )  # fmt: skip
    return ExitCode.CLEAN if rows else ExitCode.NOTHING


def _show(arguments: argparse.Namespace) -> int:
    table = _table()
    fault = table.get(arguments.id)
    signals = [
        signal.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
        for signal in fault.signals
    ]
    row = {
        **_row(table, fault),
        "signals": signals,
        "evidence": list(fault.evidence),
        "shared": fault.shared,
        "note": fault.note,
        "file": str(table.places[fault.id]),
    }
    if arguments.json:
        sys.stdout.write(json_text({"schema": "rackwright.fault/v1", "fault": row}))
        return ExitCode.CLEAN
    lines = [f"{fault.id}: {fault.name}", row["file"], ""]
    lines += [
        f"sign: {', '.join(f'{key} {value}' for key, value in one.items())}" for one in signals
    ]
    lines += [
        f"severity: {fault.severity}",
        f"action: {' -> '.join(a.value for a in fault.ladder)}",
    ]
    if fault.documented:
        lines.append(f"documented action: {fault.documented}")
    if fault.evidence:
        lines.append(f"evidence: {', '.join(fault.evidence)}")
    if fault.shared:
        lines.append("looked for first: a part that several nodes share")
    lines += [f"source: {s['title']} ({s['date']}, {s['confidence']})" for s in row["sources"]]
    lines += [fault.note.strip()] if fault.note else []
    sys.stdout.write("\n".join(visible(line) for line in lines) + "\n")
    return ExitCode.CLEAN


def _test(arguments: argparse.Namespace) -> int:
    from rackwright.catalog.fault_table import load_faults
    from rackwright.nodelife.signs.fault_examples import run_examples

    table = _table() if arguments.folder is None else load_faults([arguments.folder.resolve()])
    inside = None if arguments.folder is None else arguments.folder.resolve()
    own = tuple(
        fault
        for fault in table.faults.values()
        if (fault.examples or not fault.id.startswith("xid-"))
        and (inside is None or table.places[fault.id].is_relative_to(inside))
    )
    results = list(run_examples(table, own))
    bad = [result for result in results if result.problem is not None]
    if arguments.json:
        data = [{"fault": r.fault, "example": r.example, "problem": r.problem} for r in results]
        sys.stdout.write(json_text({"schema": "rackwright.fault-tests/v1", "examples": data}))
    else:
        for result in bad:
            name = f" '{result.example}'" if result.example else ""
            sys.stdout.write(visible(f"{result.fault}{name}: {result.problem}") + "\n")
        sys.stdout.write(
            f"{counted(len(own), 'fault')}, {counted(len(results), 'example')}, {len(bad)} failed\n"
        )
    if not results:
        return ExitCode.NOTHING
    return ExitCode.VIOLATION if bad else ExitCode.CLEAN


def _explain(arguments: argparse.Namespace) -> int:
    from rackwright.nodelife.signs.detect import detect
    from rackwright.nodelife.signs.recordings import SOURCES, read_recording

    table, material = _table(), {}
    for word in arguments.sources:
        source, separator, name = word.partition("=")
        if not separator or source not in SOURCES:
            raise UsageError(
                f"'{visible(word)}' is not SOURCE=FILE",
                hint=f"sources are {', '.join(sorted(SOURCES))}",
            )
        material[source] = _read(Path(name))
    recording = read_recording(material)
    events = detect(table, recording)
    rows = [
        {**_row(table, table.faults[event.fault]), "device": event.device, "at": event.at,
         "sign": event.text}
        for event in events
    ]  # fmt: skip
    if arguments.json:
        document = {"schema": "rackwright.found-faults/v1", "faults": rows}
        sys.stdout.write(json_text({**document, "unreadable": list(recording.problems)}))
    else:
        for row in rows:
            where = f" of {row['device']}" if row["device"] else ""
            steps = " -> ".join([row["action"], *row["again"]])
            sys.stdout.write(visible(f"{row['id']}{where}: {row['severity']}, {steps}") + "\n")
            sys.stdout.write(visible(f"  {row['sign'][:200]}") + "\n")
        sys.stdout.write(f"{counted(len(rows), 'fault')}\n" if rows else "no fault is found\n")
    for problem in recording.problems:
        sys.stderr.write(visible(f"not read: {problem}") + "\n")
    if recording.problems:
        return ExitCode.UNKNOWN
    return ExitCode.VIOLATION if rows else ExitCode.CLEAN


def _read(path: Path) -> str:
    """Return the text of a file of a recording.

    Raises:
        UsageError: it is missing or too large.
    """
    if not path.is_file():
        raise UsageError(f"'{path}' is not a file")
    if path.stat().st_size > LARGEST_RECORDING:
        raise UsageError(f"'{path}' is larger than {LARGEST_RECORDING // 2**20} MiB")
    return path.read_text("utf-8", errors="replace")
