"""``inventory``: the hosts of a blueprint, as Ansible wants them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rackwright.cli.options.arguments import add_blueprint, add_json
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``inventory``."""
    add_blueprint(parser)
    parser.add_argument("--site", help="list only this site")
    parser.add_argument(
        "--outputs",
        type=Path,
        metavar="FILE",
        help="output of 'status --json': addresses of the hosts of the AWS site",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--list", action="store_true", help="everything as JSON (the default)")
    add_json(parser, "the hosts, as without this option,")
    form.add_argument("--host", metavar="NAME", help="the variables of one host as JSON")
    form.add_argument("--graph", action="store_true", help="the groups as a tree")


def run(arguments: argparse.Namespace) -> int:
    """Print the inventory, a host of it, or its groups.

    Raises:
        UsageError: the inventory has no host of that name.
    """
    from rackwright.inventory.inventory import build_inventory, draw, host_variables
    from rackwright.inventory.stack_outputs import add_outputs, read_outputs
    from rackwright.plan.load import load_plan
    from rackwright.reading.suggest import did_you_mean

    loaded = load_plan(arguments.blueprint, arguments.layer)
    plan = (loaded.cluster_at(arguments.site) if loaded.plan.is_federated else loaded).plan
    made = build_inventory(plan, arguments.site)
    if arguments.outputs is not None:
        for line in add_outputs(made, plan, read_outputs(arguments.outputs), arguments.site):
            sys.stderr.write(f"warning: {line}\n")
    if arguments.graph and arguments.json:
        raise UsageError("--json and --graph contradict each other", hint="leave one out")
    if arguments.graph:
        sys.stdout.writelines(f"{line}\n" for line in draw(made))
    elif arguments.host is not None:
        found = host_variables(made, arguments.host)
        if found is None:
            hint = did_you_mean(arguments.host, made["_meta"]["hostvars"])
            raise UsageError(f"there is no host '{arguments.host}'", hint=hint)
        sys.stdout.write(json_text(found, sort_keys=True))
    else:
        sys.stdout.write(json_text(made, indent=1))
    return ExitCode.CLEAN
