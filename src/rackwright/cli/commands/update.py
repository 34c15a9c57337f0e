"""``update``: what a template changed, put into the clusters that were made from it."""

from __future__ import annotations

import argparse
import difflib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.cli.options.beginning.interview import add_answers, answers_of
from rackwright.cli.options.telling import tell
from rackwright.errors import RackwrightError, UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text, visible

if TYPE_CHECKING:
    from rackwright.templates.updating import FileUpdate, Update


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``update``."""
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path(),
        help="folder of the cluster (default: this one)",
    )
    parser.add_argument(
        "--to", metavar="TAG", help="tag of a git template (default: the highest version)"
    )
    parser.add_argument(
        "--template",
        help="new source of the template, kept from now on (default: the recorded one)",
    )
    add_answers(parser)
    parser.add_argument("--dry-run", action="store_true", help="show the changes, write nothing")
    parser.add_argument(
        "--list",
        action="store_true",
        help="list the clusters in the folder and which are behind their template",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the changes, or with --list the clusters, as JSON",
    )


def run(arguments: argparse.Namespace) -> int:
    """Update a cluster, or list which are behind.

    Raises:
        UsageError: an option has no effect, the folder holds no cluster of a template, or a file that
            the update would change is not committed.
    """
    if arguments.list:
        return _list(arguments.folder, as_json=arguments.json)
    from rackwright.render.editors import write_schema
    from rackwright.templates.making import BLUEPRINT
    from rackwright.templates.record import read_kept
    from rackwright.templates.source import TemplateSource, open_template, parse_source, recorded
    from rackwright.templates.updating import plan_update, refuse_uncommitted, write_update

    folder: Path = arguments.folder
    kept = read_kept(folder)
    text = arguments.template or kept.record.template
    source = parse_source(text, arguments.to)
    if arguments.template is not None:  # a path is the user's own now
        pinned = recorded(source, folder)
        source = TemplateSource(pinned.kind, pinned.at, source.tag, pinned.folder)
    template = open_template(source, beside=folder)
    update = plan_update(folder, kept, template, answers_of(arguments, None))
    sys.stderr.write(
        f"template {visible(str(source))}: {kept.record.label} -> {update.kept.record.label}\n"
    )
    if not arguments.dry_run:  # written first: the answer says that it is
        refuse_uncommitted(folder, update)
        write_update(folder, update)
        if any(change.name == BLUEPRINT and change.after for change in update.changes):
            write_schema(folder)
    if arguments.json:
        _show_json(folder, update, dry_run=arguments.dry_run)
    else:
        _show(folder, update)
    if arguments.dry_run:
        for change in update.changes if not arguments.json else ():
            sys.stdout.write(_difference(change))
        return int(ExitCode.CONFLICT if update.conflicts else ExitCode.CLEAN)
    blueprint = shlex.quote(str(folder / BLUEPRINT))
    if update.conflicts:
        several = "" if update.conflicts == 1 else "s"
        sys.stderr.write(
            f"{update.conflicts} conflict{several}: decide between '<<<<<<<' and '>>>>>>>' in each "
            "file that is named above\n"
        )
    tell(f"next: rackwright check {blueprint}\n      commit what changed\n")
    return int(ExitCode.CONFLICT if update.conflicts else ExitCode.CLEAN)


def _show_json(folder: Path, update: Update, *, dry_run: bool) -> None:
    files = [
        {
            "file": str(folder / change.name),
            "step": change.step.value,
            "conflicts": list(change.conflicts),
        }
        for change in update.changes
    ]
    document = {"version": update.kept.record.label, "dry_run": dry_run, "files": files}
    sys.stdout.write(json_text({"schema": "rackwright.update/v1", **document}))


def _show(folder: Path, update: Update) -> None:
    """Return each file with what is done with it; each conflict with its place and its lines."""
    for change in update.changes:
        path = visible(str(folder / change.name))
        sys.stdout.write(f"{change.step.value:<9} {path}\n")
        lines = (change.after or "").splitlines()
        for line in change.conflicts:
            sys.stdout.write(f"  {path}:{line}\n")
            for text in _hunk(lines[line - 1 :]):
                sys.stdout.write(f"    {visible(text)}\n")
    if not update.changes:
        sys.stdout.write("nothing changes\n")


def _hunk(lines: list[str]) -> list[str]:
    """Return the lines of the conflict that begins with the first one."""
    end = next((n for n, line in enumerate(lines) if line.startswith(">>>>>>> ")), len(lines) - 1)
    return lines[: end + 1]


def _difference(change: FileUpdate) -> str:
    """Return a change as a unified diff, harmless to show."""
    from rackwright.templates.updating import Step

    after = "" if change.step is Step.REMOVED else change.after
    if after is None:
        return ""
    found = difflib.unified_diff(
        (change.before or "").splitlines(),
        after.splitlines(),
        change.name,
        change.name,
        lineterm="",
    )
    return "".join(f"{visible(line)}\n" for line in found)


def _list(folder: Path, *, as_json: bool) -> int:
    from rackwright.templates.record import find_clusters

    if not folder.is_dir():
        raise UsageError(f"'{visible(str(folder))}' is not a folder")
    rows = [_row(found) for found in find_clusters(folder)]
    if as_json:
        sys.stdout.write(json_text({"schema": "rackwright.clusters/v1", "clusters": rows}))
    else:
        for row in rows:
            where = f"{row['folder']}: {row['template']} {row['version']}".rstrip()
            newest = f" (newest: {row['newest']})" if row["state"] == "behind" else ""
            why = f": {row['why']}" if row["why"] else ""
            sys.stdout.write(f"{row['state']:<8} {visible(where + newest + why)}\n")
        if not rows:
            sys.stderr.write(f"no cluster below '{visible(str(folder))}' keeps its template\n")
    return int(ExitCode.CLEAN if rows else ExitCode.NOTHING)


def _row(folder: Path) -> dict[str, Any]:
    """Return one cluster of the list: ``current``, ``behind``, or ``unknown`` with the reason."""
    from rackwright.templates.record import read_kept
    from rackwright.templates.source import newest, parse_source

    row: dict[str, Any] = {
        "folder": str(folder),
        "template": "",
        "version": "",
        "newest": "",
        "state": "unknown",
        "why": "",
    }
    try:
        record = read_kept(folder).record
        row |= {"template": record.template, "version": record.label}
        found = newest(parse_source(record.template), beside=folder)
    except RackwrightError as error:
        row["why"] = str(error).splitlines()[0]
        return row
    same = found.digest == record.digest
    row |= {"newest": found.label, "state": "current" if same else "behind"}
    return row
