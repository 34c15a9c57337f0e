"""Expected hardware of hosts, by the group of equal hosts in the inventory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rackwright.plan.host_list import Host
from rackwright.plan.records.nodes import HostHardware


def group_name(*parts: str) -> str:
    """Return the parts as a group name of Ansible: letters, digits and underscores."""
    return "_".join(re.sub(r"[^a-z0-9]", "_", part.lower()) for part in parts)


def hardware_variables(hosts: Sequence[Host]) -> dict[str, dict[str, Any]]:
    """Return the expected hardware of each kind of host, by the group of its hardware; unknowns are absent."""
    kinds = {host.hardware: host.equipment for host in hosts}
    return {
        group_name("hardware", hardware): _expectations(equipment)
        for hardware, equipment in kinds.items()
        if equipment is not None  # else a server of a type that nobody has described
    }


def _expectations(equipment: HostHardware) -> dict[str, Any]:
    ports = [
        {
            "role": port.role,
            "count": port.count,
            "rate_gbps": port.rate_gbps,
            "technology": port.technology,
        }
        for port in equipment.ports
        if port.count is not None
    ]
    known: dict[str, Any] = {
        "rackwright_accelerators": equipment.accelerators,
        "rackwright_accelerator_model": equipment.board and equipment.board.model,
        "rackwright_cpus": equipment.cpus,
        "rackwright_memory_gib": equipment.memory_gib,
        "rackwright_ports": ports or None,
    }
    return {key: value for key, value in known.items() if value is not None}
