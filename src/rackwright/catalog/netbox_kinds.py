"""Kinds of products that files of NetBox's device-type library are of.

A device type does not say what it is. What it has does: outlets, ports of a panel, interfaces, measures outside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from rackwright.harmless import counted

ImportKind = Literal["nodes", "switches", "racks"]

MANY_PORTS = 16
"""Equal ports from which on a device may be a switch: servers have fewer."""

_PARTS = ("interfaces", "power-ports", "console-ports")

_CONTROLLER = re.compile(
    r"i?drac|\bilo|ipmi|bmc|\bimm\d?\b|\bxcc\b|cimc|irmc|\bilom\b|remote management", re.IGNORECASE
)
"""Names of the interfaces of controllers in servers: Dell, HPE, Supermicro and others, Lenovo, Cisco, Fujitsu, Oracle."""
_SERVER = re.compile(
    r"PowerEdge|ProLiant|Apollo \d|Cray|ThinkSystem|ThinkServer|System x|PRIMERGY|SuperServer|\b(SYS|AS|ARS)-"
    r"|\bUCSC?[ -]?[CX]\d|UCS-SP|\bDGX\b|\bHGX\b|\bMGX\b|\bNUC|\bserver\b",
    re.IGNORECASE,
)
"""Families of servers, of which older device types name no controller."""

_NAMED = (
    (re.compile(r"\b\w*CDU\b|coolant distribution|cooling unit|in-?row|chiller", re.I), "a cooling unit", "cdus"),
    (re.compile(r"\bpower shelf\b", re.I), "a power shelf", "power-shelves"),
    (re.compile(r"\bATS\b|transfer switch|\bUPS\b|\bSmart-?UPS\b|\bRPP\b|power panel|panelboard", re.I),
     "a part of the power supply", ""),
    (re.compile(r"patch panel|cable manage|fib(er|re) (panel|enclosure|cassette)|shelf\b|blank(ing)? panel", re.I),
     "fittings of a rack", ""),
)  # fmt: skip


def kind_of(data: Mapping[str, Any], *, asked: bool) -> tuple[ImportKind | None, str, str]:
    """Return what a file makes, or why it makes nothing and what to do.

    Args:
        data: the document of the file.
        asked: the kind is named, so that a device of which little is written is taken for it.
    """
    if "form_factor" in data or ("outer_width" in data and "u_height" in data):
        return "racks", "", ""
    name = f"{data.get('model', '')} {data.get('part_number', '')}"
    ports = _listed(data, "interfaces")
    data_ports = [one for one in ports if not one.get("mgmt_only")]
    names = [str(one.get("name")) for part in _PARTS for one in _listed(data, part)]
    bare = not {"u_height", "slug", "is_full_depth"} & set(data)
    if any("{module}" in name for name in names) or (bare and not ports):
        return (
            None,
            "it is a module type, which stands in another device",
            "give it with its device: --supply FILE for power supplies",
        )
    if outlets := len(_listed(data, "power-outlets")):
        return (
            None,
            f"it is a PDU or UPS with {counted(outlets, 'outlet')}: a device type has no voltage and current of its input",
            "'rackwright catalogue new pdus/ID' begins an entry; the data sheet has the numbers",
        )
    for words, what, folder in _NAMED:
        if words.search(name):
            return (
                None,
                f"it is {what}, whose numbers are not in a device type",
                f"'rackwright catalogue new {folder}/ID' begins an entry"
                if folder
                else "it is not a product we know: leave it out of sheets with --leave-out",
            )
    if not ports and (data.get("front-ports") or data.get("rear-ports")):
        return None, "it is a patch panel, and not a product we know", _LEAVE_OUT
    if not (asked or ports or data.get("module-bays") or data.get("device-bays")):
        return None, "it has no interface, and is not a product we know", _LEAVE_OUT
    if data.get("is_powered") is False:
        return None, "it takes no power, and is not a product we know", _LEAVE_OUT
    if data.get("subdevice_role") == "child":
        return (
            None,
            "it is a part of a chassis, whose units and power are the chassis's",
            "import the chassis, or write the entry of a whole server: 'catalogue new'",
        )
    kinds = [str(one.get("type")) for one in data_ports]
    if any(kinds.count(kind) >= MANY_PORTS for kind in set(kinds)):
        return "switches", "", ""
    server = any(map(_CONTROLLER.search, names)) or _SERVER.search(f"{data.get('model', '')}")
    if not asked and not server:
        return (
            None,
            "nothing in it says that it is a server: it has no interface of a BMC",
            "'--kind nodes' takes it for one, '--kind switches' for a switch; " + _LEAVE_OUT,
        )
    return "nodes", "", ""


_LEAVE_OUT = "leave it out of sheets with --leave-out"


def _listed(data: Mapping[str, Any], part: str) -> list[Mapping[str, Any]]:
    """Return the mappings in a list of a file, which may have anything in its place."""
    found = data.get(part)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
