"""Links of a hall as a tool has seen them, and those that ``ibnetdiscover`` prints."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

End = tuple[str, int]
"""A device or adapter and one of its ports."""
Rate = tuple[str, float]
"""A rate as the tool writes it, and in Gbps."""

LANE_GBPS: Mapping[str, float] = {
    "SDR": 2.5, "DDR": 5.0, "QDR": 10.0, "FDR10": 10.0, "FDR": 14.0, "EDR": 25.0, "HDR": 50.0,
    "NDR": 100.0, "XDR": 200.0,
}  # fmt: skip
"""Rate of one lane in Gbps, as ports are named by it (IBTA, roadmap of InfiniBand)."""

_RECORD = re.compile(r'(Ca|Switch|Rt)\s+\d+\s+"([^"]+)"\s*#\s*"([^"]*)"')
_PORT = re.compile(r'\[(\d+)\](?:\[ext \d+\])?(?:\((?:0x)?[0-9a-f]+\))?\s+"([^"]+)"\[(\d+)\]')
_BY_GUID = re.compile(r"[SHR]-(0x)?[0-9a-f]{1,16}", re.IGNORECASE)
_NEIGHBOUR = re.compile(r'#.*?"([^"]*)"')
"""Description of the far end, which each line of a port has."""
_RATE = re.compile(r"\b(\d{1,2})x([A-Z]{3}(?:10)?)\s*$")
_MAP_LINE = re.compile(r'\s*(?:0x)?([0-9a-fA-F]{1,16})\s+"([^"]*)"')
_AGGREGATION = re.compile(r"\baggregation node\b", re.IGNORECASE)
"""Descriptions of SHARP's end points in switches, to which no cable leads."""
_UNSET = re.compile(r"^$|\bTechnologies$|^(MT\d+|Infiniscale|Quantum|ConnectX)\b", re.IGNORECASE)
"""Descriptions that firmware gives and nobody has set."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """Fabric as it was seen in a hall.

    Attributes:
        links: the far end of every connected port, devices by their descriptions.
        rates: of ports, as the dump has them, with what they are in Gbps.
        aggregations: end points of SHARP, which are left out.
        unset: adapters whose description nobody has set.
        switches: devices that are known to be switches.
        reporting: devices that state their own ports; None where all do.
        silent: ports that are up and see no neighbour.
    """

    links: Mapping[End, End]
    rates: Mapping[End, Rate] = field(default_factory=dict)
    aggregations: int = 0
    unset: frozenset[str] = frozenset()
    switches: frozenset[str] = frozenset()
    reporting: frozenset[str] | None = None
    silent: frozenset[End] = frozenset()


@dataclass(frozen=True, slots=True)
class SeenDevice:
    """A switch or an adapter of a subnet, by its description."""

    name: str
    switch: bool


@dataclass(frozen=True, slots=True)
class SeenPort:
    """A port of a subnet that a cable is in.

    Attributes:
        device: by its GUID.
        far: the device at the other end, by its GUID.
    """

    device: str
    port: int
    far: str
    far_port: int
    rate: Rate | None = None


def read_names(text: str) -> dict[str, str]:
    """Return names by GUID out of a file for ``--node-name-map``.

    Raises:
        ValueError: a line is not a GUID with a name in quotes.
    """
    names = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _MAP_LINE.match(line)
        if match is None:
            raise ValueError(
                f'line {number} is not a GUID with a name: 0x1070fd0300c0ffee "leaf-01"'
            )
        names[plain_guid(match[1])] = match[2]
    return names


def plain_guid(text: str) -> str:
    """Return a GUID or MAC address as 16 small hex digits."""
    return text.lower().removeprefix("0x").rjust(16, "0")


def read_discovery(text: str, names: Mapping[str, str] | None = None) -> Discovery:
    """Return the links that a dump of ``ibnetdiscover`` has.

    Args:
        text: the dump.
        names: of devices, by their GUIDs.

    Raises:
        ValueError: the text has no device in it, or its switches cannot be told apart.
    """
    devices: dict[str, SeenDevice] = {}
    named: dict[str, SeenDevice] = {}
    ports: list[SeenPort] = []
    here = ""
    for line in text.splitlines():
        if record := _RECORD.match(line):
            here = _guid(record[2])
            devices[here] = SeenDevice(record[3], record[1] == "Switch")
        elif here and (port := _PORT.match(line)):
            rate = _RATE.search(line)
            told = None if rate is None else rate_of(int(rate[1]), rate[2])
            ports.append(SeenPort(here, int(port[1]), _guid(port[2]), int(port[3]), told))
            if neighbour := _NEIGHBOUR.search(line):
                named[_guid(port[2])] = SeenDevice(neighbour[1], port[2].startswith("S-"))
    named = {guid: device for guid, device in named.items() if guid not in devices}
    if named:  # the dump may end inside its last record
        named[here] = devices.pop(here)
    return discovery_of(devices, ports, names, named)


def rate_of(width: int, speed: str) -> Rate | None:
    """Return the rate of a port by the number of its lanes and the name of their speed."""
    lane = LANE_GBPS.get(speed)
    return None if lane is None else (f"{width}x{speed}", width * lane)


def _guid(device: str) -> str:
    """Return the GUID in the name that ibnetdiscover gives a device: ``S-1070fd0300c0ffee``."""
    if _BY_GUID.fullmatch(device):
        return plain_guid(device[2:])
    return device.partition("-")[2].lower() or device.lower()


def discovery_of(
    seen: Mapping[str, SeenDevice],
    ports: Iterable[SeenPort],
    names: Mapping[str, str] | None = None,
    named: Mapping[str, SeenDevice] | None = None,
) -> Discovery:
    """Return a subnet by the descriptions of its devices.

    Args:
        seen: devices by their GUIDs, of 16 small hex digits.
        ports: those that a cable is in.
        names: of devices, by their GUIDs, which go before their descriptions.
        named: devices that others name as their neighbours, and that state no ports of their own: a dump that was
            cut off, or limited to some hops, has them.

    Raises:
        ValueError: there is no device, or switches cannot be told apart.
    """
    if not seen and not named:
        raise ValueError("it lists no switch and no adapter")
    stating, seen = frozenset(seen), {**seen, **(named or {})}
    found = {guid: (names or {}).get(guid, device.name) for guid, device in seen.items()}
    switches: dict[str, str] = {}
    for guid, name in found.items():
        nameless = not seen[guid].switch or _UNSET.search(name) is not None
        if not nameless and switches.setdefault(name, guid) != guid:
            raise ValueError(f"two switches are called '{name}'")
    sharp = {guid for guid, name in found.items() if _AGGREGATION.search(name)}
    shown = _apart(found, sharp)
    links: dict[End, End] = {}
    rates: dict[End, Rate] = {}
    for port in ports:
        if port.far not in found or port.device in sharp or port.far in sharp:
            continue
        links[shown[port.device], port.port] = shown[port.far], port.far_port
        if port.far not in stating:
            links[shown[port.far], port.far_port] = shown[port.device], port.port
        if port.rate is not None:
            rates[shown[port.device], port.port] = port.rate
    unset = {
        shown[guid] for guid, name in found.items() if guid not in sharp and _UNSET.search(name)
    }
    return Discovery(
        links,
        rates,
        len(sharp),
        frozenset(unset),
        frozenset(shown[guid] for guid, device in seen.items() if device.switch),
        None
        if stating == seen.keys()
        else frozenset(shown[guid] for guid in stating if guid in shown),
    )


def _apart(found: Mapping[str, str], left_out: set[str]) -> dict[str, str]:
    """Return descriptions, with the GUID where several devices have the same."""
    counts = Counter(name for device, name in found.items() if device not in left_out)
    return {
        device: name if counts[name] < 2 else f"{name} ({device})".strip()
        for device, name in found.items()
    }
