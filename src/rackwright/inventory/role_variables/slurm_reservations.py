"""Nodes that go away at a known moment, as variables of the role ``slurm_controller``."""

from __future__ import annotations

from typing import Any

from rackwright.plan.model import Plan


def reservation_variables(plan: Plan) -> dict[str, Any]:
    """Variables of the first controller; empty where no node is on AWS.

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
