"""``status --target hosts``: how the nodes of a cluster of bare metal are now."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.hosts import check_hosts, expectations, host_session
from rackwright.cli.options.telling import say
from rackwright.errors import RackwrightError, UsageError
from rackwright.exit_codes import ExitCode

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from rackwright.catalog.fault_table import FaultTable
    from rackwright.nodelife.ledger import Ledger
    from rackwright.nodelife.notify import NoticeFile
    from rackwright.nodelife.slurm_nodes import NodeState
    from rackwright.nodelife.status import SiteStatus
    from rackwright.nodelife.worklist import HandTask
    from rackwright.plan.model import Plan

_OF_HOSTS = ("inventory", "lab", "limit", "metrics", "notify")
DAYS = 30


def add_hosts_status(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the status of hosts."""
    group = parser.add_argument_group("nodes of bare metal, with '--target hosts'")
    group.add_argument(
        "--metrics", type=Path, metavar="FILE",
        help="write metrics for the text file collector of the node exporter, a .prom",
    )  # fmt: skip
    group.add_argument(
        "--notify", type=Path, metavar="FILE",
        help="send new work to the receivers in this file: chats, PagerDuty, a ticket command",
    )  # fmt: skip
    group.add_argument(
        "--days",
        type=int,
        default=DAYS,
        help=f"days over which incidents are counted (default: {DAYS})",
    )


def shows_hosts(arguments: argparse.Namespace) -> bool:
    """Return True if hosts are asked for, and not an AWS site.

    Raises:
        UsageError: an argument is for the other one.
    """
    if arguments.target == "hosts":
        return True
    given = [name for name in _OF_HOSTS if getattr(arguments, name)]
    if given:
        raise UsageError(f"--{given[0]} is for '--target hosts'")
    return False


def show_hosts(arguments: argparse.Namespace, plan: Plan) -> int:
    """Ask Slurm and the hosts, and show how they are; 0 where they answered, whatever they are.

    Raises:
        UsageError: the blueprint has no scheduler, ``--limit`` or ``--forks`` is wrong, or the lab
            reaches a host at another address than the one that is planned.
    """
    from rackwright.accept.compare import compare
    from rackwright.accept.run import collect
    from rackwright.nodelife.ledger import open_ledger
    from rackwright.nodelife.metrics import render_metrics
    from rackwright.nodelife.notify import NoticeFile
    from rackwright.nodelife.status import render_status_json, render_status_text, status_of
    from rackwright.nodelife.store import store_path
    from rackwright.reading.loader import load

    if plan.scheduler is None:
        raise UsageError(
            "the blueprint has no 'scheduler', so there are no nodes to show",
            hint="describe the Slurm cluster under 'scheduler:'",
        )
    check_hosts(arguments)
    if arguments.days < 1:
        raise UsageError("--days is at least 1")
    places = None if arguments.notify is None else load(arguments.notify, NoticeFile).value
    expected = expectations(arguments, plan)
    nodes = [host.node for host in expected.values() if host.node is not None]
    with host_session(arguments, plan) as session:
        seen = session.executor(expected).update(nodes, [])
        answers = collect(session.hosts, list(expected.values()), limit=arguments.limit)
    asked = [host for name, host in expected.items() if name in answers.tally.hosts]
    acceptance = compare(asked, answers.facts, answers.unreachable)
    status = status_of(plan, seen.after, acceptance, answers.unreachable)
    now = time.time()
    with open_ledger(store_path(plan.name)) as ledger:
        status = _with_history(plan, status, seen.after, ledger, now, arguments.days)
        failures = [] if places is None else list(_notify(places, status, ledger, now))
        suites = list(ledger.suites().values())
    if arguments.metrics is not None:
        _write_metrics(arguments.metrics, render_metrics(status, suites, now))
    sys.stdout.write((render_status_json if arguments.json else render_status_text)(status))
    for line in failures:
        say(line)
    return ExitCode.EXTERNAL if failures else ExitCode.CLEAN


def _with_history(
    plan: Plan,
    status: SiteStatus,
    nodes: Mapping[str, NodeState],
    ledger: Ledger,
    now: float,
    days: int,
) -> SiteStatus:
    """Record which nodes are out of service, and return the status with tasks and figures."""
    from dataclasses import replace

    from rackwright.nodelife.burnin.gate import REASON
    from rackwright.nodelife.service import cause_of, service_figures
    from rackwright.nodelife.status import tasks_of
    from rackwright.nodelife.worklist import worklist

    repairs, tasks, faults = _under_repair(ledger, plan.faults, now)
    for name, reason in status.reasons.items():
        if reason != REASON:
            ledger.open_incident(name, faults.get(name) or cause_of(reason), now)
    for name, node in nodes.items():
        if node.takes_jobs:
            ledger.close_incident(name, now)
    total = sum(map(len, status.states.values())) + len(status.missing)
    begin = max(now - days * 86400, ledger.began() or now)
    figures = service_figures(ledger.incidents(begin), total, begin, now)
    work = worklist(plan, tasks_of(status, tasks))
    return replace(status, repairs=repairs, work=work, service=figures)


def _under_repair(
    ledger: Ledger, table: FaultTable, now: float
) -> tuple[dict[str, str], list[HandTask], dict[str, str]]:
    """Return the state of each node under repair, the tasks for hands, and the fault of each node, by the journal.

    A cluster without a repair loop has no journal.
    """
    if not ledger.has("repair"):
        return {}, [], {}
    from rackwright.nodelife.repair.journal import Journal
    from rackwright.nodelife.repair.tasks import hand_task, shared_tasks, watched_tasks

    journal = Journal(ledger.connection)
    repairs: dict[str, str] = {}
    tasks: list[HandTask] = [*shared_tasks(journal), *watched_tasks(journal, table, now)]
    faults: dict[str, str] = {}
    for name, record in sorted(journal.nodes.items()):
        if record.state == "healthy":
            continue
        words = [
            word for word in (record.fault, record.device, record.incident, record.waits) if word
        ]
        repairs[name], faults[name] = f"{record.state}: {', '.join(words)}", record.fault
        if (task := hand_task(journal, table, ledger, record)) is not None:
            tasks.append(task)
    return repairs, tasks, faults


def _notify(places: NoticeFile, status: SiteStatus, ledger: Ledger, now: float) -> Iterator[str]:
    """Tell each place of what it does not know; yield the places that could not be told."""
    from rackwright.nodelife.notify import notices, send

    for place in places.places:

        def told(key: str, known: bool, name: str = place.name) -> None:  # noqa: FBT001
            ledger.note_notice(name, key, now if known else None)

        found = notices(status.work, ledger.notices(place.name))
        if (why := send(place, status.cluster, found, told)) is not None:
            yield f"'{place.name}' was not told: {why}"


def _write_metrics(path: Path, text: str) -> None:
    """Write the metrics at once, so that the collector never reads half of them.

    Raises:
        RackwrightError: they cannot be written.
    """
    from rackwright.files import write_changed

    try:
        write_changed(path, text)
        path.chmod(0o644)  # the collector has a user of its own
    except OSError as error:
        raise RackwrightError(f"'{path}' cannot be written: {error.strerror}") from None
