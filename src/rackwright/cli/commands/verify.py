"""``verify``: compare what was built with what was meant; a cluster is up when it passes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.hosts import (
    add_cluster,
    add_hosts,
    check_hosts,
    controllers,
    host_session,
)
from rackwright.cli.options.output_files import OutputFile, add_outputs
from rackwright.cli.options.outputs import write_file
from rackwright.cli.options.telling import say
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rackwright.accept.compare import Acceptance, HostAcceptance
    from rackwright.accept.run import Answers
    from rackwright.plan.model import Plan


FILES = OutputFile({"text": (".txt",), "json": (".json",), "junit": (".xml",)})


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``verify``."""
    add_blueprint(parser)
    add_hosts(parser)
    add_cluster(parser)
    parser.add_argument(
        "--all-reduce",
        action="store_true",
        help="also run the all-reduce of nccl-tests on idle nodes, alone and together",
    )
    parser.add_argument(
        "--cables",
        type=Path,
        metavar="FILE",
        action="append",
        default=[],
        help="also verify the cables of all switches and the rates of their links, from output of ibnetdiscover, "
        "ibdiagnet, UFM or LLDP as for 'fabric compare'; repeatable",
    )
    parser.add_argument(
        "--managers",
        type=Path,
        metavar="FILE",
        help="also query the fabric managers in the file (UFM, NMX) for their state",
    )
    parser.add_argument("--json", action="store_true", help="print every item as JSON")
    add_outputs(parser, FILES, "write the result to a file as well")
    parser.add_argument(
        "--drain", action="store_true", help="drain the nodes that fail in Slurm, with the reason"
    )


def run(arguments: argparse.Namespace) -> int:
    """Verify the hosts; 0 only when everything passes, 5 on a failure, 6 on just unknowns."""
    from dataclasses import replace

    from rackwright.accept.all_reduce import groups, with_all_reduce
    from rackwright.accept.benchmark import measure
    from rackwright.accept.compare import compare, to_drain
    from rackwright.accept.expected import NOT_IN_A_LAB, expect
    from rackwright.accept.report import render_json, render_junit, render_text
    from rackwright.accept.run import collect, drain
    from rackwright.plan.load import load_plan

    check_hosts(arguments)
    loaded = load_plan(arguments.blueprint, layers=tuple(arguments.layer))
    plan = loaded.cluster_at(arguments.site).plan
    controller = controllers(plan)[0] if arguments.drain else None
    measured = groups(plan) if arguments.all_reduce else ()
    expected = with_all_reduce(expect(plan, lab=arguments.lab is not None), measured)
    switches: tuple[HostAcceptance, ...] = ()
    if arguments.cables:
        from rackwright.accept.cables import judge_switches

        switches = judge_switches(plan, arguments.cables)
    if arguments.managers is not None or (arguments.lab is None and arguments.limit is None):
        from rackwright.accept.fabric_managers import judge_managers

        switches += judge_managers(plan, arguments.managers)
    drained: Mapping[str, str] = {}
    with host_session(arguments, plan) as session:
        answers = collect(session.hosts, expected, limit=arguments.limit)
        _record_parts(plan, answers)
        together = measure(session.hosts, measured, answers)
        asked = [host for host in expected if host.name in answers.tally.hosts]
        judged = asked if arguments.limit is not None else expected
        acceptance = compare(judged, answers.facts, answers.unreachable)
        acceptance = replace(acceptance, hosts=(*acceptance.hosts, *together, *switches))
        if controller is not None and (drained := to_drain(acceptance)):
            _report_before_drain(acceptance)
            drain(replace(session.hosts, say=say), controller, drained)
    left_out = NOT_IN_A_LAB if arguments.lab is not None else frozenset()
    texts = {
        "text": lambda: render_text(acceptance, left_out, drained),
        "json": lambda: render_json(acceptance, left_out, drained),
        "junit": lambda: render_junit(acceptance),
    }
    for output in arguments.output:
        write_file(output.path, texts[output.form]())
    sys.stdout.write(texts["json" if arguments.json else "text"]())
    return int(acceptance.exit_code)


def _record_parts(plan: Plan, answers: Answers) -> None:
    """Write the serial numbers that hosts told into the ledger, and say which parts have moved."""
    import time

    from rackwright.nodelife.ledger import open_ledger, parts_of_facts
    from rackwright.nodelife.store import store_path

    known = {
        host.name: parts
        for host in plan.hosts
        if (facts := answers.facts.get(host.inventory_name)) is not None
        and any(parts := parts_of_facts(facts))
    }
    if known:
        now = time.time()
        try:
            with open_ledger(store_path(plan.name)) as ledger:
                for node, parts in known.items():
                    for move in ledger.see(node, parts, now):
                        say(str(move))
        except RackwrightError as error:
            say(f"parts are not recorded: {error.summary}")


def _report_before_drain(acceptance: Acceptance) -> None:
    """Say on stderr who fails: should draining not work, this is not lost."""
    for host in acceptance.hosts:
        for item in host.failures:
            sys.stderr.write(f"  {host.name}: {item.reason}\n")
