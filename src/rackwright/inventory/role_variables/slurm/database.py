"""The accounting database, as variables of the role ``slurm_database``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.model.scheduler import Accounting, Scheduler
from rackwright.model.scheduler_settings import DAY
from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan
from rackwright.plan.records.federation import Membership
from rackwright.plan.slurm.nodes import covers

_OF_SLURMCTLD = frozenset({"nodes", "partitions"})
"""What slurmdbd has no records of."""


def database_variables(scheduler: Scheduler, accounting: Accounting) -> dict[str, Any]:
    """Return the variables of slurmdbd, without the defaults of the role."""
    made: dict[str, Any] = {"slurm_database_host": accounting.address or accounting.host}
    if scheduler.auth != "munge":
        made["slurm_database_auth"] = scheduler.auth
    if accounting.keep is not None:
        ages = accounting.keep.ages
        made["slurm_database_keep_days"] = {kind: round(age / DAY) for kind, age in ages.items()}
        if accounting.keep.archive is not None:
            made["slurm_database_archive_folder"] = accounting.keep.archive
    if private := [what for what in scheduler.private_data if what not in _OF_SLURMCTLD]:
        made["slurm_database_private_data"] = private
    return made


def pair_variables(membership: Membership, site: str) -> dict[str, Any]:
    """Return the variables of a database that all clusters of a federation share, for its host at ``site``."""
    hosts = membership.database
    own = next(index for index, one in enumerate(hosts) if one.site == site)
    made: dict[str, Any] = {"slurm_database_host": hosts[0].host}
    if len(hosts) > 1:
        made["slurm_database_part"] = ("primary", "replica")[own]
        made["slurm_database_pair"] = [
            {"host": one.host, "address": one.reached_by} for one in hosts
        ]
    return made


def database_hosts(plan: Plan, hosts: Mapping[str, Host]) -> tuple[str, ...]:
    """Return those of ``hosts`` that run slurmdbd, as the inventory calls them."""
    scheduler = plan.scheduler
    if scheduler is None or scheduler.accounting is None:
        return ()
    if plan.membership is not None:
        wanted = {(one.site, one.host) for one in plan.membership.database}
        return tuple(name for name, host in hosts.items() if (host.site, host.name) in wanted)
    own = scheduler.accounting.host
    found = (name for name, host in hosts.items() if host.name == own)
    return tuple(name for name in found if covers(scheduler, hosts[name].site))
