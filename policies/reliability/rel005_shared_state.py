"""REL-005: controllers share the scheduler's state."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Missing, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.plan.slurm.state import StateStorage


@rule(
    "REL-005",
    "Controllers share the scheduler's state",
    Severity.HIGH,
    since="0.4",
    stage="build",
    profile=Profile.PRODUCTION,
)
class SharedState(Policy):
    """Several controllers keep their state on storage that all of them mount."""

    def check(self, plan: Plan) -> Iterator[Finding]:
        """Yield a finding for each cluster with several controllers."""
        for slurm in plan.clusters:
            if len(slurm.state.controllers) > 1:
                at = Subject(
                    f"{slurm.plan.name} state of controllers", ("scheduler", "shared_state")
                )
                yield _judge(at, slurm.state)


def _judge(at: Subject, state: StateStorage) -> Finding:
    count = len(state.controllers)
    if state.mount is None and state.outside:
        return Finding(
            at,
            ok=None,
            message=f"the storage of {state.folder} on {count} controllers is not known",
            missing=(Missing("'shared_state' in 'scheduler'", ("scheduler", "shared_state")),),
        )
    if state.mount is None:
        return Finding(
            at,
            ok=False,
            message=f"{state.folder} is a local folder on each of {count} controllers: a backup "
            "finds no heartbeat there and never takes over",
            fix="put 'scheduler.folders.state' on storage that all controllers mount and describe "
            "it in 'scheduler.shared_state', or keep one controller",
        )
    if state.without:
        return Finding(
            at,
            ok=False,
            message=f"{', '.join(state.without)} of {count} controllers do not mount "
            f"{state.mount}, which holds the state",
            fix=f"add the node group of {state.without[0]} to the clients of {state.mount}",
        )
    if state.server_is_controller:
        return Finding(
            at,
            ok=False,
            message=f"{state.server} serves the state and is a controller: its loss takes both",
            fix="serve the state from a host that is not a controller",
        )
    return Finding(
        at, ok=True, message=f"{count} controllers share {state.folder} on {state.mount}"
    )
