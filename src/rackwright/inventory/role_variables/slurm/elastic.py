"""Variables of the role ``elastic``: elastic nodes and bursts on AWS."""

from __future__ import annotations

from typing import Any

from rackwright.model.federation import Burst
from rackwright.model.repair import NODES_PER_HOUR, REPAIRS_PER_WEEK, Repair
from rackwright.model.scheduler import Scheduler
from rackwright.plan.aws.access import parameter_path
from rackwright.plan.aws.names import site_prefix
from rackwright.plan.aws.site import AwsSitePlan
from rackwright.plan.model import Plan
from rackwright.plan.slurm.bursts import burst_partition, burst_price, place_of_burst
from rackwright.plan.slurm.nodes import covers

SPOT_SWEEP_S = 15
"""Interval of sweeps on sites with spot instances, in s. AWS takes them back two minutes after a notice (Amazon EC2 User
Guide, "Spot Instance interruption notices"). Judgement: jobs keep most of that time to save their state."""

METADATA_USER = "slurm"
"""User of slurmctld, as whom the program reads the credentials of the head node."""


def elastic_variables(plan: Plan) -> dict[str, Any]:
    """Return the variables of all controllers; empty without elastic node groups."""
    slurm = plan.slurm
    if slurm is None:
        return {}
    limits = (plan.operations and plan.operations.repair) or Repair()
    sites = [
        _site(plan.name, site, limits)
        for site in plan.aws
        if covers(slurm.scheduler, site.name) and any(one.spec.is_elastic for one in site.groups)
    ]
    if not sites:
        return {}
    folder = f"{slurm.state.folder}/rackwright-elastic"
    bursts = [_burst(plan, slurm.scheduler, burst) for burst in slurm.bursts]
    made: dict[str, Any] = {
        "elastic_sites": sites,
        "elastic_bursts": bursts,
        "elastic_folder": folder,
    }
    if any(site["spot"] for site in sites):
        made["elastic_sweep_s"] = SPOT_SWEEP_S
    return made


def controller_readers(plan: Plan, site: str) -> dict[str, Any]:
    """Return the users that may read the metadata on controllers of a site; empty without elastic node groups."""
    for planned in plan.aws:
        if planned.name == site and any(one.spec.is_elastic for one in planned.groups):
            return {"instance_metadata_users": [*planned.metadata_readers, METADATA_USER]}
    return {}


def _burst(plan: Plan, scheduler: Scheduler, burst: Burst) -> dict[str, Any]:
    """Return the settings of a burst. Its price is known: ``unpriced_bursts`` prevents a configuration without one."""
    site, group = place_of_burst(burst)
    times = scheduler.power_saving
    return {
        "partition": burst.partition,
        "into": burst_partition(burst),
        "site": site,
        "group": group,
        "nodes": burst.max,
        "wait_s": round(burst.when.wait),
        "budget": float(burst.budget),
        "per_hour": float(burst_price(plan, burst).per_hour or 0),
        "boot_s": round(times.resume_timeout),
        "idle_s": round(times.idle + times.suspend_timeout),
    }


def _site(cluster: str, site: AwsSitePlan, limits: Repair) -> dict[str, Any]:
    existing = site.network.existing
    subnets = [subnet.name for subnet in site.cluster_subnets]
    return {
        "cluster": cluster,
        "site": site.name,
        "region": site.region,
        "zone": site.network.dns_zone,
        "parameter": f"{parameter_path(cluster, site.name)}/network",
        "spot": any(group.spec.capacity.kind == "spot" for group in site.groups),
        "replacements": {
            "per_hour": limits.nodes_per_hour or NODES_PER_HOUR,
            "per_week": limits.repairs_per_week or REPAIRS_PER_WEEK,
        },
        "subnets": subnets if existing is None else [existing.private_subnet],
        "groups": {
            group.spec.name: {
                "template": f"{site_prefix(cluster, site.name)}-{group.spec.name}",
                "first": group.spec.least + 1,
                "last": group.spec.most,
                "digits": group.spec.name_digits,
            }
            for group in site.groups
            if group.spec.is_elastic
        },
    }
