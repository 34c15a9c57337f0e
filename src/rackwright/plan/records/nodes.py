"""Records of the node groups of bare-metal sites, and of what one host of a product has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rackwright.model.fabric import Role
from rackwright.model.hardware import Accelerators, Node, fact_value
from rackwright.model.instances import Instance
from rackwright.model.onprem import NodeGroup
from rackwright.plan.base import Path
from rackwright.plan.hosts import names_of

LEAST_LIMITS: Mapping[str, float] = dict.fromkeys(
    ("H100 SXM", "H200 SXM", "B200 SXM", "GB200"), 200.0
)
"""Lowest power limit of accelerators in W, by model, where their entry states none: ``AllowableMin`` of
NVIDIA's DGX B200 User Guide (chapter 7), whose example is a GPU of 700 W, and the device limits of its
Domain Power Service for GB200, as quoted by a reviewer."""
Technology = Literal["infiniband", "ethernet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupPlan:
    """A node group of a bare-metal site with its product.

    Attributes:
        spec: the group as the blueprint declares it.
        path: its place there.
        product: what the catalogue says of one unit.
    """

    spec: NodeGroup
    path: Path
    product: Node

    @property
    def name(self) -> str:
        """Its name, unique in the site."""
        return self.spec.name

    @property
    def hosts(self) -> int:
        """Number of operating systems: 18 for each NVL72, 1 for each server."""
        return self.spec.count * self.product.hosts

    @property
    def without_accelerators_w(self) -> float | None:
        """Power of one unit while its accelerators draw nothing, in W. None if unknown."""
        nameplate, board = fact_value(self.product.max_power), self.product.accelerators
        each = None if board is None else fact_value(board.tdp)
        if nameplate is None or board is None or each is None:
            return None
        return float(nameplate - board.count * each)

    @property
    def least_cap_w(self) -> float | None:
        """Lowest power cap that a unit can keep with its accelerators at their least, in W."""
        board, below = self.product.accelerators, self.without_accelerators_w
        least = None if board is None else fact_value(board.min_power)
        if least is None and board is not None:
            least = LEAST_LIMITS.get(board.model)
        if board is None or below is None or least is None:
            return None
        return float(below + board.count * least)

    @property
    def host_names(self) -> tuple[str, ...]:
        """The hosts in the order in which racks are filled: ``dgx-01`` to ``dgx-32``."""
        return names_of(self.spec.name, self.hosts, self.spec.host_names, self.spec.name_digits)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPorts:
    """Equal network ports of one host.

    Attributes:
        role: what they are for, as the catalogue has it.
        technology: InfiniBand or Ethernet.
        rate_gbps: of one port, in Gbps.
        count: their number; None where those of a unit are not shared out evenly to its hosts.
    """

    role: Role
    technology: Technology
    rate_gbps: float
    count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RatePorts:
    """All ports of one technology and rate of one host; ``count`` as of ``HostPorts``."""

    technology: Technology
    rate_gbps: float
    count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostHardware:
    """Hardware of one host of a product by the catalogue.

    Attributes:
        unit_hosts: hosts of one unit of the product.
        board: the accelerators of a unit, which its hosts share; None where it has none.
        accelerators: number of one host's; None where they are not shared out evenly.
        cpus: number of logical CPUs; None where unknown.
        memory_gib: main memory, in GiB; None where unknown.
        ports: network ports, in the order of the catalogue; none are listed for instances of AWS.
        ports_by_rate: those of its traffic, added up by technology and rate, sorted by them. Those of
            management are left out: its BMC has some of them, and what else is plugged in nobody says.
    """

    unit_hosts: int
    board: Accelerators | None
    accelerators: int | None
    cpus: int | None
    memory_gib: float | None
    ports: tuple[HostPorts, ...]
    ports_by_rate: tuple[RatePorts, ...]


def describe_host(product: Node | Instance) -> HostHardware:
    """Return the hardware of one host of ``product``."""
    board, hosts = product.accelerators, product.hosts
    ports = product.ports if isinstance(product, Node) else ()
    totals: dict[tuple[Technology, float], int] = {}
    for port in ports:
        if port.role != "management":
            key = (port.technology, port.rate.value)
            totals[key] = totals.get(key, 0) + port.count
    memory = product.host_memory if isinstance(product, Node) else product.memory
    return HostHardware(
        unit_hosts=hosts,
        board=board,
        accelerators=0 if board is None else _share(board.count, hosts),
        cpus=fact_value(product.cpus if isinstance(product, Node) else product.vcpus),
        memory_gib=fact_value(memory),
        ports=tuple(
            HostPorts(
                role=port.role,
                technology=port.technology,
                rate_gbps=port.rate.value,
                count=_share(port.count, hosts),
            )
            for port in ports
        ),
        ports_by_rate=tuple(
            RatePorts(technology=technology, rate_gbps=rate, count=_share(count, hosts))
            for (technology, rate), count in sorted(totals.items())
        ),
    )


def _share(count: int, hosts: int) -> int | None:
    """Return the share of each of ``hosts`` in ``count``; None if it is not a whole number."""
    each, rest = divmod(count, hosts)
    return None if rest else each
