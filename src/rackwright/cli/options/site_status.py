"""``status --target hosts``: how the nodes of a cluster of bare metal are now."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.hosts import check_hosts, connections, controllers
from rackwright.cli.options.telling import tell_progress
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode

if TYPE_CHECKING:
    import argparse

    from rackwright.plan.model import Plan

_OF_HOSTS = ("inventory", "lab", "limit")


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
    from rackwright.accept.expected import expect
    from rackwright.accept.run import collect
    from rackwright.ansible_runs.files import prepare, workspace
    from rackwright.locks import exclusive
    from rackwright.rollout.executor import AnsibleExecutor
    from rackwright.rollout.site_status import render_status_json, render_status_text, status_of

    if plan.scheduler is None:
        raise UsageError(
            "the blueprint has no 'scheduler', so there are no nodes to show",
            hint="describe the Slurm cluster under 'scheduler:'",
        )
    check_hosts(arguments)
    expected = {host.name: host for host in expect(plan, lab=arguments.lab is not None)}
    nodes = [host.node for host in expected.values() if host.node is not None]
    inventories: list[Path] = [path.resolve() for path in arguments.inventory]
    place = workspace(plan.name)
    with exclusive(place.folder / "lock", what=f"the configuration of '{plan.name}'"):
        prepare(plan, place, connections(arguments.lab))
        executor = AnsibleExecutor(
            place, controllers(plan), expected, arguments.forks, inventories, tell_progress
        )
        seen = executor.update(nodes, [])
        answers = collect(
            place,
            list(expected.values()),
            limit=arguments.limit,
            forks=arguments.forks,
            inventories=inventories,
            say=tell_progress,
        )
    asked = [host for name, host in expected.items() if name in answers.tally.hosts]
    acceptance = compare(asked, answers.facts, answers.unreachable)
    status = status_of(plan, seen.after, acceptance, answers.unreachable)
    sys.stdout.write((render_status_json if arguments.json else render_status_text)(status))
    return ExitCode.CLEAN
