"""A change that replaces the machines of hosts, or removes them: what it does beside the change of their configuration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from rackwright.nodelife.slurm_nodes import NodesSeen, NodeUpdate
from rackwright.rollout.rollout import RolloutExecutor

Step = Callable[[Sequence[str]], Mapping[str, str]]
"""Does something to hosts; returns those for which it fails, with the reason."""


@dataclass
class ReplacementExecutor:
    """Gives hosts other machines, and configures these.

    Attributes:
        executor: configures and verifies the hosts, and tells Slurm things.
        renew: ends the machines of hosts, and waits for others.
        reach: waits until hosts can be logged in to.
        nodes: names in Slurm of the hosts that run jobs.
    """

    executor: RolloutExecutor
    renew: Step
    reach: Step
    nodes: Mapping[str, str]

    def update(self, nodes: Collection[str], updates: Sequence[NodeUpdate]) -> NodesSeen:
        """Update nodes in Slurm; how they are before and after."""
        return self.executor.update(nodes, updates)

    def change(self, hosts: Sequence[str], tags: Sequence[str]) -> Mapping[str, str]:
        """Replace and configure hosts; those that did not get to the end, with the reason."""
        failed: dict[str, str] = {}
        steps = (
            self.renew,
            self.reach,
            self._look_up,
            lambda left: self.executor.change(left, tags),
        )
        for step in steps:
            if left := [host for host in hosts if host not in failed]:
                failed |= step(left)
        return failed

    def _look_up(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """Let the controller look up addresses again, which it keeps from when it has read its files.

        slurmctld does so for a node that is given an address (``scontrol update NodeAddr``).
        """
        nodes = [self.nodes[host] for host in hosts if host in self.nodes]
        if nodes:
            updates = [NodeUpdate((node,), " State=", (f"NodeAddr={node}",)) for node in nodes]
            self.executor.update(nodes, updates)
        return {}

    def accept(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """Compare hosts with the blueprint; those that do not pass, with the reason."""
        return self.executor.accept(hosts)


@dataclass
class RemovalExecutor:
    """Ends the machines of hosts that the blueprint has no more.

    Attributes:
        executor: tells Slurm things.
        end: ends the machines of hosts.
    """

    executor: RolloutExecutor
    end: Step

    def update(self, nodes: Collection[str], updates: Sequence[NodeUpdate]) -> NodesSeen:
        """Update nodes in Slurm; how they are before and after."""
        return self.executor.update(nodes, updates)

    def change(self, hosts: Sequence[str], _tags: Sequence[str]) -> Mapping[str, str]:
        """End the machines of hosts; those that are still there, with the reason."""
        return self.end(hosts)

    def accept(self, _hosts: Sequence[str]) -> Mapping[str, str]:
        """Compare nothing: there is no other node."""
        return {}
