"""``design``: the best layout of accelerators in a facility."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_layers, add_packs
from rackwright.cli.options.output_files import OutputFile, add_output
from rackwright.cli.options.packs import add_isolated, refuse_outside
from rackwright.errors import UsageError
from rackwright.extras import require
from rackwright.files import write_changed
from rackwright.streams import show

if TYPE_CHECKING:
    from rackwright.design.judge import Judge
    from rackwright.design.outcome import DesignOutcome


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``design``."""
    parser.add_argument(
        "wanted", type=Path, help="YAML file with the facility and the accelerators wanted"
    )
    add_layers(parser)
    parser.add_argument(
        "--alternative",
        type=Path,
        action="append",
        default=[],
        metavar="LAYER",
        help="layer over all others; its design is shown beside the one that is written; repeatable",
    )
    parser.add_argument(
        "--positions",
        type=Path,
        action="append",
        default=[],
        metavar="CSV",
        help="sheet of rack positions, added to those of the halls; repeatable",
    )
    parser.add_argument(
        "--sources",
        type=Path,
        action="append",
        default=[],
        metavar="CSV",
        help="sheet of power sources, added to those of the facility; repeatable",
    )
    parser.add_argument(
        "--as-given",
        action="store_true",
        help="design only the facility as given: no alternatives with one more feed or another cooling",
    )
    add_packs(parser)
    add_isolated(parser)
    add_output(parser, OutputFile({"yaml": (".yaml", ".yml")}), "write the blueprint to a file")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace an existing --output file"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Find the design, write its blueprint, and show it; the exit code tells whether there is one.

    Raises:
        UsageError: the file for the blueprint exists, or an option has no effect.
    """
    require("design")
    from rackwright.design.alternatives import offers
    from rackwright.design.answer.explain import bindings_of
    from rackwright.design.answer.form import design_json
    from rackwright.design.answer.words import render
    from rackwright.design.outcome import run as design_all

    output: Path | None = arguments.output and arguments.output.path
    if output is None and arguments.overwrite:
        raise UsageError("--overwrite has no effect without --output")
    if output is not None and output.exists() and not arguments.overwrite:
        raise UsageError(f"'{output}' is there already", hint="--overwrite replaces it")
    layers = tuple(arguments.layer)
    if arguments.isolated:
        sheets = (*arguments.positions, *arguments.sources)
        refuse_outside(arguments.wanted, [*layers, *arguments.alternative, *sheets])
    judge = _judge(arguments, layers)
    outcomes = [design_all(judge)]
    if not arguments.as_given:
        outcomes += [
            design_all(judge.of(offer.builder), offer.label, offer.what)
            for offer in offers(judge.builder)
        ]
    outcomes += [
        design_all(_judge(arguments, (*layers, layer)), layer.stem)
        for layer in arguments.alternative
    ]
    first = outcomes[0]
    bindings = bindings_of(first.best)
    written = None
    if output is not None and first.best.passes:
        write_changed(output, _blueprint(first, arguments.wanted))
        written = str(output)
    if arguments.json:
        sys.stdout.write(design_json(outcomes, bindings))
    else:
        show(render(outcomes, bindings, written))
    if output is not None and written is None:
        sys.stderr.write(
            f"'{output}' is not written: no design meets the requirements and passes\n"
        )
    return int(first.exit_code)


def _judge(arguments: argparse.Namespace, layers: tuple[Path, ...]) -> Judge:
    """Return the judge of a facility with ``layers`` over it."""
    from rackwright.catalog.team import catalogue_for
    from rackwright.design.document import Builder
    from rackwright.design.judge import Judge
    from rackwright.design.sheets import load_wanted
    from rackwright.policy.packs.team_config import packs_for

    wanted: Path = arguments.wanted
    loaded = load_wanted(wanted, layers, positions=arguments.positions, sources=arguments.sources)
    catalogue = catalogue_for(wanted, isolated=arguments.isolated)
    packs = packs_for(wanted, arguments.pack, isolated=arguments.isolated)
    return Judge(Builder(loaded.value, loaded.tree, catalogue), packs)


def _blueprint(outcome: DesignOutcome, wanted: Path) -> str:
    """Return the blueprint of the best design, as a file."""
    from rackwright.render.full_form import document_yaml

    best = outcome.best
    assert best.layout is not None  # noqa: S101 - it passes
    what = f"{best.accelerators:,} accelerators, {best.ending} as the {best.objective}"
    head = [f"Written by 'rackwright design {wanted.name}': {what.replace('-', ' ')}."]
    return document_yaml(outcome.builder.blueprint(best.layout).data, head)
