"""``replace``: nodes of an AWS site are drained, ended and launched again, by name."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_aws_site, add_blueprint
from rackwright.cli.options.policy_gate import add_gate, gate_of, refused_by
from rackwright.cli.options.replacing.replacement import (
    Choice,
    add_replacement,
    check_replacement,
    replace_nodes,
)
from rackwright.cli.options.telling import say
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rackwright.plan.model import Plan
    from rackwright.provision.aws.fleet_calls import Fleet
    from rackwright.provision.nodes import Bound


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``replace``."""
    add_blueprint(parser, required=True)
    parser.add_argument("hosts", nargs="*", metavar="HOST", help="like train-07 or train-[01-04]")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--outdated",
        action="store_true",
        help="replace every node that differs from what its group launches now",
    )
    which.add_argument(
        "--surplus", action="store_true", help="terminate nodes beyond the count in the blueprint"
    )
    add_gate(parser)
    add_aws_site(parser)
    add_replacement(parser)
    parser.add_argument("--check", action="store_true", help="change nothing, print the nodes")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Replace nodes; 4 when one of them failed, 3 when there is none."""
    from rackwright.cli.commands.stack import choose_site, confirm
    from rackwright.plan.load import load_plan
    from rackwright.provision import nodes
    from rackwright.provision.aws.calls import refuse_other_account
    from rackwright.provision.targets import open_target

    loaded = load_plan(arguments.blueprint, layers=tuple(arguments.layer))
    _check(arguments, loaded.plan)
    site = choose_site(arguments, loaded)
    if refused := refused_by(gate_of(arguments), loaded, "nothing was ended"):
        return refused
    target = open_target(arguments.target)
    refuse_other_account(target, site.region, site.account)
    fleet = nodes.fleet_in(loaded.plan, site.name)
    found = nodes.read(fleet, target)
    nodes.refuse_renames(found.namings)
    choice = Choice({}) if arguments.resume else choose(arguments, found, fleet)
    if not arguments.resume and not choice.ends and not choice.nameless:
        sys.stdout.write("no node has to go\n")
        return int(ExitCode.NOTHING)
    for line in _told(choice):
        say(line)
    if arguments.check:
        return int(ExitCode.CLEAN)
    if not arguments.yes:
        confirm("replace", site, arguments.target)
    return replace_nodes(arguments, loaded, fleet, target, choice)


def _check(arguments: argparse.Namespace, plan: Plan) -> None:
    check_replacement(arguments, plan)
    asked = [bool(arguments.hosts), arguments.outdated, arguments.surplus, arguments.resume]
    if sum(asked) != 1:
        raise UsageError(
            "say which nodes have to go",
            hint="one of: names of hosts, --outdated, --surplus, --resume",
        )
    if arguments.resume and arguments.check:
        raise UsageError("--resume goes on with the change as it was begun, without --check")


def choose(arguments: argparse.Namespace, found: Bound, fleet: Fleet) -> Choice:
    """Return the instances that have to go.

    Raises:
        UsageError: a name is none of the fleet's, is not a list of names, or could go to another running node.
    """
    from rackwright.model.names import expand_hostlist

    if arguments.surplus:
        each = [(one, host) for part in found.surplus for one, host in part.nodes.items()]
        named = {host: one for one, host in each if host is not None}
        return Choice(named, tuple(one for one, host in each if host is None), removed=True)
    _refuse_surplus(found)
    if arguments.outdated:
        ends = {node.host: node.instance for node in found.outdated if node.host is not None}
        if nameless := [node.instance for node in found.outdated if node.host is None]:
            say(f"left alone, since they have no host names: {', '.join(nameless)}")
        return Choice(ends)
    try:
        names = [name for text in arguments.hosts for name in expand_hostlist(text)]
    except ValueError as error:
        raise UsageError(f"'{' '.join(arguments.hosts)}' is no list of hosts: {error}") from None
    there = {
        host: naming.holders[host].id if host in naming.holders else ""
        for naming in found.namings
        for host in naming.hosts
    }
    for name in names:
        if name not in there:
            kept = name in fleet.servers
            raise UsageError(
                f"'{name}' is no host of the node groups of '{fleet.site}'",
                hint="head and login nodes hold data, and are not replaced"
                if kept
                else "'rackwright hosts … --check' tells their names",
            )
    return Choice({name: there[name] for name in dict.fromkeys(names)})


def _refuse_surplus(found: Bound) -> None:
    """Let no node that the blueprint no longer has take the name of a node that is replaced.

    Raises:
        UsageError: there are such nodes.
    """
    from rackwright.model.names import compress_hostlist

    for part in found.surplus:
        if hosts := [host for host in part.nodes.values() if host is not None]:
            raise UsageError(
                f"'{part.group}' has nodes that the blueprint no longer has: {compress_hostlist(hosts)}",
                hint="end them with 'rackwright replace … --surplus', or restore 'count'",
            )


def _told(choice: Choice) -> Sequence[str]:
    """Return the planned steps as lines."""
    from rackwright.model.names import compress_hostlist

    verb = "ended" if choice.removed else "replaced"
    lines = [f"to be {verb}: {compress_hostlist(choice.ends)}"] if choice.ends else []
    if choice.nameless:
        lines.append(f"to be {verb}, without a host name: {', '.join(choice.nameless)}")
    return lines
