"""Monitoring, as variables of the roles ``prometheus`` and ``grafana``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.model.names import expand_hostlist
from rackwright.plan.model import Plan
from rackwright.plan.software.versions import bill_of


def monitoring_variables(plan: Plan, site: str) -> dict[str, Any]:
    """Variables of the host that watches all others, which stands at ``site``."""
    operations = plan.blueprint.operations
    bill, _ = bill_of(operations, site)
    known: dict[str, Any] = {
        "prometheus_gpu_xids": sorted(operations.drain_on_xids or ()) if operations else None,
        "grafana_version": None if bill is None else bill.grafana,
    }
    return {key: value for key, value in known.items() if value}


def rack_limits(plan: Plan) -> Mapping[tuple[str, str], int]:
    """Most power that each rack may draw in W, by site and rack; racks whose limit is not known are absent."""
    return {
        (planned.site.name, rack): round(group.cooling.power_limit)
        for planned in plan.onprem
        for hall in planned.site.halls
        for row in hall.rows
        for group in row.rack_groups
        if group.cooling.power_limit is not None
        for rack in expand_hostlist(group.racks)
    }
