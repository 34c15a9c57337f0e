"""Kinds of products that files of NetBox's device-type library are of.

A device type does not say what it is. What it has does: outlets, ports of a panel, interfaces, measures outside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from rackwright.harmless import counted

ImportKind = Literal["nodes", "switches", "racks", "pdus", "cdus", "power-shelves"]

MANY_PORTS = 16
"""Equal ports from which on a device may be a switch: servers have fewer."""

SERIAL_PORTS = 4
"""Serial ports of others from which on a device is a console server: some files list the console of a switch as one."""

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
_SWITCH = re.compile(r"switch|\bSSE-", re.IGNORECASE)
"""Words of switches in families of servers."""

_OTHER = re.compile(
    r"FortiGate|\bPA-\d{3}|\bNS(a|sp) ?\d{4}|\bSRX\d|\bTH\d{4}|Thunder \d|\b(SDX|MPX)-?\d|\bDEC\d{3}|\bBalance \d|\bFSP[- ]?150"
    r"|\bZXA10|\bMX\d{2}|firewall|load balancer|router\b|console server",
    re.IGNORECASE,
)
"""Families of firewalls, balancers and network terminations, some of which have as many ports as a switch."""
_KINDS = get_args(ImportKind)
_NAMED = (
    (re.compile(r"\b\w*CDU\b|coolant distribution", re.I), "cdus", ""),
    (re.compile(r"cooling unit|in-?row|chiller", re.I), "a cooling unit", "'rackwright catalogue new air-handlers/ID' begins an entry"),
    (re.compile(r"\bpower shelf\b", re.I), "power-shelves", ""),
    (re.compile(r"\bUPS\b|\bSmart-?UPS\b", re.I), "a UPS", "'rackwright catalogue new ups/ID' begins an entry"),
    (re.compile(r"\bATS\b|transfer switch|\bRPP\b|power panel|panelboard", re.I), "a part of the power supply",
     "write it as a source of the blueprint: 'sts', 'rpp' or 'panel' with its circuit"),
    (re.compile(r"patch panel|cable manage|fib(er|re) (panel|enclosure|cassette)|shelf\b|blank(ing)? panel", re.I),
     "fittings of a rack", "leave it out of sheets with --leave-out"),
)  # fmt: skip

_POWERED_ON: Mapping[str, str] = {
    "pdus": "voltage, current, phases and wiring of its input",
    "cdus": "the heat that it takes",
    "racks": "all of its outer measures",
    "power-shelves": "its rating and number of supplies",
}
_EXAMPLES: Mapping[str, str] = {
    "voltage": "400 V",
    "current": "32 A",
    "phases": "3",
    "wiring": "wye",
    "capacity": "250 kW",
    "rating": "33 kW",
    "supplies": "6",
    "width": "600 mm",
    "depth": "1200 mm",
}


def what_to_state(
    kind: ImportKind, missing: Sequence[str], data: Mapping[str, Any]
) -> tuple[str, str]:
    """Return the facts that a device type has no field for, as a message and a hint."""
    outlets = len(_listed(data, "power-outlets"))
    what = {
        "pdus": f"a PDU with {counted(outlets, 'outlet')}",
        "cdus": "a CDU",
        "power-shelves": "a power shelf",
        "racks": "a rack",
    }[kind]
    plugs = sorted({str(port.get("type")) for port in _listed(data, "power-ports")})
    plug = f"; its plug is '{plugs[0]}'" if len(plugs) == 1 else ""
    facts = " ".join(f"--fact '{name}={_EXAMPLES.get(name, 'VALUE')}'" for name in missing)
    return (
        f"it is {what}: a device type does not state {_POWERED_ON[kind]}",
        f"state them from the data sheet, like {facts}{plug}; {_LEAVE_OUT}",
    )


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
    if any("{module}" in name for name in names) or (bare and not (asked and ports)):
        return (
            None,
            "it is a module type, which stands in another device",
            "give it with its device: --supply FILE for power supplies",
        )
    outlets = bool(_listed(data, "power-outlets"))
    for words, what, instead in _NAMED:
        # A CDU with outlets is a cabinet distribution unit.
        if words.search(name) and not (outlets and what == "cdus"):
            if what in _KINDS:
                return what, "", ""  # type: ignore[return-value]
            return (
                None,
                f"it is {what}, and not a product that is imported",
                instead,
            )
    if outlets:
        return "pdus", "", ""
    if not ports and (data.get("front-ports") or data.get("rear-ports")):
        return None, "it is a patch panel, and not a product we know", _LEAVE_OUT
    if not (asked or ports or data.get("module-bays") or data.get("device-bays")):
        return None, "it has no interface, and is not a product we know", _LEAVE_OUT
    if data.get("is_powered") is False and not asked:
        if not ports:
            return None, "it takes no power, and is not a product we know", _LEAVE_OUT
        return (
            None,
            "it has no power inlet of its own, like a tray of a rack that is installed as one",
            "name the product of the rack, like 'gb300-nvl72'; '--kind nodes' takes the tray for a server",
        )
    if data.get("subdevice_role") == "child":
        return (
            None,
            "it is a part of a chassis, whose units and power are the chassis's",
            "import the chassis, or write the entry of a whole server: 'catalogue new'",
        )
    kinds = [str(one.get("type")) for one in data_ports]
    model = f"{data.get('model', '')}"
    family = _SERVER.search(model) is not None and not _SWITCH.search(model)
    many = not family and any(kinds.count(kind) >= MANY_PORTS for kind in set(kinds))
    if (
        many
        and not asked
        and (len(_listed(data, "console-server-ports")) >= SERIAL_PORTS or _OTHER.search(model))
    ):
        return (
            None,
            "it has the ports of a switch and is none: a firewall, a balancer or a console server",
            "'--kind switches' takes it for one; " + _LEAVE_OUT,
        )
    if many:
        return "switches", "", ""
    if not (asked or family or any(map(_CONTROLLER.search, names))):
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
