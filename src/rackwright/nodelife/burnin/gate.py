"""Nodes that take no jobs before their burn-in has passed."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rackwright.nodelife.ledger import SuiteResult
from rackwright.nodelife.slurm_nodes import PREFIX, NodeState
from rackwright.plan.model import Plan

REASON = f"{PREFIX}burn-in has not passed"
"""Reason in Slurm of nodes that wait for a burn-in; ``rackwright burn-in`` opens no others."""


def is_required(plan: Plan) -> bool:
    """Return True if the blueprint lets nodes take jobs only after a passed burn-in."""
    burn_in = plan.operations.burn_in if plan.operations else None
    return bool(burn_in and burn_in.required)


def waiting_nodes(
    nodes: Collection[str], states: Mapping[str, NodeState], suites: Mapping[str, SuiteResult]
) -> list[str]:
    """Return the nodes in service whose last burn-in did not pass, or that had none.

    Nodes that are out of service keep the reason they have.
    """
    return [
        name
        for name in nodes
        if (name in states and states[name].in_service)
        and (name not in suites or suites[name].outcome != "pass")
    ]
