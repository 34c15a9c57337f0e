"""Links of a subnet as ibdiagnet and UFM export them.

ibdiagnet writes ``ibdiagnet2.db_csv``, tables between lines ``START_NODES`` and ``END_NODES``, and ``ibdiagnet2.lst``,
a line for each direction of a link. UFM answers ``/ufmRest/resources/links`` and ``/ufmRest/resources/ports`` with
lists of objects; only the latter have rates.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rackwright.harmless import counted
from rackwright.plan.fabric.discovered.dump import (
    LANE_GBPS,
    Discovery,
    Rate,
    SeenDevice,
    SeenPort,
    discovery_of,
    rate_of,
    read_discovery,
)
from rackwright.plan.fabric.discovered.listings import (
    is_link_list,
    is_report,
    read_link_list,
    read_report,
)

_WIDTHS: Mapping[int, int] = {1: 1, 2: 4, 4: 8, 8: 12, 16: 2}
"""Lanes by the code of LinkWidthActive (InfiniBand Architecture Specification, PortInfo)."""
_SPEEDS: Mapping[int, str] = {
    1: "SDR", 2: "DDR", 4: "QDR", 1 << 8: "FDR", 1 << 9: "EDR", 1 << 10: "HDR", 1 << 11: "NDR", 1 << 12: "XDR",
    1 << 16: "FDR10",
}  # fmt: skip
"""Speed by the code that ibdiagnet writes: PortInfo's, with the extended speeds above the eighth bit."""
_SWITCH = 2
"""NodeType of a switch."""
_BY_GBPS = {f"{rate:g}": name for name, rate in LANE_GBPS.items() if name != "FDR10"}
_SIDE = (
    r"\{\s*(CA|SW|RT)\b[^{}]*?\bNodeGUID:([0-9a-fA-F]{1,16})\b[^{}]*"
    r"\{([^{}]*)\}\s+LID:\S+\s+PN:([0-9a-fA-F]{1,4})\s*\}"
)
_LINK = re.compile(rf"{_SIDE}\s*{_SIDE}(?:\s+PHY=(\d+)x)?(?:\s+LOG=(\w+))?(?:\s+SPD=(\S+))?")
_WIDTH = re.compile(r"(?:IB_)?(\d{1,2})x", re.IGNORECASE)
_PORT_NAME = re.compile(r"(?:0x)?([0-9a-fA-F]{1,16})_(\d+)")
_BEHIND = re.compile(r":(\d+|\S+/\S+)$")
"""The port that UFM writes behind the description of a switch: ``leaf-01:19``."""
_MOST_OF_LINE = 4000
"""Characters of a line that a link of ``ibdiagnet2.lst`` takes at most."""


def is_tables(text: str) -> bool:
    """Return True for ``ibdiagnet2.db_csv``."""
    return re.search(r"^START_(NODES|LINKS)\s*$", text, re.MULTILINE) is not None


def is_list(text: str) -> bool:
    """Return True for ``ibdiagnet2.lst``."""
    return re.match(r"\s*\{\s*(CA|SW|RT)\s+Ports:", text) is not None


def read_tables(text: str, names: Mapping[str, str] | None = None) -> Discovery:
    """Return the links of an ``ibdiagnet2.db_csv``.

    Raises:
        ValueError: a table is missing, cut off, or has a row that is not of its kind.
    """
    tables = dict(_tables(text))
    for name in ("NODES", "LINKS"):
        if name not in tables:
            raise ValueError(f"it has no table START_{name}")
    devices = {}
    for _, row in tables["NODES"]:
        devices[_guid(row.get("nodeguid", ""))] = SeenDevice(
            row.get("nodedesc", ""), row.get("nodetype") == str(_SWITCH)
        )
    rates: dict[tuple[str, int], Rate] = {}
    for line, row in tables.get("PORTS", ()):
        width = _WIDTHS.get(_number(row, "linkwidthactv", line))
        speed = _SPEEDS.get(_number(row, "linkspeedactv", line))
        rate = None if width is None or speed is None else rate_of(width, speed)
        if rate is not None:
            rates[_guid(row.get("nodeguid", "")), _number(row, "portnum", line)] = rate
    ports = []
    for line, row in tables["LINKS"]:
        ends = [
            (_guid(row.get(f"nodeguid{side}", "")), _number(row, f"portnum{side}", line))
            for side in "12"
        ]
        for here, there in (ends, ends[::-1]):
            ports.append(SeenPort(*here, *there, rates.get(here)))
    return discovery_of(devices, ports, names)


def _tables(text: str) -> Iterator[tuple[str, list[tuple[int, dict[str, str]]]]]:
    """Yield each table with its rows, by heads in small letters, and their lines.

    Raises:
        ValueError: a table has no end, or a row has other cells than there are heads.
    """
    name, head, rows = "", list[str](), list[tuple[int, dict[str, str]]]()
    for number, written in enumerate(text.splitlines(), 1):
        line = written.strip()
        if line.startswith("START_"):
            name, head, rows = line.removeprefix("START_"), [], []
        elif name and line == f"END_{name}":
            yield name, rows
            name = ""
        elif name in {"NODES", "PORTS", "LINKS"} and line:
            try:
                cells = [cell.strip() for cell in next(csv.reader([line]))]
            except csv.Error as error:
                raise ValueError(f"line {number} is no row of a table: {error}") from None
            if not head:
                head = [cell.lower() for cell in cells]
            elif len(cells) < len(head):
                raise ValueError(
                    f"line {number} has {counted(len(cells), 'cell')}, and {counted(len(head), 'column')} are named"
                )
            else:
                rows.append((number, dict(zip(head, cells, strict=False))))
    if name:
        raise ValueError(f"the table START_{name} has no end: the file is cut off")


def read_list(text: str, names: Mapping[str, str] | None = None) -> Discovery:
    """Return the links of an ``ibdiagnet2.lst``.

    Raises:
        ValueError: a line is no link.
    """
    devices: dict[str, SeenDevice] = {}
    ports = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINK.match(line.strip()) if len(line) <= _MOST_OF_LINE else None
        if match is None:
            raise ValueError(f"line {number} is no link: two ends in braces, PHY=, LOG=, SPD=")
        ends = []
        for kind, guid, description, port in (match.groups()[:4], match.groups()[4:8]):
            devices[_guid(guid)] = SeenDevice(description, kind == "SW")
            ends.append((_guid(guid), int(port, 16)))
        speed = _BY_GBPS.get(match[11] or "")
        rate = None if match[9] is None or speed is None else rate_of(int(match[9]), speed)
        if match[10] in {None, "ACT", "ARM", "INI"}:
            ports.append(SeenPort(*ends[0], *ends[1], rate))
            ports.append(SeenPort(*ends[1], *ends[0], rate))
    return discovery_of(devices, ports, names)


def ufm_objects(value: Any) -> Sequence[Mapping[str, Any]] | None:
    """Return the links or ports that UFM has answered with; None for another document."""
    listed = value.get("links", value.get("ports")) if isinstance(value, dict) else value
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        return None
    known = ({"source_guid", "destination_guid"}, {"peer", "active_width"})
    if listed and any(keys <= set(listed[0]) for keys in known):
        return listed
    return None


def read_ufm(
    objects: Sequence[Mapping[str, Any]], names: Mapping[str, str] | None = None
) -> Discovery:
    """Return the links of UFM's answers about links and ports.

    Raises:
        ValueError: an object has no end.
    """
    devices: dict[str, SeenDevice] = {}
    ports: list[SeenPort] = []
    for index, one in enumerate(objects, 1):
        if "source_guid" in one:
            ends = [_ufm_end(one, side, index, devices) for side in ("source", "destination")]
            ports.append(SeenPort(*ends[0], *ends[1]))
            ports.append(SeenPort(*ends[1], *ends[0]))
            continue
        here, there = (_PORT_NAME.fullmatch(str(one.get(key) or "")) for key in ("name", "peer"))
        if here is None:
            raise ValueError(f"the port {index} has no 'name' like 1070fd0300c0ffee_19")
        text = _BEHIND.sub("", str(one.get("node_description") or ""))
        switch = str(one.get("node_type", one.get("type", ""))).lower() == "switch" or bool(
            _BEHIND.search(str(one.get("node_description") or ""))
        )
        known = devices.setdefault(_guid(here[1]), SeenDevice(text, switch))
        if not known.name:
            devices[_guid(here[1])] = SeenDevice(text, switch)
        if there is not None:
            width = _WIDTH.fullmatch(str(one.get("active_width") or ""))
            speed = str(one.get("active_speed") or "").upper()
            rate = None if width is None else rate_of(int(width[1]), speed)
            ports.append(
                SeenPort(_guid(here[1]), int(here[2]), _guid(there[1]), int(there[2]), rate)
            )
    return discovery_of(devices, ports, names)


def _ufm_end(
    link: Mapping[str, Any], side: str, index: int, devices: dict[str, SeenDevice]
) -> tuple[str, int]:
    """Return one end of a link, and note its device.

    Raises:
        ValueError: it has no GUID or no port.
    """
    guid, port = _guid(str(link.get(f"{side}_guid") or "")), str(link.get(f"{side}_port") or "")
    if not guid.strip("0") or not port.isdecimal():
        raise ValueError(f"the link {index} has no '{side}_guid' or no '{side}_port'")
    text = str(link.get(f"{side}_port_node_description") or "")
    devices[guid] = SeenDevice(_BEHIND.sub("", text), _BEHIND.search(text) is not None)
    return guid, int(port)


def _guid(text: str) -> str:
    return text.strip().lower().removeprefix("0x").rjust(16, "0")


def _number(row: Mapping[str, str], column: str, line: int) -> int:
    """Return a number of a table.

    Raises:
        ValueError: the cell has none.
    """
    try:
        return int(row.get(column, ""), 0)
    except ValueError:
        shown = row.get(column, "")
        raise ValueError(f"line {line}: '{shown}' is no number of the column '{column}'") from None


def read_json(text: str) -> Any:
    """Return a JSON document.

    Raises:
        ValueError: it is none, with the line at which it ends to be one.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"line {error.lineno} is no JSON: {error.msg.lower()}; was the file cut off?"
        ) from None
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def read_subnet(text: str, names: Mapping[str, str] | None = None) -> Discovery:
    """Return the links of a subnet out of the output of ibnetdiscover, iblinkinfo, ibdiagnet or UFM.

    Raises:
        ValueError: it is of none of them, or is cut off.
    """
    if re.match(r'\s*(\[\s*[\[\]{]|\{\s*("|\}))', text):
        objects = ufm_objects(read_json(text))
        if objects is None:
            raise ValueError("the JSON has no links or ports of UFM")
        return read_ufm(objects, names)
    if is_tables(text):
        return read_tables(text, names)
    if is_list(text):
        return read_list(text, names)
    if is_report(text):
        return read_report(text, names)
    if is_link_list(text):
        return read_link_list(text, names)
    return read_discovery(text, names)
