"""Neighbours of LLDP as the command lines of switches print them.

Read are blocks with a key on each line (``show lldp neighbors detail`` of EOS, NX-OS, IOS, IOS XR, OS10 and FTOS, VRP's
``display lldp neighbor``, AOS-CX's ``show lldp neighbor-info detail``), tables (``show lldp neighbors`` of EOS, NX-OS, IOS,
Junos, OS10 and FTOS), ``lldpctl -f keyvalue``, and what NX-OS and Junos write as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rackwright.plan.fabric.discovered.lldp_records import SeenInterface, far_end, gbps_of

_KEYS: Mapping[str, str] = {
    "local intf": "local", "local interface": "local", "local port id": "local", "port": "local",
    "chassis id": "chassis", "remote chassis id": "chassis", "neighbor chassis-id": "chassis",
    "port id": "port", "remote port id": "port", "neighbor port-id": "port",
    "port id type": "kind", "remote port subtype": "kind",
    "port description": "description", "remote port description": "description", "neighbor port-desc": "description",
    "system name": "name", "remote system name": "name", "neighbor chassis-name": "name",
    "opermau": "rate",
}  # fmt: skip
"""Meaning of each key of a block; the keys are in lower case."""
_FIRST = frozenset({"local", "chassis"})
"""Keys of which each neighbour has one, so that a second one begins the next."""
_PAIR = re.compile(r"\s*(?:- )?([A-Za-z][A-Za-z0-9 -]*?)\s*:\s*(.*?)\s*")
_HEAD = re.compile(
    r"\s*(?:Interface (\S+) detected \d+ LLDP neighbors?:?|(\S+) has \d+ neighbor(?:\(?s\)?)?:?)\s*"
)
_DETAIL = re.compile(
    r"^[ \t]*(?:Interface \S+ detected \d+ LLDP|\S+ has \d+ neighbor|(?:Remote |Neighbor )?Chassis[ -]ID\s*:)",
    re.IGNORECASE | re.MULTILINE,
)
_KEY_VALUE = re.compile(
    r"^lldp\.(.+?)\.(via|rid|age|chassis\.[\w.-]+|port\.[\w.-]+)=(.*)$", re.MULTILINE
)
_MAC = re.compile(r"([0-9a-f]{2}[:-]){5}[0-9a-f]{2}|([0-9a-f]{4}[.-]){2}[0-9a-f]{4}", re.IGNORECASE)
_UNSET = frozenset({"", "-", "--", "not advertised", "n/a", "null"})
_CUT = re.compile(r"(.*?)\s*\.\.\.$")
_NEXUS_ROW = re.compile(
    r"(\S.*?)?\s+([A-Za-z][\w/.:-]*\d)\s+(\d+)\s+(?:([A-Z](?:,?[A-Z])*)\s+)?(\S+)\s*"
)
_CISCO_WIDTH = 20
"""Signs to which IOS cuts names in its table."""


def _told(text: Any) -> str | None:
    """Return a value that a switch prints, without quotes; None where it tells none or cuts it."""
    made = str(text if text is not None else "").strip().strip('"').strip()
    return None if made.lower() in _UNSET or _CUT.fullmatch(made) else made


def _interface(said: Mapping[str, Any], gbps: float | None = None) -> SeenInterface:
    port = _told(said.get("port"))
    mac = "mac" in str(said.get("kind", "")).lower() or bool(port and _MAC.fullmatch(port))
    heard = far_end(
        _told(said.get("name")),
        _told(said.get("chassis")),
        port,
        _told(said.get("description")),
        mac=mac,
    )
    local = str(said["local"]).strip().removesuffix(".0")
    return SeenInterface((local,), up=True, gbps=gbps, neighbours=(heard,))


def is_cli(text: str) -> bool:
    """Return True for neighbours as a command line of a switch prints them."""
    return bool(_DETAIL.search(text) or _KEY_VALUE.search(text) or any(_tables(text)))


def read_cli(text: str) -> Iterator[SeenInterface]:
    """Yield the interfaces with a neighbour.

    Raises:
        ValueError: a block is cut off, or does not tell the interface.
    """
    if _KEY_VALUE.search(text):
        yield from _key_values(text)
    elif _DETAIL.search(text):
        yield from _blocks(text.splitlines())
    else:
        yield from _tables(text)


def _blocks(lines: Sequence[str]) -> Iterator[SeenInterface]:
    """Yield the neighbours in blocks: a new one begins where a key comes again.

    Raises:
        ValueError: the last one is cut off, or does not tell the interface.
    """
    said: dict[str, str] = {}
    local, begins = "", 1

    def made() -> SeenInterface:
        name = said.get("local", local)
        if not name or "port" not in said:
            raise ValueError(
                f"line {begins}: the neighbour has no {'port' if name else 'local interface'}: the file is cut off, "
                "or the command does not print it"
            )
        return _interface({**said, "local": name})

    for number, line in enumerate(lines, 1):
        if (head := _HEAD.fullmatch(line)) is not None:
            if {"chassis", "port"} & set(said):
                yield made()
            said, local = {}, head[1] or head[2]
            continue
        pair = _PAIR.fullmatch(line)
        key = None if pair is None else _KEYS.get(pair[1].lower())
        if pair is None or key is None or (key == "local" and local and "local" not in said):
            continue
        if key in said and (key in _FIRST or pair[1] == "Neighbor Chassis-Name"):
            yield made()
            # Where the interface comes before its neighbours, a further one is of the same.
            first = next(iter(said)) == "local"
            said = {"local": said["local"]} if first and key != "local" else {}
        if not said:
            begins = number
        said.setdefault(key, pair[2])
    if {"chassis", "port"} & set(said):
        yield made()


def _key_values(text: str) -> Iterator[SeenInterface]:
    """Yield the neighbours in ``lldpctl -f keyvalue``: each begins with ``via``."""
    name, said = "", dict[str, str]()

    def made() -> Iterator[SeenInterface]:
        if said.get("via", "LLDP").upper().startswith("LLDP"):
            port = next((said[key] for key in ("port.ifname", "port.local") if key in said), None)
            yield _interface(
                {"local": name, "name": said.get("chassis.name"), "chassis": said.get("chassis.mac"),
                 "port": port, "description": said.get("port.descr")},
                gbps_of(said.get("port.auto-negotiation.current")),
            )  # fmt: skip

    for match in _KEY_VALUE.finditer(text):
        if said and (match[1] != name or match[2] == "via"):
            yield from made()
            said = {}
        name = match[1]
        said[match[2]] = match[3].strip().strip('"')
    if said:
        yield from made()


def _tables(text: str) -> Iterator[SeenInterface]:
    """Yield the neighbours in the tables of EOS, NX-OS, IOS, Junos, OS10 and FTOS."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        heads = re.split(r"\s{2,}", line.strip())
        rows = lines[number + 1 :]
        if heads[:3] == ["Port", "Neighbor Device ID", "Neighbor Port ID"]:
            yield from _eos(line, rows)
        elif heads[:3] == ["Device ID", "Local Intf", "Hold-time"]:
            yield from _nexus(rows)
        elif heads[:1] == ["Local Interface"] and "Chassis Id" in heads and "System Name" in heads:
            yield from _junos(rows)
        elif heads[:3] == ["Loc PortID", "Rem Host Name", "Rem Port Id"]:
            yield from _dell(line, rows)


def _cells(head: str, titles: Sequence[str], row: str) -> list[str]:
    """Return the cells of a row that begin where their titles do."""
    starts = [head.index(title) for title in titles]
    return [row[first:end].strip() for first, end in zip(starts, [*starts[1:], None], strict=True)]


def _eos(head: str, rows: Sequence[str]) -> Iterator[SeenInterface]:
    for row in rows:
        words = row.split()
        if not words:
            return
        if set(row) <= {"-", " "}:
            continue
        if len(words) != 4:  # a name with blanks
            words = _cells(head, ("Port", "Neighbor Device ID", "Neighbor Port ID", "TTL"), row)
        yield _interface({"local": words[0], "name": words[1], "port": words[2]})


def _nexus(rows: Sequence[str]) -> Iterator[SeenInterface]:
    """Yield the rows of NX-OS, which puts a long name on a line of its own, and of IOS, which cuts it."""
    before = ""
    for row in rows:
        match = _NEXUS_ROW.fullmatch(row)
        if match is None:
            if row.startswith("Total"):
                return
            before = row.strip()
            continue
        name = match[1] or before
        cut = match[1] is not None and len(match[1]) >= _CISCO_WIDTH
        said = {"local": match[2], "name": None if cut else name, "chassis": name, "port": match[5]}
        yield _interface(said)
        before = ""


def _junos(rows: Sequence[str]) -> Iterator[SeenInterface]:
    for row in rows:
        cells = re.split(r"\s{2,}|\t", row.strip())
        if len(cells) < 4:
            return
        name = cells[4] if len(cells) > 4 else None
        yield _interface({"local": cells[0], "chassis": cells[2], "port": cells[3], "name": name})


def _dell(head: str, rows: Sequence[str]) -> Iterator[SeenInterface]:
    titles = ("Loc PortID", "Rem Host Name", "Rem Port Id", "Rem Chassis Id")
    for row in rows:
        local, name, port, chassis = _cells(head, titles, row)
        if not local or set(local) <= {"-"}:
            continue
        yield _interface({"local": local, "name": name, "port": port, "chassis": chassis})


def read_cli_json(value: Any) -> list[SeenInterface] | None:
    """Return the neighbours in JSON of NX-OS or Junos; None where it is of another kind."""
    found = [*_rows(value, "ROW_nbor_detail"), *_rows(value, "ROW_nbor")]
    if found:
        return [
            _interface({
                "local": row.get("l_port_id", ""), "port": row.get("port_id"), "description": row.get("port_desc"),
                "name": row.get("sys_name", row.get("chassis_id")), "chassis": row.get("chassis_id"),
            })
            for row in found
        ]  # fmt: skip
    junos = list(_rows(value, "lldp-neighbor-information"))
    if not junos:
        return None
    return [
        _interface({
            "local": _data(row, "lldp-local-port-id") or _data(row, "lldp-local-interface") or "",
            "name": _data(row, "lldp-remote-system-name"), "chassis": _data(row, "lldp-remote-chassis-id"),
            "port": _data(row, "lldp-remote-port-id"), "kind": _data(row, "lldp-remote-port-id-subtype"),
            "description": _data(row, "lldp-remote-port-description"),
        })
        for row in junos
    ]  # fmt: skip


def _rows(value: Any, name: str, depth: int = 8) -> Iterator[Mapping[str, Any]]:
    """Yield the objects under a key, however deep their answer wraps them."""
    if depth == 0:
        return
    if isinstance(value, list):
        for part in value:
            yield from _rows(part, name, depth - 1)
    elif isinstance(value, dict):
        for key, part in value.items():
            if key == name:
                listed = part if isinstance(part, list) else [part]
                yield from (one for one in listed if isinstance(one, dict))
            else:
                yield from _rows(part, name, depth - 1)


def _data(row: Mapping[str, Any], key: str) -> str | None:
    """Return a text of Junos, which is a list with an object."""
    value = row.get(key)
    value = value[0] if isinstance(value, list) and value else value
    value = value.get("data") if isinstance(value, dict) else value
    return None if value is None else str(value)
