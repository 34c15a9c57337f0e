"""Devices and cables in dumps of NetBox's database: of ``pg_dump``, and of ``manage.py dumpdata``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rackwright.brownfield.netbox import devices_of_rows, with_cables
from rackwright.brownfield.records import Found, FoundCable, refused
from rackwright.errors import Location

Row = Mapping[str, str]
Tables = Mapping[str, Mapping[str, tuple[Location, Row]]]
"""Rows of tables by their ids, with their places."""

_TABLES = frozenset({
    "device", "devicetype", "devicerole", "manufacturer", "rack", "site", "location", "interface", "cable", "cabletermination",
})  # fmt: skip
_COPY = re.compile(r"COPY public\.dcim_(\w+) \((.*)\) FROM stdin;")
_FIXTURE = re.compile(r'"model":\s*"dcim\.device"')
_ESCAPES = {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\\\": "\\"}
_ESCAPE = re.compile(r"\\[tnr\\]")
_ENDS = 2


def is_netbox_dump(text: str) -> bool:
    """Return True for a dump that has NetBox's table of devices."""
    return "\nCOPY public.dcim_device (" in text or bool(_FIXTURE.search(text))


def read_netbox_dump(text: str, path: Path) -> Found:
    """Return the devices in racks and the cables between their interfaces.

    Raises:
        SpecErrors: the dump is cut off, or rows in it are no devices.
    """
    tables = _of_fixture(text, path) if text.lstrip()[:1] == "[" else _of_sql(text, path)
    rows = ((at, _device(row, tables)) for at, row in tables.get("device", {}).values())
    found = devices_of_rows(rows)
    return with_cables(found, *_cables(tables), Location(str(path), 1, 1))


def _of_sql(text: str, path: Path) -> Tables:
    """Return the tables that ``COPY`` fills.

    Raises:
        SpecErrors: the end of a table is missing.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    found: dict[str, dict[str, tuple[Location, Row]]] = {}
    name, columns, begun = "", list[str](), 0
    for number, line in enumerate(text.splitlines(), 1):
        if not begun:
            head = _COPY.fullmatch(line)
            if head is not None:
                begun, name = number, head[1]
                columns = [column.strip(' "') for column in head[2].split(",")]
        elif line == "\\.":
            begun = 0
        elif name in _TABLES:
            cells = [_ESCAPE.sub(lambda one: _ESCAPES[one[0]], cell) for cell in line.split("\t")]
            pairs = zip(columns, cells, strict=False)
            row = {column.removesuffix("_id"): cell for column, cell in pairs if cell != "\\N"}
            found.setdefault(name, {})[row.get("id", "")] = (Location(str(path), number, 1), row)
    if begun:
        raise refused(f"the table 'dcim_{name}' has no end", Location(str(path), begun, 1),
                      "the file is cut off: dump it again")  # fmt: skip
    return found


def _of_fixture(text: str, path: Path) -> Tables:
    """Return the tables of ``dumpdata``, in which rows have no place of their own.

    Raises:
        SpecErrors: the file is no JSON.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    at = Location(str(path), 1, 1)
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise refused(f"the dump is no JSON: {error}", at, "dump it again, whole") from None
    found: dict[str, dict[str, tuple[Location, Row]]] = {}
    for one in listed:
        model = str(one.get("model", "")) if isinstance(one, dict) else ""
        name = model.removeprefix("dcim.")
        if model.startswith("dcim.") and name in _TABLES and isinstance(one.get("fields"), dict):
            key = str(one.get("pk", len(found.get(name, ()))))
            row = {
                field.removesuffix("_id"): _cell(value)
                for field, value in one["fields"].items()
                if value is not None
            }
            found.setdefault(name, {})[key] = (at, {**row, "id": key})
    return found


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _device(row: Row, tables: Tables) -> dict[str, str]:
    """Return the cells of a device that a row of an export has."""
    kind = _far(row, "device_type", "devicetype", tables)
    role = _far(row, "role", "devicerole", tables) or _far(row, "device_role", "devicerole", tables)
    made = {
        "name": row.get("name", ""),
        "status": row.get("status", ""),
        "site": _far(row, "site", "site", tables).get("name", ""),
        "location": _far(row, "location", "location", tables).get("name", ""),
        "rack": _far(row, "rack", "rack", tables).get("name", ""),
        "low": row.get("position", ""),
        "face": row.get("face", ""),
        "role": role.get("name", ""),
        "vendor": _far(kind, "manufacturer", "manufacturer", tables).get("name", ""),
        "product": kind.get("model", ""),
        "slug": kind.get("slug", ""),
    }
    return {meaning: text for meaning, text in made.items() if text}


def _far(row: Row, field: str, table: str, tables: Tables) -> Row:
    """Return the row that a field refers to; an empty one where it refers to none."""
    _, found = tables.get(table, {}).get(row.get(field, ""), (None, {}))
    return found


def _cables(tables: Tables) -> tuple[list[FoundCable], int]:
    """Return the cables with one interface at either end, and the number of all cables."""
    ends: dict[str, dict[str, list[tuple[str, str]]]] = {key: {} for key in tables.get("cable", ())}
    for cable, side, port_id, device in _terminations(tables):
        port = _far({"port": port_id}, "port", "interface", tables)
        name = _far(port, "device", "device", tables).get("name", "")
        # Ids of other kinds of ports are counted from 1 as well: an interface is on the device of the cable.
        if name and port.get("device") == device:
            ends.setdefault(cable, {}).setdefault(side, []).append((name, port.get("name", "")))
    made = []
    for sides in ends.values():
        listed = [side[0] for side in sides.values() if len(side) == 1]
        if len(listed) == _ENDS and len(sides) == _ENDS:
            made.append(FoundCable(*listed[0], *listed[1]))
    return made, len(ends)


def _terminations(tables: Tables) -> Iterator[tuple[str, str, str, str | None]]:
    """Yield cable, side, port and device of each end. Before NetBox 3.3 a cable has both ends in its row."""
    for _, row in tables.get("cabletermination", {}).values():
        yield (
            row.get("cable", ""),
            row.get("cable_end", ""),
            row.get("termination", ""),
            row.get("_device"),
        )
    for cable, (_, row) in tables.get("cable", {}).items():
        for side in "ab":
            if port := row.get(f"termination_{side}"):
                yield cable, side, port, row.get(f"_termination_{side}_device")
