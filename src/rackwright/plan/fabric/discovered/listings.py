"""Links of a subnet out of ``ibnetdiscover -p`` and ``iblinkinfo``, which print a line for each port.

``iblinkinfo`` prints blocks of ports below the name of their device, in which the far end is known by its LID, or
lines with both GUIDs (``-l``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from rackwright.plan.fabric.discovered.dump import (
    LANE_GBPS,
    Discovery,
    Rate,
    SeenDevice,
    SeenPort,
    discovery_of,
    rate_of,
)

_REPORT = re.compile(r"^(?:CA|SW|RT)\s+\d+\s+\d+\s+0x[0-9a-f]{16}\s", re.MULTILINE)
_REPORTED = re.compile(
    r"(CA|SW|RT)\s+\d+\s+(\d+)\s+0x([0-9a-f]{16})\s+(\S+)x\s+(\S+)"
    r"(?:\s+-\s+(CA|SW|RT)\s+\d+\s+(\d+)\s+0x([0-9a-f]{16})\s+\(\s*'(.*?)'\s+-\s+'(.*)'\s*\)|\s+(\S.*?))\s*"
)
_ARROW = re.compile(r"==\([^()\n]*\)==>")
_BLOCK = re.compile(r"(CA|Switch|RT|Rt|Router):?\s+(?:0x([0-9a-fA-F]{1,16})\s+)?(\S.*?):?\s*")
_LINKED = re.compile(
    r'\s*(?:0x([0-9a-fA-F]{1,16})\s+(?:"([^"]*)"\s+)?)?(\d+)\s+(\d+)\[[^\]]*\]\s+==\(([^()]*)\)==>\s*'
    r'(?:0x([0-9a-fA-F]{1,16})\s+)?(?:(\d+)\s+(\d+))?\s*\[[^\]]*\]\s*"([^"]*)".*'
)
_RATE = re.compile(r"(\d{1,2})X\s+([\d.]+ Gbps|FDR10)")
_SIGNALLED: Mapping[str, str] = {
    "14.0625": "FDR", "25.78125": "EDR", "25.78": "EDR", "53.125": "HDR", "106.25": "NDR", "212.5": "XDR",
    **{f"{rate:.1f}": name for name, rate in LANE_GBPS.items() if name in {"SDR", "DDR", "QDR"}},
}  # fmt: skip
"""Speed of a lane by what iblinkinfo prints, which counts the coding of the line from FDR on."""
_MOST_PORTS = 4
"""Ports of an adapter; a device with more of them is a switch."""


def is_report(text: str) -> bool:
    """Return True for the output of ``ibnetdiscover -p``."""
    return _REPORT.search(text) is not None


def is_link_list(text: str) -> bool:
    """Return True for the output of ``iblinkinfo``."""
    return _ARROW.search(text) is not None


def read_report(text: str, names: Mapping[str, str] | None = None) -> Discovery:
    """Return the links of an output of ``ibnetdiscover -p``.

    Raises:
        ValueError: a line is cut off.
    """
    devices: dict[str, SeenDevice] = {}
    ports: list[SeenPort] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith(("CA ", "SW ", "RT ")):
            continue
        match = _REPORTED.fullmatch(line.replace("\t", " "))
        if match is None:
            raise ValueError(f"line {number} is no port: was the file cut off?")
        kind, port, guid, width, speed, far_kind, far_port, far, name, far_name, alone = (
            match.groups()
        )
        devices.setdefault(guid, SeenDevice(name or (alone or "").strip("'"), kind == "SW"))
        if far is None:
            continue
        devices.setdefault(far, SeenDevice(far_name, far_kind == "SW"))
        rate = rate_of(int(width), speed) if width.isdecimal() else None
        ports.append(SeenPort(guid, int(port), far, int(far_port), rate))
    return discovery_of(devices, _both_ways(ports), names)


def read_link_list(text: str, names: Mapping[str, str] | None = None) -> Discovery:
    """Return the links of an output of ``iblinkinfo``.

    Raises:
        ValueError: a line is cut off.
    """
    return _LinkList().read(text, names)


class _LinkList:
    """Devices and ports of ``iblinkinfo``; the key of a device is a GUID where one is printed, else a LID of its."""

    def __init__(self) -> None:
        self._devices: dict[str, SeenDevice] = {}
        self._lids: dict[str, str] = {}
        self._lines: Counter[str] = Counter()
        self._links: list[tuple[str, int, re.Match[str]]] = []
        self._ends: dict[str, dict[int, str]] = {}

    def read(self, text: str, names: Mapping[str, str] | None) -> Discovery:
        """Return the links.

        Raises:
            ValueError: a line is cut off.
        """
        block: re.Match[str] | None = None
        here = ""
        for number, line in enumerate(text.splitlines(), 1):
            if "==(" not in line:
                if begun := _BLOCK.fullmatch(line):
                    block, here = begun, _guid(begun[2]) if begun[2] else ""
                continue
            match = _LINKED.fullmatch(line)
            if match is None:
                raise ValueError(f"line {number} is no link: was the file cut off?")
            if match[2] is not None or block is None:
                here = self._of_line(match)
            else:
                here = here or (_guid(match[1]) if match[1] else f"lid {match[3]}")
                self._devices[here] = SeenDevice(block[3], block[1] == "Switch")
            self._lids[match[3]] = here
            if match[8] is not None and "LinkUp" in match[5]:
                self._links.append((here, int(match[4]), match))
        ports = [
            SeenPort(device, port, self._far(match), int(match[8]), _rate(match[5]))
            for device, port, match in self._links
        ]
        return discovery_of(self._devices, _both_ways(ports), names)

    def _of_line(self, match: re.Match[str]) -> str:
        """Return the device that a line is of, which does not say what it is."""
        device = _guid(match[1]) if match[1] else f"lid {match[3]}"
        self._lines[device] += 1
        text = (match[2] or "").strip()
        switch = self._lines[device] > _MOST_PORTS or int(match[4]) > _MOST_PORTS
        switch |= text.startswith("MF0;")
        known = self._devices.get(device)
        self._devices[device] = SeenDevice(text, switch or (known is not None and known.switch))
        return device

    def _far(self, match: re.Match[str]) -> str:
        """Return the device at the far end; one without lines of its own is known by its name there."""
        if match[6] is not None and (guid := _guid(match[6])) in self._devices:
            return guid
        lid, port, text = match[7], int(match[8]), match[9].strip()
        if (known := self._lids.get(lid)) is not None:
            return known
        # Each port of an adapter has a LID; two ports of one number are of two adapters.
        ends = self._ends.setdefault(text, {})
        first = next(iter(ends.values()), lid) if port not in ends else lid
        ends.setdefault(port, lid)
        key = _guid(match[6]) if match[6] else f"lid {first}"
        self._devices[key] = SeenDevice(text, switch=port > _MOST_PORTS)
        self._lids[lid] = key
        return key


def _both_ways(ports: Sequence[SeenPort]) -> list[SeenPort]:
    """Return ports with those at their far ends that have no line, as adapters have none in lists of switches."""
    stated = {(port.device, port.port) for port in ports}
    return [
        *ports,
        *(
            SeenPort(port.far, port.far_port, port.device, port.port, port.rate)
            for port in ports
            if (port.far, port.far_port) not in stated
        ),
    ]


def _rate(state: str) -> Rate | None:
    match = _RATE.search(state)
    if match is None:
        return None
    speed = _SIGNALLED.get(match[2].removesuffix(" Gbps"), match[2])
    return rate_of(int(match[1]), speed)


def _guid(text: str) -> str:
    return text.lower().rjust(16, "0")
