"""``decommission``: erase the disks of bare-metal hosts through Ironic, with proof."""

from __future__ import annotations

import argparse
import time

from rackwright.cli.options.arguments import add_blueprint, add_json
from rackwright.cli.options.telling import answer, tell_progress
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``decommission``."""
    add_blueprint(parser)
    parser.add_argument("--site", help="the bare-metal site, if the blueprint has several")
    parser.add_argument("--hosts", metavar="LIST", required=True, help="hosts, like dgx-[01-08]")
    parser.add_argument(
        "--yes",
        action="store_true",
        help="confirm that the hosts run no jobs and their disks may be erased",
    )
    parser.add_argument(
        "--poll",
        type=float,
        default=5.0,
        metavar="SECONDS",
        help="seconds between polls of Ironic (default: 5)",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Erase hosts; return 0 if all are erased, 5 if one is not.

    Raises:
        UsageError: it is not said that they may be erased, or there is no such host.
        IronicError: Ironic does not answer.
    """
    from rackwright.metal.chosen import hosts_of
    from rackwright.metal.decommission import decommission
    from rackwright.metal.journal import open_journal
    from rackwright.nodelife.store import sole_controller, store_path

    chosen = hosts_of(arguments.blueprint, arguments.layer, arguments.site, arguments.hosts)
    names = ", ".join(plan.name for plan in chosen.plans)
    if not arguments.yes:
        raise UsageError(
            f"the disks of {names} would be erased",
            hint="drain the hosts in Slurm, then repeat with --yes",
        )
    store = store_path(chosen.cluster)
    with open_journal(store, chosen.site.name, time.time) as journal, sole_controller(store):
        reasons = decommission(
            chosen.plans,
            chosen.cluster,
            chosen.ironic(),
            journal,
            say=tell_progress,
            poll_s=arguments.poll,
        )
    hosts = sorted(reasons.items())
    answer(
        arguments,
        "decommission",
        {
            "hosts": [
                {"name": host, "erased": not why, "reason": why or None} for host, why in hosts
            ]
        },
        "".join(
            f"{host}: {why or 'erased: cleaned by Ironic and available'}\n" for host, why in hosts
        ),
    )
    return ExitCode.VIOLATION if any(reasons.values()) else ExitCode.CLEAN
