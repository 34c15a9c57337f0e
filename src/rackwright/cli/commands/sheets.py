"""``sheets``: lists for the teams that build a hall, as CSV or as one workbook."""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.output_files import OutputFile, add_output
from rackwright.cli.options.packs import add_isolated, refuse_outside
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.files import draft
from rackwright.harmless import counted

if TYPE_CHECKING:
    from rackwright.plan.load import LoadedPlan
    from rackwright.render.sheets import Sheet


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``sheets``."""
    parser.description = (
        "Write elevations.csv (what stands in which unit), cables.csv (every cable with rack, unit, port "
        "and label at both ends) and power.csv (every circuit of every rack); or one workbook with these, the bill "
        "of materials, addresses and open questions."
    )
    add_blueprint(parser)
    add_isolated(parser)
    parser.add_argument("--site", help="only this site")
    add_output(
        parser,
        OutputFile({"csv": (), "xlsx": (".xlsx",)}, folder="csv"),
        "folder for the sheets as CSV, or a file that ends in .xlsx for one workbook",
        required=True,
    )
    parser.add_argument(
        "--json", action="store_true", help="print the files and their rows as JSON"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the sheets, and name each with its number of rows.

    Raises:
        UsageError: the blueprint has no bare-metal site, or none of that name; a sheet cannot be
            written; or, with ``--isolated``, a file is outside the repository.
    """
    from rackwright.catalog.team import catalogue_for
    from rackwright.harmless import json_text
    from rackwright.plan.load import load_plan
    from rackwright.render.sheets import sheets

    if arguments.isolated:
        refuse_outside(arguments.blueprint, arguments.layer)
    catalogue = catalogue_for(arguments.blueprint, isolated=arguments.isolated)
    loaded = load_plan(arguments.blueprint, tuple(arguments.layer), catalogue=catalogue)
    plan = loaded.plan
    if not any(arguments.site in {None, one.name} for one in plan.onprem):
        named = "" if arguments.site is None else f" '{arguments.site}'"
        raise UsageError(f"there is no bare-metal site{named} to write sheets of")
    output = arguments.output
    if output.form == "xlsx":
        counts = _write_workbook(output.path, loaded, arguments.site)
    else:
        counts = {}
        for sheet in sheets(plan, arguments.site):
            path = output.path / sheet.name
            counts[str(path)] = _write(path, sheet)
    if arguments.json:
        sys.stdout.write(json_text({"schema": "rackwright.sheets/v1", "rows": counts}))
    else:
        sys.stdout.writelines(
            f"{name}: {counted(count, 'row')}\n" for name, count in counts.items()
        )
    return ExitCode.CLEAN


def _write_workbook(path: Path, loaded: LoadedPlan, site: str | None) -> dict[str, int]:
    """Write the workbook, whole or not at all; the number of rows by sheet.

    Raises:
        UsageError: the file cannot be written.
        ModuleNotFoundError: the extra ``workbook`` is not installed.
    """
    from rackwright.page.workbook import tables, write_workbook
    from rackwright.policy.check import check_blueprint

    asked = check_blueprint(loaded).questions
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft(path) as part:
            counts = write_workbook(part, tables(loaded.plan, asked, site))
    except OSError as error:
        raise UsageError(f"'{path}' cannot be written: {error.strerror}") from None
    return {f"{path}, {name}": count for name, count in counts.items()}


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
