"""SCH-014: tasks of SkyPilot run on a cluster."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.plan.skypilot import HOMES, homes_by_group, untyped


@rule(
    "SCH-014",
    "Tasks of SkyPilot run on the cluster",
    Severity.MEDIUM,
    since="0.5",
    stage="design",
)
class SkyPilotTasks(Policy):
    """Logins and nodes share the home directories, and accelerators have a type that SkyPilot asks for."""

    def check(self, plan: Plan) -> Iterator[Finding]:
        """Yield a finding for the homes and one for the accelerators of each cluster, if SkyPilot is used."""
        for own in (*(member.plan for member in plan.members),) or (plan,):
            slurm = own.slurm
            if slurm is None or slurm.scheduler.skypilot is None:
                continue
            yield _homes(own, Subject(f"{slurm.name} homes", ("scheduler", "skypilot")))
            groups = list(untyped(slurm.partitions))
            yield Finding(
                Subject(f"{slurm.name} accelerators", ("scheduler", "nodes")),
                ok=not groups,
                message=f"accelerators of {', '.join(groups)} have no type: no task can ask for them"
                if groups
                else "each accelerator has a type that tasks ask for",
                fix="set their type in 'scheduler.nodes', like 'gres: gpu:h100:8'"
                if groups
                else None,
            )


def _homes(plan: Plan, at: Subject) -> Finding:
    groups = homes_by_group(plan)
    without = [group for group, shared in groups.items() if not shared]
    if len(without) == len(groups):
        return Finding(
            at,
            ok=None,
            message=f"no share or file system of the blueprint is mounted at {HOMES} by logins and nodes",
            missing=(Missing(f"a share that is mounted at {HOMES}", ("sites", 0, "nfs")),),
        )
    return Finding(
        at,
        ok=not without,
        message=f"{', '.join(without)} do not mount {HOMES}, which others do: tasks find no files of SkyPilot there"
        if without
        else f"logins and nodes share {HOMES}",
        fix=f"add them to the 'clients' of the share at {HOMES}" if without else None,
    )
