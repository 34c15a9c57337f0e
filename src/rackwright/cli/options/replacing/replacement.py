"""The replacement of nodes of an AWS site, for the commands that do it: in waves, by name."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cli.options.hosts import add_reach, check_hosts, expectations, host_session
from rackwright.cli.options.telling import say
from rackwright.cli.options.waves import (
    add_max_failures,
    add_waves,
    begin,
    check_max_failures,
    give_up,
    go_on,
    pace_of,
    run_waves,
)
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rackwright.ansible_runs.files import Workspace
    from rackwright.plan.load import LoadedPlan
    from rackwright.plan.model import Plan
    from rackwright.provision.aws.fleet_calls import Fleet
    from rackwright.provision.naming import Naming
    from rackwright.provision.replacing import Replacing
    from rackwright.provision.targets import Target
    from rackwright.rollout.executor import AnsibleExecutor
    from rackwright.rollout.journal import RolloutProgress
    from rackwright.rollout.replacement import RemovalExecutor, ReplacementExecutor

SCHEMA = "rackwright.replace/v1"
_TOLD = ("ansible_", "rackwright_instance_id", "rackwright_public_address")
"""Beginnings of the variables of a host that say where it is."""


def add_replacement(parser: argparse.ArgumentParser) -> None:
    """Add how nodes are reached and waited for, and in which waves they go."""
    add_reach(parser)
    parser.add_argument(
        "--launch-timeout",
        metavar="TIME",
        default="20 min",
        help="time limit for a node group to launch instances, like '20 min'",
    )
    parser.add_argument(
        "--end-first",
        action="store_true",
        help="end old instances before new ones run; on-demand capacity may not come back",
    )
    add_max_failures(parser, "share of a wave's hosts that may fail before the change stops")
    add_waves(parser)


@dataclass(frozen=True)
class Choice:
    """Instances that have to go.

    Attributes:
        ends: the instance of each host; empty where a host has none.
        nameless: instances without a host name.
        removed: nothing takes their place.
    """

    ends: Mapping[str, str]
    nameless: tuple[str, ...] = ()
    removed: bool = False


def check_replacement(arguments: argparse.Namespace, plan: Plan) -> None:
    """Refuse what contradicts itself in how nodes are replaced.

    Raises:
        UsageError: something does.
    """
    check_hosts(arguments)
    check_max_failures(arguments)
    for name in ("waves", "wave_limit", "reason"):
        if arguments.resume and getattr(arguments, name):
            raise UsageError(
                f"--resume goes on with the change as it was begun, without --{name.replace('_', '-')}"
            )
    if arguments.resume and plan.scheduler is None:
        raise UsageError("without a 'scheduler' nothing is drained, and nothing is gone on with")


def replace_nodes(
    arguments: argparse.Namespace, loaded: LoadedPlan, fleet: Fleet, target: Target, choice: Choice
) -> int:
    """Drain, end and replace the instances of ``choice``, or go on with what was begun.

    Without a scheduler nothing is drained, configured or verified.

    Raises:
        UsageError: ``--launch-timeout`` is no duration.
    """
    from rackwright.model.units import DURATION
    from rackwright.provision.replacing import Replacing

    try:
        timeout = DURATION.parse(arguments.launch_timeout)
    except ValueError as error:
        raise UsageError(f"--launch-timeout: {error}", hint="for example '20 min'") from None
    replacing = Replacing(fleet, target, choice.ends, say, timeout, end_first=arguments.end_first)
    if choice.nameless:
        # They have no name, and so no node in Slurm that could have jobs.
        replacing.remove_instances(choice.nameless)
    if loaded.plan.scheduler is None:
        names = tuple(choice.ends)
        if choice.removed:
            return _show(arguments, names, replacing.remove(names))
        done = 0
        for name in names:  # nobody says how many may be away at a time
            if failed := replacing.renew([name]):
                return _show(arguments, names, failed, done)
            done += 1
        return _show(arguments, names, {}, done)
    if not choice.ends and not arguments.resume:
        return _show(arguments, (), {})
    return _Change(arguments, loaded.plan, replacing).run(choice)


def _show(
    arguments: argparse.Namespace,
    hosts: Sequence[str],
    failed: Mapping[str, str],
    done: int | None = None,
) -> int:
    """Show what was done to ``hosts``, the first ``done`` of them or all."""
    ended = hosts[: len(hosts) if done is None else done]
    if arguments.json:
        document = {
            "schema": SCHEMA,
            "hosts": list(hosts),
            "done": list(ended),
            "failed": dict(failed),
        }
        sys.stdout.write(json_text(document))
    else:
        sys.stdout.writelines(f"{host} failed: {why}\n" for host, why in failed.items())
        sys.stdout.write(f"{len(ended)} of {len(hosts)} hosts done\n")
    return int(ExitCode.EXTERNAL if failed else ExitCode.CLEAN)


@dataclass
class _Change:
    """A change in waves that replaces or removes machines."""

    arguments: argparse.Namespace
    plan: Plan
    replacing: Replacing
    names: dict[str, str] = field(default_factory=dict)
    """The name in the fleet of each host, by its name in the inventory."""

    def run(self, choice: Choice) -> int:
        """Begin the change, or go on with it, and show what it has done."""
        from rackwright.rollout.executor import digest
        from rackwright.rollout.journal import load, save
        from rackwright.rollout.rollout import Rollout

        arguments, plan = self.arguments, self.plan
        pace = pace_of(arguments)
        expected = expectations(arguments, plan)
        with host_session(arguments, plan, say) as session:
            hosts = session.hosts
            place = hosts.place
            mark = digest(place, session.inventory, (), hosts.inventories)
            if not arguments.lab:
                hosts = replace(hosts, inventories=[*hosts.inventories, self._addresses(place)])
            executor = replace(session, hosts=hosts).executor(expected)
            before = load(place.waves)
            progress = self._progress(choice, before, executor, mark)
            self.replacing.ends = {
                self.names.get(host, host): one for host, one in progress.instances.items()
            }
            if not arguments.resume and before is not None:
                give_up(before)
            save(progress, place.waves)
            steps = self._executor(executor, progress)
            rollout = Rollout(progress, steps, pace, say, lambda kept: save(kept, place.waves))
            return run_waves(rollout, executor, place, as_json=arguments.json)

    def _progress(
        self,
        choice: Choice,
        before: RolloutProgress | None,
        executor: AnsibleExecutor,
        mark: str,
    ) -> RolloutProgress:
        from rackwright.model.names import compress_hostlist
        from rackwright.rollout.journal import RolloutProgress
        from rackwright.rollout.waves import Wave, WaveKind

        hosts = [h for h in self.plan.hosts if h.site == self.replacing.fleet.site]
        self.names = {host.inventory_name: host.name for host in hosts}
        if self.arguments.resume:
            return go_on(before, mark, replaces=True)
        if choice.removed:
            title = f"{compress_hostlist(choice.ends)}, which the blueprint has no more"
            progress = RolloutProgress(
                change=self.arguments.reason or f"removal {mark[:8]}",
                digest=mark,
                waves=(Wave(WaveKind.COMPUTE, title, tuple(choice.ends)),),
                nodes={host: host for host in choice.ends},
                instances=choice.ends,
                removed=True,
            )
        else:
            known = {name: inventory for inventory, name in self.names.items()}
            ends = {known[host]: one for host, one in choice.ends.items()}
            progress = begin(
                self.arguments, self.plan, executor, mark, only=tuple(ends), instances=ends
            )
        if before is not None:
            progress.drained = dict(before.drained)
        return progress

    def _executor(
        self, executor: AnsibleExecutor, progress: RolloutProgress
    ) -> ReplacementExecutor | RemovalExecutor:
        from rackwright.rollout.replacement import RemovalExecutor, ReplacementExecutor

        def end(hosts: Sequence[str]) -> Mapping[str, str]:
            return self.replacing.remove(hosts)

        def renew(hosts: Sequence[str]) -> Mapping[str, str]:
            known = {self.names[host]: host for host in hosts}
            failed = self.replacing.renew(tuple(known))
            return {known[host]: why for host, why in failed.items()}

        if progress.removed:
            return RemovalExecutor(executor, end)
        return ReplacementExecutor(executor, renew, executor.reach, progress.nodes)

    def _addresses(self, place: Workspace) -> Path:
        """Return an inventory that says where the hosts of the site are, written again for each new instance."""
        from rackwright.provision import nodes

        path = place.folder / "inventory/instances.json"
        servers = self.replacing.calls.shared_parameter("cluster")
        site = self.replacing.fleet.site

        def write(namings: Sequence[Naming]) -> None:
            _write_addresses(path, self.plan, site, servers, namings)

        write(nodes.read(self.replacing.fleet, self.replacing.target).namings)
        self.replacing.addressed = write
        return path


def _write_addresses(
    path: Path,
    plan: Plan,
    site: str,
    servers: Mapping[str, object],
    namings: Sequence[Naming],
) -> None:
    from rackwright.files import write_changed
    from rackwright.inventory.inventory import build_inventory
    from rackwright.inventory.stack_outputs import SCHEMA as STACK
    from rackwright.inventory.stack_outputs import add_outputs, outputs_of

    told = outputs_of(
        {
            "schema": STACK,
            "stacks": [{"outputs": {"servers": servers.get("servers", {})}}],
            "nodes": {one.group: one.as_data() for one in namings},
        }
    )
    made = build_inventory(plan)
    add_outputs(made, plan, told, site)
    own = {host.inventory_name for host in plan.hosts if host.site == site}
    hosts = {
        name: {key: value for key, value in variables.items() if key.startswith(_TOLD)}
        for name, variables in made["_meta"]["hostvars"].items()
        if name in own
    }
    write_changed(path, json.dumps({"all": {"hosts": hosts}}, indent=1))
