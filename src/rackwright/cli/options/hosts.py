"""Hosts on the command line: which ones, how they are reached, and what is told of them."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.cli.options.telling import is_quiet, tell_progress
from rackwright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from contextlib import AbstractContextManager

    from rackwright.accept.expected import HostExpectations
    from rackwright.ansible_runs.hosts import AnsibleHosts
    from rackwright.ansible_runs.observer import Watcher
    from rackwright.fleet.asking import Way
    from rackwright.inventory.inventory import Inventory
    from rackwright.plan.model import Plan
    from rackwright.rollout.executor import AnsibleExecutor

_LIMIT = re.compile(r"[A-Za-z0-9_.,:*!&\[\]-]+")


def add_hosts(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say which hosts are worked on, and how they are reached."""
    add_reach(parser)
    parser.add_argument("--limit", metavar="PATTERN", help="only these hosts or groups")


def add_reach(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how hosts are reached, and how many at a time."""
    parser.add_argument(
        "--inventory",
        type=Path,
        action="append",
        default=[],
        help="further Ansible inventory with addresses and your own variables; repeatable",
    )
    parser.add_argument("--lab", metavar="NAME", help="use the hosts of this lab")
    parser.add_argument("--forks", type=int, default=50, help="hosts configured in parallel")


def reach_words(arguments: argparse.Namespace) -> list[str]:
    """Return the arguments by which another command reaches hosts in the same way."""
    words = [word for path in arguments.inventory for word in ("--inventory", str(path))]
    words += [] if arguments.lab is None else ["--lab", arguments.lab]
    return [*words, "--forks", str(arguments.forks)]


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add the argument that chooses a cluster of a federation."""
    parser.add_argument("--site", help="site of the cluster, if the blueprint federates several")


def check_hosts(arguments: argparse.Namespace) -> None:
    """Refuse what is not a host pattern of Ansible, and no number of hosts.

    Raises:
        UsageError: it is none.
    """
    pattern = getattr(arguments, "limit", None)  # an upgrade is over all hosts
    if pattern is not None and not _LIMIT.fullmatch(pattern):
        raise UsageError(f"'{pattern}' is not a host pattern")
    if arguments.forks < 1:
        raise UsageError("--forks is at least 1")


def connections(lab_name: str | None) -> Mapping[str, Mapping[str, Any]]:
    """Return the connections of a lab's hosts; empty if names and a team's variables have them.

    Raises:
        UsageError: there is no such lab.
    """
    if lab_name is None:
        return {}
    from rackwright.laboratory.door import open_lab

    lab = open_lab(lab_name)
    hosts = lab.hosts()
    if not hosts:
        raise UsageError(f"there is no lab '{lab_name}'", hint="make it: rackwright lab up")
    return {host.name: lab.connection(host) for host in hosts}


def ansible_hosts(
    arguments: argparse.Namespace, plan: Plan, say: Callable[[str], None] = tell_progress
) -> AnsibleHosts:
    """Return the hosts of a cluster, as the arguments of ``add_reach`` say that they are reached."""
    from rackwright.ansible_runs.files import workspace
    from rackwright.ansible_runs.hosts import AnsibleHosts

    inventories = [path.resolve() for path in arguments.inventory]
    return AnsibleHosts(workspace(plan.name), inventories, arguments.forks, say)


@dataclass(frozen=True)
class HostSession:
    """A cluster whose configuration no other process changes meanwhile.

    Attributes:
        plan: the cluster.
        hosts: its hosts.
        inventory: the hosts with their variables.
    """

    plan: Plan
    hosts: AnsibleHosts
    inventory: Inventory

    def executor(self, expected: Mapping[str, HostExpectations]) -> AnsibleExecutor:
        """Return the executor of steps on the hosts, which ``expected`` describes."""
        from rackwright.rollout.executor import AnsibleExecutor

        return AnsibleExecutor(self.hosts, controllers(self.plan), expected)


@contextmanager
def host_session(
    arguments: argparse.Namespace, plan: Plan, say: Callable[[str], None] = tell_progress
) -> Iterator[HostSession]:
    """Yield the session of a cluster, with all that Ansible needs written.

    Args:
        arguments: those of ``add_reach``.
        plan: the cluster.
        say: takes each line that is worth showing.
    """
    from rackwright.ansible_runs.files import prepare
    from rackwright.locks import exclusive

    hosts = ansible_hosts(arguments, plan, say)
    with exclusive(hosts.place.folder / "lock", what=f"the configuration of '{plan.name}'"):
        inventory = prepare(plan, hosts.place, connections(arguments.lab))
        yield HostSession(plan, hosts, inventory)


def expectations(arguments: argparse.Namespace, plan: Plan) -> Mapping[str, HostExpectations]:
    """Return what each host must have, by its name in the inventory."""
    from rackwright.accept.expected import expect

    return {host.name: host for host in expect(plan, lab=arguments.lab is not None)}


def watcher(
    inventory: Inventory, limit: str | None = None, *, as_json: bool = False
) -> AbstractContextManager[Watcher]:
    """Return the display on stderr of the progress of a run over the hosts that match ``limit``.

    With ``as_json`` a program reads what is told: each line as it always was, and no counts.
    """
    from rackwright.ansible_runs.display import screen_for
    from rackwright.ansible_runs.host_patterns import hosts_of, members
    from rackwright.ansible_runs.observer import Lines, Watch
    from rackwright.ansible_runs.run import hosts_to_finish
    from rackwright.ansible_runs.state import Live

    if as_json or is_quiet():
        return nullcontext(Lines(tell_progress))
    groups = members(inventory)
    live = Live(hosts_to_finish(groups, limit), lambda pattern: hosts_of(pattern, groups))
    return Watch(live, screen_for(sys.stderr, os.environ))


def controllers(plan: Plan) -> tuple[str, ...]:
    """Return the hosts of the blueprint on which a controller runs, the primary first.

    Raises:
        UsageError: there is none.
    """
    if plan.scheduler is None:
        raise UsageError("the blueprint has no 'scheduler', so there is nothing to drain nodes in")
    known = {host.name: host.inventory_name for host in reversed(plan.hosts)}
    found = tuple(known[c.host] for c in plan.scheduler.controllers if c.host in known)
    if not found:
        raise UsageError(
            "no controller of the scheduler is a host of the blueprint",
            hint="nodes are asked for and drained on a controller; without --waves or --drain none is needed",
        )
    return found


SSH = ("ssh", "-o", "BatchMode=yes")
LONGEST_TIMEOUT_S = 86_400


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
        help="read the state of a site from nodes.json and jobs.json in a folder",
    )
    parser.add_argument(
        "--ssh",
        metavar="COMMAND",
        help="command that reaches a controller (default: ssh -o BatchMode=yes)",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=30.0,
        metavar="S",
        help="timeout of each site, in s (default: 30)",
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


def _command(text: str) -> tuple[str, ...]:
    """Return the words of a command that reaches a host.

    Raises:
        UsageError: there are none, or a quote is not closed.
    """
    try:
        words = tuple(shlex.split(text))
    except ValueError:
        words = ()
    if not words:
        raise UsageError(f"'{text}' is no command for --ssh", hint="write it like 'ssh -p 2222'")
    return words


def ways_of(arguments: argparse.Namespace, plans: Mapping[str, Plan]) -> Mapping[str, Way]:
    """Return how each site is asked: as an option says, else its first controller by SSH.

    Args:
        arguments: those of ``add_ways``.
        plans: the plan of the cluster of each site.

    Raises:
        UsageError: an option names no site, or nothing for it.
    """
    from rackwright.fleet.asking import ByFolder, ByRest, BySsh

    if not 0 < arguments.timeout <= LONGEST_TIMEOUT_S:
        raise UsageError(f"--timeout is more than 0 s, and at most {LONGEST_TIMEOUT_S:,} s")
    given: dict[str, Way] = {}
    for option, make in (("rest", ByRest), ("answers", lambda text: ByFolder(Path(text)))):
        for text in getattr(arguments, option):
            site, equals, value = text.partition("=")
            if not equals or not value:
                raise UsageError(f"--{option} needs SITE=VALUE, got '{text}'")
            check_site(site, plans)
            given[site] = make(value)
    reach = SSH if arguments.ssh is None else _command(arguments.ssh)
    for site, plan in plans.items():
        scheduler = plan.scheduler
        if scheduler is not None and site not in given:
            first = scheduler.controllers[0]
            address = first.address or plan.names.address_of(site, first.host) or first.host
            given[site] = BySsh((*reach, address))
    return {site: given[site] for site in plans if site in given}
