"""Links of a hall, as ``ibnetdiscover`` prints them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

End = tuple[str, int]
"""A device or adapter and one of its ports."""

LANE_GBPS: Mapping[str, float] = {
    "SDR": 2.5, "DDR": 5.0, "QDR": 10.0, "FDR10": 10.0, "FDR": 14.0, "EDR": 25.0, "HDR": 50.0,
    "NDR": 100.0, "XDR": 200.0,
}  # fmt: skip
"""Rate of one lane in Gbps, as ports are named by it (IBTA, roadmap of InfiniBand)."""

_RECORD = re.compile(r'(?:Ca|Switch|Rt)\s+\d+\s+"([^"]+)"\s*#\s*"([^"]*)"')
_PORT = re.compile(r'\[(\d+)\](?:\([0-9a-f]+\))?\s+"([^"]+)"\[(\d+)\]')
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
    """

    links: Mapping[End, End]
    rates: Mapping[End, tuple[str, float]] = field(default_factory=dict)
    aggregations: int = 0
    unset: frozenset[str] = frozenset()


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
        names[match[1].lower().rjust(16, "0")] = match[2]
    return names


def read_discovery(text: str, names: Mapping[str, str] | None = None) -> Discovery:
    """Return the links that a dump of ``ibnetdiscover`` has.

    Args:
        text: the dump.
        names: of devices, by their GUIDs.

    Raises:
        ValueError: the text has no device in it, or its switches cannot be told apart.
    """
    found: dict[str, str] = {}
    switches: dict[str, str] = {}
    seen: list[tuple[str, int, str, int, str]] = []
    here = ""
    for line in text.splitlines():
        if record := _RECORD.match(line):
            here = str(record[1])
            found[here] = (names or {}).get(here.partition("-")[2].lower(), record[2])
            nameless = _UNSET.search(found[here]) is not None
            if (
                line.startswith("Switch")
                and not nameless
                and switches.setdefault(found[here], here) != here
            ):
                raise ValueError(f"two switches are called '{found[here]}'")
        elif here and (port := _PORT.match(line)):
            seen.append((here, int(port[1]), port[2], int(port[3]), line))
    if not found:
        raise ValueError("it lists no switch and no adapter")
    sharp = {device for device, name in found.items() if _AGGREGATION.search(name)}
    shown: dict[str, str] = _apart(found, sharp)
    links: dict[End, End] = {}
    rates: dict[End, tuple[str, float]] = {}
    for device, number, other, there, line in seen:
        if other not in found or device in sharp or other in sharp:
            continue
        links[shown[device], number] = shown[other], there
        rate = _RATE.search(line)
        if rate is not None and rate[2] in LANE_GBPS:
            rates[shown[device], number] = rate[0].strip(), int(rate[1]) * LANE_GBPS[rate[2]]
    unset = {
        shown[device]
        for device, name in found.items()
        if device not in sharp and _UNSET.search(name)
    }
    return Discovery(links, rates, len(sharp), frozenset(unset))


def _apart(found: Mapping[str, str], left_out: set[str]) -> dict[str, str]:
    """Return descriptions, with the GUID where several devices have the same."""
    counts = Counter(name for device, name in found.items() if device not in left_out)
    return {
        device: name if counts[name] < 2 else f"{name} ({device.partition('-')[2]})".strip()
        for device, name in found.items()
    }
