"""``bom``: the articles that a design buys, and what changes between two revisions."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.output_files import Output, OutputFile, add_output, refuse_other_format
from rackwright.cli.options.outputs import write_file
from rackwright.cli.options.packs import add_isolated, refuse_outside
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rackwright.render.bom import Article


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``bom``."""
    add_blueprint(parser)
    add_isolated(parser)
    parser.add_argument("--site", help="only this site")
    parser.add_argument(
        "--format",
        choices=tuple(_FILES.formats),
        help="output format; that of the file's name if omitted",
    )
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    add_output(parser, _FILES, "write to this file instead of stdout")
    parser.add_argument(
        "--than",
        type=Path,
        metavar="FILE",
        help="show what changes against a list that --json wrote",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the bill, or what changes against another one.

    Raises:
        UsageError: the blueprint has no bare-metal site, or none of that name; or a file cannot be
            read or written.
    """
    from rackwright.catalog.team import catalogue_for
    from rackwright.harmless import json_text
    from rackwright.plan.load import load_plan
    from rackwright.render.bom import COLUMNS, bill_of_materials, to_document
    from rackwright.streams import show

    if arguments.isolated:
        refuse_outside(arguments.blueprint, arguments.layer)
    form = _form(arguments)
    path = None if arguments.output is None else arguments.output.path
    catalogue = catalogue_for(arguments.blueprint, isolated=arguments.isolated)
    plan = load_plan(arguments.blueprint, tuple(arguments.layer), catalogue=catalogue).plan
    if not any(arguments.site in {None, one.name} for one in plan.onprem):
        named = "" if arguments.site is None else f" '{arguments.site}'"
        others = ", ".join(one.name for one in plan.onprem)
        hint = f"the blueprint has: {others}" if others else None
        raise UsageError(f"there is no bare-metal site{named} to buy for", hint=hint)
    lines = bill_of_materials(plan, arguments.site)
    if arguments.than is not None:
        rows = _changes(arguments.than, lines)
    elif form == "json":
        text = json_text(to_document(plan.name, lines))
        return _write(text, path)
    else:
        rows = [COLUMNS, *(_cells(line, str(line.quantity)) for line in lines)]
    if form == "json":
        head, *cells = rows
        text = json_text([dict(zip(head, row, strict=True)) for row in cells])
    elif form == "csv":
        text = _csv(rows)
    else:
        text = _table(rows)
    if path is None and form == "text":
        show(text)
        return ExitCode.CLEAN
    return _write(text, path)


def _form(arguments: argparse.Namespace) -> str:
    """Return the format of the list.

    Raises:
        UsageError: options or the ending of the file contradict each other.
    """
    wanted: str | None = arguments.format
    if arguments.json and wanted not in {None, "json"}:
        raise UsageError(f"--json and --format {wanted} contradict each other")
    wanted = "json" if arguments.json else wanted
    output: Output | None = arguments.output
    if output is None:
        return wanted or "text"
    refuse_other_format(output, wanted)
    return output.form if output.stated else wanted or output.form


_FILES = OutputFile(
    {"text": (".txt",), "json": (".json",), "csv": (".csv",)},
    hints={".xlsx": "'rackwright sheets --output {path}' writes the workbook, with the same list"},
)


def _cells(line: Article, quantity: str) -> tuple[str, ...]:
    return (
        line.site, line.category, quantity, line.product, line.part, line.name, line.detail,
        line.note, *("" if usd is None else f"{usd:.2f}" for usd in (line.unit_price_usd, line.price_usd)),
        "" if line.lead_time_days is None else f"{line.lead_time_days:g}",
    )  # fmt: skip


def _changes(path: Path, lines: Sequence[Article]) -> list[tuple[str, ...]]:
    """Return the rows of the articles whose number differs from the bill in ``path``.

    Raises:
        UsageError: it is no bill that ``--json`` has written.
    """
    from rackwright.render.bom import SCHEMA, Article, compare

    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        known = document["schema"] == SCHEMA
        before = [Article(**line) for line in document["lines"]] if known else []
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read: {error.strerror}") from None
    except (KeyError, TypeError, ValueError):
        known, before = False, []
    if not known:
        hint = "write it by 'rackwright bom --json --output FILE'"
        raise UsageError(f"'{path}' is not a bill of materials", hint=hint)
    head: tuple[str, ...] = (
        "site",
        "category",
        "change",
        "before",
        "after",
        "product",
        "part",
        "detail",
    )
    rows = [head]
    for change in compare(before, lines):
        line, difference = change.line, change.after - change.before
        rows.append((
            line.site, line.category, f"{difference:+}", str(change.before), str(change.after),
            line.product, line.part, line.detail,
        ))  # fmt: skip
    return rows


def _csv(rows: Sequence[Sequence[str]]) -> str:
    from rackwright.render.sheets import cell

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for number, row in enumerate(rows):
        # A change begins with a sign, and is a number: no program takes it for a formula.
        kept = {"quantity", "change", "before", "after"}
        writer.writerow(
            value if number == 0 or name in kept else cell(value)
            for name, value in zip(rows[0], row, strict=True)
        )
    return text.getvalue()


def _table(rows: Sequence[Sequence[str]]) -> str:
    from rackwright.report.wording import printable

    shown = [[printable(value) for value in row] for row in rows]
    used = [index for index in range(len(rows[0])) if any(row[index] for row in shown[1:])]
    widths = [max(len(row[index]) for row in shown) for index in used]
    lines = [
        "  ".join(
            row[index].ljust(width) for index, width in zip(used, widths, strict=True)
        ).rstrip()
        for row in shown
    ]
    return "\n".join(lines if len(rows) > 1 else ["nothing changes"]) + "\n"


def _write(text: str, path: Path | None) -> int:
    if path is None:
        sys.stdout.write(text)
    else:
        write_file(path, text)
    return ExitCode.CLEAN
