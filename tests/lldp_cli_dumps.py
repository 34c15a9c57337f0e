"""Lists of LLDP neighbours in the formats of the command lines of switches."""

from __future__ import annotations

import json

from lldp_dumps import PortName, Seen

_CODES = """\
Capability codes:
  (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device
  (W) WLAN Access Point, (P) Repeater, (S) Station, (O) Other
"""


def eos_detail(seen: list[Seen], port: PortName) -> str:
    """``show lldp neighbors detail`` of EOS."""
    return "\n".join(
        f"Interface {port(one.port)} detected 1 LLDP neighbors:\n\n"
        f'  Neighbor 0200.0000.0001/"{one.far_port}", age 12 seconds\n'
        "  - Chassis ID type: MAC address (4)\n    Chassis ID     : 0200.0000.0001\n"
        f'  - Port ID type: Interface name (5)\n    Port ID     : "{one.far_port}"\n'
        f'  - Time To Live: 120 seconds\n  - System Name: "{one.far}.example.org"\n'
        "  - IEEE802.1/IEEE802.3 Link Aggregation\n    Link Aggregation Status: Capable, Disabled (0x01)\n"
        "    Port ID                : 0\n"
        for one in seen
    )  # fmt: skip


def eos_table(seen: list[Seen], port: PortName) -> str:
    """``show lldp neighbors`` of EOS."""
    head = "Last table change time   : 0:00:02 ago\nNumber of table inserts  : 2\n\n"
    rows = [("Port", "Neighbor Device ID", "Neighbor Port ID", "TTL")]
    rows += [(port(one.port), one.far, one.far_port, "120") for one in seen]
    rows.append(("Ma1", "oob-1", "7", "120"))
    return head + "\n".join(f"{a:<13} {b:<24} {c:<22} {d}" for a, b, c, d in rows) + "\n"


def nxos_detail(seen: list[Seen], port: PortName) -> str:
    """``show lldp neighbors detail`` of NX-OS."""
    return _CODES + "Device ID            Local Intf      Hold-time  Capability  Port ID  \n" + "".join(
        f"\nChassis id: 0200.0000.0001\nPort id: {one.far_port}\nLocal Port id: {port(one.port)}\n"
        f"Port Description: a port\nSystem Name: {one.far}\n"
        "System Description: Cisco Nexus Operating System (NX-OS) Software 9.3(8)\n"
        "TAC support: http://www.example.com/tac\nManagement Address: not advertised\nVlan ID: 1\n\n"
        for one in seen
    )  # fmt: skip


def nxos_table(seen: list[Seen], port: PortName) -> str:
    """``show lldp neighbors`` of NX-OS: long names are on a line of their own."""
    rows = [
        (f"{one.far:<20} " if len(one.far) < 20 else f"{one.far}\n{'':21}")
        + f"{port(one.port):<15} 120        BR          {one.far_port}   "
        for one in seen
    ]
    head = "Device ID            Local Intf      Hold-time  Capability  Port ID  "
    return _CODES + "\n".join([head, *rows, f"Total entries displayed: {len(rows)}", ""])


def nxos_json(seen: list[Seen], port: PortName) -> str:
    """``show lldp neighbors detail | json`` of NX-OS, as NX-API answers."""
    rows = [
        {"chassis_type": "7", "chassis_id": "0200.0000.0001", "port_type": "7", "port_id": one.far_port,
         "l_port_id": port(one.port), "port_desc": "a port", "sys_name": one.far}
        for one in seen
    ]  # fmt: skip
    body = {"TABLE_nbor_detail": {"ROW_nbor_detail": rows}, "neigh_count": len(rows)}
    return json.dumps({"ins_api": {"outputs": {"output": {"body": body, "code": "200"}}}})


def junos_table(seen: list[Seen], port: PortName) -> str:
    """``show lldp neighbors`` of Junos."""
    rows = [("Local Interface", "Parent Interface", "Chassis Id", "Port info", "System Name")]
    rows += [(port(one.port), "-", "02:00:00:00:00:01", one.far_port, one.far) for one in seen]
    return "\n".join(f"{a:<18} {b:<19} {c:<19} {d:<18} {e}" for a, b, c, d, e in rows) + "\n"


def junos_json(seen: list[Seen], port: PortName) -> str:
    """``show lldp neighbors | display json`` of Junos."""
    rows = [
        {"lldp-local-port-id": [{"data": port(one.port)}], "lldp-remote-chassis-id": [{"data": "02:00:00:00:00:01"}],
         "lldp-remote-port-id-subtype": [{"data": "Interface name"}],
         "lldp-remote-port-id": [{"data": one.far_port}], "lldp-remote-system-name": [{"data": one.far}]}
        for one in seen
    ]  # fmt: skip
    return json.dumps({"lldp-neighbors-information": [{"lldp-neighbor-information": rows}]})


def os10_table(seen: list[Seen], port: PortName) -> str:
    """``show lldp neighbors`` of OS10."""
    head = "Loc PortID          Rem Host Name        Rem Port Id                    Rem Chassis Id"
    rows = [f"{port(one.port):<20}{one.far:<21}{one.far_port:<31}02:00:00:00:00:01" for one in seen]
    rows.append(
        "mgmt1/1/1           LAB-7103-B-R04       19                             00:04:96:00:00:01"
    )
    return "\n".join([head, "-" * 86, *rows, ""])


def os10_detail(seen: list[Seen], port: PortName) -> str:
    """``show lldp neighbors detail`` of OS10."""
    return "".join(
        "\nRemote Chassis ID Subtype: Mac address (4)\nRemote Chassis ID: 02:00:00:00:00:01\n"
        f"Remote Port Subtype: Interface name (5)\nRemote Port ID: {one.far_port}\n"
        f"Remote Port Description: a port\nLocal Port ID: {port(one.port)}\n"
        f"Locally assigned remote Neighbor Index: 4064\nRemote TTL: 121\nRemote System Name: {one.far}\n"
        "Remote System Desc: Not Advertised\nMAC PHY Configuration:\n    Auto-neg supported: 0\n"
        f"{'-' * 75}\n"
        for one in seen
    )


def vrp(seen: list[Seen], port: PortName) -> str:
    """``display lldp neighbor`` of VRP."""
    return "GigabitEthernet0/0/0 has 0 neighbors\n\n" + "\n".join(
        f"{port(one.port)} has 1 neighbors:\n\nNeighbor index : 1\nChassis type :macAddress\n"
        "Chassis ID :0200-0000-0001\nPort ID type :interfaceName\n"
        f"Port ID :{one.far_port}\nPort description :a port\nSystem name :{one.far}\n"
        for one in seen
    )


def keyvalue(seen: list[Seen], port: PortName) -> str:
    """``lldpctl -f keyvalue``."""
    return "".join(
        f"lldp.{port(one.port)}.via=LLDP\nlldp.{port(one.port)}.rid=1\n"
        f"lldp.{port(one.port)}.chassis.mac=02:00:00:00:00:01\nlldp.{port(one.port)}.chassis.name={one.far}\n"
        f"lldp.{port(one.port)}.chassis.descr=Linux, from = to\nlldp.{port(one.port)}.port.ifname={one.far_port}\n"
        f"lldp.{port(one.port)}.vlan.vlan-id=1\n"
        for one in seen
    )


def cumulus(seen: list[Seen], port: PortName) -> str:
    """``net show lldp`` of Cumulus Linux."""
    rows = [(port(one.port), f"{one.gbps:g}G", one.far, one.far_port) for one in seen]
    lines = [
        ("LocalPort", "Speed", "RemoteHost", "RemotePort"),
        ("-" * 9, "-" * 5, "-" * 24, "-" * 17),
    ]
    return "\n".join(f"{a:<9}  {b:<5}  {c:<24}  {d}" for a, b, c, d in [*lines, *rows]) + "\n"


def nvue_table(seen: list[Seen], port: PortName) -> str:
    """``nv show interface`` of Cumulus Linux."""
    heads = (
        "Interface",
        "Admin Status",
        "Oper Status",
        "Speed",
        "MTU",
        "Type",
        "Remote Host",
        "Remote Port",
        "Summary",
    )
    widths = (9, 12, 11, 5, 5, 8, 24, 11, 20)
    rows = [heads, tuple("-" * width for width in widths)]
    rows.append(("bond1", "up", "up", "10G", "9000", "bond", "", "", ""))
    rows.append(("lo", "up", "unknown", "", "65536", "loopback", "", "", "IP Address: 127.0.0.1/8"))
    rows += [
        (port(one.port), "up", "up", f"{one.gbps:g}G", "9216", "swp", one.far, one.far_port, "")
        for one in seen
    ]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ) + "\n"  # fmt: skip
