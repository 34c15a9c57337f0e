"""``expand``: the full form of a blueprint, and the rule behind each value that is not written."""

from __future__ import annotations

import argparse
import sys

from rackwright.cli.options.arguments import BLUEPRINT, add_blueprint, add_json
from rackwright.cli.options.output_files import (
    Output,
    OutputFile,
    add_output,
    refuse_other_format,
)
from rackwright.cli.options.outputs import write_file
from rackwright.cli.options.telling import answer
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode

_FILES = OutputFile({"yaml": (".yaml", ".yml"), "json": (".json",)})


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``expand``."""
    add_blueprint(parser)
    add_json(parser, "the blueprint and the place of each derived value")
    add_output(parser, _FILES, "write to this file instead of stdout")
    parser.add_argument("--rules", action="store_true", help="list the rules of derivation instead")


def run(arguments: argparse.Namespace) -> int:
    """Print the full form, or the rules.

    Raises:
        UsageError: a blueprint or a file is named with ``--rules``; the file cannot be written.
    """
    output: Output | None = arguments.output
    as_json = arguments.json
    if output is not None:
        refuse_other_format(output, "json" if as_json else None)
        as_json = as_json or output.form == "json"
    if arguments.rules:
        if str(arguments.blueprint) != BLUEPRINT:
            raise UsageError("--rules is about no blueprint", hint="leave out one of both")
        if output is not None:
            raise UsageError("--output has no effect with --rules", hint="redirect stdout")
        from rackwright.plan.derivation.rules import RULES, rules_table

        answer(arguments, "rules", {"rules": dict(RULES)}, rules_table())
        return ExitCode.CLEAN
    from rackwright.plan.load import load_plan
    from rackwright.render.full_form import full_json, full_yaml

    loaded = load_plan(arguments.blueprint, tuple(arguments.layer))
    text = full_json(loaded) if as_json else full_yaml(loaded, str(arguments.blueprint))
    if output is None or output.path is None:
        sys.stdout.write(text)
    else:
        write_file(output.path, text)
    return ExitCode.CLEAN
