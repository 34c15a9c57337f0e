"""The all-reduce of nccl-tests on nodes of the cluster, in allocations of Slurm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rackwright.accept.all_reduce import FACT, RankGroup, across_name, expectations, facts_of
from rackwright.accept.compare import HostAcceptance, ItemOutcome, compare_item
from rackwright.accept.run import Answers
from rackwright.ansible_runs.events import TaskResults
from rackwright.ansible_runs.hosts import AnsibleHosts

TASK = "Run the all-reduce"
"""Name of the task in the role ``acceptance`` that runs the program."""

HOSTS = "all_reduce"
"""Group of the hosts that run it, in the playbook."""


class AllReduceResults(TaskResults):
    """Results of the program by host."""

    def facts(self, host: str) -> dict[str, Any]:
        """Return the result of one host as facts, with the reason where there is none."""
        if host in self.found:
            return facts_of(self.found[host])
        return {FACT: None, "problems": {FACT: self.reason(host)}}


def run_all_reduce(
    hosts: AnsibleHosts, requests: Mapping[str, Mapping[str, Any]], reservation: str = ""
) -> AllReduceResults:
    """Run the all-reduce once from each host of ``requests``, over the nodes that its request names."""
    results = AllReduceResults(TASK)
    if requests:
        asked = {name: {"acceptance_all_reduce": request} for name, request in requests.items()}
        hosts.play(
            "all_reduce.yml",
            results.take,
            asked={HOSTS: {"hosts": asked}},
            variables={"acceptance_reservation": reservation} if reservation else None,
        )
    return results


def measure(
    hosts: AnsibleHosts, groups: Sequence[RankGroup], answers: Answers
) -> tuple[HostAcceptance, ...]:
    """Run the all-reduce on each node that has answered, then across those that are good at it.

    The results of nodes become facts of ``answers``. Those of the groups, of two nodes or more, are
    returned. A node that is busy gives no result: nobody's job is touched.
    """
    alone = run_all_reduce(
        hosts,
        {
            host: {"nodes": [node], "accelerators": group.accelerators}
            for group in groups
            for node, host in group.hosts.items()
            if host in answers.facts
        },
    )
    chosen = {}
    for group in groups:
        good = []
        for node, host in group.hosts.items():
            if host in answers.facts:
                facts = alone.facts(host)
                answers.facts[host] = _merged(answers.facts[host], facts)
                if _is_good(group, facts):
                    good.append(node)
        if len(good) > 1:
            chosen[group] = good
    first = {group: group.hosts[nodes[0]] for group, nodes in chosen.items()}
    together = run_all_reduce(
        hosts,
        {
            first[group]: {"nodes": nodes, "accelerators": group.accelerators}
            for group, nodes in chosen.items()
        },
    )
    return tuple(
        HostAcceptance(
            across_name(group, nodes),
            None,
            tuple(
                compare_item(item, together.facts(first[group]))
                for item in expectations(group.across)
            ),
        )
        for group, nodes in chosen.items()
    )


def _merged(facts: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    problems = {**(facts.get("problems") or {}), **more.get("problems", {})}
    return {**facts, **more, "problems": problems}


def _is_good(group: RankGroup, facts: Mapping[str, Any]) -> bool:
    """Return True if the node is worth measuring with others: a bad one would hide their links."""
    outcomes = {compare_item(item, facts).outcome for item in expectations(group.node)}
    known = facts.get(FACT) is not None
    return known and ItemOutcome.FAIL not in outcomes
