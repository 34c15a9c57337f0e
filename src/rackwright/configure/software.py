"""Versions of the software on GPU nodes, as variables of the roles that install it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rackwright.model.hardware import Accelerators, Node
from rackwright.plan.model import Plan
from rackwright.plan.software import WIDE_NVLINK, bill_of, has_nvswitch, upstream


def gpu_software(plan: Plan) -> dict[tuple[str, str], dict[str, Any]]:
    """Variables of the roles ``nvidia_driver`` and ``nccl`` by site and node group.

    Only groups with NVIDIA GPUs whose site has a software bill are in it. A version that the bill
    does not state is absent, and so is everything about the driver where its own is.
    """
    found = {}
    for site, group, board, hosts in _boards(plan):
        bill, _ = bill_of(plan.blueprint.operations, site)
        if bill is None or board.vendor != "nvidia" or board.count % hosts:
            continue
        known: dict[str, Any] = {}
        if bill.driver is not None:
            known = {
                "nvidia_driver_version": upstream(bill.driver),
                "nvidia_driver_gpus": board.count // hosts,
                "nvidia_driver_fabric_manager": has_nvswitch(board),
                "nvidia_driver_fabric_manager_version": bill.fabric_manager,
                "nvidia_driver_imex": board.gres in WIDE_NVLINK,
                "nvidia_driver_imex_version": bill.imex,
            }
        known["nccl_version"] = bill.nccl
        found[site, group] = {key: value for key, value in known.items() if value is not None}
    return found


def _boards(plan: Plan) -> Iterator[tuple[str, str, Accelerators, int]]:
    """Site, node group, accelerators of one of its machines, and how many hosts share those."""
    for site in plan.onprem:
        for group in site.site.node_groups:
            node = plan.catalogue.get(Node, group.type)
            if node.accelerators is not None:
                yield site.site.name, group.name, node.accelerators, node.hosts
    for aws in plan.aws:
        for planned in aws.groups:
            instance = planned.instance
            if instance.accelerators is not None and planned.group.count:
                yield aws.site.name, planned.group.name, instance.accelerators, instance.hosts
