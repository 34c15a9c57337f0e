"""``netbox``: read what stands from a NetBox, and write what is planned to it."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.cli.options.arguments import add_blueprint, add_json
from rackwright.cli.options.output_files import OutputFile, add_output
from rackwright.cli.options.telling import answer
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted

if TYPE_CHECKING:
    from rackwright.netbox.client import NetBox
    from rackwright.netbox.push import PlannedChanges

TOKEN = "NETBOX_TOKEN"  # noqa: S105 - the name of a variable
MOST_SHOWN = 40
"""Changes of one kind that are shown without ``--all``."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``netbox``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    pull = actions.add_parser("pull", help="write existing devices to a file for 'init --from'")
    add_output(pull, OutputFile({"json": (".json",)}), "file to write", required=True)
    push = actions.add_parser(
        "push", help="create and change what the plan contains; remove nothing"
    )
    add_blueprint(push)
    push.add_argument("--dry-run", action="store_true", help="show the changes, and make none")
    push.add_argument("--all", action="store_true", help="show every change")
    push.add_argument(
        "--map", type=Path, metavar="FILE", help="YAML with 'products', as for 'init --from'"
    )
    for action in (pull, push):
        action.add_argument("--url", required=True, help="address of NetBox, before '/api/'")
        action.add_argument("--site", help="this site alone")
        add_json(action)
        action.add_argument(
            "--token-file",
            type=Path,
            metavar="FILE",
            help=f"file with the token; else the environment variable {TOKEN}",
        )


def run(arguments: argparse.Namespace) -> int:
    """Pull or push; 5 where NetBox has what the plan cannot change.

    Raises:
        UsageError: there is no token, no such site, or a file cannot be read or written.
        NetBoxError: NetBox refuses, or does not answer.
    """
    from rackwright.netbox.client import NetBox

    netbox = NetBox(arguments.url, _token(arguments.token_file))
    if arguments.action == "pull":
        return _pull(netbox, arguments)
    return _push(netbox, arguments)


def _token(path: Path | None) -> str:
    """Return the token.

    Raises:
        UsageError: it is not given, or its file cannot be read.
    """
    if path is None:
        if token := os.environ.get(TOKEN, ""):
            return token
        raise UsageError("there is no token", hint=f"set {TOKEN}, or give --token-file")
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise UsageError(f"'{path}' cannot be read: {reason}") from None


def _pull(netbox: NetBox, arguments: argparse.Namespace) -> int:
    from rackwright.cli.options.outputs import write_file
    from rackwright.netbox.snapshot import LISTS, pull, written

    snapshot = pull(netbox, arguments.site)
    path = arguments.output.path
    write_file(path, written(snapshot))
    counts = ", ".join(f"{len(snapshot[name]):,} {name.replace('_', ' ')}" for name in LISTS)
    document = {"file": str(path), **{name: len(snapshot[name]) for name in LISTS}}
    answer(arguments, "netbox-pull", document, f"{path}: {counts}\n")
    return ExitCode.CLEAN


def _push(netbox: NetBox, arguments: argparse.Namespace) -> int:
    from rackwright.brownfield.import_map import ImportMap
    from rackwright.catalog.team import catalogue_for
    from rackwright.netbox.push import compare, push
    from rackwright.netbox.wanted import wanted_of
    from rackwright.plan.load import load_plan
    from rackwright.reading.loader import load

    catalogue = catalogue_for(arguments.blueprint)
    plan = load_plan(arguments.blueprint, tuple(arguments.layer), catalogue=catalogue).plan
    mapped = ImportMap() if arguments.map is None else load(arguments.map, ImportMap).value
    sites = [site for site in plan.onprem if arguments.site in {None, site.name}]
    if not sites:
        named = "" if arguments.site is None else f" '{arguments.site}'"
        raise UsageError(f"there is no bare-metal site{named} to write to NetBox")
    entries: list[dict[str, Any]] = []
    conflicts = 0
    for site in sites:
        wanted = list(wanted_of(plan, site, catalogue))
        changes, known = compare(netbox, site.name, wanted, mapped.products)
        conflicts += len(changes.conflicts)
        entries.append(
            {
                "site": site.name,
                "changes": [str(change) for change in changes.changes],
                "unchanged": changes.unchanged,
                "conflicts": list(changes.conflicts),
            }
        )
        if not arguments.json:
            _show(changes, whole=arguments.all)
            count = len(changes.changes)
            print(
                f"{site.name}: {counted(count, 'change')}, {counted(changes.unchanged, 'object')} are as planned"
            )
        if arguments.dry_run:
            continue
        done: Counter[str] = Counter()
        for word, number in push(changes, known):
            done[word] += number
            sys.stderr.write(f"{word}: {done[word]:,}\n")
    answer(arguments, "netbox-push", {"dry_run": arguments.dry_run, "sites": entries}, "")
    return ExitCode.VIOLATION if conflicts else ExitCode.CLEAN


def _show(changes: PlannedChanges, *, whole: bool) -> None:
    from rackwright.harmless import visible
    from rackwright.netbox.kinds import KINDS

    for kind in KINDS:
        own = [str(change) for change in changes.changes if change.wanted.kind == kind]
        shown = own if whole else own[:MOST_SHOWN]
        for line in shown:
            print(visible(line))
        if len(own) > len(shown):
            print(f"  … and {len(own) - len(shown):,} more: --all shows them")
    for conflict in changes.conflicts:
        print(f"! {visible(conflict)}")
