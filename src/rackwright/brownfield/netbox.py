"""Devices as NetBox exports them: the CSV of its list of devices, and the JSON of its REST API.

The list is exported with the heads that its columns have on the page ("Role", "Type"), older releases and
templates for import have the names of the fields (``device_role``, ``rack_name``); both are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from rackwright.brownfield.columns import columns_by_meaning, devices_of, unit
from rackwright.brownfield.names import label_of
from rackwright.brownfield.records import (
    Found,
    FoundCable,
    FoundDevice,
    FoundNetwork,
    FoundPlace,
    Role,
    SourceNotice,
    refused,
)
from rackwright.errors import Location
from rackwright.harmless import counted
from rackwright.reading.sheet_reader import CsvSheet
from rackwright.reading.tree import Item
from rackwright.reading.yaml_reader import read_text

MEANINGS: Mapping[str, tuple[str, ...]] = {
    "name": ("name",),
    "status": ("status",),
    "site": ("site",),
    "location": ("location", "rack group"),
    "rack": ("rack", "rack name"),
    "low": ("position",),
    "face": ("rack face", "face"),
    "role": ("role", "device role"),
    "vendor": ("manufacturer",),
    "product": ("type", "device type", "model", "model name"),
    "parent": ("parent device", "parent"),
}
"""What heads of columns may be, by what is read from them."""
NEEDED = ("name", "status", "vendor", "product")
"""What tells such an export from another sheet."""

NOT_THERE = ("planned", "inventory", "decommissioning")
"""States of devices that stand in no rack yet, or no longer."""
_ROLES = frozenset(get_args(Role))


def is_netbox(sheet: CsvSheet) -> bool:
    """Return True if a sheet has the columns of an export of devices."""
    known = columns_by_meaning(sheet.columns, MEANINGS)
    return all(name in known for name in NEEDED)


def read_netbox_sheet(sheet: CsvSheet) -> Found:
    """Read the CSV of a list of devices.

    Raises:
        SpecErrors: it has no column for racks or positions, or rows that are no devices.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    columns = columns_by_meaning(sheet.columns, MEANINGS)
    at = sheet.rows[0][0] if sheet.rows else None
    for meaning, shown in (("rack", "Rack"), ("low", "Position")):
        if meaning not in columns:
            hint = "choose it under 'Configure table' of NetBox's list of devices, and export again"
            raise refused(f"the export has no column '{shown}'", at, hint)
    return devices_of_rows(
        (at, {meaning: cells[name] for meaning, name in columns.items() if name in cells})
        for at, cells in sheet.rows
    )


def read_netbox_json(text: str, path: Path) -> Found:
    """Read the JSON of ``/api/dcim/devices/``.

    Raises:
        SpecErrors: it is something else, or not all of it.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    root = read_text(text, str(path))
    if _field(root, "netbox") is not None and _field(root, "devices") is not None:
        return _read_snapshot(root)
    listed = _field(root, "results") if isinstance(root.value, dict) else root
    if listed is None or not isinstance(listed.value, list):
        raise refused(
            "this is no list of devices", root.location, "write what '/api/dcim/devices/' answers"
        )
    following = _field(root, "next") if isinstance(root.value, dict) else None
    if following is not None and following.value is not None:
        count = _field(root, "count")
        of = f" of {count.value}" if count is not None else ""
        raise refused(
            f"these are {len(listed.value):,}{of} devices: a page of several",
            following.location,
            "ask for all of them: '/api/dcim/devices/?limit=0'",
        )
    for item in listed.value:
        if not isinstance(item.value, dict):
            raise refused("this is no device", item.location, "write what the API answers")
    if listed.value and not any("device_type" in item.value for item in listed.value):
        raise refused(
            "these are no devices of NetBox: none has a 'device_type'",
            root.location,
            "write what '/api/dcim/devices/?limit=0' answers",
        )
    return devices_of_rows((item.location, _of_json(item)) for item in listed.value)


def _read_snapshot(root: Item) -> Found:
    """Return what ``netbox pull`` has written: devices, and networks of the cables between them.

    Raises:
        SpecErrors: a list in it is none.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    lists: dict[str, list[Item]] = {}
    for name in ("devices", "cables", "power_feeds", "ip_addresses"):
        item = _field(root, name)
        rows = item.value if item is not None else []
        if not isinstance(rows, list) or not all(isinstance(row.value, dict) for row in rows):
            raise refused(
                f"'{name}' is no list of objects", (item or root).location, "pull it again"
            )
        lists[name] = rows
    found = devices_of_rows((item.location, _of_json(item)) for item in lists["devices"])
    cables = list(_cables(lists["cables"]))
    found = with_cables(found, cables, len(lists["cables"]), root.location)
    notices = list(found.notices)
    for name, what in (("power_feeds", "power feeds"), ("ip_addresses", "addresses")):
        if lists[name]:
            text = f"{len(lists[name]):,} {what} of NetBox are not taken over: state them in the blueprint"
            notices.append(SourceNotice(text, root.location))
    return replace(found, notices=tuple(notices))


def with_cables(found: Found, cables: Sequence[FoundCable], total: int, at: Location) -> Found:
    """Return a file with the cables between interfaces, as one network whose switches the products of devices tell.

    Args:
        found: the devices.
        cables: with one interface at either end.
        total: number of all cables of the file.
        at: the file.
    """
    notices = found.notices
    if other := total - len(cables):
        text = (
            f"left out: {counted(other, 'cable')} of {total:,} that do not connect one interface to one other "
            "(patch panels, circuits, power, consoles)"
        )
        notices = (*notices, SourceNotice(text, at))
    networks = (FoundNetwork(at, None, {}, tuple(cables)),) if cables else ()
    return replace(found, networks=networks, notices=notices)


def _cables(cables: Sequence[Item]) -> Iterator[FoundCable]:
    """Yield the cables with one interface at either end."""
    for item in cables:
        sides = []
        for side in ("a_terminations", "b_terminations"):
            listed = _field(item, side)
            rows = listed.value if listed is not None and isinstance(listed.value, list) else []
            if len(rows) != 1 or _text(rows[0], "object_type") != "dcim.interface":
                break
            one = rows[0]
            device, port = _text(one, "object", "device", "name"), _text(one, "object", "name")
            if not device or not port:
                break
            sides.append((device, port))
        if len(sides) == 2:
            yield FoundCable(*sides[0], *sides[1])


def _text(item: Item, *keys: str) -> str:
    found = _field(item, *keys)
    return found.value if found is not None and isinstance(found.value, str) else ""


def _of_json(item: Item) -> dict[str, str]:
    """Return the same of an object that a row of a sheet has."""
    role = _field(item, "role") or _field(item, "device_role")
    product = _field(item, "device_type")
    wanted = {
        "name": _field(item, "name"),
        "status": _field(item, "status", "value"),
        "site": _field(item, "site", "name"),
        "location": _field(item, "location", "name"),
        "rack": _field(item, "rack", "name"),
        "low": _field(item, "position"),
        "face": _field(item, "face", "value"),
        "role": None if role is None else _field(role, "name"),
        "vendor": None if product is None else _field(product, "manufacturer", "name"),
        "product": None if product is None else _field(product, "model"),
        "slug": None if product is None else _field(product, "slug"),
        "parent": _field(item, "parent_device", "name"),
    }
    return {
        meaning: f"{found.value:g}" if isinstance(found.value, float) else str(found.value)
        for meaning, found in wanted.items()
        if found is not None and found.value not in {None, ""}
    }


def _field(item: Item, *keys: str) -> Item | None:
    """Return the value behind keys of nested objects; None if a key is absent."""
    for key in keys:
        value: Any = item.value
        if not isinstance(value, dict) or key not in value:
            return None
        item = value[key].item
    return item


def devices_of_rows(rows: Iterator[tuple[Location, Mapping[str, str]]]) -> Found:
    """Return the devices of rows.

    Raises:
        SpecErrors: rows that are no devices, each with its line.
    """
    racked: list[tuple[Location, Mapping[str, str]]] = []
    notices: list[SourceNotice] = []
    absent: Counter[str] = Counter()
    homeless: list[tuple[Location, str]] = []
    inside: list[tuple[Location, str]] = []
    for at, row in rows:
        status = row.get("status", "").lower()
        if status in NOT_THERE:
            absent[status] += 1
            continue
        if "rack" not in row:
            homeless.append((at, row.get("name", row.get("product", "?"))))
            continue
        if "parent" in row and "low" not in row:
            inside.append((at, row.get("name", row.get("product", "?"))))
            continue
        racked.append((at, row))
    devices = devices_of(racked, _device)
    for status, count in absent.items():
        notices.append(
            SourceNotice(f"left out: {counted(count, 'device')} with the status '{status}'")
        )
    for listed, why in (
        (homeless, "they stand in no rack"),
        (inside, "they are in bays of other devices, whose products have all their hosts"),
    ):
        if listed:
            first, name = listed[0]
            more = f" and {len(listed) - 1:,} more" if len(listed) > 1 else ""
            notices.append(SourceNotice(f"left out, since {why}: '{name}'{more}", first))
    return Found(devices, notices=tuple(notices))


def _device(row: Mapping[str, str], at: Location) -> FoundDevice:
    """Return the device in a row.

    Raises:
        SpecErrors: it is none.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    if "product" not in row:
        raise refused("this device has no type", at, "export the column 'Type' as well")
    vendor, product, role = row.get("vendor", ""), row["product"], row.get("role", "")
    named = [row["slug"]] if "slug" in row else []
    named += [f"{vendor} {product}".strip(), product]
    words = _ROLES & set((label_of(role) or "").split("-"))
    return FoundDevice(
        at=at,
        kind=None,
        product=tuple(dict.fromkeys(named)),
        names=(row["name"],) if "name" in row else (),
        place=FoundPlace(row.get("site", ""), row.get("location", ""), "", row["rack"]),
        face=row.get("face", "").lower(),
        low=unit(row["low"], at, "position in a rack") if "low" in row else None,
        role=next(iter(words)) if len(words) == 1 else None,
        group=role,
    )
