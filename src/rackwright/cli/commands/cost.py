"""``cost``: what a blueprint costs in an hour and in a year."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.todo import add_todo, refuse_existing, write_todo
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode

if TYPE_CHECKING:
    from rackwright.plan.cost.comparison import RentComparison
    from rackwright.plan.cost.summary import CostSummary
    from rackwright.plan.load import LoadedPlan
    from rackwright.render.todo import Wanted


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``cost``."""
    add_blueprint(parser)
    parser.add_argument("--json", action="store_true", help="print every line as JSON")
    parser.add_argument(
        "--compare",
        action="store_true",
        help="show what the accelerators of bare-metal sites would cost on AWS",
    )
    parser.add_argument("--region", help="AWS region to compare with")
    add_todo(parser, "each unset price and rate")


def run(arguments: argparse.Namespace) -> int:
    """Print the cost. It informs only: policies CST-001 and CST-002 judge the budget.

    Raises:
        UsageError: ``--region`` is given without ``--compare``, or the file of ``--todo`` is there.
    """
    from rackwright.plan.cost.comparison import compare
    from rackwright.plan.cost.summary import summarise
    from rackwright.plan.load import load_plan
    from rackwright.plan.workload.economy import token_prices
    from rackwright.report.cost import render_json, render_text

    if arguments.region is not None and not arguments.compare:
        raise UsageError("--region has no effect without --compare")
    refuse_existing(arguments.todo)
    loaded = load_plan(arguments.blueprint, tuple(arguments.layer))
    plan = loaded.plan
    summary = summarise(plan)
    comparisons = None
    if arguments.compare:
        comparisons = compare(plan, summary=summary, region=arguments.region)
    tokens = {
        one.site: list(token_prices(plan, plan.predictions, one)) for one in comparisons or ()
    }
    render = render_json if arguments.json else render_text
    sys.stdout.write(render(plan.name, summary, comparisons, tokens))
    if arguments.todo is not None:
        write_todo("cost", arguments, plan, _unpriced(loaded, summary, comparisons or ()))
    return ExitCode.CLEAN


def _unpriced(
    loaded: LoadedPlan, summary: CostSummary, comparisons: Sequence[RentComparison]
) -> list[Wanted]:
    """Return the facts that costs lack."""
    from rackwright.policy.unknowns import Remedies
    from rackwright.render.todo import Wanted

    remedies = Remedies(loaded.plan, loaded.tree.locate, loaded.names)
    found = [
        (text, f"{line.kind} of {line.site}") for line in summary.lines for text in line.missing
    ]
    found += [
        (text, f"the comparison of {one.site} with AWS")
        for one in comparisons
        for text in one.rented.missing
    ]
    return [Wanted(text, (what,), remedies.fix((text,)) or "") for text, what in found]
