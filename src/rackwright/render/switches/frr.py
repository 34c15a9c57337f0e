"""Files of a Linux switch with FRR, written from its configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rackwright.plan.switches.records import SwitchConfig
from rackwright.render.switches.accounts import accounts_script

MOST_PATHS = 128
"""Equal paths that routes may have: no leaf has more uplinks."""
ANYCAST_MAC = "00:00:5e:00:01:01"
"""Ethernet address that all leaves have in a VLAN which several of them route out of (RFC 5798)."""
PEERS = "fabric"
"""Name of the group of BGP sessions."""


def frr_files(switch: SwitchConfig) -> Mapping[str, str]:
    """Return the files of one switch by name, without their headers."""
    files = {
        "frr.conf": "".join(f"{line}\n" for line in _frr(switch)),
        "daemons": "zebra=yes\nbgpd=yes\nvtysh_enable=yes\n",
        "links.ip": "".join(f"{line}\n" for line in _links(switch)),
        "sysctl.conf": _SYSCTL,
        "lldpd.conf": f"configure system hostname {switch.name}\nconfigure lldp portidsubtype ifname\n",
    }
    if switch.roce is not None and (lines := [*_dcb(switch)]):
        files["qos.dcb"] = "".join(f"{line}\n" for line in lines)
    if switch.management is not None:
        router = f"Gateway={switch.gateway}\n" if switch.gateway else ""
        files["eth0.network"] = (
            f"[Match]\nName=eth0\n\n[Network]\nAddress={switch.management}\n{router}"
        )
    if switch.time_servers:
        files["chrony.conf"] = "".join(f"server {one} iburst\n" for one in switch.time_servers)
    if switch.log_servers:
        files["rsyslog.conf"] = "".join(f"*.* @{_bracketed(one)}\n" for one in switch.log_servers)
    if switch.administrators:
        files["accounts.sh"] = accounts_script(switch, "sudo")
    return files


_SYSCTL = """\
net.ipv4.ip_forward = 1
net.ipv6.conf.all.forwarding = 1
net.ipv4.fib_multipath_hash_policy = 1
net.ipv4.fib_multipath_use_neigh = 1
net.ipv4.conf.all.ignore_routes_with_linkdown = 1
"""


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def bridge_of(vlan: int) -> str:
    """Return the name of the bridge of a VLAN."""
    return f"vlan{vlan}"


def _links(switch: SwitchConfig) -> Iterator[str]:
    """Yield commands for ``ip -batch``: bridges, tunnels, then ports."""
    yield "link set dev lo up"
    for vlan in switch.vlans:
        bridge = bridge_of(vlan.number)
        shared = f" address {ANYCAST_MAC}" if vlan.vni is not None and vlan.gateways else ""
        yield f"link add name {bridge}{shared} type bridge"
        if vlan.vni is not None:
            tunnel = f"vxlan{vlan.number}"
            yield (
                f"link add name {tunnel} type vxlan id {vlan.vni} local {switch.router_id} "
                "dstport 4789 nolearning"
            )
            yield f"link set dev {tunnel} master {bridge} addrgenmode none"
            yield f"link set dev {tunnel} up"
        yield f"link set dev {bridge} up"
    for port in switch.ports:
        words = [f"link set dev {port.name}"]
        if port.mtu is not None:
            words.append(f"mtu {port.mtu}")
        if port.vlan is not None:
            words.append(f"master {bridge_of(port.vlan)}")
        yield " ".join([*words, "up"])


def _frr(switch: SwitchConfig) -> Iterator[str]:
    yield from ("frr defaults datacenter", f"hostname {switch.name}")
    yield "service integrated-vtysh-config"
    yield "!"
    if switch.router_id is not None:
        yield from ("interface lo", f" ip address {switch.router_id}/32", "exit", "!")
    for vlan in switch.vlans:
        if vlan.gateways:
            yield f"interface {bridge_of(vlan.number)}"
            yield f" description {vlan.name}"
            for address in vlan.gateways:
                yield f" {'ip' if address.version == 4 else 'ipv6'} address {address}"
            yield from ("exit", "!")
    for port in switch.ports:
        yield from (f"interface {port.name}", f" description {port.description}", "exit", "!")
    if switch.asn is not None:
        yield from _bgp(switch)


def routed_prefixes(switch: SwitchConfig, version: int) -> Iterator[str]:
    """Yield the prefixes that a switch announces as its own: its loopback, and those of its VLANs."""
    if version == 4 and switch.router_id is not None:
        yield f"{switch.router_id}/32"
    yield from dict.fromkeys(
        str(address.network)
        for vlan in switch.vlans
        for address in vlan.gateways
        if address.version == version
    )


def _bgp(switch: SwitchConfig) -> Iterator[str]:
    yield f"router bgp {switch.asn}"
    yield f" bgp router-id {switch.router_id}"
    yield " no bgp default ipv4-unicast"
    yield " bgp bestpath as-path multipath-relax"
    yield f" neighbor {PEERS} peer-group"
    yield f" neighbor {PEERS} remote-as external"
    for port in switch.fabric_ports:
        yield f" neighbor {port.name} interface peer-group {PEERS}"
    for version, name in ((4, "ipv4"), (6, "ipv6")):
        announced = [*routed_prefixes(switch, version)]
        if version == 6 and not announced and not _has_ipv6(switch):
            continue
        yield f" address-family {name} unicast"
        for prefix in announced:
            yield f"  network {prefix}"
        yield f"  neighbor {PEERS} activate"
        yield f"  maximum-paths {MOST_PATHS}"
        yield " exit-address-family"
    if switch.evpn:
        yield " address-family l2vpn evpn"
        yield f"  neighbor {PEERS} activate"
        if any(vlan.vni is not None for vlan in switch.vlans):
            yield "  advertise-all-vni"
        yield " exit-address-family"
    yield from ("exit", "!")


def _has_ipv6(switch: SwitchConfig) -> bool:
    return any(address.version == 6 for vlan in switch.vlans for address in vlan.gateways)


def _dcb(switch: SwitchConfig) -> Iterator[str]:
    """Yield commands for ``dcb -batch``: the priority of RDMA packets and its flow control."""
    roce = switch.roce
    if roce is None:
        return
    for port in switch.ports:
        yield f"app replace dev {port.name} dscp-prio {roce.dscp}:{roce.priority}"
        if roce.pfc:
            yield f"pfc set dev {port.name} prio-pfc all:off {roce.priority}:on"
