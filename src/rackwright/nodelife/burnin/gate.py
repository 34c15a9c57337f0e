"""Nodes that take no jobs before their burn-in has passed."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rackwright.nodelife.ledger import Ledger, SuiteResult
from rackwright.nodelife.slurm_nodes import PREFIX, NodeState
from rackwright.plan.model import Plan

REASON = f"{PREFIX}burn-in has not passed"
"""Reason in Slurm of nodes that wait for a burn-in; ``rackwright burn-in`` opens no others."""


def is_required(plan: Plan) -> bool:
    """Return True if the blueprint lets nodes take jobs only after a passed burn-in."""
    burn_in = plan.operations.burn_in if plan.operations else None
    return bool(burn_in and burn_in.required)


def validating_nodes(ledger: Ledger, states: Mapping[str, NodeState]) -> frozenset[str]:
    """Return the nodes that the repair loop has drained and emptied, and wants to be proven.

    They stay drained: the loop takes them back, by the result.
    """
    if not ledger.has("repair"):
        return frozenset()
    from rackwright.nodelife.repair.journal import Journal
    from rackwright.nodelife.repair.states import RepairState

    wanted = {one.node for one in Journal(ledger.connection).in_states([RepairState.VALIDATING])}
    return frozenset(name for name in wanted if name in states and is_empty(states[name]))


def is_empty(state: NodeState) -> bool:
    """Return True if a node is drained by Rackwright, answers, and has no job left."""
    words = set(state.state.upper().split("+"))
    drained = "DRAIN" in words and words & {"IDLE"} and "*" not in state.state
    return bool(drained) and (state.reason or "").startswith(PREFIX)


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
