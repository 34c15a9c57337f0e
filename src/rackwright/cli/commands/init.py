"""``init``: a blueprint from a template, or of what already stands."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.init_from import add_from, run_from
from rackwright.cli.options.telling import tell
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode

if TYPE_CHECKING:
    from rackwright.templates.questions import Answer


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``init``."""
    parser.add_argument("folder", type=Path, nargs="?", help="folder to write to")
    parser.add_argument(
        "--template",
        help="name of a built-in template, a folder with a '/', git+URL@TAG or package:NAME",
    )
    parser.add_argument(
        "--list", action="store_true", help="list the templates with what they ask, and stop"
    )
    add_answers(parser)
    add_from(parser)


def add_answers(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that answer questions of a template."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="answer of the template, like name=atlas; repeatable",
    )
    parser.add_argument(
        "--answers", type=Path, metavar="FILE", help="YAML file with answers; --set goes before it"
    )


def answers_of(arguments: argparse.Namespace) -> dict[str, Answer]:
    """The answers that a command was given.

    Raises:
        SpecErrors: the file of answers cannot be read.
        UsageError: something given is no answer.
    """
    answers: dict[str, Answer] = {}
    if arguments.answers is not None:
        from rackwright.reading.loader import load_tree

        tree = load_tree(arguments.answers)
        data = tree.data
        if not isinstance(data, dict):
            raise UsageError(f"'{arguments.answers}' is no mapping of answers")
        for key, value in data.items():
            if not isinstance(value, (str, int, float)):
                raise UsageError(
                    f"{tree.locate((key,))}: the answer to '{key}' is no text, number or truth value"
                )
            answers[key] = value
    for pair in arguments.set:
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"'{pair}' is not KEY=VALUE")
        answers[key] = value
    return answers


def run(arguments: argparse.Namespace) -> int:
    """Write the blueprint, or list the templates; with ``--from``, that of what stands.

    Raises:
        UsageError: the folder or the template is not named, there is no such template, an answer is
            wrong, or a file exists or cannot be written.
    """
    from rackwright.render.blueprints import find_template, write_blueprint
    from rackwright.render.editors import write_schema
    from rackwright.templates.making import BLUEPRINT

    if arguments.list:
        _list()
        return ExitCode.CLEAN
    if arguments.sources:
        return run_from(arguments)
    for given, option in (
        (arguments.product, "--product"),
        (arguments.leave_out, "--leave-out"),
        (arguments.site, "--site"),
        (arguments.map, "--map"),
        (arguments.leave_out_unknown, "--leave-out-unknown"),
    ):
        if given:
            raise UsageError(f"{option} has no effect without --from")
    if arguments.folder is None or arguments.template is None:
        raise UsageError(
            "a folder and --template, or --from, are needed", hint="'init --list' lists templates"
        )
    answers = answers_of(arguments)
    written = write_blueprint(find_template(arguments.template), arguments.folder, answers)
    write_schema(arguments.folder)
    for path in written:
        print(path)
    folder = shlex.quote(str(arguments.folder))
    blueprint = shlex.quote(str(arguments.folder / BLUEPRINT))
    tell(
        f"next: rackwright check {blueprint}\n"
        f"      rackwright expand {blueprint}   what each value follows from\n"
        "      rackwright ci --help   to judge every change of it\n"
        f"      rackwright update {folder}   what the template changes later\n"
    )
    return ExitCode.CLEAN


def _list() -> None:
    from rackwright.render.blueprints import list_templates

    for template in list_templates():
        print(f"{template.name}: {template.manifest.description}")
        for key, question in template.manifest.questions.items():
            default = "…" if question.default is None else question.default
            print(f"  --set {key}={default}  {question.help}")
