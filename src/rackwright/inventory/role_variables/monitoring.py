"""Monitoring, as variables of the roles ``prometheus`` and ``grafana``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.catalog.fault_signals import alert_rules
from rackwright.plan.model import Plan


def monitoring_variables(plan: Plan, site: str) -> dict[str, Any]:
    """Return variables of the host that watches all others, which stands at ``site``."""
    bill = plan.software[site].bill
    known: dict[str, Any] = {
        "prometheus_fault_alerts": alert_rules(
            plan.faults, (plan.operations and plan.operations.drain_on_xids) or ()
        ),
        "grafana_version": None if bill is None else bill.grafana,
    }
    return {key: value for key, value in known.items() if value}


def rack_limits(plan: Plan) -> Mapping[tuple[str, str], int]:
    """Return most power that each rack may draw in W, by site and rack; racks whose limit is not known are absent."""
    return {
        (planned.name, rack): round(racks.kind.power_limit_w)
        for planned in plan.onprem
        for racks in planned.racks
        if racks.kind.power_limit_w is not None
        for rack in racks.names
    }
