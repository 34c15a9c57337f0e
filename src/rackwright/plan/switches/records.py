"""Records of switch configurations, which the files of every operating system are written from."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv6Interface

from rackwright.model.switching import EcnMarking, SwitchSystem

VXLAN_HEADERS = 50
"""Bytes that a VXLAN tunnel over IPv4 adds to a packet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchPort:
    """One port with a cable.

    Attributes:
        number: as the cable list counts it, from 1.
        name: in the operating system of the switch.
        physical: number of the port on the front, counted from 1.
        part: of a split port, counted from 0.
        parts: number of parts of the port.
        lanes: its lanes as the chip counts them; empty where they are unknown.
        far: name of the host or switch at the other end.
        far_port: name of the port at the other end.
        gbps: rate of the link; None where it is unknown.
        mtu: largest packet in bytes; None where it is unknown.
        vlan: VLAN of the host at the other end; None for a switch, or without a VLAN.
        to_switch: the other end is a switch.
    """

    number: int
    name: str
    physical: int
    part: int
    parts: int
    lanes: tuple[int, ...]
    far: str
    far_port: str
    gbps: float | None
    mtu: int | None
    vlan: int | None
    to_switch: bool

    @property
    def description(self) -> str:
        """Text that the switch shows at the port."""
        return f"{self.far} {self.far_port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchVlan:
    """A VLAN that hosts of a leaf are in.

    Attributes:
        name: of the network or segment.
        vni: of its tunnels; None where it ends at the leaf.
        gateways: addresses of the switch in it, which hosts route through; none where hosts have no router.
    """

    number: int
    name: str
    vni: int | None
    gateways: tuple[IPv4Interface | IPv6Interface, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchPeer:
    """A switch with a BGP session to this one, over one or more ports."""

    name: str
    asn: int
    router_id: IPv4Address


@dataclass(frozen=True, slots=True, kw_only=True)
class RoceQueue:
    """Treatment of RDMA packets.

    Attributes:
        marking: queue lengths at which packets are marked; None for the defaults of the system, or
            where nothing is marked.
    """

    dscp: int
    priority: int
    pfc: bool
    ecn: bool
    marking: EcnMarking | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Administrator:
    """An account that may change a switch, and the public keys that let it in."""

    name: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchConfig:
    """Everything that the files of one switch say.

    Attributes:
        product: its id in the catalogue.
        asn: BGP number; None without sessions.
        router_id: address of its loopback; None without sessions.
        management: address of its management port; None where DHCP gives it.
        gateway: router of the management network.
        vlans: of its hosts, by number.
        peers: switches with a session, in the order of the ports.
        evpn: sessions carry the addresses behind VXLAN tunnels.
        roce: treatment of RDMA packets; None where the fabric does not ask for any.
        adaptive_routing: it chooses among equal paths by their load.
        ztp_url: where its files are served when it first boots; None without zero-touch provisioning.
    """

    site: str
    fabric: str
    tier: str
    name: str
    product: str
    system: SwitchSystem
    asn: int | None
    router_id: IPv4Address | None
    management: IPv4Interface | IPv6Interface | None
    gateway: str | None
    domain: str | None
    ports: tuple[SwitchPort, ...]
    vlans: tuple[SwitchVlan, ...]
    peers: tuple[SwitchPeer, ...]
    evpn: bool
    roce: RoceQueue | None
    adaptive_routing: bool
    time_servers: tuple[str, ...]
    name_servers: tuple[str, ...]
    log_servers: tuple[str, ...]
    administrators: tuple[Administrator, ...]
    ztp_url: str | None

    @property
    def fabric_ports(self) -> tuple[SwitchPort, ...]:
        """Ports to other switches."""
        return tuple(port for port in self.ports if port.to_switch)
