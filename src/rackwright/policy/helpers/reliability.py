"""What rules about reliability compute with: failures, failure domains, lines between sites."""

from __future__ import annotations

from rackwright.plan.reliability.failure_domains import FailureDomains, Loss, metadata_groups
from rackwright.plan.reliability.failures import (
    DAY,
    GroupHosts,
    count_controllers,
    daily_rate,
    daly_interval,
    effective_time,
    failures_a_day,
    groups_of,
    reach,
    spares_needed,
)
from rackwright.plan.reliability.interconnect import (
    SiteLink,
    SpanningWork,
    compute_hosts,
    hosts_to_add,
    line_between,
    spans,
)
from rackwright.plan.slurm.domains import TrayLoss, tray_losses

__all__ = [
    "DAY",
    "FailureDomains",
    "GroupHosts",
    "Loss",
    "SiteLink",
    "SpanningWork",
    "TrayLoss",
    "compute_hosts",
    "count_controllers",
    "daily_rate",
    "daly_interval",
    "effective_time",
    "failures_a_day",
    "groups_of",
    "hosts_to_add",
    "line_between",
    "metadata_groups",
    "reach",
    "spans",
    "spares_needed",
    "tray_losses",
]
