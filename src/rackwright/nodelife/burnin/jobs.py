"""Jobs of Slurm for the suite, started by Ansible on the nodes themselves."""

from __future__ import annotations

import base64
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.accept.benchmark import run_all_reduce
from rackwright.ansible_runs.events import Tally, TaskResults
from rackwright.ansible_runs.hosts import AnsibleHosts, failure_of
from rackwright.errors import ExternalToolError
from rackwright.nodelife.burnin.groups import BurnInNode
from rackwright.nodelife.burnin.results import read_output
from rackwright.resources import bundled

TASK = "Run the burn-in"
"""Name of the task in the role ``acceptance`` that runs the program."""
RESERVATION = "rackwright-burn-in"
MODULES = ("programs", "arithmetic", "checks", "node_parts", "burn_in")
"""Modules of the program, each behind those that it imports."""
OTHER_STEPS = 4
"""Steps besides products that may take as long as they do: cores, memory, storage, copies."""


def program() -> str:
    """Return the program as one text that Python runs from standard input."""
    folder = bundled("roles") / "acceptance/files/burn_in"
    sources = {name: (folder / f"{name}.py").read_text(encoding="utf-8") for name in MODULES}
    return (
        "import sys, types\n"
        f"for name, text in {sources!r}.items():\n"
        "    sys.modules[name] = types.ModuleType(name)\n"
        "    exec(compile(text, name, 'exec'), sys.modules[name].__dict__)\n"
        "sys.modules['burn_in'].main(sys.argv[1:])\n"
    )


def longest_minutes(request: Mapping[str, Any]) -> int:
    """Return the time limit of the job of one node, in min, with half an hour for what has no limit of its own."""
    cycles = max(1, int(request.get("cycles", 1)))
    cycle = float(request.get("seconds", 10)) * OTHER_STEPS + float(request.get("rest_s", 0))
    level = {0: 0, 1: 5, 2: 10, 3: 30, 4: 150}[int(request.get("dcgm_level", 0))]
    seconds = max(cycles * cycle, float(request.get("duration_s", 0)) + cycle)
    return math.ceil(seconds / 60) + level + 30


def _report(outputs: TaskResults, node: BurnInNode) -> dict[str, Any] | str:
    """Return the report of a node, or the reason why there is none."""
    result = outputs.found.get(node.host)
    if result is None:
        return outputs.reason(node.host)
    # A host name of the system may differ from the name in Slurm; a job of one node has one report.
    reports = read_output(str(result.get("stdout") or ""))
    if len(reports) == 1:
        (report,) = reports.values()
        return report if isinstance(report, str) else {**report, "node": node.name}
    words = " ".join(str(result.get("stderr") or result.get("msg") or "").split())
    return words[-200:] or f"it ended with {result.get('rc')} and no report"


@dataclass
class SlurmJobs:
    """Runs jobs on nodes, each started from the node itself (:class:`rackwright.nodelife.burnin.suite.Jobs`)."""

    hosts: AnsibleHosts
    reservation: str = ""
    direct: Collection[str] = ()
    """Nodes that are drained for their repair: the program runs there without a job, which Slurm would not start."""

    def load(self, nodes: Sequence[BurnInNode], request: Mapping[str, Any]) -> Mapping[str, dict[str, Any] | str]:  # fmt: skip
        """Run the program on each node at the same time, as far as ``forks`` go."""
        if not nodes:
            return {}
        asked = {
            node.host: {
                "acceptance_burn_in": {
                    "node": node.name,
                    "accelerators": node.accelerators,
                    "request": dict(request),
                    "direct": node.name in self.direct,
                }
            }
            for node in nodes
        }
        outputs = TaskResults(TASK)
        self.hosts.play(
            "burn_in.yml",
            outputs.take,
            asked={"burn_in": {"hosts": asked}},
            variables={
                "acceptance_burn_in_program": base64.b64encode(program().encode()).decode(),
                "acceptance_burn_in_minutes": longest_minutes(request),
                "acceptance_reservation": self.reservation,
            },
        )
        return {node.name: _report(outputs, node) for node in nodes}

    def all_reduce(self, groups: Sequence[Sequence[BurnInNode]]) -> Sequence[Mapping[str, Any]]:
        """Run the all-reduce over each group, those without a common node at the same time."""
        results = run_all_reduce(
            self.hosts,
            {
                group[0].host: {
                    "nodes": [node.name for node in group],
                    "accelerators": group[0].accelerators,
                }
                for group in groups
            },
            self.reservation,
        )
        return [results.facts(group[0].host) for group in groups]

    def reserve(self, controller: str, nodes: str, minutes: int) -> None:
        """Keep nodes from other jobs; an empty ``nodes`` gives them back.

        Raises:
            ExternalToolError: the controller does not do it.
        """
        tally = Tally()
        done = self.hosts.play(
            "reservation.yml",
            tally.take,
            variables={
                "reservation_controller": controller,
                "reservation_name": RESERVATION,
                "reservation_nodes": nodes,
                "reservation_minutes": minutes,
            },
        )
        if (why := failure_of(done, tally)) is not None:
            raise ExternalToolError(
                f"the nodes are not reserved: {why}",
                hint=f"look at it on '{controller}': scontrol show reservation {RESERVATION}",
            )
        self.reservation = RESERVATION if nodes else ""
