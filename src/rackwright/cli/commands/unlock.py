"""``unlock``: the locks of an AWS site's stacks are shown, and lifted."""

from __future__ import annotations

import argparse
import sys

from rackwright.cli.options.arguments import add_aws_site, add_blueprint, add_json
from rackwright.cli.options.telling import answer
from rackwright.exit_codes import ExitCode


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``unlock``."""
    add_blueprint(parser)
    add_aws_site(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    add_json(parser)


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
    # People read who holds a lock before they confirm; a program reads one document at the end.
    listing = sys.stderr if arguments.json else sys.stdout
    for held in found:
        listing.write(f"{held.kind}/{site.stack}: held by {held}\n")
    listing.flush()
    if found and not arguments.yes:
        confirm("unlock", site, arguments.target)
    for held in found:
        lift(site, target, held)
    stacks = [(f"{held.kind}/{site.stack}", str(held)) for held in found]
    answer(
        arguments,
        "unlock",
        {"lifted": [{"stack": stack, "held_by": holder} for stack, holder in stacks]},
        "".join(f"{stack}: lifted\n" for stack, _ in stacks)
        or f"{site.stack}: no stack is locked\n",
    )
    return ExitCode.CLEAN
