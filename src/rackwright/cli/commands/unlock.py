"""``unlock``: the locks of an AWS site's stacks are shown, and lifted."""

from __future__ import annotations

import argparse
import sys

from rackwright.cli.options.arguments import add_aws_site, add_blueprint
from rackwright.exit_codes import ExitCode


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``unlock``."""
    add_blueprint(parser)
    add_aws_site(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def run(arguments: argparse.Namespace) -> int:
    """Show who holds a lock, and lift it when that is wanted; the exit code."""
    from rackwright.cli.commands.stack import choose_site, confirm
    from rackwright.plan.load import load_plan
    from rackwright.provision.targets import open_target
    from rackwright.provision.unlock import find_held, lift

    loaded = load_plan(arguments.blueprint, layers=tuple(arguments.layer))
    site = choose_site(arguments, loaded)
    target = open_target(arguments.target)
    found = find_held(site, target)
    for held in found:
        sys.stdout.write(f"{held.kind}/{site.stack}: held by {held}\n")
    if not found:
        sys.stdout.write(f"{site.stack}: no stack is locked\n")
        return ExitCode.CLEAN
    sys.stdout.flush()
    if not arguments.yes:
        confirm("unlock", site, arguments.target)
    for held in found:
        lift(site, target, held)
        sys.stdout.write(f"{held.kind}/{site.stack}: lifted\n")
    return ExitCode.CLEAN
