"""VLANs of the hosts of a fabric: which port is in which, and which switch routes out of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface, ip_interface

from rackwright.model.fabric import Fabric
from rackwright.plan.base import Path
from rackwright.plan.fabric.cables import host_wires
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.problems import PlanProblem
from rackwright.plan.records.names import PlannedNetwork


@dataclass(frozen=True, slots=True)
class HostNetwork:
    """A network or segment whose hosts share a VLAN, with the rack subnet that it is.

    Attributes:
        vlan: number of the VLAN; None where the blueprint has none.
        racks: of its hosts, where each rack has a subnet of its own.
        gateway: address of the switch in it; None where hosts have no router.
        path: its place in the blueprint.
    """

    name: str
    vlan: int | None
    racks: tuple[str, ...]
    gateway: IPv4Interface | IPv6Interface | None
    path: Path


@dataclass(frozen=True)
class HostVlans:
    """The VLANs of the ports to hosts.

    Attributes:
        ports: networks of each port, by name of the leaf and number of the port.
        leaves: networks of each leaf, by its name.
    """

    ports: Mapping[tuple[str, int], tuple[HostNetwork, ...]]
    leaves: Mapping[str, tuple[HostNetwork, ...]]


def host_vlans(layout: Layout, networks: Sequence[PlannedNetwork], path: Path) -> HostVlans:
    """Return the VLANs of the ports to hosts, by the networks of the fabric, else by its segments.

    Args:
        layout: of the fabric.
        networks: those of the fabric's interfaces.
        path: of the fabric in the blueprint.
    """
    known = {id(network): _of_network(network) for network in networks}
    ports: dict[tuple[str, int], tuple[HostNetwork, ...]] = {}
    for attachment, hosts in enumerate(layout.hosts):
        group = hosts.group.name
        ranges = [(one, r) for one in networks for r in one.ranges if r.of == group]
        rest = () if ranges else tuple(_of_segments(layout.fabric, group, path))
        indexes = {name: index for index, name in enumerate(hosts.names)}
        for wire in host_wires(layout, attachment):
            host, interface = indexes[wire.lower], wire.lower_port
            found = rest or tuple(
                known[id(network)]
                for network, r in ranges
                if network.interface in {None, interface} and r.before <= host < r.before + r.count
            )
            if found:
                ports[wire.upper, wire.upper_port] = found
    leaves: dict[str, dict[HostNetwork, None]] = {}
    for (leaf, _), found in ports.items():
        leaves.setdefault(leaf, {}).update(dict.fromkeys(found))
    return HostVlans(ports, {leaf: tuple(found) for leaf, found in leaves.items()})


def _of_network(network: PlannedNetwork) -> HostNetwork:
    gateway = None
    if network.gateway is not None:
        gateway = ip_interface(f"{network.gateway}/{network.prefix.prefixlen}")
    return HostNetwork(network.name, network.vlan, network.racks, gateway, network.path)


def _of_segments(fabric: Fabric, group: str, path: Path) -> Iterator[HostNetwork]:
    """Yield the segments that name a group and have a VLAN: no gateway of theirs is known."""
    for index, segment in enumerate(fabric.segments):
        if segment.vlan is not None and group in segment.groups:
            yield HostNetwork(segment.name, segment.vlan, (), None, (*path, "segments", index))


def vlan_problems(found: HostVlans, *, evpn: bool, linked: bool) -> Iterator[PlanProblem]:
    """Yield networks without a VLAN, and those that reach further than a VLAN does.

    Args:
        found: the VLANs of a fabric.
        evpn: tunnels join the leaves.
        linked: the leaves are cabled to a tier above; else each is a network by itself, as it is cabled.
    """
    leaves: dict[HostNetwork, list[str]] = {}
    for leaf, networks in found.leaves.items():
        for network in networks:
            leaves.setdefault(network, []).append(leaf)
    told: set[Path] = set()
    for network, at in leaves.items():
        problem = _problem(network, at if linked else at[:1], evpn=evpn)
        if problem is not None and problem.path not in told:
            told.add(problem.path)
            yield problem
    for port, networks in found.ports.items():
        if len({network.vlan for network in networks}) > 1:
            names = " and ".join(f"'{network.name}'" for network in networks)
            message = f"port {port[1]} of {port[0]} is in the VLANs of {names}"
            yield PlanProblem(
                networks[1].path, message, "give both the same VLAN, or one interface each"
            )
            return


def _problem(network: HostNetwork, leaves: Sequence[str], *, evpn: bool) -> PlanProblem | None:
    if network.vlan is None:
        message = f"the network '{network.name}' has no VLAN on the switches"
        hint = (
            "replace its 'prefix' by 'segment', the name of a segment with 'vlan' and that prefix"
        )
        return PlanProblem(network.path, message, hint)
    if len(leaves) < 2:
        return None
    where = f"{len(leaves)} leaves, from {leaves[0]} on"
    if network.racks and evpn:
        message = (
            f"a rack subnet of '{network.name}' is on {where}, and its VLAN is that of other racks"
        )
        return PlanProblem(
            network.path, message, "leave out 'rack_prefix', or give each rack one leaf"
        )
    if not evpn:
        message = f"hosts of '{network.name}' are on {where}, and a VLAN ends at its leaf"
        hint = "set 'evpn: true' in 'switching', or give racks or interfaces networks of their own"
        return PlanProblem(network.path, message, hint)
    return None
