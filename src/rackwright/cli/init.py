"""``init``: a blueprint from a template."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``init``."""
    parser.add_argument("folder", type=Path, nargs="?", help="folder to write to")
    parser.add_argument("--template", help="name of the template")
    parser.add_argument("--list", action="store_true", help="list the templates and stop")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="answer of the template, like name=atlas; repeatable",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the blueprint, or list the templates.

    Raises:
        UsageError: the folder or the template is not named, there is no such template, an answer is
            wrong, or a file exists or cannot be written.
    """
    from rackwright.render.blueprints import (
        BLUEPRINT,
        find_template,
        list_templates,
        write_blueprint,
    )

    if arguments.list:
        for template in list_templates():
            print(f"{template.name}: {template.manifest.description}")
            for key, answer in template.manifest.answers.items():
                print(f"  --set {key}={answer.default}  {answer.description}")
        return ExitCode.CLEAN
    if arguments.folder is None or arguments.template is None:
        raise UsageError("a folder and --template are needed", hint="'init --list' lists them")
    answers = {}
    for pair in arguments.set:
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"'{pair}' is not KEY=VALUE")
        answers[key] = value
    for path in write_blueprint(find_template(arguments.template), arguments.folder, answers):
        print(path)
    blueprint = shlex.quote(str(arguments.folder / BLUEPRINT))
    sys.stderr.write(
        f"next: rackwright check {blueprint}\n"
        f"      rackwright expand {blueprint}   what each value follows from\n"
        "      rackwright ci --help   to judge every change of it\n"
    )
    return ExitCode.CLEAN
