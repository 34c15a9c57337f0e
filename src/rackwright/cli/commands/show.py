"""``show``: what a blueprint comes to, on one screen, or one of its racks."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from rackwright.cli.options.arguments import BLUEPRINT, add_layers, add_packs, in_folder
from rackwright.cli.options.packs import add_isolated, refuse_outside
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import COLOURS
from rackwright.streams import show
from rackwright.terminal import wants_colour

_RACK = "rack"


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``show``."""
    parser.usage = f"rackwright {verb} [options] [BLUEPRINT]\n       rackwright {verb} [options] rack NAME [BLUEPRINT]"
    parser.add_argument(
        "words",
        nargs="*",
        metavar="[rack NAME] [BLUEPRINT]",
        help="the blueprint, or one rack of it (default: blueprint.yaml)",
    )
    add_layers(parser)
    add_packs(parser)
    add_isolated(parser)
    parser.add_argument(
        "--site", help="site of the rack, if several sites have a rack of that name"
    )
    parser.add_argument("--all", action="store_true", help="show every budget")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def run(arguments: argparse.Namespace) -> int:
    """Show it. It informs only: ``check`` judges.

    Raises:
        UsageError: the words name neither a blueprint nor a rack of one, an option has no effect on
            what they name, or, with ``--isolated``, a file is outside the repository.
    """
    words: list[str] = arguments.words
    here = not words or (len(words) == 2 and words[0] == _RACK and not Path(words[1]).exists())
    *what, file = [*words, BLUEPRINT] if here else words
    if what and (len(what) != 2 or what[0] != _RACK):
        raise UsageError(
            f"'{' '.join(arguments.words)}' is neither a blueprint nor 'rack NAME BLUEPRINT'",
            hint="'rackwright show --help' shows how it is used",
        )
    if what and arguments.all:
        raise UsageError("--all has no effect on a rack")
    if not what and arguments.site is not None:
        raise UsageError("--site has an effect on a rack only")
    blueprint = in_folder(file)
    if arguments.isolated:
        refuse_outside(blueprint, arguments.layer)
    if what:
        return _rack(arguments, blueprint, what[1])
    return _overview(arguments, blueprint)


def _overview(arguments: argparse.Namespace, blueprint: Path) -> int:
    from rackwright.catalog.team import catalogue_for
    from rackwright.plan.load import load_plan
    from rackwright.policy.gate import open_gate
    from rackwright.report.overview.summary import overview_json, render_overview

    gate = open_gate(
        blueprint, packs=arguments.pack, isolated=arguments.isolated, layers=arguments.layer
    )
    catalogue = catalogue_for(blueprint, isolated=arguments.isolated)
    loaded = load_plan(blueprint, tuple(arguments.layer), catalogue=catalogue)
    report = gate.judge(loaded)
    if arguments.json:
        sys.stdout.write(overview_json(loaded.plan, report))
        return ExitCode.CLEAN
    colour = wants_colour(arguments.color, sys.stdout, os.environ)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    text = render_overview(loaded.plan, report, whole=arguments.all, colour=colour, width=width)
    show(text, COLOURS if colour else None)
    return ExitCode.CLEAN


def _rack(arguments: argparse.Namespace, blueprint: Path, name: str) -> int:
    from rackwright.catalog.team import catalogue_for
    from rackwright.plan.load import load_plan
    from rackwright.report.overview.elevation import rack_json, render_rack
    from rackwright.report.overview.rack import find_rack

    catalogue = catalogue_for(blueprint, isolated=arguments.isolated)
    plan = load_plan(blueprint, tuple(arguments.layer), catalogue=catalogue).plan
    view = find_rack(plan, name, arguments.site)
    show(rack_json(view) if arguments.json else render_rack(view))
    return ExitCode.CLEAN
