"""What switches and hosts of a planned fabric print of their neighbours, in the forms of each tool."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.discovered.dump import End
from rackwright.plan.fabric.layout import Layout

PortName = Callable[[int], str]
Interface = Callable[[int], str]


@dataclass(frozen=True)
class Seen:
    """A cable as a switch sees it."""

    port: int
    far: str
    far_port: str
    gbps: float = 400


def seen_by(
    layout: Layout,
    port_name: PortName,
    interface: Interface,
    change: Callable[[dict[End, End]], None] | None = None,
    rates: Mapping[End, float] | None = None,
) -> dict[str, list[Seen]]:
    """Cables by the switch that sees them; ``change`` gets the upper end of each lower one."""
    far = {(w.lower, w.lower_port): (w.upper, w.upper_port) for w in wires(layout)}
    if change is not None:
        change(far)
    switches = {name for tier in layout.tiers for name in tier.names()}
    made: dict[str, list[Seen]] = {name: [] for name in switches}
    for lower, upper in far.items():
        rate = (rates or {}).get(lower, 400)
        for here, there in ((lower, upper), (upper, lower)):
            if here[0] in switches:
                name = port_name if there[0] in switches else interface
                made[here[0]].append(Seen(here[1], there[0], name(there[1]), rate))
    return made


def lldpctl_json(seen: list[Seen], port_name: PortName) -> str:
    """``lldpctl -f json``."""
    interfaces = [
        {
            port_name(one.port): {
                "via": "LLDP",
                "rid": "1",
                "chassis": {one.far: {"id": {"type": "mac", "value": "02:00:00:00:00:01"}}},
                "port": {
                    "id": {"type": "ifname", "value": one.far_port},
                    "descr": "a port",
                    "ttl": "120",
                    "auto-negotiation": {"current": f"{one.gbps:g}GbaseSR8 - fibre"},
                },
            }
        }
        for one in seen
    ]
    return json.dumps(
        {"lldp": {"interface": interfaces[0] if len(interfaces) == 1 else interfaces}}
    )


def lldpctl_json0(seen: list[Seen], port_name: PortName) -> str:
    """``lldpctl -f json0``."""
    interfaces = [
        {
            "name": port_name(one.port),
            "via": "LLDP",
            "chassis": [
                {
                    "id": [{"type": "mac", "value": "02:00:00:00:00:01"}],
                    "name": [{"value": one.far}],
                }
            ],
            "port": [
                {
                    "id": [{"type": "ifname", "value": one.far_port}],
                    "auto-negotiation": [{"current": [{"value": f"{one.gbps:g}GbaseSR8 - fibre"}]}],
                }
            ],
        }
        for one in seen
    ]
    return json.dumps({"lldp": [{"interface": interfaces}]})


def lldpctl_text(seen: list[Seen], port_name: PortName) -> str:
    """``lldpctl``, and ``show lldp neighbors`` of SONiC."""
    rule = "-" * 79
    blocks = [
        f"Interface:    {port_name(one.port)}, via: LLDP, RID: 1, Time: 0 day, 12:21:21\n"
        "  Chassis:\n    ChassisID:    mac 02:00:00:00:00:01\n"
        f"    SysName:      {one.far}\n    SysDescr:     Linux\n"
        "    Capability:   Router, on\n"
        f"  Port:\n    PortID:       ifname {one.far_port}\n    PortDescr:    a port\n    TTL:          120\n"
        f"    PMD autoneg:  supported: yes, enabled: yes\n      MAU oper type: {one.gbps:g}GbaseSR8 - fibre\n"
        for one in seen
    ]
    return "\n".join([rule, "LLDP neighbors:", rule, f"\n{rule}\n".join(blocks), rule])


def sonic_tables(seen: list[Seen], port_name: PortName) -> str:
    """``show lldp table`` and ``show interfaces status`` of SONiC, one behind the other."""
    return f"{sonic_table(seen, port_name)}\n{sonic_status(seen, port_name)}"


def sonic_table(seen: list[Seen], port_name: PortName) -> str:
    """``show lldp table`` of SONiC."""
    head = ["LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr"]
    rows = [[port_name(one.port), one.far, one.far_port, "BR", "a port"] for one in seen]
    return "\n".join(
        ["Capability codes: (R) Router, (B) Bridge, (O) Other", *_columns(head, rows), "-" * 50,
         f"Total entries displayed:  {len(rows)}", ""]
    )  # fmt: skip


def sonic_status(seen: list[Seen], port_name: PortName) -> str:
    """``show interfaces status`` of SONiC."""
    head = ["Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin", "Type"]
    rows = [
        [
            port_name(one.port),
            "1,2,3,4",
            f"{one.gbps:g}G",
            "9100",
            "rs",
            f"etp{one.port}",
            "routed",
            "up",
            "up",
            "N/A",
        ]
        for one in seen
    ]
    return "\n".join([*_columns(head, rows), ""])


def _columns(head: list[str], rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [head, ["-" * width for width in widths], *rows]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def nvue(seen: list[Seen], port_name: PortName) -> str:
    """``nv show interface -o json`` of Cumulus."""
    made: dict[str, Any] = {"eth0": {"type": "eth", "link": {"state": {"up": {}}, "speed": "1G"}}}
    for one in seen:
        made[port_name(one.port)] = {
            "type": "swp",
            "link": {"state": {"up": {}}, "speed": f"{one.gbps:g}G"},
            "lldp": {
                "neighbor": {
                    one.far: {
                        "chassis": {"chassis-id": "02:00:00:00:00:01", "system-name": one.far},
                        "port": {"id": one.far_port, "id-type": "ifname"},
                    }
                }
            },
        }
    return json.dumps(made)


def eapi(seen: list[Seen], port_name: PortName) -> str:
    """Arista's answer to ``show lldp neighbors detail`` and ``show interfaces status``."""
    neighbours: dict[str, Any] = {
        port_name(one.port): {
            "lldpNeighborInfo": [
                {
                    "systemName": f"{one.far}.example.org",
                    "chassisId": "0200.0000.0001",
                    "neighborInterfaceInfo": {
                        "interfaceIdType": "interfaceName",
                        "interfaceId": f'"{one.far_port}"',
                    },
                }
            ]
        }
        for one in seen
    }
    neighbours["Management1"] = {
        "lldpNeighborInfo": [{"systemName": "oob-1", "neighborInterfaceInfo": {"interfaceId": "7"}}]
    }
    states = {
        port_name(one.port): {"linkStatus": "connected", "bandwidth": int(one.gbps * 10**9)}
        for one in seen
    }
    states["Ethernet64/1"] = {"linkStatus": "notconnect", "bandwidth": 0}
    bodies = [{"lldpNeighbors": neighbours}, {"interfaceStatuses": states}]
    return json.dumps({"jsonrpc": "2.0", "id": "1", "result": bodies})
