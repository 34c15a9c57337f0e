"""``diff``: compare two revisions of a blueprint."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.exceptions import add_today, files_of
from rackwright.cli.options.output_files import Output, OutputFile, add_outputs
from rackwright.cli.options.outputs import write_file
from rackwright.cli.options.packs import add_isolated, refuse_outside
from rackwright.errors import RackwrightError, UsageError
from rackwright.harmless import COLOURS, harmless
from rackwright.streams import show
from rackwright.terminal import wants_colour

if TYPE_CHECKING:
    from rackwright.diff.compare import Comparison

FORMATS = ("text", "json", "md", "comment")
FILES = OutputFile({"text": (".txt",), "json": (".json",), "md": (".md",), "comment": ()})


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``diff``."""
    parser.add_argument(
        "revisions",
        metavar="BASE..HEAD",
        help="revisions to compare; BASE...HEAD starts at their merge base, "
        "BASE alone compares with the working tree",
    )
    add_blueprint(parser)
    parser.add_argument(
        "--pack",
        type=Path,
        action="append",
        default=[],
        help="folder of more policies, as it is on disk; repeatable",
    )
    add_isolated(parser)
    add_today(parser)
    parser.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="FIELD",
        help="accept the loss of data at this field, named as in the finding; repeatable",
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="output format on stdout; md is input of 'check --delta', comment is a whole comment",
    )
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    add_outputs(parser, FILES, "write the comparison to a file as well")
    parser.add_argument("-v", "--verbose", action="store_true", help="show everything in full")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def run(arguments: argparse.Namespace) -> int:
    """Compare; the exit code is the verdict on the head, or on what the change does to it.

    Raises:
        UsageError: ``--verbose`` is given with another format than text, or an output is not
            ``FORMAT=FILE``.
        RackwrightError: the sides cannot be compared; the outputs say why.
    """
    form = "json" if arguments.json else arguments.format
    if form != "text" and arguments.verbose:
        raise UsageError("--verbose has an effect on text only")
    outputs: list[Output] = arguments.output
    try:
        comparison = _compare(arguments)
    except RackwrightError as error:
        _write_failure(error, outputs)
        raise
    for output in outputs:
        assert output.path is not None  # noqa: S101 - FILES knows no stdout
        write_file(output.path, _render(comparison, output.form, arguments, colour=False))
    colour = wants_colour(arguments.color, sys.stdout, os.environ)
    show(_render(comparison, form, arguments, colour=colour), COLOURS if colour else None)
    if comparison.refused:
        sys.stderr.write("hint: '--accept FIELD' lets a change destroy data\n")
    return int(comparison.exit_code)


def _compare(arguments: argparse.Namespace) -> Comparison:
    from rackwright.diff.compare import compare_sides
    from rackwright.diff.revisions import WorkingTree, approving_revision, open_sides
    from rackwright.policy.base_approval.approval import read_approval
    from rackwright.policy.exceptions.exceptions import ExceptionChoice, read_exceptions
    from rackwright.policy.gate import all_packs
    from rackwright.policy.packs.team_config import packs_for
    from rackwright.reading.links import refuse_links

    if arguments.isolated:
        refuse_outside(arguments.blueprint, [*arguments.layer, *files_of(arguments)])
    base, head = open_sides(arguments.revisions, arguments.blueprint)
    if isinstance(head, WorkingTree):  # a revision refuses them itself
        refuse_links([arguments.blueprint, *arguments.layer])
    # As in 'check --base-ref': a change does not approve itself.
    ref = approving_revision(arguments.revisions)
    layers, isolated = tuple(arguments.layer), arguments.isolated
    approval = read_approval(arguments.blueprint, layers, ref, isolated=isolated)
    packs = packs_for(arguments.blueprint, arguments.pack, isolated=isolated)
    choice = ExceptionChoice(base_ref=ref, today=arguments.today)
    return compare_sides(
        base,
        head,
        arguments.blueprint,
        layers=layers,
        packs=all_packs(packs, approval),
        exceptions=read_exceptions(arguments.blueprint, choice, former=approval.former),
        approval=approval,
        accepted=arguments.accept,
    )


def _write_failure(error: RackwrightError, outputs: Sequence[Output]) -> None:
    """Say in the part for ``check --delta`` why there is no comparison; other forms are left out."""
    from rackwright.report.failure import uncompared_markdown

    for output in outputs:
        if output.form == "md" and output.path is not None:
            write_file(output.path, harmless(uncompared_markdown(error)))


def _render(
    comparison: Comparison, form: str, arguments: argparse.Namespace, *, colour: bool
) -> str:
    if form == "json":
        from rackwright.diff.forms.json import render_json

        return render_json(comparison)
    if form == "md":
        from rackwright.diff.forms.markdown import render_markdown

        return harmless(render_markdown(comparison))
    if form == "comment":
        from rackwright.diff.forms.markdown import render_comment

        return harmless(render_comment(comparison))
    from rackwright.diff.forms.text import render_text

    text = render_text(comparison, verbose=arguments.verbose, colour=colour)
    return harmless(text, COLOURS if colour else None)
