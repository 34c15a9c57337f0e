"""Networks of top-of-rack fabrics that are cut into a subnet for each rack.

The n-th set of racks that share leaves has the n-th subnet. Whatever a blueprint says of the first one,
the gateway, what is reserved and where ranges begin, holds for each of the others as many addresses
further. So a rack that is added at the end changes no name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address

from rackwright.harmless import counted
from rackwright.model.addresses import SiteNetwork, split_span
from rackwright.plan.base import Path
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.fabric.racks import RackSet, Stretch
from rackwright.plan.problems import PlanProblem

IpNetwork = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class RackSubnet:
    """The subnet of racks that share leaves.

    Attributes:
        racks: their names.
        prefix: its addresses.
        network: what the blueprint says of the first one, moved to this one.
        stretches: the hosts of each attachment in these racks.
    """

    racks: tuple[str, ...]
    prefix: IpNetwork
    network: SiteNetwork
    stretches: tuple[Stretch, ...]


def rack_subnets(
    network: SiteNetwork, prefix: IpNetwork, length: int, sets: Sequence[RackSet]
) -> Iterator[RackSubnet]:
    """Yield the subnet of each set of racks, with a prefix of ``length``, cut from ``prefix`` in their order."""
    size = 2 ** (prefix.max_prefixlen - length)
    first = int(prefix.network_address)
    made = IPv4Network if prefix.version == 4 else IPv6Network
    for number, one in enumerate(sets):
        by = number * size
        yield RackSubnet(one.racks, made((first + by, length)), _moved(network, by), one.stretches)


def check_rack_subnets(
    network: SiteNetwork, prefix: IpNetwork, length: int, layout: Layout, path: Path
) -> PlanProblem | None:
    """Return the reason why the network at ``path`` cannot be cut by rack; None if it can."""
    where = (*path, "rack_prefix")
    if layout.rack_sets is None:
        message = f"the hosts of the fabric '{layout.fabric.name}' are not cabled by rack"
        return PlanProblem(where, message, "set 'top_of_rack: true' there, or leave it out")
    if not prefix.prefixlen <= length <= prefix.max_prefixlen:
        message = f"{prefix} has no subnets with a prefix of {length}"
        hint = f"give {prefix.prefixlen} to {prefix.max_prefixlen}"
        return PlanProblem(where, message, hint)
    racks, room = len(layout.rack_sets), 2 ** (length - prefix.prefixlen)
    if racks > room:
        message = (
            f"{counted(racks, 'rack')} need a /{length} each, and {prefix} has {room:,} of them"
        )
        shorter = length - (racks - 1).bit_length()
        hint = f"make '{network.name}' a /{shorter}" if shorter > 0 else "make the subnets smaller"
        return PlanProblem(where, message, hint)
    return None


def _moved(network: SiteNetwork, by: int) -> SiteNetwork:
    """Return ``network`` with every address ``by`` further."""
    if by == 0:
        return network
    spans = [split_span(text) for text in network.reserved]
    return network.model_copy(
        update={
            "gateway": None if network.gateway is None else str(ip_address(network.gateway) + by),
            "reserved": tuple(f"{first + by}-{last + by}" for first, last in spans),
            "ranges": tuple(
                one.model_copy(update={"first": str(ip_address(one.first) + by)})
                for one in network.ranges
            ),
        }
    )
