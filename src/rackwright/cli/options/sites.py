"""Arguments that say how sites are asked for their nodes and jobs."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.errors import UsageError

if TYPE_CHECKING:
    from rackwright.fleet.asking import Way
    from rackwright.plan.model import Plan

SSH = ("ssh", "-o", "BatchMode=yes")


def add_ways(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how sites are asked."""
    parser.add_argument(
        "--rest",
        action="append",
        default=[],
        metavar="SITE=URL",
        help="ask the slurmrestd of a site, like sjc=http://head:6820/slurm/v0.0.42; its token is in SLURM_JWT",
    )
    parser.add_argument(
        "--answers",
        action="append",
        default=[],
        metavar="SITE=DIR",
        help="read the answers of a site from nodes.json and jobs.json in a folder",
    )
    parser.add_argument(
        "--ssh",
        metavar="COMMAND",
        help="command that reaches a controller, in place of ssh -o BatchMode=yes",
    )
    parser.add_argument(
        "--timeout", type=float, default=30.0, metavar="S", help="time for each site, in s (30)"
    )


def check_site(name: str, known: Collection[str]) -> None:
    """Refuse a site that is not there.

    Raises:
        UsageError: it is not.
    """
    from rackwright.reading.suggest import did_you_mean

    if name not in known:
        hint = did_you_mean(name, known) or f"there are: {', '.join(known)}"
        raise UsageError(f"there is no site '{name}'", hint=hint)


def ways_of(arguments: argparse.Namespace, plans: Mapping[str, Plan]) -> Mapping[str, Way]:
    """Return how each site is asked: as an option says, else its first controller by SSH.

    Args:
        arguments: those of ``add_ways``.
        plans: the plan of the cluster of each site.

    Raises:
        UsageError: an option names no site, or nothing for it.
    """
    from rackwright.fleet.asking import ByFolder, ByRest, BySsh

    if arguments.timeout <= 0:
        raise UsageError("--timeout is more than 0 s")
    given: dict[str, Way] = {}
    for option, make in (("rest", ByRest), ("answers", lambda text: ByFolder(Path(text)))):
        for text in getattr(arguments, option):
            site, equals, value = text.partition("=")
            if not equals or not value:
                raise UsageError(f"--{option} needs SITE=VALUE, got '{text}'")
            check_site(site, plans)
            given[site] = make(value)
    reach = SSH if arguments.ssh is None else tuple(shlex.split(arguments.ssh))
    for site, plan in plans.items():
        scheduler = plan.scheduler
        if scheduler is not None and site not in given:
            first = scheduler.controllers[0]
            address = first.address or plan.names.address_of(site, first.host) or first.host
            given[site] = BySsh((*reach, address))
    return {site: given[site] for site in plans if site in given}
