"""Sheets of elevations: those that ``rackwright sheets`` writes, and those that people keep.

A row is a device. What is read are its rack, its lowest unit and its product, and as far as there are
columns for it the site, hall, row and place of the rack, the device's name, kind, group and role, and
its power supplies on each feed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import get_args

from rackwright.brownfield.columns import columns_by_meaning, devices_of, unit, whole
from rackwright.brownfield.names import host_of
from rackwright.brownfield.records import (
    Found,
    FoundDevice,
    FoundPlace,
    Kind,
    Role,
    SourceNotice,
    refused,
)
from rackwright.errors import Location
from rackwright.model.names import expand_hostlist
from rackwright.model.standing import UnitShare
from rackwright.reading.sheet_reader import CsvSheet

MEANINGS: Mapping[str, tuple[str, ...]] = {
    "site": ("site", "data center", "datacenter"),
    "hall": ("hall", "room", "location"),
    "row": ("row",),
    "place": ("place", "rack place"),
    "rack": ("rack", "rack name", "cabinet"),
    "low": ("lowest unit", "unit", "u", "ru", "rack unit", "position", "from unit"),
    "high": ("highest unit", "top unit", "to unit"),
    "kind": ("kind",),
    "product": ("product", "model", "device type", "part number", "type"),
    "name": ("name", "host", "hostname", "host name", "device"),
    "group": ("group",),
    "role": ("role", "device role"),
    "supplies": ("supplies",),
    "face": ("face", "rack face", "side"),
}
"""What heads of columns may be, by what is read from them."""
NEEDED = ("rack", "low", "product")
"""What a sheet of elevations has a column for."""

_SHARES: Mapping[str, UnitShare] = {
    "left": "half-width",
    "right": "half-width",
    "left half": "half-width",
    "right half": "half-width",
    "front half": "front",
    "rear half": "rear",
}
"""Parts of units by faces; ``front`` and ``rear`` alone are those of devices of any depth."""
_KINDS = frozenset(get_args(Kind))
_ROLES = frozenset(get_args(Role))
_BESIDE = {"cdu", "manifold", "door", "fluid"}
"""What of our own sheets follows from the cooling of racks."""
_SUPPLY = re.compile(r"([A-Z][A-Z0-9]?):(\d{1,3})")
_FEED = re.compile(r"feed ([A-Z][A-Z0-9]?)")
_SPAN = re.compile(r"(\S+) (?:…|\.\.\.) (\S+)")
_NUMBER = re.compile(r"(.*?)(\d{1,9})")
_QUOTED = re.compile(r"'(\s*[=+\-@＝＋－＠].*)")
"""A cell that ``sheets`` keeps from being a formula."""


def is_elevations(sheet: CsvSheet) -> bool:
    """Return True if a sheet has the columns of rack elevations."""
    known = columns_by_meaning(sheet.columns, MEANINGS)
    return all(name in known for name in NEEDED)


def read_elevations(sheet: CsvSheet) -> Found:
    """Read a sheet of rack elevations.

    Raises:
        SpecErrors: rows that are no devices, each with its line.
    """
    columns = columns_by_meaning(sheet.columns, MEANINGS)
    rows: list[tuple[Location, Mapping[str, str]]] = []
    notices: list[SourceNotice] = []
    left: dict[str, int] = {}
    for at, cells in sheet.rows:
        row = {meaning: unquoted(cells[name]) for meaning, name in columns.items() if name in cells}
        if (kind := row.get("kind", "")) in _BESIDE:
            left[kind] = left.get(kind, 0) + 1
            continue
        rows.append((at, row))
    devices = devices_of(rows, _device)
    top = sheet.rows[0][0] if sheet.rows else None
    notices += [
        SourceNotice(
            f"{count:,} rows of the kind '{kind}': say them in 'cooling' of the racks", top
        )
        for kind, count in left.items()
    ]
    read = set(columns.values())
    if others := [column for column in sheet.columns if column not in read]:
        shown = ", ".join(f"'{column}'" for column in others)
        notices.append(
            SourceNotice(f"not read, since a blueprint works it out or has no field: {shown}", top)
        )
    return Found(devices, notices=tuple(notices))


def _device(row: Mapping[str, str], at: Location) -> FoundDevice:
    """Return the device in a row.

    Raises:
        SpecErrors: it is none.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    for needed in ("rack", "product"):
        if needed not in row:
            raise refused(f"this row has no {needed}", at, "fill it in, or take the row out")
    kind = row.get("kind", "").lower()
    if kind and kind not in _KINDS:
        raise refused(
            f"'{kind}' is no kind of device", at, f"there are: {', '.join(sorted(_KINDS))}"
        )
    position = row.get("place")
    group = row.get("group", "")
    feed = _FEED.fullmatch(group) if kind == "pdu" else None
    role, face = row.get("role", "").lower(), row.get("face", "").lower()
    return FoundDevice(
        at=at,
        kind=kind or None,  # type: ignore[arg-type]
        product=(row["product"],),
        names=_names(row.get("name", ""), at) if kind in {"", "node", "switch"} else (),
        place=FoundPlace(
            site=row.get("site", ""),
            hall=row.get("hall", ""),
            row=row.get("row", ""),
            rack=row["rack"],
            position=None if position is None else whole(position, at, "place in a row"),
        ),
        face=face.removesuffix(" half"),
        share=_SHARES.get(face),
        low=unit(row["low"], at, "rack unit") if "low" in row else None,
        high=unit(row["high"], at, "rack unit") if "high" in row else None,
        role=role if role in _ROLES else None,  # type: ignore[arg-type]
        group=feed[1] if feed else group or role,
        supplies=_supplies(row.get("supplies", ""), at),
    )


def unquoted(cell: str) -> str:
    """Return a cell without the sign by which ``sheets`` keeps it from being a formula."""
    match = _QUOTED.fullmatch(cell)
    return match[1] if match else cell


def _names(text: str, at: Location) -> tuple[str, ...]:
    """Return the names in a cell: one, or the first and the last of several with numbers.

    Raises:
        SpecErrors: they are no names of hosts.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    if not text:
        return ()
    span = _SPAN.fullmatch(text)
    if span is None:
        name = host_of(text)
        if name is None:
            raise refused(
                f"'{text}' is no name of a host", at, "it has letters, digits, '-', '_' and '.'"
            )
        return (name,)
    first, last = (_NUMBER.fullmatch(one) for one in span.groups())
    if first is None or last is None or first[1] != last[1]:
        raise refused(f"'{text}' does not say which names are between", at)
    try:
        return expand_hostlist(f"{first[1]}[{first[2]}-{last[2]}]")
    except ValueError as error:
        raise refused(f"'{text}': {error}", at) from None


def _supplies(text: str, at: Location) -> dict[str, int]:
    """Return the power supplies by feed, as ``A:3 B:3``.

    Raises:
        SpecErrors: the cell is something else.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    found: dict[str, int] = {}
    for word in text.split():
        match = _SUPPLY.fullmatch(word)
        if match is None or match[1] in found:
            raise refused(f"'{text}' does not say how many supplies are on which feed", at, "write it like 'A:3 B:3'")  # fmt: skip
        found[match[1]] = int(match[2])
    return found
