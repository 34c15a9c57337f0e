"""``render``: the files that follow from a blueprint."""

from __future__ import annotations

import argparse
import sys

from rackwright.cli.options.arguments import add_blueprint, add_json
from rackwright.cli.options.output_files import add_output_folder
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``render``."""
    add_blueprint(parser)
    add_output_folder(parser, "folder for the files", required=True)
    parser.add_argument("--diff", action="store_true", help="show what changes, line by line")
    add_json(parser, "the files and what changes")
    parser.add_argument("--check", action="store_true", help="write nothing")


def run(arguments: argparse.Namespace) -> int:
    """Write what changed; with ``--diff`` stdout carries the difference, otherwise the files.

    Raises:
        SpecErrors: something that the files need is unknown or leads nowhere.
    """  # noqa: DOC501 - locate_problems() makes the SpecErrors
    from rackwright.plan.load import load_plan, locate_problems
    from rackwright.plan.problems import PlanError
    from rackwright.render.generated import apply, compare, generate, show_diff

    loaded = load_plan(arguments.blueprint, arguments.layer)
    try:
        files = generate(loaded.plan)
    except PlanError as error:
        raise locate_problems(error, loaded.tree) from None
    changes = compare(files, arguments.output)
    if arguments.diff:
        sys.stdout.writelines(show_diff(changes, arguments.output))
    if not arguments.check:
        apply(changes)
    if arguments.json:
        files_changed = [{"path": str(one.path), "action": one.action} for one in changes]
        text = json_text(
            {"schema": "rackwright.render/v1", "check": arguments.check, "files": files_changed}
        )
        (sys.stderr if arguments.diff else sys.stdout).write(text)
        return ExitCode.CLEAN
    listing = sys.stderr if arguments.diff else sys.stdout
    for change in changes:
        would = "would be " if arguments.check and change.action != "unchanged" else ""
        listing.write(f"{would}{change.action}: {change.path}\n")
    return ExitCode.CLEAN
