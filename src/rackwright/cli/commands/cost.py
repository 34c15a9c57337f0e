"""``cost``: what a blueprint costs in an hour and in a year, and what AWS has charged."""

from __future__ import annotations

import argparse
import datetime as dt
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.todo import LAYERS, add_todo, refuse_existing, write_todo
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode

if TYPE_CHECKING:
    from rackwright.plan.cost.comparison import RentComparison
    from rackwright.plan.cost.spend import PlannedSpend
    from rackwright.plan.cost.summary import CostSummary
    from rackwright.plan.cost.weather import WeatherYear
    from rackwright.plan.load import LoadedPlan
    from rackwright.plan.model import Plan
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
    parser.add_argument(
        "--use",
        type=_share,
        metavar="PERCENT",
        help="share of the hours in which jobs run, for --compare (default: 100)",
    )
    parser.add_argument(
        "--rent",
        type=_amount,
        metavar="USD",
        help="hourly price of one accelerator at another provider, for --compare",
    )
    parser.add_argument(
        "--weather",
        metavar="FILE",
        type=Path,
        help="EPW or TMY3 file, for energy, PUE and water of each bare-metal site by hour",
    )
    parser.add_argument(
        "--plant",
        metavar="FILE",
        type=Path,
        help="CSV file for --weather: dry_bulb_c or wet_bulb_c, pue, wue_l_per_kwh",
    )
    parser.add_argument(
        "--carbon", metavar="FILE", type=Path, help="CSV file for --weather: kg/kWh of each hour"
    )
    parser.add_argument("--site", help="bare-metal site for --weather")
    parser.add_argument(
        "--spent",
        action="store_true",
        help="ask AWS what the sites have cost this month, by their tags; end with 5 above a budget, 6 if unknown",
    )
    add_todo(parser, "each unset price and rate", LAYERS)


def run(arguments: argparse.Namespace) -> int:
    """Print the cost; 5 if AWS has charged more than a budget. CST-001 and CST-002 compare the plan with budgets.

    Raises:
        UsageError: an option has no effect without another one, the file of ``--todo`` is there, or a file
            of ``--weather`` cannot be used.
    """
    from rackwright.plan.cost.comparison import compare
    from rackwright.plan.cost.spend import budget_uses
    from rackwright.plan.cost.summary import summarise
    from rackwright.plan.load import load_plan
    from rackwright.plan.workload.economy import AcceleratorUse, token_prices
    from rackwright.report.cost import render_json, render_text

    for name in ("region", "use", "rent"):
        if getattr(arguments, name) is not None and not arguments.compare:
            raise UsageError(f"--{name} has no effect without --compare")
    weather_options = (arguments.plant, arguments.carbon, arguments.site)
    if arguments.weather is None and any(option is not None for option in weather_options):
        raise UsageError("--plant, --carbon and --site have no effect without --weather")
    refuse_existing(arguments.todo)
    loaded = load_plan(arguments.blueprint, tuple(arguments.layer))
    plan = loaded.plan
    summary = summarise(plan)
    comparisons = None
    if arguments.compare:
        comparisons = compare(plan, summary=summary, region=arguments.region)
    demand = AcceleratorUse((arguments.use or 100) / 100, arguments.rent)
    tokens = {
        one.site: list(token_prices(plan, summary, plan.predictions, one, demand))
        for one in comparisons or ()
    }
    render = render_json if arguments.json else render_text
    years = () if arguments.weather is None else _weather_years(arguments, plan)
    spent = _spent(plan, summary) if arguments.spent else ()
    budgets = budget_uses(plan.costs, [one.spend for one in spent])
    sys.stdout.write(render(plan.name, summary, comparisons, tokens, years, spent, budgets))
    if arguments.todo is not None:
        write_todo("cost", arguments, plan, _unpriced(loaded, summary, comparisons or ()))
    if any(use.exceeded for use in budgets):
        return ExitCode.VIOLATION
    unknown = any(one.spend.charged is None for one in spent)
    return ExitCode.UNKNOWN if unknown else ExitCode.CLEAN


def _spent(plan: Plan, summary: CostSummary) -> Sequence[PlannedSpend]:
    """Return what was charged for each site on AWS this month, and what is planned.

    Raises:
        UsageError: no site is on AWS, or the credentials are of another account.
        ExternalToolError: AWS refuses, or cannot be asked.
    """
    from rackwright.plan.cost.spend import planned
    from rackwright.provision.aws.calls import refuse_other_account
    from rackwright.provision.aws.spend import ask_spend
    from rackwright.provision.targets import open_target

    if not plan.aws:
        raise UsageError("--spent asks AWS, and the blueprint has no site there")
    target, today = open_target("aws"), dt.datetime.now(dt.UTC).date()
    spends = []
    for site in plan.aws:
        refuse_other_account(target, site.region, site.account)
        spends.append(ask_spend(plan.name, site.name, site.region, target, today))
    return planned(summary, spends)


def _share(text: str) -> float:
    """Return a number of percent above 0.

    Raises:
        argparse.ArgumentTypeError: it is none, or more than 100.
    """
    value = _amount(text.removesuffix("%"))
    if value > 100:
        raise argparse.ArgumentTypeError(f"'{text}' is more than 100 %")
    return value


def _amount(text: str) -> float:
    """Return a number above 0.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return value


def _weather_years(arguments: argparse.Namespace, plan: Plan) -> Sequence[WeatherYear]:
    """Return the year by hours of each bare-metal site, or of the one that ``--site`` names.

    Raises:
        UsageError: a file or a rate is missing, or the name is that of no bare-metal site.
    """
    from rackwright.plan.cost.weather import parse_carbon, parse_curve, parse_weather, weather_year

    if arguments.plant is None:
        raise UsageError("--weather needs --plant: PUE and water by outdoor temperature")
    sites = [site for site in plan.onprem if arguments.site in {None, site.name}]
    if not sites:
        wanted = "a bare-metal site" if arguments.site is None else f"'{arguments.site}'"
        raise UsageError(f"--weather: the blueprint has no bare-metal site {wanted}")
    hours = parse_weather(_read(arguments.weather), str(arguments.weather))
    curve = parse_curve(_read(arguments.plant), str(arguments.plant))
    carbon = None
    if arguments.carbon is not None:
        carbon = parse_carbon(_read(arguments.carbon), str(arguments.carbon))
    years = []
    for site in sites:
        rates = None if plan.costs is None else plan.costs.rates(site.name)
        watts, share = site.totals.it_power_w, None if rates is None else rates.utilisation
        if watts is None or share is None:
            lacks = "'utilisation' in 'costs'" if share is None else "the power of all products"
            raise UsageError(f"--weather needs {lacks} for the site '{site.name}'")
        years.append(weather_year(site.name, watts * share / 100, hours, curve, carbon))
    return years


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read '{path}': {error}") from error


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
