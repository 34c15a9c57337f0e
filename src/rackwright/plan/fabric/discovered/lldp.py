"""Neighbours that switches and hosts have heard of by LLDP, as their tools print them.

Read are ``lldpctl`` in its forms json, json0 and text (also ``show lldp neighbors`` of SONiC), ``show lldp table`` and
``show interfaces status`` of SONiC, the interfaces of NVUE (Cumulus, ``nv show interface -o json``), and the answers of
Arista's eAPI to ``show lldp neighbors detail`` and ``show interfaces status``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rackwright.plan.fabric.discovered.lldp_cli import is_cli, read_cli, read_cli_json
from rackwright.plan.fabric.discovered.lldp_records import (
    MAC,
    Interfaces,
    Neighbour,
    SeenInterface,
    far_end,
    gbps_of,
    merge,
)

_SPEED = re.compile(r"(\d+(?:\.\d+)?)\s*([GMT])", re.IGNORECASE)
_GBPS = {"G": 1.0, "M": 0.001, "T": 1000.0}
_MBPS = 0.001
"""Gbps of one Mbps."""
_BLOCK = re.compile(r"^Interface:\s+(\S+?),\s+via:\s*(\S+?)(?:,|$)", re.MULTILINE)
_LINE = re.compile(
    r"^[ \t]+(SysName|ChassisID|PortID|PortDescr|Current \S+|MAU oper type):[ \t]*(.*?)\s*$",
    re.MULTILINE,
)
_CUMULUS = re.compile(
    r"^\s*(?:Local ?Port|Interface)\s.*(?:Remote ?Port.*Remote ? ?Host|Remote ?Host.*Remote ?Port)"
)
"""Heads of ``net show lldp`` and ``nv show interface`` of Cumulus Linux."""
_RULE = re.compile(r"^-{3,}(\s+-{3,})+\s*$")


def read_lldp_json(value: Any) -> Iterator[tuple[str, Interfaces]]:
    """Yield devices that a document is of with their interfaces; the name is empty where it states none.

    Raises:
        ValueError: it is none of the known kinds.
    """
    if isinstance(value, dict) and isinstance(value.get("stdout"), str):  # a result of Ansible
        from rackwright.plan.fabric.discovered.exports import read_json

        text = value["stdout"]
        if text.lstrip()[:1] not in {"{", "["}:
            yield "", read_lldp_text(text)
            return
        value = read_json(text)
    found = _own(value)
    if found is None and (rows := read_cli_json(value)) is not None:
        found = _merged(rows)
    if found is not None:
        yield _hostname(value), found
        return
    if isinstance(value, dict) and value:
        parts = {str(name): _own(part) for name, part in value.items()}
        if all(part is not None for part in parts.values()):
            yield from ((name, part) for name, part in parts.items() if part is not None)
            return
    raise ValueError(
        "it is no list of neighbours of lldpctl, SONiC, NVUE, eAPI, NX-OS or Junos: it has "
        + (
            ", ".join(f"'{key}'" for key in list(value)[:5])
            if isinstance(value, dict)
            else "no object"
        )
    )


def _own(value: Any) -> Interfaces | None:
    """Return the interfaces of one device; None where the document is of another kind."""
    if isinstance(value, dict) and "lldp" in value and set(value) <= {"lldp", "warnings"}:
        return _lldpctl(value["lldp"])
    if isinstance(value, dict) and value and all(_is_nvue(part) for part in value.values()):
        return _merged(_nvue(value))
    bodies = value.get("result") if isinstance(value, dict) and "jsonrpc" in value else value
    listed = bodies if isinstance(bodies, list) else [bodies]
    known = [one for one in listed if isinstance(one, dict)]
    if any({"lldpNeighbors", "interfaceStatuses"} & set(one) for one in known):
        return _merged(part for one in known for part in _eapi(one))
    return None


def _hostname(value: Any) -> str:
    """Return the name that an answer of eAPI to ``show hostname`` states."""
    bodies = value.get("result") if isinstance(value, dict) else value
    names = (
        [one.get("hostname") for one in bodies or [] if isinstance(one, dict)]
        if isinstance(bodies, list)
        else []
    )
    return next((name for name in names if isinstance(name, str)), "")


def _merged(interfaces: Any) -> Interfaces:
    """Return interfaces by their names, those of one name made one."""
    made: dict[str, SeenInterface] = {}
    for one in interfaces:
        other = made.get(one.names[0])
        made[one.names[0]] = one if other is None else merge(other, one)
    return made


def _lldpctl(value: Any) -> Interfaces:
    """Return the neighbours in lldpctl's json and json0.

    Raises:
        ValueError: a neighbour is not of its form.
    """
    parts = value if isinstance(value, list) else [value]
    found = []
    for part in parts:
        listed = part.get("interface", []) if isinstance(part, dict) else []
        for item in listed if isinstance(listed, list) else [listed]:
            if not isinstance(item, dict):
                raise ValueError("an 'interface' of 'lldp' is no object")
            pairs = [(item.get("name"), item)] if "via" in item else list(item.items())
            for name, one in pairs:
                if isinstance(one, dict) and str(one.get("via", "LLDP")).upper().startswith("LLDP"):
                    found.append(_lldpctl_interface(str(name), one))
    return _merged(found)


def _lldpctl_interface(name: str, one: Mapping[str, Any]) -> SeenInterface:
    chassis, port = _first(one.get("chassis")), _first(one.get("port"))
    system = _value(chassis.get("name"))
    if system is None and not {"id", "descr"} & set(chassis) and chassis:
        system, chassis = next((str(key), _first(part)) for key, part in chassis.items())
    identity = _first(port.get("id"))
    mac = str(identity.get("type", "")).lower() == "mac"
    neighbour = far_end(
        system,
        _value(chassis.get("id")),
        _value(port.get("id")),
        _value(port.get("descr")),
        mac=mac,
    )
    medium = _value(_first(port.get("auto-negotiation")).get("current"))
    return SeenInterface((name,), up=True, gbps=gbps_of(medium), neighbours=(neighbour,))


def _first(value: Any) -> Mapping[str, Any]:
    """Return an object, of which json0 writes a list."""
    if isinstance(value, list):
        value = value[0] if value else {}
    return value if isinstance(value, dict) else {}


def _value(value: Any) -> str | None:
    """Return a text, which json0 writes as a list with an object."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("value")
    return None if value is None else str(value)


def _is_nvue(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and ("lldp" in value or "link" in value)
        and (isinstance(value.get("link", {}), dict) and isinstance(value.get("lldp", {}), dict))
        and "interface" not in _first(value.get("lldp"))
    )


def _nvue(value: Mapping[str, Any]) -> Iterator[SeenInterface]:
    """Yield the ports that NVUE lists."""
    for name, one in value.items():
        if one.get("type", "swp") not in ("swp", "eth"):
            continue
        link = _first(one.get("link"))
        state = link.get("state", link.get("oper-status"))
        words = {str(word) for word in state} if isinstance(state, dict) else {str(state).lower()}
        up = None if state is None else words == {"up"}
        heard = _first(one.get("lldp")).get("neighbor") or {}
        neighbours = []
        for key, part in heard.items() if isinstance(heard, dict) else ():
            chassis, port = _first(_first(part).get("chassis")), _first(_first(part).get("port"))
            system = chassis.get("system-name") or (None if MAC.fullmatch(str(key)) else key)
            kind = str(port.get("id-type", port.get("type", ""))).lower()
            identity = port.get("id", port.get("name"))
            neighbours.append(
                far_end(
                    system,
                    chassis.get("chassis-id"),
                    identity,
                    port.get("description"),
                    mac=kind == "mac",
                )
            )
        gbps = _gbps(link.get("speed")) if up is not False else None
        yield SeenInterface((str(name),), up, gbps, tuple(neighbours))


def _gbps(value: Any) -> float | None:
    """Return a rate in Gbps, as ``400G`` or a number of Mbps; None where it is not said."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value * _MBPS or None
    text = str(value or "")
    if text.isdecimal():
        return int(text) * _MBPS or None
    match = _SPEED.match(text)
    return None if match is None else float(match[1]) * _GBPS[match[2].upper()]


def _eapi(body: Mapping[str, Any]) -> Iterator[SeenInterface]:
    """Yield the ports in one answer of eAPI."""
    heard = body.get("lldpNeighbors", {})
    if isinstance(heard, list):  # without "detail"
        for one in heard:
            if isinstance(one, dict) and one.get("port"):
                neighbour = far_end(one.get("neighborDevice"), None, one.get("neighborPort"), None)
                yield SeenInterface((str(one["port"]),), up=True, neighbours=(neighbour,))
    elif isinstance(heard, dict):
        for name, one in heard.items():
            listed = _first(one).get("lldpNeighborInfo")
            told = [_first(info) for info in listed] if isinstance(listed, list) else []
            neighbours = []
            for info in told:
                port = _first(info.get("neighborInterfaceInfo"))
                mac = str(port.get("interfaceIdType", "")).lower() == "macaddress"
                identity = str(port.get("interfaceId_v2") or port.get("interfaceId") or "").strip(
                    '"'
                )
                neighbours.append(
                    far_end(info.get("systemName"), info.get("chassisId"), identity,
                               port.get("interfaceDescription"), mac=mac)
                )  # fmt: skip
            yield SeenInterface((str(name),), True if neighbours else None, None, tuple(neighbours))
    for name, one in _first(body.get("interfaceStatuses")).items():
        state = str(_first(one).get("linkStatus", "")).lower()
        rate = _first(one).get("bandwidth")
        gbps = rate / 1e9 if isinstance(rate, (int, float)) and rate > 0 else None
        up = state == "connected" if state else None
        yield SeenInterface((str(name),), up, gbps if up else None)


def is_lldp_text(text: str) -> bool:
    """Return True for neighbours or states of interfaces as text."""
    return any(start(text) is not None for start in (_BLOCK.search, _table_head)) or is_cli(text)


def _table_head(text: str) -> int | None:
    """Return the line of the heads of SONiC's and Cumulus' tables; None where there are none."""
    for number, line in enumerate(text.splitlines()):
        words = line.split()
        if (
            words[:2] == ["LocalPort", "RemoteDevice"]
            or (words[:1] == ["Interface"] and "Lanes" in words)
            or bool(_CUMULUS.search(line))
        ):
            return number
    return None


def read_lldp_text(text: str) -> Interfaces:
    """Return the interfaces of one device in what ``lldpctl`` and switches print as text.

    Raises:
        ValueError: it is none of these, or is cut off.
    """
    found = [*_blocks(text), *_tables(text)] or list(read_cli(text))
    if not found and not is_lldp_text(text):
        raise ValueError("it lists no neighbour and no interface")
    return _merged(found)


def _blocks(text: str) -> Iterator[SeenInterface]:
    """Yield the interfaces of lldpctl's text.

    Raises:
        ValueError: the last one is cut off.
    """
    starts = list(_BLOCK.finditer(text))
    ends = [*(match.start() for match in starts[1:]), len(text)]
    for match, end in zip(starts, ends, strict=False):
        part = text[match.end() : end]
        said: dict[str, str] = dict(reversed(_LINE.findall(part)))
        if "PortID" not in said:
            line = text.count("\n", 0, match.start()) + 1
            raise ValueError(
                f"line {line}: the neighbour of {match[1]} has no PortID: the file is cut off"
            )
        if not match[2].upper().startswith("LLDP"):
            continue
        kind, _, port = said["PortID"].partition(" ")
        chassis = said.get("ChassisID", "").partition(" ")[2]
        neighbour = far_end(
            said.get("SysName"), chassis, port, said.get("PortDescr"), mac=kind == "mac"
        )
        medium = next((said[key] for key in said if key.startswith(("MAU", "Current"))), None)
        yield SeenInterface((match[1],), up=True, gbps=gbps_of(medium), neighbours=(neighbour,))


def _tables(text: str) -> Iterator[SeenInterface]:
    """Yield the interfaces in SONiC's tables: columns begin where their heads do."""
    lines = text.splitlines()
    row: Callable[[Mapping[str, str]], SeenInterface | None] | None = None
    spans: Sequence[tuple[str, int, int | None]] = ()
    for number, line in enumerate(lines):
        if number and _RULE.match(line):
            spans = _spans(lines[number - 1], line)
            heads = {name for name, _, _ in spans}
            row = (
                _neighbour_row
                if "RemoteDevice" in heads or _CUMULUS.search(lines[number - 1])
                else _status_row
                if "Lanes" in heads
                else None
            )
        elif not line.strip() or line.startswith(("---", "Total entries")):
            row = None
        elif row is not None:
            one = row({name: line[first:last].strip() for name, first, last in spans})
            if one is not None:
                yield one


def _spans(head: str, rule: str) -> list[tuple[str, int, int | None]]:
    """Return the columns with their first and last places."""
    dashes = [match.span() for match in re.finditer(r"-+", rule)]
    starts = [first for first, _ in dashes]
    ends: list[int | None] = [*starts[1:], None]
    return [
        (head[first : None if end is None else last].strip(), first, end)
        for (first, last), end in zip(dashes, ends, strict=True)
    ]


def _neighbour_row(cells: Mapping[str, str]) -> SeenInterface | None:
    cells = {name.replace(" ", ""): text for name, text in cells.items()}
    local = cells.get("LocalPort") or cells.get("Interface", "").removeprefix("+ ")
    states = [cells[name].lower() for name in ("State", "OperStatus") if cells.get(name)]
    if "RemoteHost" in cells:
        if not local or cells.get("Type", "swp") not in {"swp", "eth"}:
            return None
        up = states[0] == "up" if states else True
        heard = [far_end(cells["RemoteHost"], None, cells.get("RemotePort"), None)]
        gbps = _gbps(cells.get("Speed")) if up else None
        return SeenInterface((local,), up, gbps, tuple(heard if cells["RemoteHost"] else ()))
    if not local:
        return None
    neighbour = far_end(
        cells.get("RemoteDevice"), None, cells.get("RemotePortID"), cells.get("RemotePortDescr")
    )
    return SeenInterface((local,), up=True, neighbours=(neighbour,))


def _status_row(cells: Mapping[str, str]) -> SeenInterface | None:
    if not cells.get("Interface"):
        return None
    alias = cells.get("Alias", "")
    up = cells.get("Oper", "").lower() == "up" if cells.get("Oper") else None
    names = tuple(name for name in (cells["Interface"], alias) if name and name != "N/A")
    return SeenInterface(names, up, _gbps(cells.get("Speed")) if up else None)


def best_neighbour(interface: SeenInterface, known: Callable[[str], bool]) -> Neighbour | None:
    """Return the neighbour that a cable leads to: one of the plan first, then one with a name.

    Network adapters with an LLDP agent of their own appear beside the host that they are in.
    """
    return min(
        interface.neighbours,
        key=lambda one: (not known(one.device), not one.named, not one.ports),
        default=None,
    )
