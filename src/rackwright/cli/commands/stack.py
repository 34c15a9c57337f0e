"""``preview``, ``up``, ``status`` and ``down``: the AWS sites of a blueprint."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_aws_site, add_blueprint
from rackwright.cli.options.hosts import add_hosts
from rackwright.cli.options.policy_gate import add_gate, gate_of, refused_by
from rackwright.cli.options.replacing.heads import add_replaced_heads, prepare_heads, tell_replaced
from rackwright.cli.options.site_status import add_hosts_status, show_hosts, shows_hosts
from rackwright.cli.options.telling import say, tell_progress
from rackwright.errors import ExternalToolError, UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rackwright.errors import RackwrightError
    from rackwright.plan.load import LoadedPlan
    from rackwright.provision.aws.adoption import Retained
    from rackwright.provision.engine import Site, StackOutcome
    from rackwright.provision.nodes import Answers, Bound
    from rackwright.provision.targets import Target

_DESTRUCTIVE = frozenset({"up", "down"})
_JUDGED = frozenset({"preview", "up"})


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``verb``."""
    add_blueprint(parser)
    if verb in _JUDGED:
        add_gate(parser)
    add_aws_site(parser, hosts=verb == "status")
    if verb == "status":
        add_hosts(parser)
        add_hosts_status(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    if verb == "preview":
        parser.add_argument(
            "--save-plan",
            type=Path,
            metavar="FOLDER",
            help="new folder for a plan that 'up --plan' applies",
        )
        parser.add_argument(
            "--refresh", action="store_true", help="read the present state from AWS first"
        )
        parser.add_argument(
            "--ask-aws",
            action="store_true",
            help="ask the account for offerings, quotas and reservations, and for a dry run; end with 5 if it refuses",
        )
        parser.add_argument(
            "--expect-no-changes", action="store_true", help="exit with 5 when something differs"
        )
    if verb == "up":
        from rackwright.cli.options.replacing.replacement import add_replacement

        parser.add_argument(
            "--plan", type=Path, metavar="FOLDER", help="apply exactly this saved plan"
        )
        add_replacement(parser)
        add_replaced_heads(parser)
    if verb in _DESTRUCTIVE:
        parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    parser.set_defaults(verb=verb)


def run(arguments: argparse.Namespace) -> int:
    """Run the verb; the exit code."""
    from rackwright.plan.load import load_plan
    from rackwright.provision import engine, nodes, saved_plans
    from rackwright.provision.aws.calls import refuse_other_account
    from rackwright.provision.targets import open_target

    loaded = load_plan(arguments.blueprint, layers=tuple(arguments.layer))
    verb = arguments.verb
    if verb == "status" and shows_hosts(arguments):
        return show_hosts(arguments, loaded.cluster_at(arguments.site).plan)
    site = choose_site(arguments, loaded)
    rolls = verb == "up" and _rolls(arguments, loaded)
    if verb in _JUDGED:
        gate = gate_of(arguments)
        if refused := refused_by(gate, loaded, "nothing was created"):
            return refused
        site = replace(site, gate=gate)
    if verb in _DESTRUCTIVE and not arguments.yes:
        confirm(verb, site, arguments.target)
    blueprint = saved_plans.digest([loaded.tree.data, loaded.plan.catalogue.own()])
    if verb == "up" and arguments.plan:
        saved_plans.verify(arguments.plan, stack=site.stack, blueprint=blueprint)
    if verb == "preview" and arguments.save_plan:
        saved_plans.prepare(arguments.save_plan)
    target = open_target(arguments.target)
    refuse_other_account(target, site.region, site.account)
    if verb == "preview" and arguments.ask_aws and not _account_has(loaded, site, target):
        return ExitCode.VIOLATION
    found: Bound | None = None
    trouble: RackwrightError | None = None
    foreseen = False
    before: Answers = {}
    if verb == "status":
        outcomes = engine.status(site, target)
    elif verb == "down":
        nodes.release_servers(nodes.fleet_in(loaded.plan, site.name), target)
        outcomes = engine.down(site, target, say=tell_progress)
        if any(outcome.retained for outcome in outcomes if outcome.kind == "aws-storage"):
            from rackwright.report.cost import storage_cost

            say(storage_cost(loaded.plan.cost.lines, site.name))
    elif verb == "up":
        nodes.refuse_moved_subnets(loaded.plan, site.name, target)
        _refuse_surplus(loaded, site, target, resumes=arguments.resume)
        before = nodes.answers(nodes.fleet_in(loaded.plan, site.name), target)
        outcomes = _up(arguments, loaded, site, target)
    else:
        nodes.refuse_moved_subnets(loaded.plan, site.name, target)
        outcomes = engine.preview(
            site,
            target,
            say=tell_progress,
            plans=_absolute(arguments.save_plan),
            refresh=arguments.refresh,
            adopt=_adopter(loaded, site, target),
        )
        tell_replaced(loaded, site, outcomes)
        if arguments.save_plan:
            saved_plans.seal(arguments.save_plan, stack=site.stack, blueprint=blueprint)
    if verb == "up" or (verb == "status" and any(o.kind == "aws-cluster" for o in outcomes)):
        try:
            found = _name(verb, loaded, site, target, before)
        except ExternalToolError as error:
            trouble = error
    elif verb == "preview":
        foreseen = _foresee(loaded, site, target, strict=arguments.expect_no_changes)
    if arguments.json:
        sys.stdout.write(_as_json(outcomes, target, found))
    else:
        sys.stdout.write(_render(verb, site, outcomes, target.endpoint))
        sys.stdout.writelines(f"{line}\n" for line in _hosts(found))
    sys.stdout.flush()
    if trouble is not None:
        raise trouble
    differs = foreseen or any(o.changes for o in outcomes)
    if verb == "preview" and arguments.expect_no_changes and differs:
        sys.stderr.write("the deployed resources differ from the blueprint\n")
        return ExitCode.VIOLATION
    if rolls and found is not None:
        return _roll(arguments, loaded, site, target, found)
    if found is not None and found.is_partial:
        return ExitCode.PARTIAL
    if verb == "up" and found is not None and found.outdated:
        return ExitCode.OUTDATED
    return ExitCode.NOTHING if verb == "status" and not outcomes else ExitCode.CLEAN


def _up(
    arguments: argparse.Namespace, loaded: LoadedPlan, site: Site, target: Target
) -> list[StackOutcome]:
    """Create or change the stacks.

    Raises:
        ExternalToolError: the engine fails; what AWS says of nodes that it did not launch is shown.
    """
    from rackwright.provision import engine, nodes

    restored = prepare_heads(arguments, loaded, site, target)
    try:
        return engine.up(
            site,
            target,
            say=tell_progress,
            plans=_absolute(arguments.plan),
            unprotected=restored,
            adopt=_adopter(loaded, site, target),
        )
    except ExternalToolError:
        # Where AWS cannot be asked either, the engine's own words are all there is.
        with suppress(ExternalToolError):
            for line in nodes.launch_failures(nodes.fleet_in(loaded.plan, site.name), target):
                say(line)
        raise


def _adopter(loaded: LoadedPlan, site: Site, target: Target) -> Retained:
    """Find what an earlier stack of the site has left in the account."""
    from rackwright.provision import nodes
    from rackwright.provision.aws.adoption import Retained
    from rackwright.provision.aws.cloud import Cloud

    cloud = Cloud(target, site.region)
    return Retained(loaded.plan.name, nodes.planned_site(loaded.plan, site.name), cloud, say)


def _rolls(arguments: argparse.Namespace, loaded: LoadedPlan) -> bool:
    """Return True if 'up' replaces outdated nodes as well.

    Raises:
        UsageError: arguments contradict each other.
    """
    from rackwright.cli.options.replacing.replacement import check_replacement

    check_replacement(arguments, loaded.plan)
    if arguments.waves is not None or arguments.resume:
        if arguments.json:
            raise UsageError(
                "--json tells of the stacks alone", hint="leave out --waves and --resume"
            )
        return True
    for name in ("wave_limit", "drain_timeout", "reason"):
        if getattr(arguments, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} is for 'up' with --waves")
    return False


def _roll(
    arguments: argparse.Namespace, loaded: LoadedPlan, site: Site, target: Target, found: Bound
) -> int:
    """Replace the outdated nodes in waves, or go on with what was begun."""
    from rackwright.cli.options.replacing.replacement import Choice, replace_nodes
    from rackwright.provision import nodes

    ends = {node.host: node.instance for node in found.outdated if node.host is not None}
    if not ends and not arguments.resume:
        return int(ExitCode.OUTDATED if found.outdated else ExitCode.CLEAN)
    fleet = nodes.fleet_in(loaded.plan, site.name)
    return replace_nodes(arguments, loaded, fleet, target, Choice(ends))


def _account_has(loaded: LoadedPlan, site: Site, target: Target) -> bool:
    """Print what the account says of the needs of a site; return False if it refuses one."""
    from rackwright.provision.access.errors import refusals
    from rackwright.provision.aws.account import ask_account
    from rackwright.provision.nodes import planned_site

    with refusals("ec2:DescribeInstanceTypeOfferings"):
        answers = list(ask_account(planned_site(loaded.plan, site.name), target))
    for answer in answers:
        say(f"aws: {answer}")
    return all(answer.outcome != "refused" for answer in answers)


def _refuse_surplus(loaded: LoadedPlan, site: Site, target: Target, *, resumes: bool) -> None:
    """Let no Auto Scaling group choose which nodes go.

    A replacement that was cut off may have launched instances and not yet ended those in whose place they come:
    where it goes on (``resumes``), they stay.

    Raises:
        UsageError: there are more nodes than the blueprint wants.
        ExternalToolError: AWS refuses.
    """
    from rackwright.provision import nodes

    found = nodes.surplus(nodes.fleet_in(loaded.plan, site.name), target)
    surplus = [one for one in found if one.has_names or not resumes]
    if surplus:
        hint = "drain and terminate them first: rackwright replace BLUEPRINT --surplus"
        if not all(one.has_names for one in surplus):
            hint += ", or go on with a replacement that was cut off: up BLUEPRINT --resume"
        raise UsageError(f"'up' terminates no nodes: {'; '.join(map(str, surplus))}", hint=hint)


def _name(verb: str, loaded: LoadedPlan, site: Site, target: Target, before: Answers) -> Bound:
    """Return the instance of each host of the node groups; 'up' gives those without a name one.

    Args:
        verb: ``up`` or ``status``.
        loaded: the blueprint.
        site: the site.
        target: where it is.
        before: answers of AWS from before the stacks were changed.

    Raises:
        ExternalToolError: AWS refuses.
    """
    from rackwright.provision import nodes

    fleet = nodes.fleet_in(loaded.plan, site.name)
    found = (
        nodes.launch(fleet, target, say=tell_progress, before=before)
        if verb == "up"
        else nodes.read(fleet, target)
    )
    for line in (line for one in found.namings for line in one.complaints()):
        say(line)
    if found.is_partial:
        for line in nodes.launch_failures(fleet, target):
            say(line)
        say("hosts that come later get their names by 'rackwright hosts'")
    return found


def _foresee(loaded: LoadedPlan, site: Site, target: Target, *, strict: bool) -> bool:
    """Return True if running instances would get a name or a record, or would have to go.

    Raises:
        ExternalToolError: nobody can tell, and ``strict`` wants it told.
    """
    from rackwright.provision import nodes
    from rackwright.provision.aws.fleet_calls import NothingProvisionedError

    fleet = nodes.fleet_in(loaded.plan, site.name)
    try:
        would = nodes.bind(fleet, target, dry=True)
    except NothingProvisionedError:
        return False
    except ExternalToolError as error:
        if strict:
            raise
        say(f"hosts: names cannot be foreseen: {error.summary}")
        return False
    if would.surplus:
        say(f"hosts: 'up' will refuse to end nodes: {'; '.join(map(str, would.surplus))}")
    if would.named or would.records:
        tell_progress(
            f"hosts: {counted(would.named, 'instance')} to name, {counted(would.records, 'record')} to change"
        )
    return bool(would.named or would.records or would.surplus)


def _absolute(path: Path | None) -> Path | None:
    """Return the engine runs in a folder of its own."""
    return path.resolve() if path else None


def choose_site(arguments: argparse.Namespace, loaded: LoadedPlan) -> Site:
    """Return the AWS site that the command is about.

    Raises:
        UsageError: the blueprint has none, or it is not clear which.
    """
    from rackwright.provision.engine import Site

    plans = {plan.name: plan for plan in loaded.plan.aws}
    if not plans:
        raise UsageError(
            "the blueprint has no AWS site",
            hint="on-premises sites are configured by Ansible, not by Pulumi",
        )
    name = arguments.site or (next(iter(plans)) if len(plans) == 1 else None)
    if name is None or name not in plans:
        problem = f"there is no AWS site '{name}'" if name else "there are several AWS sites"
        raise UsageError(problem, hint=f"choose one with --site: {', '.join(plans)}")
    return Site(
        blueprint=arguments.blueprint.resolve(),
        layers=tuple(layer.resolve() for layer in arguments.layer),
        cluster=loaded.plan.name,
        name=name,
        region=plans[name].region,
        account=plans[name].account,
    )


def confirm(verb: str, site: Site, target: str) -> None:
    """Let the user type the site's name.

    Raises:
        UsageError: nobody can be asked, or something else is typed.
    """
    if not sys.stdin.isatty():
        raise UsageError(f"'{verb}' changes '{site.stack}'", hint="give --yes to go ahead")
    sys.stderr.write(f"{verb} '{site.stack}' on {target}; type the site's name to continue: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip() != site.name:
        raise UsageError("not confirmed; nothing was changed")


def _render(verb: str, site: Site, outcomes: Sequence[StackOutcome], endpoint: str | None) -> str:
    lines = []
    for outcome in outcomes:
        lines.append(f"{outcome.kind}/{site.stack}: {_summary(verb, outcome)}")
        lines += [f"  {name}: {', '.join(diff)}" for name, diff in outcome.details.items()]
        if verb in {"up", "status"}:
            lines += [
                f"  {key} = {_short(value)}" for key, value in sorted(outcome.outputs.items())
            ]
        lines += [f"  retained: {item}" for item in outcome.retained]
    if not outcomes:
        lines.append(f"{site.stack}: nothing is provisioned")
    if endpoint and verb == "status":
        lines.append(f"embedded AWS: {endpoint}")
    return "\n".join(lines) + "\n"


def _as_json(outcomes: Sequence[StackOutcome], target: Target, found: Bound | None) -> str:
    from rackwright.provision.engine import render_json

    nodes = None
    if found is not None:
        nodes = {
            "nodes": {one.group: one.as_data() for one in found.namings},
            "outdated": [one.as_data() for one in found.outdated],
            "unhealthy": found.unhealthy,
        }
    return render_json(outcomes, endpoint=target.endpoint, nodes=nodes)


def _hosts(found: Bound | None) -> Iterator[str]:
    """Yield the node groups with the hosts that have an address, and the outdated ones, as lines."""
    from rackwright.model.names import compress_hostlist
    from rackwright.provision.outdated import outdated_lines

    if found is None:
        return
    for one in found.namings:
        there = list(one.as_data()["private_ips"])
        text = f": {compress_hostlist(there)}" if there else ""
        yield f"hosts of {one.group}: {len(there):,} of {len(one.hosts):,} with an address{text}"
    if found.unhealthy:
        hosts = compress_hostlist(found.unhealthy)
        yield f"EC2's status checks fail for {hosts}: rackwright replace BLUEPRINT --unhealthy"
    if found.outdated:
        yield from outdated_lines(found.outdated)
        yield "they stay as they are until they are replaced: rackwright replace BLUEPRINT --outdated --waves unit"


def _summary(verb: str, outcome: StackOutcome) -> str:
    if verb == "status":
        return f"{outcome.unchanged} resources"
    if not outcome.changes:
        return "no change" if verb != "down" or outcome.unchanged else "nothing to remove"
    done = {"preview": "to {}", "up": "{}", "down": "{}"}[verb]
    parts = [f"{count} {done.format(op)}" for op, count in sorted(outcome.changes.items())]
    return f"{', '.join(parts)}; {outcome.unchanged} unchanged"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return text if len(text) <= 100 else text[:97] + "..."
