"""``predict``: what training jobs get of a planned cluster."""

from __future__ import annotations

import argparse
import sys

from rackwright.cli.options.arguments import add_blueprint
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``predict``."""
    add_blueprint(parser)
    parser.add_argument("--json", action="store_true", help="write JSON")
    parser.add_argument("--workload", metavar="NAME", help="predict this workload alone")


def run(arguments: argparse.Namespace) -> int:
    """Print tokens a day of each workload. It informs only.

    Raises:
        UsageError: the blueprint has no workloads, or none of that name.
    """
    from rackwright.plan.load import load_plan
    from rackwright.plan.workload.economy import economy
    from rackwright.report.prediction import render_json, render_text

    plan = load_plan(arguments.blueprint, tuple(arguments.layer)).plan
    if not plan.workloads:
        raise UsageError(
            "the blueprint has no 'workloads'", hint="docs/workloads.md shows how to state one"
        )
    wanted = arguments.workload
    found = [one for one in plan.predictions if wanted in (None, one.workload.name)]
    if not found:
        names = ", ".join(one.name for one in plan.workloads)
        raise UsageError(f"there is no workload '{wanted}'", hint=f"the blueprint has {names}")
    economies = [economy(plan, plan.cost, one) for one in found]
    render = render_json if arguments.json else render_text
    sys.stdout.write(render(plan.name, found, economies))
    return ExitCode.CLEAN
