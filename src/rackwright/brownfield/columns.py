"""Cells of sheets by what they mean, whatever a sheet calls their column."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from rackwright.brownfield.records import FoundDevice, refused
from rackwright.errors import Location, SpecError, SpecErrors

_NUMBER = re.compile(r"\d{1,9}(?:[.,]\d{1,3})?")
_WHOLE = re.compile(r"[Uu]?\s?(\d{1,4}(?:[.,][05])?)\s?[Uu]?")
_BLANKS = re.compile(r"[\s_./-]+")


def plain(column: str) -> str:
    """Return the head of a column without what writers of sheets differ in: ``rack name`` for ``Rack_Name``."""
    text = re.sub(r"\([^)]*\)", "", column.lower())
    return _BLANKS.sub(" ", text).strip()


def columns_by_meaning(
    columns: Iterable[str], meanings: Mapping[str, tuple[str, ...]]
) -> dict[str, str]:
    """Return the column of each meaning, by the names that it may have; the first of them that is there."""
    known: dict[str, str] = {}
    for column in columns:
        known.setdefault(plain(column), column)
    found = {}
    for meaning, names in meanings.items():
        there = next((known[name] for name in names if name in known), None)
        if there is not None:
            found[meaning] = there
    return found


def devices_of(
    rows: Iterable[tuple[Location, Mapping[str, str]]],
    read: Callable[[Mapping[str, str], Location], FoundDevice],
) -> tuple[FoundDevice, ...]:
    """Return the device that ``read`` finds in each row.

    Raises:
        SpecErrors: rows that are no devices, each with its line.
    """
    errors: list[SpecError] = []
    devices: list[FoundDevice] = []
    for at, row in rows:
        try:
            devices.append(read(row, at))
        except SpecErrors as error:
            errors += error.errors
    if errors:
        raise SpecErrors(errors)
    return tuple(devices)


def unit(text: str, at: Location, what: str) -> float:
    """Return a number of rack units, as ``12``, ``U12`` or, of half units, ``12.5`` or ``12,5``.

    Raises:
        SpecErrors: it is none.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    match = _WHOLE.fullmatch(text)
    number = float(match[1].replace(",", ".")) if match else 0.0
    if number < 1:
        raise refused(f"'{text}' is no {what}", at, "write a number from 1, like 12 or U12")
    return number


def whole(text: str, at: Location, what: str) -> int:
    """Return a whole number, which a program for tables may have written as ``12.0``.

    Raises:
        SpecErrors: it is none.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    if _NUMBER.fullmatch(text):
        number = float(text.replace(",", "."))
        if number == int(number):
            return int(number)
    raise refused(f"'{text}' is no {what}", at, "write a whole number")
