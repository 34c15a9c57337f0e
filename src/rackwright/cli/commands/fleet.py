"""``fleet``: show all sites of a federation."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.hosts import add_ways, check_site, ways_of
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rackwright.plan.federation.members import Member
    from rackwright.plan.model import Plan


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``fleet``."""
    add_blueprint(parser)
    parser.add_argument(
        "--site",
        action="append",
        default=[],
        metavar="NAME",
        help="show only this site; repeatable",
    )
    add_ways(parser)
    parser.add_argument("--page", type=Path, metavar="FILE", help="write an HTML page")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Query and show all sites; return 4 if a site does not answer.

    Raises:
        UsageError: the blueprint has no federation, or a site is unknown.
    """
    from rackwright.files import write_changed
    from rackwright.fleet.asking import ask_all
    from rackwright.fleet.page import render_page
    from rackwright.fleet.view import FleetView, render_json, render_text, view_site
    from rackwright.plan.load import load_plan

    plan = load_plan(arguments.blueprint, tuple(arguments.layer)).plan
    if not plan.is_federated:
        raise UsageError(
            "the blueprint has no 'federation'",
            hint="'rackwright status --target hosts' shows one cluster; docs/many-sites.md describes several",
        )
    members = _chosen(plan, arguments.site)
    ways = ways_of(arguments, {one.spec.site: one.plan for one in members})
    answers = ask_all(ways, arguments.timeout)
    now = time.time()
    fleet = FleetView(
        plan.name,
        time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
        tuple(
            view_site(plan, one, answers[one.spec.site], now, _change(one.cluster))
            for one in members
        ),
    )
    if arguments.page is not None:
        write_changed(arguments.page, render_page(fleet, plan))
    sys.stdout.write(render_json(fleet) if arguments.json else render_text(fleet))
    return ExitCode.EXTERNAL if fleet.silent else ExitCode.CLEAN


def _chosen(plan: Plan, wanted: Sequence[str]) -> tuple[Member[Plan], ...]:
    known = {member.spec.site: member for member in plan.members}
    for name in wanted:
        check_site(name, known)
    return tuple(member for site, member in known.items() if not wanted or site in wanted)


def _change(cluster: str) -> str:
    """Return the rollout in progress in a cluster, in words; empty without one."""
    from rackwright.files import state_folder
    from rackwright.rollout.journal import load

    path = state_folder() / "configure" / cluster / "waves.json"
    progress = load(path) if path.is_file() else None
    if progress is None:
        return ""
    hosts = sum(len(wave.hosts) for wave in progress.waves)
    done = len(progress.done) + len(progress.failed)
    if done >= hosts:
        return ""
    return f"{progress.change}: done {done:,} of {counted(hosts, 'host')}"
