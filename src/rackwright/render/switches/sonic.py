"""SONiC's ``config_db.json``, written from the configuration of a switch."""

from __future__ import annotations

import json
import string
from collections.abc import Iterator, Mapping
from typing import Any

from rackwright.plan.switches.records import RoceQueue, SwitchConfig, SwitchPort
from rackwright.render.switches.accounts import accounts_script
from rackwright.render.switches.frr import ANYCAST_MAC, MOST_PATHS, routed_prefixes

_VRF = "default"
_MAP = "RACKWRIGHT"
"""Name of the maps of queues and priorities."""
_BYTES_OF_GIB = 2**30
_CODE_POINTS, _QUEUES = 64, 8

Tables = dict[str, dict[str, Any]]


def sonic_files(switch: SwitchConfig) -> Mapping[str, str]:
    """Return the files of one switch by name, without their headers."""
    files = {"config_db.json": _text(config_db(switch))}
    if switch.administrators:
        files["accounts.sh"] = accounts_script(switch, "sudo,docker")
    return files


def _text(tables: Tables) -> str:
    """Return JSON with a line for each row, so that a change is told by its row."""
    made = []
    for name, rows in tables.items():
        lines = ",\n".join(f"    {json.dumps(key)}: {json.dumps(row)}" for key, row in rows.items())
        made.append(f"  {json.dumps(name)}: {{\n{lines}\n  }}")
    return "{\n" + ",\n".join(made) + "\n}\n"


def config_db(switch: SwitchConfig) -> Tables:
    """Return the tables of ``config_db.json``, empty ones left out."""
    tables: Tables = {"DEVICE_METADATA": {"localhost": _metadata(switch)}}
    tables["PORT"] = {port.name: _port(port) for port in switch.ports}
    tables |= _management(switch)
    tables |= _vlans(switch)
    if switch.asn is not None:
        tables |= _routing(switch)
    if switch.evpn and any(vlan.vni is not None for vlan in switch.vlans):
        tables |= _tunnels(switch)
    if switch.roce is not None:
        tables |= _queues(switch, switch.roce)
    return {name: table for name, table in sorted(tables.items()) if table}


def _metadata(switch: SwitchConfig) -> dict[str, str]:
    known = {
        "hostname": switch.name,
        "docker_routing_config_mode": "unified",
        # Sessions by interface are configured through FRR's management framework alone.
        "frr_mgmt_framework_config": "true",
    }
    if switch.asn is not None:
        known["bgp_asn"] = str(switch.asn)
    return known


def _port(port: SwitchPort) -> dict[str, str]:
    part = string.ascii_lowercase[port.part] if port.parts > 1 else ""
    known = {
        "admin_status": "up",
        "alias": f"etp{port.physical}{part}",
        "description": port.description,
        "index": str(port.physical),
        "lanes": ",".join(map(str, port.lanes)),
    }
    if port.gbps is not None:
        known["speed"] = str(round(port.gbps * 1000))
    if port.mtu is not None:
        known["mtu"] = str(port.mtu)
    return known


def _management(switch: SwitchConfig) -> Tables:
    tables: Tables = {
        "DNS_NAMESERVER": {one: {} for one in switch.name_servers},
        "NTP_SERVER": {one: {} for one in switch.time_servers},
        "SYSLOG_SERVER": {one: {} for one in switch.log_servers},
    }
    if switch.management is not None:
        router = {"gwaddr": switch.gateway} if switch.gateway else {}
        tables["MGMT_INTERFACE"] = {f"eth0|{switch.management}": router}
        tables["MGMT_PORT"] = {"eth0": {"admin_status": "up", "alias": "eth0"}}
    return tables


def _vlans(switch: SwitchConfig) -> Tables:
    interfaces: dict[str, Any] = {}
    anycast = False
    for vlan in switch.vlans:
        if vlan.gateways:
            shared = vlan.vni is not None
            anycast |= shared
            name = f"Vlan{vlan.number}"
            interfaces[name] = {"static_anycast_gateway": "true"} if shared else {}
            interfaces |= {f"{name}|{address}": {} for address in vlan.gateways}
    return {
        "SAG": {"GLOBAL": {"gateway_mac": ANYCAST_MAC}} if anycast else {},
        "VLAN": {f"Vlan{vlan.number}": {"vlanid": str(vlan.number)} for vlan in switch.vlans},
        "VLAN_INTERFACE": interfaces,
        "VLAN_MEMBER": {
            f"Vlan{port.vlan}|{port.name}": {"tagging_mode": "untagged"}
            for port in switch.ports
            if port.vlan is not None
        },
    }


def _routing(switch: SwitchConfig) -> Tables:
    families = ["ipv4_unicast"]
    if any(address.version == 6 for vlan in switch.vlans for address in vlan.gateways):
        families.append("ipv6_unicast")
    if switch.evpn:
        families.append("l2vpn_evpn")
    loopback = f"Loopback0|{switch.router_id}/32"
    links = [port.name for port in switch.fabric_ports]
    return {
        "LOOPBACK_INTERFACE": {"Loopback0": {}, loopback: {}},
        "INTERFACE": {name: {"ipv6_use_link_local_only": "enable"} for name in links},
        "BGP_GLOBALS": {
            _VRF: {
                "default_ipv4_unicast": "false",
                "load_balance_mp_relax": "true",
                "local_asn": str(switch.asn),
                "router_id": str(switch.router_id),
            }
        },
        "BGP_GLOBALS_AF": {
            f"{_VRF}|{family}": (
                {"advertise-all-vni": "true"}
                if family == "l2vpn_evpn"
                else {"max_ebgp_paths": str(MOST_PATHS)}
            )
            for family in families
        },
        "BGP_GLOBALS_AF_NETWORK": dict(_networks(switch)),
        "BGP_NEIGHBOR": {
            f"{_VRF}|{port.name}": {
                "admin_status": "up",
                "name": port.far,
                "peer_type": "external",
            }
            for port in switch.fabric_ports
        },
        "BGP_NEIGHBOR_AF": {
            f"{_VRF}|{name}|{family}": {"admin_status": "up"}
            for name in links
            for family in families
        },
    }


def _networks(switch: SwitchConfig) -> Iterator[tuple[str, dict[str, str]]]:
    for version in (4, 6):
        for prefix in routed_prefixes(switch, version):
            yield f"{_VRF}|ipv{version}_unicast|{prefix}", {}


def _tunnels(switch: SwitchConfig) -> Tables:
    return {
        "VXLAN_TUNNEL": {"vtep": {"src_ip": str(switch.router_id)}},
        "VXLAN_EVPN_NVO": {"nvo": {"source_vtep": "vtep"}},
        "VXLAN_TUNNEL_MAP": {
            f"vtep|map_{vlan.vni}_Vlan{vlan.number}": {
                "vlan": f"Vlan{vlan.number}",
                "vni": str(vlan.vni),
            }
            for vlan in switch.vlans
            if vlan.vni is not None
        },
    }


def _queues(switch: SwitchConfig, roce: RoceQueue) -> Tables:
    """Return the maps from code points to queues; buffers are those of the platform."""
    classes = {str(n): "0" for n in range(_CODE_POINTS)} | {str(roce.dscp): str(roce.priority)}
    straight = {str(n): str(n) for n in range(_QUEUES)}
    of_port = {
        "dscp_to_tc_map": _MAP,
        "tc_to_queue_map": _MAP,
        "tc_to_pg_map": _MAP,
        "pfc_to_queue_map": _MAP,
    }
    if roce.pfc:
        of_port["pfc_enable"] = str(roce.priority)
    tables: Tables = {
        "DSCP_TO_TC_MAP": {_MAP: classes},
        "TC_TO_QUEUE_MAP": {_MAP: straight},
        "TC_TO_PRIORITY_GROUP_MAP": {_MAP: straight},
        "MAP_PFC_PRIORITY_TO_QUEUE": {_MAP: straight},
        "PORT_QOS_MAP": {port.name: of_port for port in switch.ports},
    }
    if (marking := roce.marking) is not None:
        begin, end = (round(size * _BYTES_OF_GIB) for size in (marking.begin, marking.end))
        share = str(round(marking.probability))
        profile = {"ecn": "ecn_all"}
        for colour in ("green", "yellow", "red"):
            profile |= {
                f"wred_{colour}_enable": "true",
                f"{colour}_min_threshold": str(begin),
                f"{colour}_max_threshold": str(end),
                f"{colour}_drop_probability": share,
            }
        tables["WRED_PROFILE"] = {_MAP: profile}
        tables["QUEUE"] = {
            f"{port.name}|{roce.priority}": {"wred_profile": _MAP} for port in switch.ports
        }
    return tables
