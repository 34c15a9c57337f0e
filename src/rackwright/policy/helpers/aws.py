"""Facts for rules about AWS: documented limits, and the plan's use of AWS."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.plan.aws.site import AwsSitePlan
from rackwright.plan.model import Plan
from rackwright.plan.software.state_folders import state_folders


def state_of_heads(plan: Plan) -> Iterator[tuple[AwsSitePlan, str]]:
    """Yield the sites on AWS whose head nodes hold what the cluster cannot do without.

    Returns:
        Each such site, with what its head nodes hold in words.
    """
    for site in plan.aws:
        names = site.servers[0].names
        mine = [host for host in plan.hosts if host.site == site.name and host.name in names]
        held = {folder.name for host in mine for folder in state_folders(plan, host)}
        words = {"slurmctld": "the state of Slurm", "mysql": "the accounting database"}
        if told := [text for name, text in words.items() if name in held]:
            yield site, " and ".join(told)
