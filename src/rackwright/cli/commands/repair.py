"""``repair``: the loop from fault to fixed, its journal, and links that degrade."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.telling import say
from rackwright.errors import ExternalToolError, UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted, json_text, visible

if TYPE_CHECKING:
    from rackwright.nodelife.repair.bmc import BmcPoller
    from rackwright.nodelife.repair.controller import RepairController
    from rackwright.nodelife.repair.watching import RecordingFolder
    from rackwright.plan.model import Plan

ACTIONS = {
    "run": "advance nodes with a fault by one step, once or in a loop",
    "pause": "pause the loop: no node is touched until 'go-on'",
    "go-on": "end a pause",
    "done": "confirm manual work that a node waits for",
    "journal": "print actions and states",
    "links": "list links that degrade, with both ends of the cable",
}


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``repair``."""
    from rackwright.cli.options.hosts import add_reach

    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    made = {name: actions.add_parser(name, help=text) for name, text in ACTIONS.items()}
    for name, action in made.items():
        if name == "done":
            action.add_argument("node", help="name of the node in Slurm")
            action.add_argument(
                "--text", required=True, help="description of the repair, like 'GPU 3 swapped'"
            )
        add_blueprint(action)
        action.add_argument(
            "--store", type=Path, metavar="FILE", help="journal (default: by cluster)"
        )
        action.add_argument("--json", action="store_true", help="as JSON")
    run = made["run"]
    add_reach(run)
    run.add_argument("--loop", type=float, metavar="SECONDS", help="repeat at this interval, in seconds")  # fmt: skip
    run.add_argument(
        "--dry-run", action="store_true", help="print the planned actions, and do nothing"
    )
    run.add_argument("--bmc", type=Path, metavar="FILE", help="management controllers of the nodes")
    run.add_argument(
        "--slurm", metavar="COMMAND", help="command prefix for scontrol and squeue, like 'ssh head-1'; '' for this machine"
    )  # fmt: skip
    run.add_argument("--on-node", metavar="COMMAND", help="command prefix for scripts on a node, like 'ssh {node}'")  # fmt: skip
    run.add_argument(
        "--validate", metavar="COMMAND", help="command that tests a repaired node, like 'rackwright burn-in site "
        "--limit {node}' (default: its health check)",
    )  # fmt: skip
    run.add_argument("--adopt", action="append", default=[], metavar="JOURNAL", help="repair the nodes of a lost journal, "
        "named by the last word of their reason in Slurm")  # fmt: skip
    for name in ("run", "links"):
        made[name].add_argument(
            "--recordings", type=Path, metavar="FOLDER", required=name == "links",
            help="folder of recordings: NODE/kernel.log, NODE/ports.txt, NODE/redfish.json, …",
        )  # fmt: skip
    made["journal"].add_argument("--node", help="of one node")


def run(arguments: argparse.Namespace) -> int:
    """Do what is asked for."""
    from rackwright.plan.load import load_plan

    plan = load_plan(arguments.blueprint, layers=tuple(arguments.layer)).plan
    match arguments.action:
        case "run":
            return _run(arguments, plan)
        case "links":
            return _links(arguments, plan)
        case "journal":
            return _journal(arguments, plan)
        case _:
            return _tell(arguments, plan)


def _store(arguments: argparse.Namespace, plan: Plan) -> Path:
    from rackwright.nodelife.store import store_path

    chosen: Path | None = arguments.store
    return store_path(plan.name) if chosen is None else chosen


def _run(arguments: argparse.Namespace, plan: Plan) -> int:
    from rackwright.ansible_runs.files import workspace
    from rackwright.locks import exclusive
    from rackwright.nodelife.repair.journal import PART, Journal
    from rackwright.nodelife.repair.watching import SteadyClock
    from rackwright.nodelife.store import open_store, sole_controller

    if plan.slurm is None:
        raise UsageError("the blueprint has no 'scheduler', so there is nothing to drain nodes in")
    if arguments.loop is not None and arguments.loop <= 0:
        raise UsageError("--loop is a number of seconds above 0")
    path = _store(arguments, plan)
    with ExitStack() as stack:
        stack.enter_context(sole_controller(path))
        connection = stack.enter_context(open_store(path, [PART]))
        if arguments.dry_run:
            from rackwright.nodelife.repair.dry import copy_in_memory

            connection = copy_in_memory(connection)
        journal = Journal(connection)
        clock = SteadyClock(journal)
        controller, folder_of, bmcs = _controller(arguments, plan, journal, path)
        by_ansible = arguments.slurm is None or arguments.on_node is None
        lock = workspace(plan.name).folder / "lock" if by_ansible else None
        while True:
            turn = (
                nullcontext()
                if lock is None
                else exclusive(lock, what=f"the configuration of '{plan.name}'")
            )
            try:
                with turn:
                    problem = _one_pass(controller, folder_of, bmcs, clock, dry=arguments.dry_run)
            except ExternalToolError as error:  # a change in waves has its turn
                problem = error.summary
            _print(arguments, controller, problem)
            for node, problems in bmcs.problems.items():
                say(f"not read of the BMC of {node}: {'; '.join(problems)}")
            if arguments.loop is None:
                break
            time.sleep(arguments.loop)
    return ExitCode.EXTERNAL if problem else ExitCode.CLEAN


def _one_pass(
    controller: RepairController,
    recordings: RecordingFolder | None,
    bmcs: BmcPoller,
    clock: object,
    *,
    dry: bool,
) -> str | None:
    """Make one pass; the reason it could not be made."""
    from rackwright.nodelife.repair.controller import PAUSED
    from rackwright.nodelife.repair.slurm_actuator import SlurmActuator
    from rackwright.nodelife.repair.watching import (
        SteadyClock,
        events_of_slurm,
        take_up_updates,
    )

    assert isinstance(clock, SteadyClock)  # noqa: S101 - imported late
    actuator = getattr(controller.actuator, "actuator", controller.actuator)
    assert isinstance(actuator, SlurmActuator)  # noqa: S101 - made below
    try:
        now = clock.now()  # before anything is read: what is written meanwhile is newer
        events = list(bmcs.events(controller.table, controller.journal, now))
        if recordings is not None:
            events += recordings.events(controller.table, controller.nodes, controller.journal)
        controller.switch_off(events, now)  # a leak does not wait for Slurm
        seen = actuator.slurm.update(controller.nodes, ())
        events += events_of_slurm(controller.table, seen.after)
        controller.run_pass(events, now)
        answers = take_up_updates(controller.table, seen.after)
        if answers and not dry and not controller.journal.setting(PAUSED):
            actuator.slurm.update([name for one in answers for name in one.names], answers)
    except ExternalToolError as error:
        return error.summary
    return None


def _controller(
    arguments: argparse.Namespace, plan: Plan, journal: object, path: Path
) -> tuple[RepairController, RecordingFolder | None, BmcPoller]:
    from rackwright.cli.options.hosts import ansible_hosts, connections, controllers
    from rackwright.nodelife.repair.access import (
        CommandsByAnsible,
        CommandsHere,
        NodeCommands,
        SlurmAccess,
        SlurmByAnsible,
        SlurmHere,
    )
    from rackwright.nodelife.repair.actuator import Actuator, Validator
    from rackwright.nodelife.repair.bmc import BmcPoller, read_bmcs
    from rackwright.nodelife.repair.budgets import limits_of
    from rackwright.nodelife.repair.controller import RepairController
    from rackwright.nodelife.repair.dry import DryActuator
    from rackwright.nodelife.repair.journal import Journal
    from rackwright.nodelife.repair.slurm_actuator import HealthCheckValidator, SlurmActuator
    from rackwright.nodelife.repair.watching import CommandValidator, RecordingFolder
    from rackwright.nodelife.signs.plan_parts import part_map, partitions_of
    from rackwright.plan.slurm.node_health import LIBRARY

    assert isinstance(journal, Journal)  # noqa: S101 - imported late
    slurm: SlurmAccess = SlurmHere(tuple(shlex.split(arguments.slurm or "")))
    commands: NodeCommands = CommandsHere(arguments.on_node or "")
    if arguments.slurm is None or arguments.on_node is None:
        from rackwright.ansible_runs.files import prepare

        hosts = ansible_hosts(arguments, plan)
        prepare(plan, hosts.place, connections(arguments.lab))
        if arguments.slurm is None:
            slurm = SlurmByAnsible(hosts, controllers(plan))
        if arguments.on_node is None:
            commands = CommandsByAnsible(hosts)
    bmcs = {} if arguments.bmc is None else read_bmcs(arguments.bmc)
    names = {host.name: host.inventory_name for host in plan.hosts}
    actuator: Actuator = SlurmActuator(slurm, commands, bmcs, names)
    validator: Validator = HealthCheckValidator(commands, LIBRARY, names)
    if arguments.validate is not None:
        validator = CommandValidator(tuple(shlex.split(arguments.validate)), path.parent / "validations")  # fmt: skip
    if arguments.dry_run:
        actuator = validator = DryActuator(actuator)
    repair = plan.operations.repair if plan.operations else None
    made = RepairController(
        plan.faults,
        journal,
        actuator,
        validator,
        limits_of(repair),
        partitions_of(plan),
        part_map(plan),
        wall=time.time,
        adopts=frozenset(arguments.adopt),
    )
    folder = arguments.recordings
    return made, None if folder is None else RecordingFolder(folder), BmcPoller(bmcs)


def _print(
    arguments: argparse.Namespace, controller: RepairController, problem: str | None
) -> None:
    from rackwright.nodelife.repair.states import RepairState

    records = controller.journal.in_states(set(RepairState) - {RepairState.HEALTHY})
    if problem is not None:
        say(f"nothing was done: {problem}")
    if arguments.json:
        document = {
            "schema": "rackwright.repair/v1",
            "dry_run": arguments.dry_run,
            "problem": problem,
            "done": controller.told,
            "shared": [str(shared) for shared in controller.shared],
            "nodes": [
                {"node": r.node, "state": r.state.value, "fault": r.fault, "waits": r.waits, "shared": r.incident}
                for r in records
            ],
        }  # fmt: skip
        sys.stdout.write(json_text(document))
    else:
        lines = [f"shared: {shared}" for shared in controller.shared]
        lines += [f"{'would: ' if arguments.dry_run else ''}{line}" for line in controller.told]
        lines.append(f"under repair: {counted(len(records), 'node')}")
        sys.stdout.write("\n".join(visible(line) for line in lines) + "\n")
    sys.stdout.flush()


def _tell(arguments: argparse.Namespace, plan: Plan) -> int:
    """Pause, go on, or take a person's word, while a loop may run.

    Raises:
        UsageError: the node does not wait for a person.
    """
    from rackwright.nodelife.repair.controller import PAUSED
    from rackwright.nodelife.repair.journal import PART, Journal
    from rackwright.nodelife.repair.tasks import finish_by_hand
    from rackwright.nodelife.store import open_store

    with open_store(
        _store(arguments, plan), [PART], create=arguments.action == "pause"
    ) as connection:
        journal = Journal(connection)
        if arguments.action == "done":
            if not finish_by_hand(journal, arguments.node, arguments.text, time.time()):
                raise UsageError(
                    f"'{visible(arguments.node)}' does not wait for a person",
                    hint="'rackwright repair journal' shows what each node waits for",
                )
            told = f"{arguments.node} is validated next"
        else:
            journal.set(PAUSED, arguments.action == "pause")
            told = "no node is touched until 'rackwright repair go-on'" if arguments.action == "pause" else "going on"  # fmt: skip
    sys.stdout.write(json_text({"schema": "rackwright.repair-word/v1", "text": told}) if arguments.json else f"{visible(told)}\n")  # fmt: skip
    return ExitCode.CLEAN


def _journal(arguments: argparse.Namespace, plan: Plan) -> int:
    from datetime import UTC, datetime

    from rackwright.nodelife.repair.journal import PART, Journal
    from rackwright.nodelife.store import open_store

    with open_store(_store(arguments, plan), [PART], create=False) as connection:
        rows = Journal(connection).log(arguments.node)
    data = [
        {
            "at": datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds"),
            "node": node,
            "text": text,
        }
        for at, node, text in rows
    ]
    if arguments.json:
        sys.stdout.write(json_text({"schema": "rackwright.repair-journal/v1", "entries": data}))
    else:
        for row in data:
            sys.stdout.write(visible(f"{row['at']} {row['node'] or '-'}: {row['text']}") + "\n")
    return ExitCode.CLEAN if data else ExitCode.NOTHING


def _links(arguments: argparse.Namespace, plan: Plan) -> int:
    from rackwright.nodelife.signs.links import link_health, link_work
    from rackwright.nodelife.signs.recordings import read_recording

    folder: Path = arguments.recordings
    if not folder.is_dir():
        raise UsageError(f"there is no folder '{folder}'")
    samples, problems = {}, []
    for path in sorted(folder.glob("*/ports*")):
        recording = read_recording({"ports": path.read_text("utf-8", errors="replace")})
        samples[path.parent.name] = recording.samples
        problems += [f"{path}: {problem}" for problem in recording.problems]
    links = link_health(plan.faults, samples)
    work = link_work(plan, links)
    if arguments.json:
        rows = [
            {"node": one.node, "port": one.port, "verdict": one.verdict, "text": one.text, "faults": list(one.reasons)}
            for one in links
        ]  # fmt: skip
        sys.stdout.write(json_text({"schema": "rackwright.links/v1", "links": rows, "work": [item.as_data() for item in work]}))  # fmt: skip
    else:
        for item in work:
            sys.stdout.write(visible(str(item)) + "\n")
        sys.stdout.write(f"{counted(len(links), 'link')}, {len(work)} of them degraded\n")
    for problem in problems:
        say(f"not read: {problem}")
    if problems:
        return ExitCode.UNKNOWN
    if not links:
        return ExitCode.NOTHING
    return ExitCode.VIOLATION if work else ExitCode.CLEAN
