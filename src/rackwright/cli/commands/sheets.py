"""``sheets``: what those who build a hall work from, as CSV."""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.packs import add_isolated, refuse_outside
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.files import draft

if TYPE_CHECKING:
    from rackwright.render.sheets import Sheet


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``sheets``."""
    parser.description = (
        "Write elevations.csv (what stands in which unit), cables.csv (every cable with rack, unit, port "
        "and label at both ends) and power.csv (every circuit of every rack)."
    )
    add_blueprint(parser)
    add_isolated(parser)
    parser.add_argument("--site", help="of this site alone")
    parser.add_argument(
        "--output", type=Path, required=True, metavar="DIR", help="folder for the sheets"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the sheets, and name each with its number of rows.

    Raises:
        UsageError: the blueprint has no bare-metal site, or none of that name; a sheet cannot be
            written; or, with ``--isolated``, a file is outside the repository.
    """
    from rackwright.catalog.team import catalogue_for
    from rackwright.plan.load import load_plan
    from rackwright.render.sheets import sheets

    if arguments.isolated:
        refuse_outside(arguments.blueprint, arguments.layer)
    catalogue = catalogue_for(arguments.blueprint, isolated=arguments.isolated)
    plan = load_plan(arguments.blueprint, tuple(arguments.layer), catalogue=catalogue).plan
    if not any(arguments.site in {None, one.name} for one in plan.onprem):
        named = "" if arguments.site is None else f" '{arguments.site}'"
        raise UsageError(f"there is no bare-metal site{named} to write sheets of")
    for sheet in sheets(plan, arguments.site):
        path = arguments.output / sheet.name
        count = _write(path, sheet)
        sys.stdout.write(f"{path}: {count:,} rows\n")
    return ExitCode.CLEAN


def _write(path: Path, sheet: Sheet) -> int:
    """Write a sheet row by row, whole or not at all; its number of rows.

    Raises:
        UsageError: the file cannot be written.
    """
    from rackwright.render.sheets import cell

    count = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft(path) as part, part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(sheet.columns)
            for row in sheet.rows:
                writer.writerow([cell(value) for value in row])
                count += 1
    except OSError as error:
        raise UsageError(f"'{path}' cannot be written: {error.strerror}") from None
    return count
