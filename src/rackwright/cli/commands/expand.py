"""``expand``: the full form of a blueprint, and the rule behind each value that is not written."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rackwright.cli.options.arguments import BLUEPRINT, add_blueprint, add_json
from rackwright.cli.options.outputs import write_file
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``expand``."""
    add_blueprint(parser)
    add_json(parser, "the blueprint and the place of each derived value")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write to this file instead of stdout"
    )
    parser.add_argument("--rules", action="store_true", help="list the rules of derivation instead")


def run(arguments: argparse.Namespace) -> int:
    """Print the full form, or the rules.

    Raises:
        UsageError: a blueprint is named with ``--rules``; the file cannot be written.
    """
    if str(arguments.output) in {"yaml", "json"}:
        raise UsageError(
            "--output names a file", hint="JSON is '--json', YAML what is printed without it"
        )
    if arguments.rules:
        if str(arguments.blueprint) != BLUEPRINT:
            raise UsageError("--rules is about no blueprint", hint="leave out one of both")
        from rackwright.plan.derivation.rules import rules_table

        sys.stdout.write(rules_table())
        return ExitCode.CLEAN
    from rackwright.plan.load import load_plan
    from rackwright.render.full_form import full_json, full_yaml

    loaded = load_plan(arguments.blueprint, tuple(arguments.layer))
    text = full_json(loaded) if arguments.json else full_yaml(loaded, str(arguments.blueprint))
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        write_file(arguments.output, text)
    return ExitCode.CLEAN
