"""Nodes that ``configure`` keeps out of service until their burn-in has passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rackwright.cli.options.hosts import controllers
from rackwright.cli.options.telling import say

if TYPE_CHECKING:
    from rackwright.ansible_runs.hosts import AnsibleHosts
    from rackwright.plan.model import Plan


def hold_untested(plan: Plan, hosts: AnsibleHosts) -> None:
    """Drain the nodes in service that have no passed burn-in, where the blueprint requires one.

    Raises:
        ExternalToolError: Slurm does not answer.
    """
    from rackwright.model.names import compress_hostlist
    from rackwright.nodelife.burnin.gate import REASON, is_required, waiting_nodes
    from rackwright.nodelife.burnin.groups import nodes_of
    from rackwright.nodelife.ledger import open_ledger
    from rackwright.nodelife.slurm_nodes import drain
    from rackwright.nodelife.store import store_path
    from rackwright.rollout.executor import AnsibleExecutor

    if not is_required(plan):
        return
    names = [node.name for node in nodes_of(plan)]
    with open_ledger(store_path(plan.name)) as ledger:
        suites = ledger.suites()
    executor = AnsibleExecutor(hosts, controllers(plan), {})
    held = waiting_nodes(names, executor.update(names, []).after, suites)
    if held:
        executor.update(held, [drain(held, REASON)])
        say(
            f"without a passed burn-in, drained: {compress_hostlist(held)}; run 'rackwright burn-in'"
        )
