"""``draw``: a blueprint as drawings, in files that documents and pull requests can show."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rackwright.cli.options.arguments import add_blueprint, add_json, add_packs
from rackwright.cli.options.output_files import add_output_folder
from rackwright.cli.options.outputs import write_file
from rackwright.cli.options.packs import add_isolated, refuse_outside
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text

if TYPE_CHECKING:
    from rackwright.drawings.collection import DrawingKind
    from rackwright.drawings.svg import Drawing
    from rackwright.plan.load import LoadedPlan
    from rackwright.policy.engine import Result

KINDS = ("racks", "rows", "floor", "power", "cooling", "fabric", "aws")
_NAMED = {"racks": "rack", "rows": "row", "floor": "hall", "fabric": "fabric"}


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``draw``."""
    parser.add_argument(
        "kind",
        choices=(*KINDS, "all"),
        help="racks: elevations; rows: fronts of racks side by side; floor: racks of halls in colours; power: one-line diagram; "
        "cooling: path of the heat; fabric: switches and cables; aws: VPC, subnets, hosts, file systems",
    )
    add_blueprint(parser)
    add_packs(parser)
    add_isolated(parser)
    parser.add_argument("--site", help="draw only this site")
    parser.add_argument("--name", help="draw only this rack, row, hall or fabric")
    parser.add_argument(
        "--colour",
        choices=("power", "heat", "weight", "headroom"),
        default="power",
        help="quantity that colours the racks of a floor",
    )
    parser.add_argument("--lost", metavar="SOURCE", help="draw power after the loss of this source")
    add_output_folder(parser, "folder for SVG files (default: stdout)")
    add_json(parser, "the drawings, or with --output the files,")


def run(arguments: argparse.Namespace) -> int:
    """Draw; stdout takes one drawing, and the names of the files where there are several.

    Raises:
        UsageError: an option has no effect on this kind of drawing, there is nothing to draw, or,
            with ``--isolated``, a file is outside the repository.
    """
    from rackwright.catalog.team import catalogue_for
    from rackwright.drawings.collection import draw
    from rackwright.plan.load import load_plan

    kind = arguments.kind
    if arguments.name is not None and kind not in _NAMED:
        raise UsageError("--name has an effect on racks, rows, floor and fabric only")
    if arguments.lost is not None and kind != "power":
        raise UsageError("--lost has an effect on power only")
    if arguments.isolated:
        refuse_outside(arguments.blueprint, arguments.layer)
    catalogue = catalogue_for(arguments.blueprint, isolated=arguments.isolated)
    loaded = load_plan(arguments.blueprint, tuple(arguments.layer), catalogue=catalogue)
    results = _results(arguments, loaded) if arguments.colour == "headroom" else ()
    drawn = [
        one
        for wanted in (KINDS if kind == "all" else (kind,))
        for one in draw(
            loaded.plan,
            cast("DrawingKind", wanted),
            site=arguments.site,
            name=arguments.name,
            measure=arguments.colour,
            lost=arguments.lost,
            results=results,
        )
    ]
    if not drawn:
        raise UsageError(f"there is {_nothing(arguments)} to draw")
    _write(drawn, arguments.output, as_json=arguments.json)
    return ExitCode.CLEAN


def _results(arguments: argparse.Namespace, loaded: LoadedPlan) -> Sequence[Result]:
    from rackwright.policy.gate import open_gate

    gate = open_gate(
        arguments.blueprint,
        packs=arguments.pack,
        isolated=arguments.isolated,
        layers=arguments.layer,
    )
    return gate.judge(loaded).results


def _nothing(arguments: argparse.Namespace) -> str:
    if arguments.lost is not None:
        return f"no power source '{arguments.lost}'"
    if arguments.name is not None:
        return f"no {_NAMED[arguments.kind]} '{arguments.name}'"
    kind = "an AWS" if arguments.kind == "aws" else "a bare-metal"
    if arguments.site is not None:
        return f"no {arguments.kind} of {kind} site '{arguments.site}'"
    return f"no part of {kind} site"


def _write(drawn: Sequence[tuple[str, Drawing]], folder: Path | None, *, as_json: bool) -> None:
    if as_json:
        entries = [{"file": name, "svg": drawing.standalone()} for name, drawing in drawn]
        if folder is not None:
            for entry in entries:
                write_file(folder / entry["file"], entry.pop("svg"))
        sys.stdout.write(json_text({"schema": "rackwright.drawings/v1", "drawings": entries}))
        return
    if folder is None:
        if len(drawn) > 1:
            raise UsageError(
                f"these are {len(drawn)} drawings", hint="name a folder with '--output'"
            )
        sys.stdout.write(drawn[0][1].standalone())
        return
    for name, drawing in drawn:
        write_file(folder / name, drawing.standalone())
        sys.stdout.write(f"{folder / name}\n")
