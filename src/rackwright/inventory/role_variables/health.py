"""Expectations of GPUs and ports, as variables of the role ``health_check``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.inventory.role_variables.fabric import rdma_ports
from rackwright.plan.model import Plan
from rackwright.plan.slurm.node_health import health_programs
from rackwright.plan.software.versions import WIDE_NVLINK, has_nvlsm, has_nvswitch

MOST_CLOCK_S = 1.0
"""Our judgement: NTP keeps milliseconds, and MUNGE takes minutes."""


def health_variables(plan: Plan) -> Mapping[tuple[str, str], dict[str, Any]]:
    """Return variables of each group whose nodes check their health, by site and node group.

    GPUs are asked for where the software entry names their driver, which brings what answers; DCGM
    and ports where it names DCGM and the drivers of the ports.
    """
    if plan.slurm is None or not health_programs(plan):
        return {}
    found: dict[tuple[str, str], dict[str, Any]] = {
        (nodes.site, nodes.group): {} for nodes in plan.slurm.nodes
    }
    for board in plan.boards:
        bill = plan.software[board.site].bill
        known = found.get((board.site, board.group))
        if known is None or bill is None or board.accelerators.vendor != "nvidia":
            continue
        if bill.driver is not None:
            wide = board.accelerators.gres in WIDE_NVLINK
            known["health_check_gpus"] = {
                "ecc": True,
                "nvlink": wide or has_nvswitch(board.accelerators),
                "persistence": True,
            } | ({"domain": True} if wide else {})
            if has_nvlsm(board.accelerators):
                known["health_check_processes"] = ["nvlsm"]
            known["health_check_dcgm"] = bill.dcgm is not None
    operations = plan.operations
    for (site, _), known in found.items():
        settings = operations.settings_of(site) if operations else None
        if settings is not None and settings.time_servers:
            known["health_check_clock_s"] = MOST_CLOCK_S
    for where, variables in rdma_ports(plan).items():
        if where in found and "rdma_stack" in variables:
            found[where]["health_check_ports"] = variables["rdma_ports"]
    return {where: known for where, known in found.items() if known}
