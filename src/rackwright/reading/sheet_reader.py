"""Rows of CSV sheets out of careless or hostile files, within bounds, each with its line.

Cells are parted by commas, semicolons or tabs, whichever the first line has most of: programs for tables
write semicolons where the comma is the decimal sign.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.reading.yaml_reader import LARGEST_FILE, read_raw

MOST_ROWS = 100_000
"""Rows of a sheet: a site has no more racks."""
_PARTED_BY = (",", ";", "\t")
_NO_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")

Row = tuple[Location, dict[str, str]]
"""Where a row begins, and its cells by column; those that are empty are not among them."""


@dataclass(frozen=True, slots=True)
class CsvSheet:
    """A table.

    Attributes:
        columns: the heads, as they are written.
        rows: all that hold something.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def read_text_file(path: Path) -> str:
    """Return the text of a file that is no YAML.

    Raises:
        SpecErrors: it cannot be read, is too large, or is no text in UTF-8.
    """  # noqa: DOC501 - _refused() makes the SpecErrors
    raw = read_raw(path)
    if len(raw) > LARGEST_FILE:
        most = f"at most {LARGEST_FILE // 2**20} MiB are read"
        raise _refused(path, 1, f"the file is larger: {most}", "cut it into several")
    if raw.startswith(_UTF_16):
        raise _refused(path, 1, "the file is UTF-16", "save it as UTF-8")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _refused(path, line, "the file is not UTF-8", "save it as UTF-8") from None
    if found := _NO_TEXT.search(text):
        line = text.count("\n", 0, found.start()) + 1
        message = f"the character {ord(found[0])} is no text"
        raise _refused(path, line, message, "is this a file of another kind?")
    return text


def read_sheet(path: Path) -> CsvSheet:
    """Return the sheet in a file.

    Raises:
        SpecErrors: it cannot be read, or is no sheet.
    """
    return sheet_of(read_text_file(path), path)


def sheet_of(text: str, path: Path) -> CsvSheet:
    """Return the sheet that is written in ``text``, the content of ``path``.

    Raises:
        SpecErrors: it is no sheet.
    """  # noqa: DOC501 - each ValueError becomes a SpecErrors below
    line = 1
    try:
        first = text.partition("\n")[0]
        parted = max(_PARTED_BY, key=first.count)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=parted, strict=True)
        head = tuple(cell.strip() for cell in next(reader, []))
        if not head or "" in head or len(set(head)) < len(head):
            raise ValueError("its first line names each column once")
        rows: list[Row] = []
        line = reader.line_num + 1
        for cells in reader:
            if len(rows) >= MOST_ROWS:
                raise ValueError(f"a sheet has at most {MOST_ROWS:,} rows")
            if len(cells) > len(head) and any(cell.strip() for cell in cells[len(head) :]):
                raise ValueError(f"line {line} has more cells than there are columns")
            row = dict(_filled(head, cells))
            if row:
                rows.append((Location(str(path), line, 1), row))
            line = reader.line_num + 1
    except (ValueError, csv.Error) as error:
        raise _refused(path, line, f"this is no sheet: {error}") from None
    return CsvSheet(head, tuple(rows))


def _filled(head: tuple[str, ...], cells: list[str]) -> Iterator[tuple[str, str]]:
    for name, cell in zip(head, cells, strict=False):
        if stripped := cell.strip():
            yield name, stripped


def _refused(path: Path, line: int, message: str, hint: str | None = None) -> SpecErrors:
    return SpecErrors([SpecError(message, hint=hint, location=Location(str(path), line, 1))])
