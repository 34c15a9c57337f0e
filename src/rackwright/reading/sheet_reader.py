"""Rows of CSV sheets out of careless or hostile files, within bounds, each with its line; answers in them.

Cells are parted by commas, semicolons or tabs, whichever the first line has most of: programs for tables
write semicolons where the comma is the decimal sign.
"""

from __future__ import annotations

import csv
import io
import re
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from itertools import accumulate
from pathlib import Path

from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.harmless import visible
from rackwright.model.unit_words import UNKNOWN
from rackwright.reading.layering import merge
from rackwright.reading.suggest import did_you_mean
from rackwright.reading.syntax_errors import DEEPEST, TOO_DEEP
from rackwright.reading.tree import Item, KeyValue
from rackwright.reading.yaml_reader import LARGEST_FILE, read_cell, read_raw

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
        parted_by: character between two cells.
        text: what it was read from.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    parted_by: str
    text: str

    def places(self, column: str) -> Iterator[Location]:
        """Yield the position of the cell of each row in a column; the end of a row that is shorter."""
        number, parted = self.columns.index(column), self.parted_by
        cell = re.compile(rf'(?:"(?:[^"]|"")*")?[^{parted}\r\n]*')
        lines = io.StringIO(self.text, newline="").readlines()
        begins = [0, *accumulate(map(len, lines))]
        for row, _ in self.rows:
            at = begins[row.line - 1]
            for _ in range(number):
                end = cell.match(self.text, at).end()  # type: ignore[union-attr]  # it may be empty
                if not self.text.startswith(parted, end):
                    break
                at = end + 1
            line = bisect(begins, at)
            yield Location(row.file, line, at - begins[line - 1] + 1)


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
    _refuse_signs(text, path)
    return text


def _refuse_signs(text: str, path: Path) -> None:
    if found := _NO_TEXT.search(text):
        line = text.count("\n", 0, found.start()) + 1
        message = f"the character {ord(found[0])} is no text"
        raise _refused(path, line, message, "is this a file of another kind?")


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
                raise ValueError(
                    f"line {line} has more cells than there are columns: write a cell with '{parted}' in quotes"
                )
            row = dict(_filled(head, cells))
            if row:
                rows.append((Location(str(path), line, 1), row))
            line = reader.line_num + 1
    except (ValueError, csv.Error) as error:
        raise _refused(path, line, f"this is no sheet: {error}") from None
    return CsvSheet(head, tuple(rows), parted, text)


def _filled(head: tuple[str, ...], cells: list[str]) -> Iterator[tuple[str, str]]:
    for name, cell in zip(head, cells, strict=False):
        if stripped := cell.strip():
            yield name, stripped


def _refused(path: Path, line: int, message: str, hint: str | None = None) -> SpecErrors:
    return SpecErrors([SpecError(message, hint=hint, location=Location(str(path), line, 1))])


_OF_FACTS = ("source", "date", "confidence")
"""Columns for facts about products. They are before the answers, so that an unquoted comma in an answer is an error."""
_NAMING = ("name", "kind", "product", "type")
"""Keys whose value names an entry of a list, the best first."""
_APART = "racks"
"""Key whose value is unique in a list whose entries may share the others: racks of one type in a row."""
_NO_ANSWER = UNKNOWN - {"none", "nil"}
"""Words that no field takes as a value."""
_FACT = re.compile(r"(\S+) of (\S+)")
"""Field of a product, as a question has it."""
_NUMBER = re.compile(r"([+-]?)(\d[\d.,]*)(\s*[^\d.,].*)?", re.DOTALL)
"""A number with the signs in it, and the rest of its cell."""


def with_answers(root: Item, sheet: Item) -> tuple[Item, tuple[Location, ...]]:
    """Return a document with the answers of a sheet of questions, and the places of empty answers.

    Args:
        root: the document.
        sheet: the text of the sheet, as ``yaml_reader.read_bytes`` returns it.

    Raises:
        SpecErrors: the text is no such sheet, or an answer belongs nowhere, is given twice or has a
            number that can be read in two ways.
    """  # noqa: DOC501 - _error() and _refused() make the SpecErrors
    path = Path(sheet.file)
    _refuse_signs(sheet.value, path)
    table = sheet_of(sheet.value, path)
    if not {"field", "answer"} <= set(table.columns):
        hint = "answers belong in the sheet that 'rackwright check --todo todo.csv' writes; 'init --from FILE' reads other tables"
        raise _refused(path, 1, "the sheet has no columns 'field' and 'answer'", hint)
    empty: list[Location] = []
    errors: list[SpecError] = []
    answered: dict[str, Location] = {}
    places = zip(table.rows, table.places("field"), table.places("answer"), strict=True)
    for (_, row), key, place in places:
        field, answer = row.get("field", ""), row.get("answer")
        if answer is None:
            empty.append(place)
            continue
        try:
            if not field:
                raise _error("there is no field for this answer", "copy its row again", place)
            names = field.split(".")
            if len(names) > DEEPEST:
                raise _error(f"the field is {TOO_DEEP}", "copy its row again", key)
            if field in answered:
                raise _error(
                    f"'{field}' is answered twice",
                    f"the first answer is at {answered[field]}",
                    place,
                )
            answered[field] = place
            if not row.get("value", "").startswith("["):
                _refuse_two_meanings(answer, table.parted_by, place)
            value = read_cell(answer, place)
            if value.value is None or answer.lower() in _NO_ANSWER:
                hint = "leave the answer empty while the value is not known"
                raise _error(f"'{field}': '{answer}' is not an answer", hint, place)
            if fact := _FACT.fullmatch(field):
                if lacking := [f"'{one}'" for one in _OF_FACTS if one not in row]:
                    message = f"the answer for '{field}' has no {', '.join(lacking)}"
                    raise _error(
                        message, "fill in these columns: a fact about a product needs them", place
                    )
                root = merge(root, _fact(fact[2], fact[1], value, row, key))
            else:
                root = _put(root, names, KeyValue(value, key.line, key.column), field)
        except SpecErrors as error:
            errors += error.errors
    if errors:
        raise SpecErrors(errors)
    return root, tuple(empty)


def _refuse_two_meanings(answer: str, parted_by: str, place: Location) -> None:
    """Refuse a number whose comma or point may be a decimal sign or one between thousands.

    Programs that part cells by semicolons or tabs may write decimals with a comma, so that a point may group.

    Raises:
        SpecErrors: it is such a number.
    """  # noqa: DOC501 - _error() makes the SpecErrors
    if not (found := _NUMBER.fullmatch(answer)):
        return
    sign, number, rest = found.groups(default="")
    if not sign and rest[:1] in {"", "/", ":", "-"} and _is_address(number):
        return
    grouped = (
        number.replace(",", "") if re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+(\.\d+)?", number) else ""
    )
    if re.fullmatch(r"[1-9]\d{0,2}(\.\d{3})+(,\d+)?", number) and (
        "," in number or parted_by != ","
    ):
        grouped = number.replace(".", "").replace(",", ".")
    decimal = number.replace(",", ".") if re.fullmatch(r"\d+,\d+", number) else ""
    if grouped and re.fullmatch(r"\d+\.\d+", number):
        decimal = number
    if grouped and decimal:  # with three decimals it would be refused again
        decimal = f"{decimal}0" if decimal[-1] != "0" else decimal.rstrip("0").rstrip(".")
    if ways := [f"'{sign}{one}{rest}'" for one in (grouped, decimal) if one]:
        problem = "a comma" if "," in number else "a point that may separate thousands"
        raise _error(f"'{answer}' has {problem}", f"write {' or '.join(ways)}", place)


def _is_address(number: str) -> bool:
    """Return True for an IPv4 address."""
    try:
        ip_address(number)
    except ValueError:
        return False
    return True


def _fact(product: str, field: str, value: Item, row: dict[str, str], key: Location) -> Item:
    """Return the layer that states a fact about a product."""
    fact = {"product": product, "field": field, "value": value} | {
        name: row[name] for name in _OF_FACTS
    }

    def item(one: object) -> Item:
        return Item(one, key.file, key.line, key.column)

    entries = {
        name: KeyValue(one if isinstance(one, Item) else item(one), key.line, key.column)
        for name, one in fact.items()
    }
    return item({"facts": KeyValue(item([item(entries)]), key.line, key.column)})


def _put(item: Item, names: list[str], answer: KeyValue, field: str) -> Item:
    """Return ``item`` with an answer merged at the place that ``names`` lead to; what is around it is copied.

    Raises:
        SpecErrors: the place is in an entry of a list that is not there and has no name, or of several;
            or no layer may have the answer there.
    """  # noqa: DOC501 - _error() makes the SpecErrors
    if not names:
        return merge(item, answer.item)
    # Each key has its own position in the cell: a derived neighbour is told from it by its position.
    column = answer.column + len(field) - len(".".join(names))
    place = Location(answer.item.file, answer.line, column)
    if isinstance(item.value, list):
        items = list(item.value)
        values = [_values(child) for child in items]
        found, rest = _longest([entry_name(values, index) for index in range(len(values))], names)
        same, _ = _longest([_naming(one) for one in values], names)
        if not found and len(same) > 1:
            message = f"'{field}' does not tell {len(same)} entries apart"
            apart = " or ".join(f"'{entry_name(values, index)}'" for index in same)
            raise _error(message, f"write {apart} instead of '{_naming(values[same[0]])}'", place)
        named = all(isinstance(one.value, dict) and "name" in one.value for one in items)
        # A number can be the name of an entry that is not there, and int() takes no thousands of digits.
        if not found and not named and names[0] in map(str, range(len(items))):
            found, rest = [int(names[0])], names[1:]
        if not found and (names[0].isdecimal() or not named):
            message = f"there is no '{names[0]}' for '{field}'"
            hint = did_you_mean(names[0], [one for one in map(_naming, values) if one])
            raise _error(message, hint or "write the list in the blueprint", place)
        if not found:
            name = Item(names[0], place.file, place.line, column)
            entry = {"name": KeyValue(name, place.line, column)}
            items.append(Item(entry, place.file, place.line, column))
            found, rest = [len(items) - 1], names[1:]
        items[found[0]] = _put(items[found[0]], rest, answer, field)
        return Item(items, item.file, item.line, item.column)
    entries = dict(item.value) if isinstance(item.value, dict) else {}
    keys = list(entries)
    found, rest = _longest(keys, names)
    key, rest = (keys[found[0]], rest) if found else (names[0], names[1:])
    old = entries.get(key)
    below = Item(None, place.file, place.line, column) if old is None else old.item
    if not isinstance(below.value, (dict, list)):
        below = Item([] if key in _named_lists() else {}, place.file, place.line, column)
    base = Item(entries, item.file, item.line, item.column)
    if not rest:
        layer = {key: KeyValue(answer.item, place.line, column)}
        return merge(base, Item(layer, place.file, place.line, column))
    at = KeyValue(below, place.line, column) if old is None else old
    entries[key] = KeyValue(_put(below, rest, answer, field), at.line, at.column)
    return base


def _longest(known: list[str], names: list[str]) -> tuple[list[int], list[str]]:
    """Return the indexes of the longest of ``known`` that ``names`` begin with, and the names behind it."""
    for length in range(len(names), 0, -1):
        word = ".".join(names[:length])
        if found := [index for index, one in enumerate(known) if one == word]:
            return found, names[length:]
    return [], names


def entry_name(entries: Sequence[Mapping[str, object]], index: int) -> str:
    """Return the name of an entry of a list in a question: unique in the list, and its index if it has no other."""
    name = _naming(entries[index])
    if not name:
        return str(index)
    # Names are unique; a list of thousands of rows is not searched for them.
    if isinstance(entries[index].get("name"), str):
        return name
    if sum(_naming(one) == name for one in entries) == 1:
        return name
    apart = entries[index].get(_APART)
    return apart if isinstance(apart, str) else str(index)


def _naming(entry: Mapping[str, object]) -> str:
    found = (entry[key] for key in _NAMING if key in entry)
    return next((one for one in found if isinstance(one, str)), "")


def _values(item: Item) -> dict[str, object]:
    entries = item.value if isinstance(item.value, dict) else {}
    return {str(key): entry.item.value for key, entry in entries.items()}


@lru_cache(maxsize=1)
def _named_lists() -> frozenset[str]:
    from rackwright.model.cluster import Blueprint
    from rackwright.reading.type_paths import lists_of_named

    return lists_of_named(Blueprint)


def _error(message: str, hint: str, place: Location) -> SpecErrors:
    return SpecErrors([SpecError(visible(message), hint=visible(hint), location=place)])
