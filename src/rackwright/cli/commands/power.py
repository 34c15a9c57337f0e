"""``power``: keep a site within a power budget for a while, and give everything back."""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.hosts import (
    add_reach,
    add_ways,
    check_hosts,
    check_site,
    host_session,
    ways_of,
)
from rackwright.cli.options.telling import say
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rackwright.fleet.caps import CapPlan, PowerBudget
    from rackwright.plan.expansion import SitePlan
    from rackwright.plan.model import Plan


LEVELS = ("1", "2", "3")
"""Levels of SIMPLE signals that ask for less; 0 is the normal state (OpenADR 2.0b Profile Specification)."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``power``."""
    add_blueprint(parser)
    parser.add_argument("--site", help="the on-premises site, if there are several")
    parser.add_argument(
        "--target",
        metavar="POWER",
        help="power limit of the site: 12MW, 750kW, or 75%% of its contract",
    )
    for name, what in (("source", "a source"), ("loop", "the racks on a coolant loop")):
        parser.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="NAME=POWER",
            help=f"power limit of {what}; repeatable",
        )
    parser.add_argument(
        "--lost",
        action="append",
        default=[],
        metavar="SOURCE",
        help="source that is already lost; repeatable",
    )
    parser.add_argument(
        "--present", action="store_true", help="check the present state only, not the next loss"
    )
    parser.add_argument(
        "--reason", default="", help="reason for the journal, like an order of the grid"
    )
    parser.add_argument(
        "--send", action="store_true", help="send the limits; without it they are only shown"
    )
    parser.add_argument("--restore", action="store_true", help="lift every limit that was sent")
    parser.add_argument(
        "--openadr",
        metavar="URL",
        help="follow the events of an OpenADR 2.0b server until interrupted",
    )
    parser.add_argument(
        "--ven",
        default="rackwright",
        metavar="NAME",
        help="name at that server (default: rackwright)",
    )
    parser.add_argument(
        "--level",
        action="append",
        default=[],
        metavar="N=SHARE",
        help="share of the contract at a SIMPLE level, like 1=85%%; repeatable",
    )
    parser.add_argument("--once", action="store_true", help="stop after one event of the server")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    add_ways(parser)
    add_reach(parser)


def run(arguments: argparse.Namespace) -> int:
    """Plan the limits, show them, and send them where that is asked for.

    5 where the budget cannot be kept, 6 where it cannot be proven, 4 where hosts did not take a limit.
    """
    from rackwright.fleet.report import render_json, render_text
    from rackwright.fleet.tokens import limited_workloads
    from rackwright.plan.load import load_plan

    loaded = load_plan(arguments.blueprint, tuple(arguments.layer))
    site = _site(loaded.plan, arguments.site)
    check_hosts(arguments)
    cluster = loaded.cluster_at(site.name).plan if loaded.plan.is_federated else loaded.plan
    if arguments.restore:
        return _restore(arguments, cluster)
    if arguments.openadr is not None:
        return _listen(arguments, cluster, site)
    budget = _budget(arguments, site)
    classes = _classes(arguments, cluster, site.name)
    made = _plan(cluster, site, budget, classes)
    workloads = loaded.plan.predictions if loaded.plan.workloads and made.caps else ()
    limited = list(limited_workloads(workloads, site.name, made.caps))
    render = render_json if arguments.json else render_text
    sys.stdout.write(render(site.name, made, limited))
    if made.refused:
        return ExitCode.UNKNOWN if made.unknown else ExitCode.VIOLATION
    return (
        _send(arguments, cluster, site, budget, classes, made) if arguments.send else ExitCode.CLEAN
    )


def _site(plan: Plan, name: str | None) -> SitePlan:
    """Return the site that is meant.

    Raises:
        UsageError: there is no such site, or several.
    """
    sites = {one.name: one for one in plan.onprem}
    if name is not None:
        check_site(name, sites)
        return sites[name]
    if len(sites) != 1:
        raise UsageError(
            f"the blueprint has {len(sites)} on-premises sites",
            hint=f"name one with --site: {', '.join(sites)}" if sites else None,
        )
    return next(iter(sites.values()))


def _budget(arguments: argparse.Namespace, site: SitePlan) -> PowerBudget:
    """Return the budget that the arguments state.

    Raises:
        UsageError: they state none.
    """
    from rackwright.fleet.caps import PowerBudget

    sources, loops = _limits(arguments.source), _limits(arguments.loop)
    target = None
    if arguments.target is not None:
        target = _target(arguments.target, site.totals.contract_w)
    if target is None and not sources and not loops and not arguments.lost:
        raise UsageError("no budget is stated", hint="give --target, --source, --loop or --lost")
    return PowerBudget(
        site_w=target,
        sources_w=sources,
        loops_w=loops,
        lost=frozenset(arguments.lost),
        after_next_loss=not arguments.present,
        reason=arguments.reason or "rackwright power",
    )


def _limits(texts: Sequence[str]) -> dict[str, float]:
    """Return the limits in W, by name.

    Raises:
        UsageError: one is none, or a name has two.
    """
    found: dict[str, float] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"'{text}' is not NAME=POWER")
        if name in found:
            raise UsageError(f"'{name}' has two limits: give one")
        found[name] = _watts(value)
    return found


def _watts(text: str) -> float:
    """Return a power in W.

    Raises:
        UsageError: it is none, or not more than 0.
    """
    from rackwright.model.units import POWER

    try:
        watts = POWER.parse(text)
    except ValueError as error:
        raise UsageError(
            f"'{text}' is no power: {error}", hint="write it like 750kW or 12MW"
        ) from None
    if watts <= 0:
        raise UsageError(f"a budget of {text} leaves nothing on", hint="power the site off instead")
    return watts


def _target(text: str, contract: float | None) -> float:
    if not text.endswith("%"):
        return _watts(text)
    if contract is None:
        raise UsageError(
            "the site has no 'contract' to take a share of", hint="give --target in kW or MW"
        )
    return _share(text) * contract


def _share(text: str) -> float:
    """Return a share of the contract, from 0 to 1.

    Raises:
        UsageError: it is none, not more than 0, or more than all.
    """
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = math.nan
    if not math.isfinite(share):
        raise UsageError(f"'{text}' is no share", hint="write it like 75%")
    if share <= 0:
        raise UsageError(f"a budget of {text} leaves nothing on", hint="power the site off instead")
    if share > 1:
        raise UsageError(f"{text} is more than the contract", hint="give at most 100%")
    return share


def _classes(arguments: argparse.Namespace, cluster: Plan, site: str) -> Mapping[str, str]:
    """Return the class of the jobs on each node, from the queue of the site.

    Raises:
        ExternalToolError: the site does not answer, and nobody knows which nodes are protected.
    """
    from rackwright.errors import ExternalToolError
    from rackwright.fleet.asking import ask_all
    from rackwright.fleet.job_classes import classes_of

    ways = ways_of(arguments, {site: cluster})
    if site not in ways:
        return {}
    answer = ask_all(ways, arguments.timeout)[site]
    if answer.failed:
        raise ExternalToolError(
            f"{site} does not answer: {answer.failed}",
            hint="which jobs run where decides whom a limit may meet: use --rest, --answers or --ssh",
        )
    settings = () if cluster.operations is None else cluster.operations.power_classes
    return classes_of(answer.jobs, settings)


def _plan(
    cluster: Plan, site: SitePlan, budget: PowerBudget, classes: Mapping[str, str]
) -> CapPlan:
    from rackwright.fleet.caps import CapClass, plan_caps

    settings = () if cluster.operations is None else cluster.operations.power_classes
    order = [CapClass(one.name, one.protected) for one in settings]
    return plan_caps(site, cluster.racked[site.name], budget, classes, order)


def _send(
    arguments: argparse.Namespace,
    cluster: Plan,
    site: SitePlan,
    budget: PowerBudget,
    classes: Mapping[str, str],
    made: CapPlan,
) -> int:
    """Send the limits; what hosts did not take is taken from the others, once."""
    failed = _sent(arguments, cluster, made, budget.reason)
    if not failed:
        return ExitCode.CLEAN
    _tell(failed)
    from rackwright.fleet.job_classes import NO_CLASS

    again = _plan(cluster, site, budget, {**classes, **dict.fromkeys(failed, NO_CLASS)})
    if again.refused:
        say(f"without them the budget is not kept: {again.refused}")
        return ExitCode.EXTERNAL
    say(f"{again.hosts:,} other hosts make up for them")
    _tell(_sent(arguments, cluster, again, budget.reason))
    return ExitCode.EXTERNAL


def _tell(failed: Mapping[str, str]) -> None:
    for host, why in failed.items():
        say(f"{host} did not take its limit: {why}")


def _sent(
    arguments: argparse.Namespace, cluster: Plan, made: CapPlan | None, reason: str
) -> Mapping[str, str]:
    """Send the limits of a plan, or give all back without one; return the hosts that failed."""
    from rackwright.fleet.sending import send_caps

    with host_session(arguments, cluster) as session:
        return send_caps(session.hosts, () if made is None else made.caps, reason)


def _listen(arguments: argparse.Namespace, cluster: Plan, site: SitePlan) -> int:
    """Keep the events of a grid: accepted where the budget can be kept, sent at the start, given back at the end.

    Raises:
        UsageError: the site has no contract, of which events state a share.
    """
    from rackwright.errors import RackwrightError
    from rackwright.fleet.caps import PowerBudget
    from rackwright.fleet.openadr import GridEvent, Handlers, listen
    from rackwright.web.fetching import is_web_address

    contract = site.totals.contract_w
    if contract is None:
        raise UsageError("the site has no 'contract', of which events of the grid state a share")
    if not is_web_address(arguments.openadr):
        raise UsageError(
            f"'{arguments.openadr}' is no address of an OpenADR server",
            hint="write it like https://vtn.example.com/OpenADR2/Simple/2.0b",
        )
    levels = _levels(arguments)

    def plan_for(event: GridEvent) -> tuple[PowerBudget, CapPlan, Mapping[str, str]] | None:
        budget = PowerBudget(site_w=event.share * contract, reason=f"OpenADR event {event.id}")
        try:
            classes = _classes(arguments, cluster, site.name)
        except RackwrightError as error:
            say(str(error))
            return None
        made = _plan(cluster, site, budget, classes)
        if made.refused:
            say(f"event {event.id} is opted out of: {made.refused}")
            return None
        return budget, made, classes

    def begin(event: GridEvent) -> None:
        found = plan_for(event)  # again: other jobs run by now
        if found is None:
            return
        budget, made, classes = found
        say(
            f"event {event.id}: limits for {counted(made.hosts, 'host')} until {event.end:%H:%M:%S} UTC"
        )
        if arguments.send:
            _send(arguments, cluster, site, budget, classes, made)

    def end(event: GridEvent) -> None:
        say(f"event {event.id} has ended")
        if arguments.send:
            _tell(_sent(arguments, cluster, None, "restored"))

    handlers = Handlers(lambda event: plan_for(event) is not None, begin, end)
    listen(arguments.openadr, arguments.ven, levels, handlers, once=arguments.once)
    return ExitCode.CLEAN


def _levels(arguments: argparse.Namespace) -> dict[int, float]:
    """Return the levels with their shares of the contract.

    Raises:
        UsageError: one is no level, or is given twice.
    """
    found: dict[int, float] = {}
    for text in arguments.level:
        name, _, share = text.partition("=")
        if name not in LEVELS or not share.endswith("%"):
            hint = f"write it like 1=85%; the levels are {', '.join(LEVELS)}"
            raise UsageError(f"'{text}' is no level", hint=hint)
        if int(name) in found:
            raise UsageError(f"the level {name} has two shares: give one")
        found[int(name)] = _share(share)
    return found


def _restore(arguments: argparse.Namespace, cluster: Plan) -> int:
    """Give back every limit; show them without ``--send``."""
    from rackwright.ansible_runs.files import workspace
    from rackwright.fleet.sending import load_journal
    from rackwright.harmless import json_text

    journal = load_journal(workspace(cluster.name))
    if arguments.json:
        limits = {"limits": dict(journal.limits), "full": dict(journal.full)}
        sys.stdout.write(json_text({"schema": "rackwright.power-limits/v1", **limits}))
    elif journal.limits:
        sys.stdout.write(
            f"{counted(len(journal.limits), 'host')} with limits for '{journal.reason}'\n"
        )
    if not journal.limits:
        say("no host has a limit")
        return ExitCode.NOTHING
    if not arguments.send:
        return ExitCode.CLEAN
    failed = _sent(arguments, cluster, None, "restored")
    _tell(failed)
    return ExitCode.EXTERNAL if failed else ExitCode.CLEAN
