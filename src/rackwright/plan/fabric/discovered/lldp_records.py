"""Interfaces and their neighbours, as LLDP tells them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAC = re.compile(r"([0-9a-f]{2}[:-]){5}[0-9a-f]{2}|([0-9a-f]{4}\.){2}[0-9a-f]{4}", re.IGNORECASE)
_MAU = re.compile(r"(\d+)(G?)(?:ig)?base", re.IGNORECASE)
"""Rate in the name of a medium: ``1000BaseTFD``, ``100GbaseSR4``, ``10GigBaseLR``."""
_MBPS = 0.001
"""Gbps of one Mbps."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The device at the far end of a port.

    Attributes:
        device: its name; that of its chassis where it tells none.
        named: True if it tells its name.
        ports: names of its port, the best first; none where it tells a MAC address alone.
    """

    device: str
    named: bool
    ports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SeenInterface:
    """An interface of the device that a dump is of.

    Attributes:
        names: of the interface, the best first.
        up: True if it has a link; None where the dump does not say it.
        gbps: rate of its link; None where the dump does not say it.
        neighbours: that it hears.
    """

    names: tuple[str, ...]
    up: bool | None = None
    gbps: float | None = None
    neighbours: tuple[Neighbour, ...] = ()


Interfaces = Mapping[str, SeenInterface]
"""Interfaces of one device by their names."""


def merge(first: SeenInterface, second: SeenInterface) -> SeenInterface:
    """Return what two dumps state of one interface."""
    return SeenInterface(
        tuple(dict.fromkeys((*first.names, *second.names))),
        first.up if second.up is None else second.up,
        first.gbps if second.gbps is None else second.gbps,
        tuple(dict.fromkeys((*first.neighbours, *second.neighbours))),
    )


def far_end(
    name: Any, chassis: Any, port: Any, description: Any, *, mac: bool = False
) -> Neighbour:
    """Return the far end of a port by what LLDP tells of it; ``mac`` where its port is a MAC address."""
    named = isinstance(name, str) and bool(name.strip())
    texts = [str(text).strip() for text in (None if mac else port, description) if text]
    ports = tuple(text for text in texts if text and not MAC.fullmatch(text))
    return Neighbour(str(name).strip() if named else str(chassis or "").strip(), named, ports)


def gbps_of(text: str | None) -> float | None:
    """Return the rate in the name of a medium, in Gbps; None where it has none."""
    match = _MAU.search(text or "")
    if match is None:
        return None
    number = float(match[1])
    return number if match[2] else number * _MBPS
