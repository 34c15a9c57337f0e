"""Settings of NCCL that follow from the fabric."""

from __future__ import annotations

from collections.abc import Sequence

from rackwright.plan.fabric.layout import Layout
from rackwright.plan.model import Plan
from rackwright.plan.records.nodes import NodeGroupPlan

ECN_BITS = 2
"""Lowest bits of a traffic class, below the code point (RFC 3168)."""


def nccl_settings(plan: Plan) -> dict[tuple[str, str], dict[str, str]]:
    """Return the variables of ``/etc/nccl.conf`` by site and node group; groups without any are absent.

    - ``NCCL_IB_HCA``: the ports on compute fabrics, so that those for storage carry no collectives.
      Absent unless the catalogue names as many compute ports as a host has on these fabrics.
    - ``NCCL_IB_TC``: the traffic class of RoCE on the compute fabric. Absent without RoCE, and where
      several compute fabrics differ.

    Both are described in NCCL's documentation of its environment variables.
    """
    found = {}
    for planned in plan.onprem:
        layouts = [one for one in planned.layouts if one.fabric.role == "compute"]
        for group in planned.groups:
            known = {
                "NCCL_IB_HCA": _ports(group, layouts),
                "NCCL_IB_TC": _traffic_class(group, layouts),
            }
            given = {name: value for name, value in known.items() if value is not None}
            if given:
                found[planned.name, group.name] = given
    return found


def _ports(group: NodeGroupPlan, layouts: Sequence[Layout]) -> str | None:
    """Return the names behind a '=', for NCCL to take them as a whole: else mlx5_1 is mlx5_10 as well."""
    names = [name for port in group.product.ports if port.role == "compute" for name in port.names]
    used = [
        hosts.interfaces
        for layout in layouts
        for hosts in layout.hosts
        if hosts.group.name == group.name
    ]
    if not names or None in used or len(names) != sum(count for count in used if count):
        return None
    return f"={','.join(names)}"


def _traffic_class(group: NodeGroupPlan, layouts: Sequence[Layout]) -> str | None:
    marked = {
        None if layout.fabric.roce is None else layout.fabric.roce.dscp
        for layout in layouts
        if any(hosts.group.name == group.name and hosts.interfaces for hosts in layout.hosts)
        and layout.technology == "ethernet"
    }
    code_point = marked.pop() if len(marked) == 1 else None
    return None if code_point is None else str(code_point << ECN_BITS)
