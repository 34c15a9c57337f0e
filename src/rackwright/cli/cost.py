"""``cost``: what a blueprint costs in an hour and in a year."""

from __future__ import annotations

import argparse
import sys

from rackwright.cli.arguments import add_blueprint
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``cost``."""
    add_blueprint(parser)
    parser.add_argument("--json", action="store_true", help="write JSON, with every line")
    parser.add_argument(
        "--compare",
        action="store_true",
        help="show what the accelerators of bare-metal sites would cost on AWS",
    )
    parser.add_argument("--region", help="AWS region to compare with")


def run(arguments: argparse.Namespace) -> int:
    """Print the cost. It informs only: policies CST-001 and CST-002 judge the budget."""
    from rackwright.plan.cost import summarise
    from rackwright.plan.cost_compare import compare
    from rackwright.plan.load import load_plan
    from rackwright.report.cost import render_json, render_text

    if arguments.region is not None and not arguments.compare:
        raise UsageError("--region has no effect without --compare")
    plan = load_plan(arguments.blueprint, tuple(arguments.layer)).plan
    summary = summarise(plan)
    comparisons = None
    if arguments.compare:
        comparisons = compare(plan, summary=summary, region=arguments.region)
    render = render_json if arguments.json else render_text
    sys.stdout.write(render(plan.blueprint.name, summary, comparisons))
    return ExitCode.CLEAN
