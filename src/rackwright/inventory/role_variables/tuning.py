"""Tuning of hosts, as variables of the role ``host_tuning``."""

from __future__ import annotations

from typing import Any

from rackwright.model.tuning import HostTuning
from rackwright.plan.model import Plan


def tuning_variables(plan: Plan) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the variables of tuned node groups, by site and node group."""
    operations = plan.operations
    tuned = {one.group: one for one in (operations.tuning if operations else ())}
    groups = {(host.site, host.group) for host in plan.hosts if host.group in tuned}
    return {where: _variables(tuned[where[1]]) for where in sorted(groups)}


def _variables(tuning: HostTuning) -> dict[str, Any]:
    known: dict[str, Any] = {
        "host_tuning_governor": tuning.governor,
        "host_tuning_numa_balancing": tuning.numa_balancing,
        "host_tuning_iommu": tuning.iommu,
        "host_tuning_acs": tuning.acs,
        "host_tuning_peer_memory": tuning.peer_memory,
        "host_tuning_gdrcopy_version": tuning.gdrcopy,
    }
    return {key: value for key, value in known.items() if value is not None}
