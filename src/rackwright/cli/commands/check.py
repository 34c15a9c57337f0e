"""``check``: judge a blueprint."""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_blueprint, add_packs
from rackwright.cli.options.exceptions import add_files, add_judging, choice_of, files_of
from rackwright.cli.options.output_files import add_outputs
from rackwright.cli.options.outputs import (
    REPORTS,
    check_outputs,
    read_delta,
    write_failure,
    write_report,
)
from rackwright.cli.options.packs import add_isolated, refuse_outside
from rackwright.cli.options.telling import is_quiet
from rackwright.cli.options.todo import (
    LAYERS_AND_TABLES,
    add_todo,
    refuse_existing,
    write_questions,
    write_todo,
)
from rackwright.errors import RackwrightError, UsageError
from rackwright.exit_codes import ExitCode
from rackwright.report.formats import FORMATS
from rackwright.terminal import wants_colour

if TYPE_CHECKING:
    from rackwright.plan.load import LoadedPlan
    from rackwright.policy.engine import Report, Result
    from rackwright.policy.gate import Gate
    from rackwright.render.todo import Wanted


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``check``."""
    add_blueprint(parser)
    add_packs(parser)
    add_isolated(parser)
    parser.add_argument(
        "--only", action="append", default=[], metavar="ID", help="run only this policy; repeatable"
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help="output format on stdout")
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    add_outputs(
        parser,
        REPORTS,
        "write the report to a file as well, or after the text on stdout (FORMAT=-)",
    )
    parser.add_argument(
        "--delta",
        type=Path,
        metavar="FILE",
        help="comparison from 'diff --output md=FILE', for the md format",
    )
    parser.add_argument(
        "--exit-zero", action="store_true", help="exit with 0 even when policies fail"
    )
    parser.add_argument(
        "--stage",
        choices=("concept", "design", "build", "run"),
        help="check for this stage instead of the blueprint's own",
    )
    add_todo(parser, "each unset field that a rule needs", LAYERS_AND_TABLES)
    add_files(parser)
    parser.add_argument("--no-waivers", action="store_true", help="ignore waivers, as in an audit")
    parser.add_argument("--no-baseline", action="store_true", help="ignore the baseline")
    add_judging(parser)
    parser.add_argument(
        "--strict-waivers",
        action="store_true",
        help="exit with 7 when a waiver is expired, unused, too wide or too long",
    )
    parser.add_argument("--show-waived", action="store_true", help="also show waived findings")
    parser.add_argument("-v", "--verbose", action="store_true", help="also show passed rules")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def run(arguments: argparse.Namespace) -> int:
    """Judge; the exit code is the verdict.

    Raises:
        UsageError: arguments contradict each other, or a file or policy that they name cannot be
            used.
        RackwrightError: the blueprint cannot be checked; the outputs say why.
    """
    from rackwright.catalog.team import catalogue_for
    from rackwright.plan.load import load_plan
    from rackwright.policy.api import Stage
    from rackwright.policy.autofix import with_edits
    from rackwright.policy.gate import open_gate
    from rackwright.reading.suggest import did_you_mean

    form = "json" if arguments.json else arguments.format
    if form != "text" and arguments.verbose:
        raise UsageError(f"--verbose has no effect on {form}, only on text")
    if arguments.verbose and is_quiet():
        raise UsageError("--quiet and --verbose contradict each other")
    refuse_existing(arguments.todo, LAYERS_AND_TABLES)
    choice = choice_of(arguments)
    outputs = arguments.output
    check_outputs(outputs, form)
    if arguments.isolated:
        refuse_outside(arguments.blueprint, [*arguments.layer, *files_of(arguments)])
    try:
        gate = open_gate(
            arguments.blueprint,
            packs=arguments.pack,
            choice=choice,
            isolated=arguments.isolated,
            layers=arguments.layer,
        )
        policies = gate.rules
        known = [policy.id for policy in policies]
        only = tuple(arguments.only)
        for policy in only:
            if policy not in known:
                raise UsageError(f"there is no policy '{policy}'", hint=did_you_mean(policy, known))
        catalogue = catalogue_for(arguments.blueprint, isolated=arguments.isolated)
        loaded = load_plan(arguments.blueprint, tuple(arguments.layer), catalogue=catalogue)
        stage = Stage(arguments.stage) if arguments.stage else None
        report = with_edits(gate.judge(loaded, only=only, stage=stage), loaded.tree)
    except RackwrightError as error:
        write_failure(error, outputs, blueprint=arguments.blueprint)
        raise
    write_report(
        report,
        form,
        outputs,
        blueprint=arguments.blueprint,
        policies=policies,
        delta=read_delta(arguments.delta) if arguments.delta else None,
        verbose=arguments.verbose,
        show_waived=arguments.show_waived,
        quiet=is_quiet(),
        colour=wants_colour(arguments.color, sys.stdout, os.environ),
        page=lambda: _page(arguments, gate, loaded, report),
    )
    written = None if loaded.written is None else loaded.written.data
    if arguments.todo is not None and arguments.todo.suffix == ".csv":
        write_questions(arguments.todo, loaded.plan, report, written)
    elif arguments.todo is not None:
        write_todo("check", arguments, loaded.plan, _unknown(report, loaded), written)
    refused = report.exit_code in {ExitCode.VIOLATION, ExitCode.UNKNOWN, ExitCode.WAIVER}
    return int(ExitCode.CLEAN if arguments.exit_zero and refused else report.exit_code)


def _page(arguments: argparse.Namespace, gate: Gate, loaded: LoadedPlan, report: Report) -> str:
    """Return the report as a page, with what changes against the base where one is named."""
    from rackwright.page.document import render_page
    from rackwright.page.growth import next_need

    source = _source(arguments, loaded, report)
    need_of = partial(next_need, loaded)
    ref: str | None = arguments.base_ref
    if ref is None:
        return render_page(
            loaded.plan, report, source=source, name_of=loaded.names, need_of=need_of
        )
    from rackwright.diff.compare import compare_sides
    from rackwright.diff.revisions import open_sides

    try:
        found = compare_sides(
            *open_sides(ref, arguments.blueprint),
            arguments.blueprint,
            layers=tuple(arguments.layer),
            packs=gate.packs,
            exceptions=gate.exceptions,
            approval=gate.approval,
        )
    except RackwrightError as error:  # the report holds without it
        words = f"not compared with '{ref}': {error}"
        return render_page(
            loaded.plan,
            report,
            uncompared=words,
            source=source,
            name_of=loaded.names,
            need_of=need_of,
        )
    return render_page(
        loaded.plan, report, found, source=source, name_of=loaded.names, need_of=need_of
    )


def _source(arguments: argparse.Namespace, loaded: LoadedPlan, report: Report) -> str:
    """Return the file, its revision and the day of a report."""
    from datetime import UTC, datetime

    from rackwright.reading.versions.git import read_at, resolve, top_of

    day = report.hygiene.today if report.hygiene else datetime.now(UTC).date()
    revision = ""
    try:
        top = top_of(arguments.blueprint.resolve().parent)
        commit = resolve(top, "HEAD")
        files = [Path(file).resolve() for file in loaded.tree.files]
        same = all(
            file.read_bytes() == read_at(top, commit, str(file.relative_to(top))) for file in files
        )
        revision = (
            f", revision {commit[:12]}{'' if same else ' with changes that are not committed'}"
        )
    except (RackwrightError, OSError, ValueError):  # outside of a repository, or not committed yet
        revision = ", not committed"
    return f"{arguments.blueprint}{revision}, {day:%Y-%m-%d}"


def _unknown(report: Report, loaded: LoadedPlan) -> list[Wanted]:
    """Return the facts that rules lack."""
    from rackwright.policy.api import Outcome
    from rackwright.policy.unknowns import Remedies
    from rackwright.render.todo import Wanted

    remedies = Remedies(loaded.plan, loaded.tree.locate, loaded.names)

    def remedy(result: Result, missing: str) -> str:
        # What a report says was judged with the base's facts; several things are told one by one.
        alone = len(result.missing) == 1
        return (result.fix if alone else remedies.fix((missing,))) or ""

    return [
        Wanted(missing, (result.policy,), remedy(result, missing))
        for result in report.results
        if result.outcome is Outcome.UNKNOWN and not result.later
        for missing in result.missing
    ]
