"""Workbook of a hall: bill of materials, elevations, cables, circuits, addresses and open questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter

from rackwright.plan.model import Plan
from rackwright.policy.unknowns import OpenQuestion
from rackwright.render.bom import COLUMNS, bill_of_materials
from rackwright.render.sheets import QUESTIONS, Cell, Sheet, cell, question_rows, sheets

ADDRESSES = ("site", "network", "kind", "prefix", "owner", "name", "address", "mac")
MOST_ROWS = 1_048_576
"""Maximum number of rows of a sheet in spreadsheet programs."""
_WIDEST = 60
_TITLES = {"power": "circuits"}
"""Titles of sheets that differ from the name of their CSV file."""


def tables(plan: Plan, asked: Sequence[OpenQuestion], site: str | None = None) -> list[Sheet]:
    """Return the sheets of a workbook for all bare-metal sites, or for one of them."""
    bill = (
        tuple(getattr(line, column) for column in COLUMNS) for line in bill_of_materials(plan, site)
    )
    return [
        Sheet("bill of materials", COLUMNS, bill),
        *(
            Sheet(_TITLES.get(Path(one.name).stem, Path(one.name).stem), one.columns, one.rows)
            for one in sheets(plan, site)
        ),
        Sheet("addresses", ADDRESSES, _addresses(plan, site)),
        Sheet("open questions", QUESTIONS, question_rows(plan, asked)),
    ]


def write_workbook(path: Path, made: Sequence[Sheet]) -> Mapping[str, int]:
    """Write a workbook; return the number of rows of each sheet.

    A sheet with too many rows for spreadsheet programs continues in another.
    """
    book = Workbook(write_only=True)
    counts = {one.name: _write(book, one) for one in made}
    book.save(path)
    return counts


def _write(book: Workbook, sheet: Sheet) -> int:
    count = 0
    page: Any = None
    for row in sheet.rows:
        # One row of each sheet is its header.
        if count % (MOST_ROWS - 1) == 0:
            number = count // (MOST_ROWS - 1)
            page = _page(book, f"{sheet.name} {number + 1}" if number else sheet.name, sheet)
        page.append([_cell(page, value) for value in row])
        count += 1
    if page is None:
        _page(book, sheet.name, sheet)
    return count


def _page(book: Workbook, title: str, sheet: Sheet) -> Any:
    page = book.create_sheet(title)
    page.freeze_panes = "A2"
    page.auto_filter.ref = f"A1:{get_column_letter(len(sheet.columns))}1"
    for number, column in enumerate(sheet.columns, 1):
        width = _WIDEST if column in {"meaning", "field", "note", "from_label", "to_label"} else 16
        page.column_dimensions[get_column_letter(number)].width = width
    heads = [WriteOnlyCell(page, value=column) for column in sheet.columns]
    for head in heads:
        head.font = Font(bold=True)
    page.append(heads)
    return page


def _cell(page: Any, value: Cell) -> Any:
    """Return a cell whose text no spreadsheet program interprets as a formula."""
    shown = cell(value)
    made = WriteOnlyCell(page, value=None if shown == "" else shown)
    # Without the type, openpyxl stores text that begins with '=' as a formula.
    if isinstance(shown, str) and shown:
        made.data_type = "s"
    return made


def _addresses(plan: Plan, site: str | None) -> Iterator[Sequence[Cell]]:
    for network in plan.names.networks:
        if site in {None, network.site}:
            for one in network.addresses():
                yield (
                    network.site, network.name, network.kind, str(network.prefix),
                    one.owner, one.name, str(one.address), one.mac,
                )  # fmt: skip
