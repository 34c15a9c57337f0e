"""``init``: a blueprint from a template, or of what already stands."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from rackwright.cli.options.arguments import add_json
from rackwright.cli.options.beginning.from_existing import add_from, run_from
from rackwright.cli.options.beginning.interview import (
    add_answers,
    answers_of,
    ask,
    example_answers,
    placed,
    question_sheet,
)
from rackwright.cli.options.outputs import write_file
from rackwright.cli.options.telling import answer_files, tell
from rackwright.cli.options.todo import refuse_existing
from rackwright.errors import RackwrightError, UsageError
from rackwright.exit_codes import ExitCode


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``init``."""
    parser.add_argument("folder", type=Path, nargs="?", help="folder to write to")
    parser.add_argument(
        "--template",
        help="name of a built-in template, a folder with a '/', git+URL@TAG or package:NAME",
    )
    parser.add_argument(
        "--example",
        action="store_true",
        help="answer with the example values of the template; the blueprint marks them, 'check' counts them",
    )
    parser.add_argument(
        "--questions",
        type=Path,
        metavar="FILE",
        help="write the questions of the template to a file for --answers, and stop",
    )
    parser.add_argument(
        "--list",
        action="store_true",
        help="list the templates; with --template, its questions; and stop",
    )
    add_json(parser, "the files, or with --list the templates,")
    add_answers(parser)
    add_from(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the blueprint, or list the templates; with ``--from``, that of what stands.

    Raises:
        UsageError: the folder or the template is not named, there is no such template, an answer is
            wrong, or a file exists or cannot be written.
    """  # noqa: DOC501 - placed() makes a RackwrightError
    from rackwright.files import missing, undone
    from rackwright.render.blueprints import find_template, write_blueprint
    from rackwright.render.editors import write_schema
    from rackwright.templates.contents import RECORD_FOLDER
    from rackwright.templates.making import BLUEPRINT, SCHEMA
    from rackwright.templates.questions import check_answers

    if arguments.list:
        _list(arguments.template, as_json=arguments.json)
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
    if arguments.questions is not None and arguments.template is not None:
        refuse_existing(arguments.questions)
        write_file(arguments.questions, question_sheet(find_template(arguments.template)))
        answer_files(arguments, [arguments.questions])
        return ExitCode.CLEAN
    if arguments.folder is None or arguments.template is None:
        raise UsageError(
            "init needs a folder, and --template or --from",
            hint="'rackwright init hall --template onprem-h200 --example', or '--list'",
        )
    template = find_template(arguments.template)
    answers = answers_of(arguments, template)
    if template.manifest.example and not arguments.example:
        check_answers(template.manifest, answers, template.name)
        raise UsageError(
            f"every value of the template '{template.name}' is an example, of no site of yours",
            hint="add '--example' to try it, or take a template that asks: 'rackwright init --list'",
        )
    if arguments.example:
        answers = example_answers(template, answers)
    elif sys.stdin.isatty() and sys.stderr.isatty():
        answers = ask(template, check_answers(template.manifest, answers, template.name))
    record, schemas = arguments.folder / RECORD_FOLDER, (arguments.folder / SCHEMA).parent
    folders = missing(arguments.folder)
    new = [path for path in (record, schemas) if path in missing(record, schemas)]
    try:
        written = write_blueprint(template, arguments.folder, answers)
    except RackwrightError as error:
        raise placed(error, arguments) from None
    with undone([*written, *new], folders):
        write_schema(arguments.folder)
    answer_files(arguments, written)
    folder = shlex.quote(str(arguments.folder))
    blueprint = shlex.quote(str(arguments.folder / BLUEPRINT))
    tell(
        f"next: rackwright check {blueprint}\n"
        f"      rackwright expand {blueprint}   every value, with the rule behind it\n"
        "      rackwright ci init --help   a gate for pull requests\n"
        f"      rackwright update {folder}   later changes of the template\n"
    )
    return ExitCode.CLEAN


def _list(named: str | None, *, as_json: bool) -> None:
    """Print the built-in templates, or the questions of the one that is named."""
    from rackwright.harmless import json_text
    from rackwright.render.blueprints import find_template, list_templates

    templates = list_templates() if named is None else [find_template(named)]
    if as_json:
        entries = [
            {
                "name": template.name,
                "description": template.manifest.description,
                "questions": {
                    key: {"default": question.default, "help": question.help}
                    for key, question in template.manifest.questions.items()
                },
            }
            for template in templates
        ]
        sys.stdout.write(json_text({"schema": "rackwright.templates/v1", "templates": entries}))
        return
    for template in templates:
        print(f"{template.name}: {template.manifest.description}")
        if named is None:
            continue
        for key, question in template.manifest.questions.items():
            default = "…" if question.default is None else question.default
            print(f"  --set {key}={default}  {question.help}")
    if named is None:
        tell("next: rackwright init --list --template NAME   the questions of a template\n")
