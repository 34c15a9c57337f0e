"""What rules about AWS compare with: documented limits, and what the plan asks of AWS."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.catalog.offerings import builtin_offerings
from rackwright.plan.aws.endpoints import (
    NEEDED,
    SERVICES,
    endpoint_type,
    is_known,
    unreachable,
)
from rackwright.plan.aws.file_systems import fsx
from rackwright.plan.aws.images import image_facts
from rackwright.plan.aws.launch_template import required_group, server_args
from rackwright.plan.aws.names import AwsName, resource_names
from rackwright.plan.aws.nic import LayoutError, UnknownLayoutError
from rackwright.plan.aws.quotas import QuotaUse, quota_uses
from rackwright.plan.aws.security_groups import network_rules, storage_rules
from rackwright.plan.aws.site import STANDARD_QUOTA, AwsSitePlan
from rackwright.plan.aws.tags import MOST_TAGS, OWN_KEYS, key_problem, same_keys, value_problem
from rackwright.plan.model import Plan
from rackwright.plan.software.state_folders import state_folders

__all__ = [
    "MOST_TAGS",
    "NEEDED",
    "OWN_KEYS",
    "SERVICES",
    "STANDARD_QUOTA",
    "AwsName",
    "LayoutError",
    "QuotaUse",
    "UnknownLayoutError",
    "builtin_offerings",
    "endpoint_type",
    "fsx",
    "image_facts",
    "is_known",
    "key_problem",
    "network_rules",
    "quota_uses",
    "required_group",
    "resource_names",
    "same_keys",
    "server_args",
    "state_of_heads",
    "storage_rules",
    "unreachable",
    "value_problem",
]


def state_of_heads(plan: Plan) -> Iterator[tuple[AwsSitePlan, str]]:
    """The sites on AWS whose head nodes hold what the cluster cannot do without.

    Returns:
        each such site, with what its head nodes hold in words.
    """
    for site in plan.aws:
        names = site.servers[0].names
        mine = [host for host in plan.hosts if host.site == site.name and host.name in names]
        held = {folder.name for host in mine for folder in state_folders(plan, host)}
        words = {"slurmctld": "the state of Slurm", "mysql": "the accounting database"}
        if told := [text for name, text in words.items() if name in held]:
            yield site, " and ".join(told)
