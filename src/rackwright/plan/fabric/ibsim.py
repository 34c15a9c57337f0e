"""A fabric as ibsim reads it, so that a real subnet manager can route what is only planned.

The format is that of ``ibnetdiscover``: a record for each switch and channel adapter with its GUID,
and a line for each port with the far end of its cable. Every interface of a host is an adapter of
one port.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.layout import Layout

_FIRST_GUID = 0x10000
"""GUID of the first device; any will do in a simulation, so long as each is another."""
_GUID_STEP = 0x100
"""Ports have GUIDs of their own after that of their device."""


@dataclass(frozen=True, slots=True)
class SimulatedNetwork:
    """A net file with the sizes that ibsim must be told.

    Attributes:
        manager: the adapter that the subnet manager runs on; it is the first record.
    """

    text: str
    manager: str
    devices: int
    switches: int
    ports: int


def adapter(host: str, interface: int) -> str:
    """Return the adapter of a host's interface, counted from 1."""
    return f"{host}/{interface}"


def network(layout: Layout) -> SimulatedNetwork:
    """Return the fabric as a net file; the first host is where the subnet manager runs.

    Raises:
        ValueError: nothing is cabled.
    """
    radix = {name: tier.radix + tier.uplinks for tier in layout.tiers for name in tier.names()}
    far: dict[str, dict[int, tuple[str, int]]] = {name: {} for name in radix}
    adapters: dict[str, tuple[str, int]] = {}
    for wire in wires(layout):
        lower = (wire.lower, wire.lower_port)
        if wire.lower in radix:
            far[wire.lower][wire.lower_port] = (wire.upper, wire.upper_port)
        else:
            lower = (adapter(*lower), 1)
            adapters[lower[0]] = (wire.upper, wire.upper_port)
        far[wire.upper][wire.upper_port] = lower
    if not adapters:
        raise ValueError("no host is cabled")
    guids = count(_FIRST_GUID, _GUID_STEP)
    records = [
        f'caguid={next(guids):#x}\nCa\t1 "{name}"\t# "{name}"\n[1]\t"{switch}"[{port}]\n'
        for name, (switch, port) in adapters.items()
    ]
    for name, ports in radix.items():
        lines = [f'[{port}]\t"{to}"[{there}]\n' for port, (to, there) in sorted(far[name].items())]
        head = f'switchguid={next(guids):#x}\nSwitch\t{ports} "{name}"\t# "{name}"\n'
        records.append(head + "".join(lines))
    return SimulatedNetwork(
        text="\n".join(records),
        manager=next(iter(adapters)),
        devices=len(adapters) + len(radix),
        switches=len(radix),
        ports=sum(ports + 1 for ports in radix.values()) + 2 * len(adapters),
    )
