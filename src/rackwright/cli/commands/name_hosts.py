"""``hosts``: the instances of node groups get the host names of the blueprint."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_aws_site, add_blueprint
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted, json_text

if TYPE_CHECKING:
    from rackwright.plan.model import Plan
    from rackwright.provision.aws.fleet_calls import Fleet
    from rackwright.provision.targets import Target

SCHEMA = "rackwright.hosts/v1"


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``hosts``."""
    add_blueprint(parser)
    add_aws_site(parser)
    parser.add_argument(
        "--topology",
        type=Path,
        metavar="FILE",
        help="write the network topology of AWS as a layer with 'scheduler.topology.switches'",
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing, print what would change"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Name the instances; the exit code is 10 when a host is left without an instance.

    Raises:
        UsageError: the blueprint has no AWS site, it is not clear which is meant, or ``--topology``
            is given and there is no scheduler.
    """
    from rackwright.cli.commands.stack import choose_site
    from rackwright.cli.options.telling import say
    from rackwright.plan.load import load_plan
    from rackwright.provision import nodes
    from rackwright.provision.aws.calls import refuse_other_account
    from rackwright.provision.targets import open_target

    loaded = load_plan(arguments.blueprint, layers=tuple(arguments.layer))
    if arguments.topology is not None and loaded.plan.scheduler is None:
        raise UsageError("'--topology' needs a blueprint with a 'scheduler'")
    site = choose_site(arguments, loaded)
    fleet = nodes.fleet_in(loaded.plan, site.name)
    target = open_target(arguments.target)
    refuse_other_account(target, site.region, site.account)
    done = nodes.bind(fleet, target, say=say, dry=arguments.check)
    groups = {one.group: one.as_data() for one in done.namings}
    if arguments.json:
        made = {
            "schema": SCHEMA,
            "check": arguments.check,
            "named": done.named,
            "records": done.records,
            "nodes": groups,
        }
        sys.stdout.write(json_text(made, sort_keys=True))
    else:
        would = "to name" if arguments.check else "named"
        change = "to change" if arguments.check else "changed"
        sys.stdout.write(
            f"{site.stack}: {done.named:,} instances {would}, {done.records:,} records {change}\n"
        )
    for line in (line for one in done.namings for line in one.complaints()):
        say(line)
    if arguments.topology is not None and not arguments.check:
        say(_write_topology(arguments.topology, loaded.plan, fleet, target))
    return ExitCode.PARTIAL if any(one["missing"] for one in groups.values()) else ExitCode.CLEAN


def _write_topology(path: Path, plan: Plan, fleet: Fleet, target: Target) -> str:
    """Write the layer where it changed, and say what is in it."""
    from rackwright.files import write_changed
    from rackwright.plan.slurm.instance_topology import switches_layer, told_tree
    from rackwright.provision import nodes

    above = nodes.network_nodes(fleet, target)
    switches = told_tree(plan, fleet.site, above)
    changed = write_changed(path, switches_layer(switches))
    hosts = sum(fleet.groups.values())
    state = "written" if changed else "unchanged"
    return f"{path}: {counted(len(switches), 'switch')}, AWS tells of {len(above):,} of {counted(hosts, 'host')}; {state}"
