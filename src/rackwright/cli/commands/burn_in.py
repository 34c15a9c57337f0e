"""``burn-in``: load nodes, check every result, and find the slow ones in groups that grow."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.hosts import add_hosts, check_hosts, expectations, host_session
from rackwright.cli.options.output_files import OutputFile, add_outputs
from rackwright.cli.options.outputs import write_file
from rackwright.cli.options.telling import say, tell_progress
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rackwright.nodelife.burnin.groups import BurnInNode, GroupKind
    from rackwright.nodelife.burnin.jobs import SlurmJobs
    from rackwright.nodelife.burnin.limits import RateFloor
    from rackwright.nodelife.burnin.suite import GroupResult, NodeResult, Suite, SuiteRequest
    from rackwright.nodelife.ledger import Ledger
    from rackwright.nodelife.slurm_nodes import NodeState
    from rackwright.plan.model import Plan
    from rackwright.rollout.executor import AnsibleExecutor

STEPS = ("cpu", "dimm", "storage", "gemm", "memory", "copy", "dcgm")
FILES = OutputFile(
    {"text": (".txt",), "markdown": (".md",), "json": (".json",), "layer": (".yaml", ".yml")}
)
LAB_REQUEST = {"seconds": 0, "size": 64, "calls": 12_000, "dimm_mib": 32, "storage_mib": 4}
"""Load on hosts of a lab, which share the processors and the memory of one machine."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``burn-in``."""
    add_blueprint(parser)
    add_hosts(parser)
    parser.add_argument(
        "--groups",
        metavar="KINDS",
        default="node",
        help="node, pair, rack, leaf, hall, separated by commas: sizes of groups that run together, smallest first (default: node)",
    )
    parser.add_argument(
        "--steps",
        metavar="STEPS",
        default=",".join(STEPS[:-1]),
        help=f"load on each node (default: all of {', '.join(STEPS)} but the last)",
    )
    parser.add_argument(
        "--seconds", type=int, default=60, help="time of each step in a cycle (default: 60)"
    )
    parser.add_argument(
        "--duration",
        metavar="TIME",
        help="repeat the cycle for this time, like '72 h' (default: one cycle)",
    )
    parser.add_argument(
        "--rest", metavar="TIME", help="pause between cycles, for the hardware to cool down"
    )
    parser.add_argument("--storage", metavar="FOLDER", default="/var/tmp", help="folder on the nodes for the storage test (default: /var/tmp)")  # noqa: S108 # nosec B108 # fmt: skip
    parser.add_argument(
        "--dcgm", type=int, choices=range(1, 5), help="also run this level of DCGM diagnostics"
    )
    parser.add_argument(
        "--floors", type=Path, action="append", default=[], metavar="FILE",
        help="further minimum values, each with its source; repeatable",
    )  # fmt: skip
    parser.add_argument("--drain", action="store_true", help="drain the nodes that fail in Slurm, with the reason")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    add_outputs(
        parser, FILES, "write the report to a file as well (a layer states the results for OPS-004)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Burn nodes in; 0 only when everything passes, 5 on a failure, 6 on just unknowns.

    Raises:
        UsageError: the blueprint has no nodes of Slurm, or an argument is wrong.
    """
    from rackwright.accept.run import collect
    from rackwright.nodelife.burnin.groups import nodes_of
    from rackwright.nodelife.burnin.jobs import SlurmJobs
    from rackwright.nodelife.burnin.limits import read_floors
    from rackwright.nodelife.burnin.report import render_json, render_text
    from rackwright.nodelife.burnin.suite import SuiteRequest, record
    from rackwright.nodelife.ledger import open_ledger, parts_of_facts
    from rackwright.nodelife.store import store_path
    from rackwright.plan.load import load_plan

    check_hosts(arguments)
    groups, request = _groups(arguments.groups), _request(arguments)
    floors = read_floors(arguments.floors)
    plan = load_plan(arguments.blueprint, layers=tuple(arguments.layer)).plan
    nodes = nodes_of(plan)
    if not nodes:
        raise UsageError(
            "the blueprint has no nodes of Slurm, so there is nothing to burn in",
            hint="describe the Slurm cluster under 'scheduler:'",
        )
    expected = expectations(arguments, plan)
    with host_session(arguments, plan) as session, open_ledger(store_path(plan.name)) as ledger:
        executor = session.executor(expected)
        states = executor.update([node.name for node in nodes], []).after
        answers = collect(session.hosts, list(expected.values()), limit=arguments.limit)
        now = time.time()
        serials: dict[str, Mapping[str, str]] = {}
        for node in nodes:
            if (facts := answers.facts.get(node.host)) is not None:
                for move in ledger.see(node.name, parts_of_facts(facts), now):
                    say(str(move))
                listed = (facts.get("parts") or {}).get("gpu") or []
                serials[node.name] = {one["uuid"]: one["serial"] for one in listed if "uuid" in one}
        chosen = [node for node in nodes if node.host in answers.tally.hosts]
        tests = _Session(arguments, plan, executor, SlurmJobs(session.hosts), states)
        asked = SuiteRequest(groups, request, _across(plan), arguments.lab is not None)
        suite = tests.run(chosen, answers.unreachable, asked, ledger, floors, serials)
        record(suite, ledger)
    for output in arguments.output:
        write_file(output.path, _rendered(output.form, suite))
    sys.stdout.write(render_json(suite) if arguments.json else render_text(suite))
    codes = {"pass": ExitCode.CLEAN, "fail": ExitCode.VIOLATION, "unknown": ExitCode.UNKNOWN}
    return codes[str(suite.verdict)]


class _Session:
    """Nodes under test: opened where they wait for a burn-in, closed again if they fail."""

    def __init__(
        self,
        arguments: argparse.Namespace,
        plan: Plan,
        executor: AnsibleExecutor,
        jobs: SlurmJobs,
        states: Mapping[str, NodeState],
    ) -> None:
        self.arguments, self.plan, self.executor = arguments, plan, executor
        self.jobs, self.states = jobs, states

    def run(
        self,
        chosen: Sequence[BurnInNode],
        unreachable: Mapping[str, str],
        asked: SuiteRequest,
        ledger: Ledger,
        floors: Sequence[RateFloor],
        serials: Mapping[str, Mapping[str, str]],
    ) -> Suite:
        """Run the suite; the nodes that may take jobs do so afterwards, the others are drained."""
        from rackwright.nodelife.burnin.gate import validating_nodes
        from rackwright.nodelife.burnin.suite import NodeResult, Suite, run_groups, run_nodes

        began = time.time()
        self.jobs.direct = validating_nodes(ledger, self.states)
        lost = [self._lost(node, unreachable) for node in chosen]
        ready = [node for node, why in zip(chosen, lost, strict=True) if why is None]
        waiting = [node.name for node in ready if self._waits(node)]
        request = asked.request
        results: list[NodeResult] = []
        made: list[GroupResult] = []
        try:
            self._open(ready, waiting, request)
            results = run_nodes(ready, self.jobs, ledger, floors, asked, serials)
            shared = [node for node in ready if node.name not in self.jobs.direct]
            made = run_groups(self.plan, shared, results, self.jobs, asked, tell_progress)
        finally:
            self._close(results, waiting)
        for node, why in zip(chosen, lost, strict=True):
            if why is not None:
                results.append(NodeResult(node, problems={"node": why}))
        hours = max(float(request["duration_s"]), float(request["seconds"])) / 3600
        return Suite(
            self.plan.name,
            began,
            time.time(),
            round(hours, 4),
            tuple(results),
            tuple(made),
            asked.lab,
        )

    def _lost(self, node: BurnInNode, unreachable: Mapping[str, str]) -> str | None:
        """Return the reason why a node cannot run a job; None if it can."""
        from rackwright.nodelife.status import plain_state

        if node.host in unreachable:
            return f"it does not answer: {unreachable[node.host]}"
        state = self.states.get(node.name)
        if state is None:
            return "Slurm does not know it"
        if state.takes_jobs or self._waits(node) or node.name in self.jobs.direct:
            return None
        return f"out of service: {state.reason or plain_state(state.state)}"

    def _waits(self, node: BurnInNode) -> bool:
        from rackwright.nodelife.burnin.gate import REASON

        state = self.states.get(node.name)
        return state is not None and not state.takes_jobs and state.reason == REASON

    def _open(self, ready: Sequence[BurnInNode], waiting: Sequence[str], request: Mapping[str, object]) -> None:  # fmt: skip
        """Let nodes that wait run the suite's jobs, and no others."""
        from rackwright.model.names import compress_hostlist
        from rackwright.nodelife.burnin.gate import REASON
        from rackwright.nodelife.burnin.jobs import longest_minutes
        from rackwright.nodelife.slurm_nodes import give_back

        if waiting:
            names = compress_hostlist([n.name for n in ready if n.name not in self.jobs.direct])
            self.jobs.reserve(self.executor.controllers[0], names, 2 * longest_minutes(request))
            self.executor.update(waiting, [give_back(waiting, [REASON])])

    def _close(self, results: Sequence[NodeResult], waiting: Sequence[str]) -> None:
        """Drain the nodes that may take no jobs, and end the reservation afterwards."""
        from rackwright.nodelife.burnin.gate import REASON
        from rackwright.nodelife.slurm_nodes import drain, reason

        passed = {one.node.name for one in results if one.verdict == "pass"}
        failed = {one.node.name: one.reasons for one in results if one.verdict == "fail"}
        updates = [
            drain([name], reason(f"burn-in: {failed[name][0]}"))
            for name in failed
            if (self.arguments.drain or name in waiting) and name not in self.jobs.direct
        ]
        if left := [name for name in waiting if name not in passed and name not in failed]:
            updates.append(drain(left, REASON))
        if updates:
            self.executor.update(sorted({name for one in updates for name in one.names}), updates)
        if self.jobs.reservation:
            self.jobs.reserve(self.executor.controllers[0], "", 0)


def _across(plan: Plan) -> dict[str, float | None]:
    """Return the least bus bandwidth across nodes by node group, in GB/s."""
    operations = plan.operations
    return {
        one.group: None if one.across is None else one.across / 1000
        for one in (operations.all_reduce if operations else ())
    }


def _groups(text: str) -> tuple[GroupKind, ...]:
    """Return the kinds of groups in an argument.

    Raises:
        UsageError: one is none.
    """
    from rackwright.nodelife.burnin.groups import KINDS

    wanted = {word.strip() for word in text.split(",")}
    if unknown := sorted(wanted - set(KINDS)):
        raise UsageError(
            f"'{unknown[0]}' is not a kind of group", hint=f"one of {', '.join(KINDS)}"
        )
    return tuple(kind for kind in KINDS if kind in wanted)


def _request(arguments: argparse.Namespace) -> dict[str, object]:
    """Return the request to the program on the nodes.

    Raises:
        UsageError: a step or a time is wrong.
    """
    steps = [word.strip() for word in arguments.steps.split(",")]
    if arguments.dcgm and "dcgm" not in steps:
        steps.append("dcgm")
    if unknown := sorted(set(steps) - set(STEPS)):
        raise UsageError(f"'{unknown[0]}' is no step", hint=f"one of {', '.join(STEPS)}")
    if arguments.seconds < 1:
        raise UsageError("--seconds is at least 1")
    request: dict[str, object] = {
        "steps": steps,
        "seconds": arguments.seconds,
        "duration_s": _seconds("--duration", arguments.duration),
        "rest_s": _seconds("--rest", arguments.rest),
        "folder": arguments.storage,
        "dcgm_level": arguments.dcgm or 0,
    }
    return {**request, **(LAB_REQUEST if arguments.lab is not None else {})}


def _seconds(option: str, text: str | None) -> float:
    """Return a time of an option, in s; 0 without one.

    Raises:
        UsageError: it is none.
    """
    from rackwright.model.units import DURATION

    if text is None:
        return 0.0
    try:
        return float(DURATION.parse(text))
    except ValueError as error:
        raise UsageError(f"{option}: {error}", hint="for example '72 h'") from None


def _rendered(form: str, suite: Suite) -> str:
    from rackwright.nodelife.burnin import report

    render = {
        "text": report.render_text,
        "markdown": report.render_markdown,
        "json": report.render_json,
        "layer": report.render_layer,
    }
    return render[form](suite)
