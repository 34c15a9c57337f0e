"""``template``: templates of a team's own."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_json
from rackwright.cli.options.telling import answer_files, tell
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text, visible

if TYPE_CHECKING:
    from rackwright.testing.template_trials import Tried


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the actions of ``template``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    new = actions.add_parser("new", help="create a template in a folder")
    new.add_argument("folder", type=Path, help="to write to")
    new.add_argument(
        "--from",
        dest="blueprint",
        type=Path,
        metavar="BLUEPRINT",
        help="blueprint to create it from (default: one of a small room)",
    )
    add_json(new, "the files")
    new.set_defaults(run=_new)
    test = actions.add_parser(
        "test", help="make a cluster from each case in template-test.yaml, check and render it"
    )
    test.add_argument("template", help="name of a built-in template, or a source as of 'init'")
    test.add_argument("--json", action="store_true", help="as JSON")
    test.set_defaults(run=_test)


def run(arguments: argparse.Namespace) -> int:
    """Do the action; its exit code."""
    return int(arguments.run(arguments))


def _new(arguments: argparse.Namespace) -> int:
    from rackwright.render.new_template import write_template

    answer_files(arguments, write_template(arguments.folder, arguments.blueprint))
    folder = str(arguments.folder)
    tell(
        f"next: rackwright template test {visible(folder if '/' in folder else f'./{folder}')}\n"
        "      put questions of your own into copier.yml, and {{ their names }} into blueprint.yaml.j2\n"
    )
    return ExitCode.CLEAN


def _test(arguments: argparse.Namespace) -> int:
    from rackwright.render.blueprints import find_template
    from rackwright.testing.template_trials import try_template

    tried = try_template(find_template(arguments.template))
    if arguments.json:
        rows = [one.row for one in tried]
        sys.stdout.write(json_text({"schema": "rackwright.template-test/v1", "cases": rows}))
    else:
        for one in tried:
            _show(one)
    worst = [one.exit_code for one in tried if one.exit_code]
    return worst[0] if worst else int(ExitCode.CLEAN)


def _show(one: Tried) -> None:
    row = one.row
    verdict = "passes" if one.exit_code == ExitCode.CLEAN else "fails"
    sys.stdout.write(
        f"{visible(one.name)}: {verdict}; {row['lines']} lines, {row['full_lines']} in full; "
        f"{row['examples']} example values\n"
    )
    for line in one.told:
        sys.stdout.write(f"  {visible(line)}\n")
