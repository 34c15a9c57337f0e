"""QOS, and nodes that go away at a known moment, as variables of the role ``slurm_controller``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.model.job_time import job_minutes
from rackwright.model.queues import Qos
from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan
from rackwright.plan.slurm.nodes import covers
from rackwright.plan.slurm.state import StateStorage


def qos_variables(plan: Plan) -> dict[str, Any]:
    """Return the variables of the first controller; empty where the blueprint declares no QOS."""
    slurm = plan.slurm
    if slurm is None or not slurm.scheduler.qos:
        return {}
    return {
        "slurm_controller_cluster": slurm.name,
        "slurm_controller_qos": [_qos(entry) for entry in slurm.scheduler.qos],
    }


def reservation_variables(plan: Plan) -> dict[str, Any]:
    """Return the variables of the first controller; empty where no node is on AWS.

    With nodes there and none that goes away the list is empty, so that what is left of a capacity block
    that was removed or replaced is taken away.
    """
    slurm = plan.slurm
    if slurm is None or not any(nodes.is_cloud for nodes in slurm.nodes):
        return {}
    return {
        "slurm_controller_reservations": [
            {
                "name": f"rackwright-{departure.block}",
                "nodes": departure.hostlist,
                "start": f"{departure.start:%Y-%m-%dT%H:%M:%SZ}",
            }
            for departure in slurm.departures
        ]
    }


def federation_variables(plan: Plan) -> dict[str, Any]:
    """Return the variables of the first controller; empty where the cluster is in no federation."""
    membership = plan.membership
    if membership is None:
        return {}
    return {
        "users_cluster": plan.name,
        "slurm_controller_cluster": plan.name,
        "slurm_controller_federation": {
            "name": membership.federation,
            "state": membership.state,
            "features": list(membership.features),
        },
    }


def state_variables(state: StateStorage) -> dict[str, Any]:
    """Return the variables of all controllers about their state."""
    found: dict[str, Any] = {"slurm_controller_state_folder": state.folder}
    if len(state.controllers) > 1:
        found["slurm_controller_count"] = len(state.controllers)
        if state.mount is not None:
            found["slurm_controller_shared_mount"] = state.mount
        if state.kind is not None:
            found["slurm_controller_shared_type"] = state.kind
    return found


def first_controller(plan: Plan, hosts: Mapping[str, Host]) -> str | None:
    """Return the primary controller among ``hosts``, or else the first of its backups, if any."""
    scheduler = plan.scheduler
    if scheduler is None:
        return None
    names = {host.name: name for name, host in hosts.items() if covers(scheduler, host.site)}
    found = (names[one.host] for one in scheduler.controllers if one.host in names)
    return next(found, None)


def standby_controllers(plan: Plan, hosts: Mapping[str, Host]) -> tuple[str, ...]:
    """Return the backup controllers among ``hosts``."""
    scheduler = plan.scheduler
    if scheduler is None:
        return ()
    backups = {controller.host for controller in scheduler.controllers[1:]}
    found = (name for name, host in hosts.items() if host.name in backups)
    return tuple(name for name in found if covers(scheduler, hosts[name].site))


def _qos(entry: Qos) -> dict[str, Any]:
    """Return the settings that differ from the defaults of the role."""
    found: dict[str, Any] = {
        "name": entry.name,
        "priority": entry.priority,
        "preempts": list(entry.preempts),
        "preempt_mode": entry.preempt_mode,
        "grace_s": None if entry.grace is None else round(entry.grace),
        "max_wall_minutes": entry.max_wall and job_minutes(entry.max_wall),
        "max_nodes_per_user": entry.max_nodes_per_user,
        "max_gpus_per_user": entry.max_gpus_per_user,
    }
    return {key: value for key, value in found.items() if value}
