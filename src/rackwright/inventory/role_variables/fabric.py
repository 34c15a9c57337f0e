"""Fabrics as variables of the roles ``rdma`` and ``opensm``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from rackwright.model.fabric import Fabric, Segment
from rackwright.plan.fabric.layout import Layout, port_rate
from rackwright.plan.model import Plan
from rackwright.plan.software.versions import kernel_of

FIRST_PRIORITY = 14
"""Of the first subnet manager of a fabric; 15 is left for one that must take over by hand."""

IPOIB_HEADER = 4
"""Bytes that IP over InfiniBand takes from the fabric's MTU (RFC 4391)."""


def rdma_ports(plan: Plan) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the variables of the role ``rdma`` by site and node group; groups on no RDMA fabric are absent.

    The role needs a ``rdma_stack`` besides. It is there where the site's software versions name an
    OFED, and where hosts have to mark RoCE; else the drivers of the distribution are a team's own choice.
    """
    found = {}
    for planned in plan.onprem:
        layouts = [one for one in planned.layouts if one.fabric.role != "management"]
        bill = plan.software[planned.name].bill
        for group in planned.groups:
            known = _adapters(group.name, layouts)
            if not known:
                continue
            if bill is not None and bill.ofed is not None:
                kernel = kernel_of(plan, planned.name, group.name)
                versions = {
                    "rdma_stack": "doca",
                    "rdma_ofed_version": bill.ofed.version,
                    "rdma_ofed_kernel": bill.kernel_of_group(group.name) or bill.ofed.kernel,
                    "rdma_kernel": kernel,
                }
                known |= {key: value for key, value in versions.items() if value is not None}
            elif "rdma_roce" in known:
                known["rdma_stack"] = "inbox"
            found[planned.name, group.name] = known
    return found


def _adapters(group: str, layouts: list[Layout]) -> dict[str, Any]:
    """Return the ports that each host of ``group`` has on fabrics, and how they are set."""
    ports: Counter[tuple[str, float]] = Counter()
    known: dict[str, Any] = {}
    for layout in layouts:
        for hosts in layout.hosts:
            rate = layout.fabric.rate or port_rate(hosts)
            if hosts.group.name != group or not hosts.interfaces or rate is None:
                continue
            fabric, technology = layout.fabric, layout.technology
            if technology is None:
                continue
            ports[technology, rate] += hosts.interfaces
            carries_ip = any(segment.prefix is not None for segment in fabric.segments)
            if technology == "infiniband" and fabric.mtu is not None and carries_ip:
                known["rdma_ipoib_mtu"] = fabric.mtu - IPOIB_HEADER
            if technology == "ethernet" and fabric.roce is not None:
                known["rdma_roce"] = {
                    "dscp": fabric.roce.dscp,
                    "priority": fabric.roce.priority,
                    "pfc": bool(fabric.pfc),
                    "ecn": bool(fabric.ecn),
                }
    if ports:
        known["rdma_ports"] = [
            {"technology": technology, "rate_gbps": rate, "count": count}
            for (technology, rate), count in sorted(ports.items())
        ]
    return known


def subnet_managers(
    plan: Plan, name_group: Callable[[str, str], str]
) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the variables of the role ``opensm`` by site and host.

    Subnet managers on switches are not there, and neither are those of fabrics that an adaptive
    engine routes, which opensm does not have.

    Args:
        plan: the cluster.
        name_group: the group of the inventory that has the hosts of a site's node group.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for planned in plan.onprem:
        site = planned.name
        for fabric in (one.fabric for one in planned.fabrics):
            engine = fabric.routing_engine or ""
            if fabric.technology == "ethernet" or engine.startswith("ar_"):
                continue
            before = 0
            for managers in fabric.subnet_managers:
                first = managers.priority
                if first is None:
                    first = FIRST_PRIORITY - before
                before += managers.count
                group = planned.groups_by_name.get(managers.at)
                if group is None:
                    continue
                for index, host in enumerate(group.host_names[: managers.count]):
                    instances = [
                        _instance(site, fabric, subnet, max(0, first - index), name_group)
                        for subnet in _subnets(fabric)
                    ]
                    entry = found.setdefault((site, host), {"opensm_instances": []})
                    entry["opensm_instances"] += instances
    return found


def _subnets(fabric: Fabric) -> list[str]:
    if fabric.subnets == 1:
        return [fabric.name]
    return [f"{fabric.name}-{number}" for number in range(1, fabric.subnets + 1)]


def _instance(
    site: str, fabric: Fabric, subnet: str, priority: int, name_group: Callable[[str, str], str]
) -> dict[str, Any]:
    everybody = {attachment.group for attachment in fabric.attached}
    known = {
        "name": subnet,
        "routing_engine": fabric.routing_engine,
        "priority": priority,
        "mtu": fabric.mtu,
        "m_key": fabric.m_key,
        "sa_key": fabric.sa_key,
        "partitions": [
            _partition(site, segment, everybody, name_group)
            for segment in fabric.segments
            if segment.pkey is not None
        ],
    }
    return {key: value for key, value in known.items() if value is not None}


def _partition(
    site: str, segment: Segment, everybody: set[str], name_group: Callable[[str, str], str]
) -> Mapping[str, Any]:
    """Return a partition; without ``hosts`` where every group on the fabric is in it."""
    found: dict[str, Any] = {
        "name": segment.name,
        "pkey": segment.pkey,
        "ipoib": segment.prefix is not None,
    }
    if segment.groups and not everybody <= set(segment.groups):
        found["hosts"] = [name_group(site, group) for group in sorted(segment.groups)]
    return found
