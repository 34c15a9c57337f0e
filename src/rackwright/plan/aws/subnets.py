"""Subnets of a VPC, by arithmetic: from what the nodes and services take to CIDR blocks.

The cluster's subnet is the lower half of the VPC, and all others are cut from the top: addresses of a VPC
cost nothing, and a subnet cannot be enlarged while anything is in it. A blueprint may state the cluster's
subnets instead: those of a cluster made before, and more of them when nodes need more addresses. EFA works
between subnets of one zone (AWS, What's New: "EFA now supports cross-subnet communication").
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Network, ip_network
from typing import Literal

from rackwright.errors import RackwrightError
from rackwright.model.aws import AwsNetwork, AwsSite
from rackwright.model.aws_partitions import REGION
from rackwright.model.aws_storage import LustreFileSystem
from rackwright.plan.aws.endpoints import interface_endpoints
from rackwright.plan.aws.file_systems.fsx import made_size

RESERVED = 5
"""Addresses that AWS keeps in every subnet: the first four and the last."""
SMALLEST_PREFIX = 28
"""Prefix length of the smallest VPC and subnet (VPC user guide)."""
LARGEST_PREFIX = 16
"""Prefix length of the largest VPC and subnet (VPC user guide)."""
USUAL_SIZE = 64
"""Size of the subnets cut from the top, unless one needs more."""

_REGION = re.compile(REGION.rstrip("$") + "-?")

Tier = Literal["private", "public", "intra"]


class SubnetError(RackwrightError):
    """The subnets do not fit in the VPC."""

    code = "subnets"


@dataclass(frozen=True, slots=True)
class Demand:
    """Users of addresses in the cluster's subnet."""

    nodes: int
    """Addresses of all nodes now."""
    growth: float
    """Percentage added to the nodes."""
    servers: int
    """Head nodes, and login nodes that are not public."""
    file_systems: int
    """Interfaces of the file systems."""

    @property
    def present(self) -> int:
        """Addresses taken by what the blueprint names."""
        return self.nodes + self.servers + self.file_systems

    @property
    def planned(self) -> int:
        """Addresses to make room for, growth included."""
        grown = math.ceil(self.nodes * (1 + Fraction(str(self.growth)) / 100))
        return grown + self.servers + self.file_systems


@dataclass(frozen=True, slots=True)
class SubnetPlan:
    """One subnet."""

    name: str
    """Tier and zone letter, like ``private-a``; part of resource names."""
    tier: Tier
    """``public`` routes to the internet, ``private`` through NAT, ``intra`` nowhere."""
    zone: str
    cidr: str
    needed: int
    """Addresses that it was sized for, without those that AWS keeps."""

    @property
    def usable(self) -> int:
        """Addresses left for interfaces."""
        return IPv4Network(self.cidr).num_addresses - RESERVED


def block_size(addresses: int) -> int:
    """Return the smallest subnet size, a power of two, that leaves ``addresses`` for interfaces."""
    return max(1 << (32 - SMALLEST_PREFIX), 1 << (addresses + RESERVED - 1).bit_length())


def file_system_interfaces(system: LustreFileSystem) -> int:
    """Return the network interfaces to expect of a file system that is made.

    AWS does not publish the number. One for each 1,200 GiB, the smallest unit of SSD storage, and
    two for metadata bound it from above: server sizes are multiples of that unit.
    """
    capacity, _ = made_size(system)
    return math.ceil(capacity / 1200) + 2


def has_public_login(network: AwsNetwork) -> bool:
    """Return True if login nodes need public addresses: some network outside may reach them."""
    return any(not ip_network(cidr).is_private for cidr in network.ssh_from)


def login_address(site: AwsSite) -> Literal["elastic", "load-balancer", "changing"] | None:
    """Return the kind of the public address of login nodes; None without any that are reached from outside."""
    if site.login is None or not has_public_login(site.network):
        return None
    return site.login.address or "changing"


def has_internet(network: AwsNetwork) -> bool:
    """Return True if the VPC has an internet gateway and public subnets."""
    return network.nat != "none" or has_public_login(network)


def nat_zones(network: AwsNetwork) -> tuple[str, ...]:
    """Return the zones that get a NAT gateway with an address of its own; none in a VPC that exists."""
    if network.nat == "none" or network.existing is not None:
        return ()
    return (
        network.availability_zones if network.nat == "per-zone" else network.availability_zones[:1]
    )


def plan_subnets(
    network: AwsNetwork, demand: Demand, *, public_servers: int
) -> tuple[SubnetPlan, ...]:
    """Return the subnets of the VPC, the cluster's first.

    Args:
        network: zones, endpoints and the VPC's CIDR.
        demand: what the cluster's subnet holds.
        public_servers: login nodes, or their load balancer, in the first public subnet.

    Raises:
        SubnetError: they do not fit, with the numbers.
    """
    vpc = IPv4Network(network.cidr)
    if not LARGEST_PREFIX <= vpc.prefixlen <= SMALLEST_PREFIX:
        raise SubnetError(
            f"a VPC is between /{SMALLEST_PREFIX} and /{LARGEST_PREFIX}; "
            f"'{network.cidr}' is a /{vpc.prefixlen}"
        )
    small = _small_subnets(network, public_servers)
    room = int(vpc.broadcast_address) + 1
    cut: list[SubnetPlan] = []
    for name, tier, zone, needed in small:
        length = max(USUAL_SIZE, block_size(needed))
        room = (room - length) // length * length
        cut.append(SubnetPlan(name, tier, zone, _cidr(room, length), needed))
    zone = network.availability_zones[0]
    own = tuple(map(IPv4Network, network.cluster_subnets))
    if own:
        _check_own(vpc, own, cut)
    else:
        own = (_lower_half(vpc, demand, room, small),)
    cluster = (
        SubnetPlan(_cluster_name(zone, index), "private", zone, str(one), demand.planned)
        for index, one in enumerate(own)
    )
    return (*cluster, *cut)


def _cluster_name(zone: str, index: int) -> str:
    name = f"private-{_letter(zone)}"
    return f"{name}-{index + 1}" if index else name


def _lower_half(
    vpc: IPv4Network, demand: Demand, room: int, small: Sequence[tuple[str, Tier, str, int]]
) -> IPv4Network:
    """Return the lower half of the VPC, whose addresses cost nothing; less where the others take more.

    Raises:
        SubnetError: the cluster and the other subnets do not fit.
    """
    low, end = int(vpc.network_address), int(vpc.broadcast_address) + 1
    size = block_size(demand.planned)
    half = vpc.num_addresses // 2
    if low + half <= room:
        size = max(size, half)
    if low + size > room:
        raise SubnetError(
            f"the VPC '{vpc}' holds {vpc.num_addresses:,} addresses; the cluster's "
            f"subnet takes {size:,} (for {demand.planned:,} addresses and the {RESERVED} that "
            f"AWS keeps) and the other {len(small)} subnets take {end - room:,}",
            hint=_smallest_vpc(small, size),
        )
    return IPv4Network(_cidr(low, size))


def _check_own(vpc: IPv4Network, own: Sequence[IPv4Network], cut: Sequence[SubnetPlan]) -> None:
    """Check that the subnets that the blueprint states fit into the VPC, beside the others.

    Raises:
        SubnetError: one does not.
    """
    taken = [IPv4Network(plan.cidr) for plan in cut]
    for index, one in enumerate(own):
        if not one.subnet_of(vpc) or not LARGEST_PREFIX <= one.prefixlen <= SMALLEST_PREFIX:
            raise SubnetError(
                f"the cluster's subnet '{one}' is not one of the VPC '{vpc}'",
                hint=f"a subnet lies in the VPC and is between /{SMALLEST_PREFIX} and /{LARGEST_PREFIX}",
            )
        if other := next((two for two in (*own[:index], *taken) if one.overlaps(two)), None):
            raise SubnetError(
                f"the cluster's subnet '{one}' overlaps '{other}'",
                hint="the other subnets are cut from the top of the VPC: use lower addresses",
            )


def _small_subnets(network: AwsNetwork, public_servers: int) -> list[tuple[str, Tier, str, int]]:
    """Return name, tier, zone and needed addresses of every subnet but the cluster's."""
    endpoints = len(interface_endpoints(network))
    rows: list[tuple[str, Tier, str, int]] = []
    for index, zone in enumerate(network.availability_zones):
        letter = _letter(zone)
        rows.append((f"intra-{letter}", "intra", zone, endpoints))
        if has_internet(network):
            servers = public_servers if index == 0 else 0
            rows.append((f"public-{letter}", "public", zone, 1 + servers))
        if index > 0:
            rows.append((f"private-{letter}", "private", zone, 0))
    return rows


def _smallest_vpc(small: Sequence[tuple[str, Tier, str, int]], size: int) -> str:
    others = sum(max(USUAL_SIZE, block_size(needed)) for *_, needed in small)
    wanted = 1 << (size + others - 1).bit_length()
    prefix = 32 - (wanted.bit_length() - 1)
    if prefix < LARGEST_PREFIX:
        return f"a VPC is at most a /{LARGEST_PREFIX}: split the nodes over several sites"
    return f"use a VPC of at least /{prefix}"


def _cidr(start: int, size: int) -> str:
    return f"{IPv4Address(start)}/{32 - (size.bit_length() - 1)}"


def _letter(zone: str) -> str:
    """Return the letter of a zone within its region: ``a`` of ``us-east-1a``."""
    return _REGION.sub("", zone) or zone
