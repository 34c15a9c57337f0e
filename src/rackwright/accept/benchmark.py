"""The all-reduce of nccl-tests on nodes of the cluster, in allocations of Slurm."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rackwright.accept.all_reduce import FACT, RankGroup, across_name, expectations, facts_of
from rackwright.accept.compare import HostAcceptance, ItemOutcome, compare_item
from rackwright.accept.run import Answers, play
from rackwright.ansible_runs.events import Tally
from rackwright.ansible_runs.files import Workspace

TASK = "Run the all-reduce"
"""Name of the task in the role ``acceptance`` that runs the program."""

HOSTS = "all_reduce"
"""Group of the hosts that run it, in the playbook."""


@dataclass
class _Results:
    """Results of the program by host."""

    found: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)

    def take(self, event: Mapping[str, Any]) -> str | None:
        line = self.tally.take(event)
        data = event.get("event_data", {})
        if event.get("event") == "runner_on_ok" and data.get("task") == TASK:
            self.found[str(data.get("host", ""))] = data.get("res") or {}
        return line

    def facts(self, host: str) -> dict[str, Any]:
        if host in self.found:
            return facts_of(self.found[host])
        result = self.tally.hosts.get(host)
        why = result.failure if result is not None else None
        return {FACT: None, "problems": {FACT: why or "it was not run"}}


def measure(
    place: Workspace,
    groups: Sequence[RankGroup],
    answers: Answers,
    *,
    forks: int,
    inventories: Sequence[Path],
    say: Callable[[str], None],
) -> tuple[HostAcceptance, ...]:
    """Run the all-reduce on each node that has answered, then across those that are good at it.

    The results of nodes become facts of ``answers``. Those of the groups, of two nodes or more, are
    returned. A node that is busy gives no result: nobody's job is touched.
    """

    def run(requests: Mapping[str, Mapping[str, Any]]) -> _Results:
        results = _Results()
        if requests:
            file = place.folder / "inventory/all_reduce.json"
            hosts = {name: {"acceptance_all_reduce": request} for name, request in requests.items()}
            file.write_text(json.dumps({HOSTS: {"hosts": hosts}}), encoding="utf-8")
            listed = [place.inventory, file, *inventories]
            play(place, "all_reduce.yml", listed, results.take, say, forks=forks)
        return results

    alone = run(
        {
            host: {"nodes": [node], "accelerators": group.accelerators}
            for group in groups
            for node, host in group.hosts.items()
            if host in answers.facts
        }
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
    together = run(
        {
            first[group]: {"nodes": nodes, "accelerators": group.accelerators}
            for group, nodes in chosen.items()
        }
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
