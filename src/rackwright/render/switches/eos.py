"""Arista EOS ``startup-config``, written from the configuration of a switch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rackwright.plan.switches.records import RoceQueue, SwitchConfig, SwitchPort
from rackwright.render.switches.frr import ANYCAST_MAC, MOST_PATHS, routed_prefixes

_UNDERLAY, _OVERLAY = "UNDERLAY", "EVPN"
_KIB_OF_GIB = 2**20
_SPEEDS = {1: "1g", 10: "10g", 25: "25g", 100: "100g", 200: "200g", 400: "400g", 800: "800g"}
_MANAGEMENT = "Management1"
_VRF = "MGMT"


def eos_files(switch: SwitchConfig) -> Mapping[str, str]:
    """Return the files of one switch by name, without their headers."""
    return {"startup-config": "".join(f"{line}\n" for line in _lines(switch))}


def _lines(switch: SwitchConfig) -> Iterator[str]:
    yield f"hostname {switch.name}"
    yield from _servers(switch)
    yield from ("!", "service routing protocols model multi-agent", "!")
    for vlan in switch.vlans:
        yield from (f"vlan {vlan.number}", f"   name {vlan.name}", "!")
    yield from (f"vrf instance {_VRF}", "!")
    if switch.roce is not None:
        yield from _maps(switch.roce)
    for port in switch.ports:
        yield from _port(port, switch.roce)
    yield from _other_interfaces(switch)
    if any(vlan.vni is not None for vlan in switch.vlans):
        yield from _tunnels(switch)
    yield from ("ip routing ipv6 interfaces", "ipv6 unicast-routing")
    yield from (f"no ip routing vrf {_VRF}", "!")
    if any(vlan.vni is not None and vlan.gateways for vlan in switch.vlans):
        yield from (f"ip virtual-router mac-address {ANYCAST_MAC}", "!")
    if switch.gateway:
        yield from (f"ip route vrf {_VRF} 0.0.0.0/0 {switch.gateway}", "!")
    if switch.asn is not None:
        yield from _bgp(switch)
    yield "end"


def _servers(switch: SwitchConfig) -> Iterator[str]:
    if switch.domain:
        yield f"dns domain {switch.domain}"
    for server in switch.name_servers:
        yield f"ip name-server vrf {_VRF} {server}"
    for server in switch.time_servers:
        yield f"ntp server vrf {_VRF} {server}"
    for server in switch.log_servers:
        yield f"logging vrf {_VRF} host {server}"
    for one in switch.administrators:
        # A star is no hash, so that no password opens the account.
        yield f"username {one.name} privilege 15 role network-admin secret *"
        for number, key in enumerate(one.keys):
            yield f"username {one.name} ssh-key {'secondary ' if number else ''}{key}"


def _maps(roce: RoceQueue) -> Iterator[str]:
    yield f"qos map dscp {roce.dscp} to traffic-class {roce.priority}"
    yield from ("!", "qos profile ROCE", "   qos trust dscp")
    if roce.pfc:
        yield "   priority-flow-control on"
        yield f"   priority-flow-control priority {roce.priority} no-drop"
    if (marking := roce.marking) is not None:
        begin, end = (round(size * _KIB_OF_GIB) for size in (marking.begin, marking.end))
        yield f"   uc-tx-queue {roce.priority}"
        yield (
            f"      random-detect ecn minimum-threshold {begin} kbytes maximum-threshold {end} kbytes "
            f"max-mark-probability {round(marking.probability)}"
        )
    yield "!"


def _port(port: SwitchPort, roce: RoceQueue | None) -> Iterator[str]:
    yield f"interface {port.name}"
    yield f"   description {port.description}"
    if port.mtu is not None and port.to_switch:
        yield f"   mtu {port.mtu}"
    if port.gbps is not None and port.gbps in _SPEEDS:
        lanes = f"-{len(port.lanes)}" if port.lanes else ""
        yield f"   speed {_SPEEDS[int(port.gbps)]}{lanes}"
    if port.vlan is not None:
        yield f"   switchport access vlan {port.vlan}"
    if port.to_switch:
        yield "   no switchport"
        yield "   ipv6 enable"
    if roce is not None:
        yield "   service-profile ROCE"
    if port.vlan is not None:
        yield "   spanning-tree portfast"
    yield "!"


def _other_interfaces(switch: SwitchConfig) -> Iterator[str]:
    if switch.router_id is not None:
        yield from ("interface Loopback0", f"   ip address {switch.router_id}/32", "!")
    yield from (f"interface {_MANAGEMENT}", f"   vrf {_VRF}")
    if switch.management is None:
        yield "   ip address dhcp"
    else:
        yield f"   {'ip' if switch.management.version == 4 else 'ipv6'} address {switch.management}"
    yield "!"
    for vlan in switch.vlans:
        if vlan.gateways:
            yield f"interface Vlan{vlan.number}"
            yield f"   description {vlan.name}"
            mtu = next((p.mtu for p in switch.ports if p.vlan == vlan.number), None)
            if mtu is not None:
                yield f"   mtu {mtu}"
            virtual = " virtual" if vlan.vni is not None else ""
            for address in vlan.gateways:
                yield f"   {'ip' if address.version == 4 else 'ipv6'} address{virtual} {address}"
            yield "!"


def _tunnels(switch: SwitchConfig) -> Iterator[str]:
    yield from ("interface Vxlan1", "   vxlan source-interface Loopback0", "   vxlan udp-port 4789")
    for vlan in switch.vlans:
        if vlan.vni is not None:
            yield f"   vxlan vlan {vlan.number} vni {vlan.vni}"
    yield "!"


def _bgp(switch: SwitchConfig) -> Iterator[str]:
    """Yield the sessions: of links by interface, and those of tunnels between loopbacks."""
    yield f"router bgp {switch.asn}"
    yield f"   router-id {switch.router_id}"
    yield "   no bgp default ipv4-unicast"
    yield f"   maximum-paths {MOST_PATHS} ecmp {MOST_PATHS}"
    if switch.evpn:
        yield f"   neighbor {_OVERLAY} peer group"
        if not any(vlan.vni is not None for vlan in switch.vlans):
            yield f"   neighbor {_OVERLAY} next-hop-unchanged"
        yield f"   neighbor {_OVERLAY} update-source Loopback0"
        yield f"   neighbor {_OVERLAY} ebgp-multihop 3"
        yield f"   neighbor {_OVERLAY} send-community"
    yield f"   neighbor {_UNDERLAY} peer group"
    asns = {peer.name: peer.asn for peer in switch.peers}
    for port in switch.fabric_ports:
        yield f"   neighbor interface {port.name} peer-group {_UNDERLAY} remote-as {asns[port.far]}"
    if switch.evpn:
        for peer in switch.peers:
            yield f"   neighbor {peer.router_id} peer group {_OVERLAY}"
            yield f"   neighbor {peer.router_id} remote-as {peer.asn}"
            yield f"   neighbor {peer.router_id} description {peer.name}"
        for vlan in switch.vlans:
            if vlan.vni is not None:
                yield from (
                    "   !",
                    f"   vlan {vlan.number}",
                    f"      rd {switch.router_id}:{vlan.vni}",
                )
                yield f"      route-target both {vlan.vni}:{vlan.vni}"
                yield "      redistribute learned"
        yield from ("   !", "   address-family evpn", f"      neighbor {_OVERLAY} activate")
    yield from ("   !", "   address-family ipv4", f"      neighbor {_UNDERLAY} activate")
    yield f"      neighbor {_UNDERLAY} next-hop address-family ipv6 originate"
    for prefix in routed_prefixes(switch, 4):
        yield f"      network {prefix}"
    announced = [*routed_prefixes(switch, 6)]
    if announced:
        yield from ("   !", "   address-family ipv6", f"      neighbor {_UNDERLAY} activate")
        for prefix in announced:
            yield f"      network {prefix}"
    yield "!"
