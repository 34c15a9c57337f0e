"""Kinds of objects in NetBox: their lists, and the key by which each is there once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]
Key = tuple[str, ...]

_OTHERS = re.compile(r"[^a-z0-9_-]+")
_LONGEST_SLUG = 100


def slug(text: str) -> str:
    """Return a name as NetBox has it in addresses."""
    return _OTHERS.sub("-", text.lower()).strip("-")[:_LONGEST_SLUG] or "x"


def in_order(ends: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return both ends of a cable, device and port, in one order whatever the capitals of their names."""
    return sorted(ends, key=lambda end: (*map(slug, end), *end))


@dataclass(frozen=True, slots=True)
class ObjectKind:
    """A kind of objects.

    Attributes:
        word: for one of them, in a sentence.
        path: of their list.
        key: of a row of the list; None for a row that is never meant.
        of_site: True if the list can be filtered by site.
    """

    word: str
    path: str
    key: Callable[[Row], Key | None]
    of_site: bool = False


def _name(row: Row, *path: str) -> str:
    """Return the name of an object that a row names; empty without one."""
    value: Any = row
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def _cable(row: Row) -> Key | None:
    """Return site and both ends of a cable between two interfaces."""
    ends = []
    for side in ("a_terminations", "b_terminations"):
        listed = row.get(side) or []
        if len(listed) != 1 or listed[0].get("object_type") != "dcim.interface":
            return None
        found = listed[0].get("object") or {}
        ends.append((_name(found, "device", "name"), _name(found, "name")))
    one, other = in_order(ends)
    return ("", *one, *other)


KINDS: Mapping[str, ObjectKind] = {
    "site": ObjectKind("site", "dcim/sites", lambda row: (_name(row, "name"),)),
    "location": ObjectKind(
        "location", "dcim/locations", lambda row: (_name(row, "site", "name"), _name(row, "name")), of_site=True
    ),
    "manufacturer": ObjectKind("manufacturer", "dcim/manufacturers", lambda row: (_name(row, "slug"),)),
    "role": ObjectKind("device role", "dcim/device-roles", lambda row: (_name(row, "slug"),)),
    "type": ObjectKind(
        "device type", "dcim/device-types", lambda row: (_name(row, "manufacturer", "slug"), _name(row, "slug"))
    ),
    "rack": ObjectKind("rack", "dcim/racks", lambda row: (_name(row, "site", "name"), _name(row, "name")), of_site=True),
    "device": ObjectKind(
        "device", "dcim/devices", lambda row: (_name(row, "site", "name"), _name(row, "name")), of_site=True
    ),
    "interface": ObjectKind(
        "interface", "dcim/interfaces", lambda row: ("", _name(row, "device", "name"), _name(row, "name")), of_site=True
    ),
    "cable": ObjectKind("cable", "dcim/cables", _cable, of_site=True),
    "panel": ObjectKind(
        "power panel", "dcim/power-panels", lambda row: (_name(row, "site", "name"), _name(row, "name")), of_site=True
    ),
    "feed": ObjectKind(
        "power feed", "dcim/power-feeds", lambda row: ("", _name(row, "power_panel", "name"), _name(row, "name")),
        of_site=True,
    ),
    "address": ObjectKind("address", "ipam/ip-addresses", lambda row: (_name(row, "address"),)),
}  # fmt: skip
"""Kinds in the order in which they depend on each other. Lists that are filtered by site have it first in their keys."""
