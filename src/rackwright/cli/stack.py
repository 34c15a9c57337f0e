"""``preview``, ``up``, ``status`` and ``down``: the AWS sites of a blueprint."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.arguments import add_aws_site, add_blueprint
from rackwright.cli.hosts import add_hosts
from rackwright.cli.policy_gate import add_gate, gate_of, refused_by
from rackwright.cli.site_status import show_hosts, shows_hosts
from rackwright.errors import ExternalToolError, UsageError
from rackwright.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rackwright.errors import RackwrightError
    from rackwright.plan.load import LoadedPlan
    from rackwright.provision.engine import Site, StackOutcome
    from rackwright.provision.naming import Naming
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
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    if verb == "preview":
        parser.add_argument(
            "--save-plan", type=Path, metavar="FOLDER", help="new folder for what 'up --plan' takes"
        )
        parser.add_argument(
            "--refresh", action="store_true", help="compare with what is really there"
        )
        parser.add_argument(
            "--expect-no-changes", action="store_true", help="end with 5 when something differs"
        )
    if verb == "up":
        parser.add_argument(
            "--plan", type=Path, metavar="FOLDER", help="do what this plan says and nothing else"
        )
    if verb in _DESTRUCTIVE:
        parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.set_defaults(verb=verb)


def run(arguments: argparse.Namespace) -> int:
    """Run the verb; the exit code."""
    from rackwright.plan.load import load_plan
    from rackwright.provision import engine, saved_plans
    from rackwright.provision.targets import open_target

    loaded = load_plan(arguments.blueprint, layers=tuple(arguments.layer))
    verb = arguments.verb
    if verb == "status" and shows_hosts(arguments):
        return show_hosts(arguments, loaded.plan)
    site = choose_site(arguments, loaded)
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
    namings: Sequence[Naming] | None = None
    trouble: RackwrightError | None = None
    foreseen = False
    if verb == "status":
        outcomes = engine.status(site, target)
    elif verb == "down":
        outcomes = engine.down(site, target, say=_say)
    elif verb == "up":
        outcomes = engine.up(site, target, say=_say, plans=_absolute(arguments.plan))
    else:
        outcomes = engine.preview(
            site,
            target,
            say=_say,
            plans=_absolute(arguments.save_plan),
            refresh=arguments.refresh,
        )
        if arguments.save_plan:
            saved_plans.seal(arguments.save_plan, stack=site.stack, blueprint=blueprint)
    if verb == "up" or (verb == "status" and any(o.kind == "aws-cluster" for o in outcomes)):
        try:
            namings = _name(verb, loaded, site, target)
        except ExternalToolError as error:
            trouble = error
    elif verb == "preview":
        foreseen = _foresee(loaded, site, target, strict=arguments.expect_no_changes)
    if arguments.json:
        nodes = None if namings is None else {one.group: one.as_data() for one in namings}
        text = engine.render_json(outcomes, endpoint=target.endpoint, nodes=nodes)
        sys.stdout.write(text)
    else:
        sys.stdout.write(_render(verb, site, outcomes, target.endpoint))
        sys.stdout.writelines(f"{line}\n" for line in _hosts(namings))
    sys.stdout.flush()
    if trouble is not None:
        raise trouble
    differs = foreseen or any(o.changes for o in outcomes)
    if verb == "preview" and arguments.expect_no_changes and differs:
        sys.stderr.write("what is there differs from the blueprint\n")
        return ExitCode.VIOLATION
    return ExitCode.NOTHING if verb == "status" and not outcomes else ExitCode.CLEAN


def _name(verb: str, loaded: LoadedPlan, site: Site, target: Target) -> tuple[Naming, ...]:
    """The instance of each host of the node groups; 'up' gives those without a name one.

    Raises:
        ExternalToolError: AWS refuses.
    """
    from rackwright.provision import nodes

    fleet = nodes.fleet_in(loaded.plan, site.name)
    if verb == "up":
        namings = nodes.bind(fleet, target, say=_say).namings
    else:
        namings = nodes.read(fleet, target)
    for line in (line for one in namings for line in one.complaints()):
        _say(line)
    return namings


def _foresee(loaded: LoadedPlan, site: Site, target: Target, *, strict: bool) -> bool:
    """Whether instances that are there would get a name or a record; nothing is changed.

    Raises:
        ExternalToolError: nobody can tell, and ``strict`` wants it told.
    """
    from rackwright.provision import nodes

    fleet = nodes.fleet_in(loaded.plan, site.name)
    try:
        would = nodes.bind(fleet, target, dry=True)
    except nodes.NothingProvisionedError:
        return False
    except ExternalToolError as error:
        if strict:
            raise
        _say(f"hosts: names cannot be foreseen: {error.summary}")
        return False
    if would.named or would.records:
        _say(f"hosts: {would.named:,} instances to name, {would.records:,} records to change")
    return bool(would.named or would.records)


def _absolute(path: Path | None) -> Path | None:
    """The engine runs in a folder of its own."""
    return path.resolve() if path else None


def choose_site(arguments: argparse.Namespace, loaded: LoadedPlan) -> Site:
    """The AWS site that the command is about.

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
    )


def confirm(verb: str, site: Site, target: str) -> None:
    """Let the user type the site's name.

    Raises:
        UsageError: nobody can be asked, or something else is typed.
    """
    if not sys.stdin.isatty():
        raise UsageError(f"'{verb}' changes '{site.stack}'", hint="give --yes to go ahead")
    sys.stderr.write(f"{verb} '{site.stack}' on {target}; type the site's name to go ahead: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip() != site.name:
        raise UsageError("not confirmed; nothing was changed")


def _say(line: str) -> None:
    sys.stderr.write(f"  {line}\n")
    sys.stderr.flush()


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


def _hosts(namings: Sequence[Naming] | None) -> Iterator[str]:
    """The node groups with the hosts that have an address, as lines."""
    from rackwright.model.names import compress_hostlist

    for one in namings or ():
        there = list(one.as_data()["private_ips"])
        text = f": {compress_hostlist(there)}" if there else ""
        yield f"hosts of {one.group}: {len(there):,} of {len(one.hosts):,} with an address{text}"


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
