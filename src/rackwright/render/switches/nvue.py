"""NVUE's ``startup.yaml`` of Cumulus Linux and of NVOS, written from the configuration of a switch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rackwright.plan.switches.records import Administrator, SwitchConfig, SwitchPort
from rackwright.render.switches.frr import ANYCAST_MAC, routed_prefixes

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./:-]*")
_NOT_PLAIN = frozenset({"on", "off", "yes", "no", "true", "false", "null", "y", "n"})
_BRIDGE = "br_default"
_UNDERLAY = "underlay"
_ADAPTIVE = {"adaptive-routing": {"enable": "on"}}

Tree = dict[str, Any]


def cumulus_files(switch: SwitchConfig) -> Mapping[str, str]:
    """Return the files of a switch with Cumulus Linux by name, without their headers."""
    return {"startup.yaml": to_yaml(cumulus(switch))}


def nvos_files(switch: SwitchConfig) -> Mapping[str, str]:
    """Return the files of a switch with NVOS by name, without their headers."""
    return {"startup.yaml": to_yaml(nvos(switch))}


def cumulus(switch: SwitchConfig) -> Tree:
    """Return what ``nv set`` sets on a switch with Cumulus Linux."""
    tree: Tree = {"interface": dict(_interfaces(switch)), "system": _system(switch)}
    if servers := _servers(switch):
        tree["service"] = {name: {"mgmt": {"server": found}} for name, found in servers.items()}
    if switch.vlans:
        tree["bridge"] = {"domain": {_BRIDGE: {"vlan": dict(_bridge_vlans(switch))}}}
    if switch.roce is not None and (switch.roce.pfc or switch.roce.ecn):
        mode = "lossless" if switch.roce.pfc else "lossy"
        tree["qos"] = {"roce": {"enable": "on", "mode": mode}}
    if any(vlan.vni is not None for vlan in switch.vlans):
        tree["nve"] = {
            "vxlan": {
                "arp-nd-suppress": "on",
                "enable": "on",
                "source": {"address": str(switch.router_id)},
            }
        }
    if switch.evpn:
        tree["evpn"] = {"enable": "on"}
    if switch.asn is not None:
        tree["router"] = {
            "bgp": {
                "autonomous-system": switch.asn,
                "enable": "on",
                "router-id": str(switch.router_id),
            }
        }
        tree["router"] |= _ADAPTIVE if switch.adaptive_routing else {}
        tree["vrf"] = {"default": {"router": {"bgp": _bgp(switch)}}}
    return tree


def nvos(switch: SwitchConfig) -> Tree:
    """Return what ``nv set`` sets on a switch with NVOS: routes are the subnet manager's."""
    servers = {name: {"server": found} for name, found in _servers(switch).items()}
    ports = {port.name: {"description": port.description} for port in switch.ports}
    return {"interface": _management(switch) | ports, "system": _system(switch) | servers}


def _management(switch: SwitchConfig) -> Tree:
    if switch.management is None:
        return {}
    tree: Tree = {"ip": {"address": {str(switch.management): {}}}, "type": "eth"}
    if switch.gateway:
        tree["ip"]["gateway"] = {switch.gateway: {}}
    return {"eth0": tree}


def _interfaces(switch: SwitchConfig) -> Iterator[tuple[str, Tree]]:
    for name, tree in _management(switch).items():
        tree["ip"]["vrf"] = "mgmt"
        yield name, tree
    if switch.router_id is not None:
        yield "lo", {"ip": {"address": {f"{switch.router_id}/32": {}}}, "type": "loopback"}
    split: dict[str, SwitchPort] = {}
    for port in switch.ports:
        if port.parts > 1:
            split.setdefault(port.name.rpartition("s")[0], port)
        routed = port.to_switch and switch.adaptive_routing
        yield port.name, _port(port) | ({"router": _ADAPTIVE} if routed else {})
    for name, port in split.items():
        yield name, {"link": {"breakout": {f"{port.parts}x": {}}}, "type": "swp"}
    for vlan in switch.vlans:
        if vlan.gateways:
            addresses: Tree = {str(address): {} for address in vlan.gateways}
            ip: Tree = {"address": addresses}
            if vlan.vni is not None:
                ip = {
                    "vrr": {
                        "address": addresses,
                        "enable": "on",
                        "mac-address": ANYCAST_MAC,
                        "state": {"up": {}},
                    }
                }
            yield f"vlan{vlan.number}", {"ip": ip, "type": "svi", "vlan": vlan.number}


def _port(port: SwitchPort) -> Tree:
    link: Tree = {"state": {"up": {}}}
    if port.mtu is not None:
        link["mtu"] = port.mtu
    if port.gbps is not None:
        link["speed"] = f"{port.gbps:g}G"
    tree: Tree = {"description": port.description, "link": link, "type": "swp"}
    if port.vlan is not None:
        tree["bridge"] = {"domain": {_BRIDGE: {"access": port.vlan}}}
    return tree


def _bridge_vlans(switch: SwitchConfig) -> Iterator[tuple[str, Tree]]:
    for vlan in switch.vlans:
        yield str(vlan.number), {} if vlan.vni is None else {"vni": {str(vlan.vni): {}}}


def _bgp(switch: SwitchConfig) -> Tree:
    families: Tree = {}
    group: Tree = {}
    for version in (4, 6):
        announced = [*routed_prefixes(switch, version)]
        if announced or version == 4:
            families[f"ipv{version}-unicast"] = {
                "enable": "on",
                "network": {prefix: {} for prefix in announced},
            }
            group[f"ipv{version}-unicast"] = {"enable": "on"}
    if switch.evpn:
        families["l2vpn-evpn"] = {"enable": "on"}
        group["l2vpn-evpn"] = {"enable": "on"}
    return {
        "address-family": families,
        "enable": "on",
        "neighbor": {
            port.name: {"peer-group": _UNDERLAY, "type": "unnumbered"}
            for port in switch.fabric_ports
        },
        "path-selection": {"multipath": {"aspath-ignore": "on"}},
        "peer-group": {_UNDERLAY: {"address-family": group, "remote-as": "external"}},
    }


def _servers(switch: SwitchConfig) -> Tree:
    """Return name, time and log servers by the service that asks them."""
    listed = {
        "dns": switch.name_servers,
        "ntp": switch.time_servers,
        "syslog": switch.log_servers,
    }
    return {name: {one: {} for one in servers} for name, servers in listed.items() if servers}


def _system(switch: SwitchConfig) -> Tree:
    tree: Tree = {"hostname": switch.name}
    if switch.administrators:
        tree["aaa"] = {"user": {one.name: _user(one) for one in switch.administrators}}
    return tree


def _user(one: Administrator) -> Tree:
    keys = {}
    for number, line in enumerate(one.keys, 1):
        kind, key = line.split()[:2]
        keys[f"key-{number}"] = {"key": key, "type": kind}
    # No hash is a star, so that no password opens the account.
    return {"hashed-password": "*", "role": "system-admin", "ssh": {"authorized-key": keys}}


def to_yaml(tree: Tree) -> str:
    """Return the text that ``nv config replace`` reads."""
    return "".join(f"{line}\n" for line in ("- set:", *_yaml(tree, "    ")))


def _yaml(tree: Tree, indent: str) -> Iterator[str]:
    for key, value in sorted(tree.items()):
        name = f"{indent}{_scalar(key)}:"
        if not isinstance(value, dict):
            yield f"{name} {_scalar(value)}"
        elif not value:
            yield f"{name} {{}}"
        else:
            yield name
            yield from _yaml(value, f"{indent}  ")


def _scalar(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    if _PLAIN.fullmatch(value) and not value.endswith(":") and value.lower() not in _NOT_PLAIN:
        return value
    return "'" + value.replace("'", "''") + "'"
