"""``upgrade``: bring a running cluster from one software entry to the next, wave by wave."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.cli.commands.configure import VERSIONS
from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.hosts import (
    add_cluster,
    add_reach,
    check_hosts,
    connections,
    host_session,
)
from rackwright.cli.options.policy_gate import add_gate, gate_of, refused_by
from rackwright.cli.options.telling import say
from rackwright.cli.options.waves import (
    add_max_failures,
    add_waves,
    begin,
    check_max_failures,
    give_up,
    go_on,
    limit_of,
    pace_of,
    run_waves,
)
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rackwright.ansible_runs.files import Workspace
    from rackwright.plan.model import Plan
    from rackwright.rollout.journal import RolloutProgress
    from rackwright.rollout.software_record import SoftwareRecord
    from rackwright.rollout.upgrade_executor import UpgradeSide
    from rackwright.rollout.upgrade_steps import UpgradeStep
    from rackwright.rollout.waves import Wave

SCHEMA = "rackwright.upgrade/v1"


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``upgrade``."""
    add_blueprint(parser)
    add_gate(parser)
    add_reach(parser)
    add_cluster(parser)
    parser.add_argument(
        "--from",
        type=Path,
        dest="from_blueprint",
        metavar="BLUEPRINT",
        help="blueprint the hosts were configured from (default: the one recorded on this machine)",
    )
    parser.add_argument(
        "--yes", action="store_true", help="upgrade; without it the plan is only shown"
    )
    add_max_failures(parser, "share of a wave's hosts that may fail before the upgrade stops")
    add_waves(parser, default="rack")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Show what an upgrade changes, and with ``--yes`` do it; 4 when a host failed."""
    from rackwright.ansible_runs.files import workspace
    from rackwright.plan.load import load_plan
    from rackwright.rollout.journal import load
    from rackwright.rollout.software_record import with_record
    from rackwright.rollout.upgrade_steps import upgrade_steps

    loaded = load_plan(arguments.blueprint, layers=tuple(arguments.layer))
    plan = loaded.cluster_at(arguments.site).plan
    _check(arguments, plan)
    place = workspace(plan.name)
    record = _record(arguments, place)
    before = with_record(plan, record)
    steps = upgrade_steps(before, plan)
    if not arguments.resume and (last := load(place.waves)) is not None:
        steps = _beside(last, plan, steps)
    if refused := refused_by(
        gate_of(arguments), loaded, "nothing was changed", no_preview=VERSIONS
    ):
        return refused
    if arguments.yes or arguments.resume:
        return _upgrade(arguments, place, plan, before, record, steps)
    if not steps:
        print("nothing to upgrade: the hosts were brought to this software entry already")
        return ExitCode.NOTHING
    _show(arguments, plan, steps)
    return ExitCode.CLEAN


def _beside(
    last: RolloutProgress, plan: Plan, steps: tuple[UpgradeStep, ...]
) -> tuple[UpgradeStep, ...]:
    """Return ``steps``, with what hosts may have that an unfinished upgrade has touched."""
    from rackwright.rollout.software_record import with_record
    from rackwright.rollout.upgrade_steps import steps_for_touched, upgrade_steps

    if last.upgraded_to is None or not last.unfinished or not last.touched:
        return steps
    half = upgrade_steps(with_record(plan, last.upgraded_to), plan)
    return steps_for_touched(steps, half, last.touched)


def _check(arguments: argparse.Namespace, plan: Plan) -> None:
    if plan.scheduler is None:
        raise UsageError(
            "the blueprint has no 'scheduler', so there is nothing to drain nodes in",
            hint="'rackwright configure' brings hosts without Slurm to what it says",
        )
    check_hosts(arguments)
    if arguments.yes and arguments.resume:
        raise UsageError("--yes begins an upgrade and --resume goes on with one; give one")
    check_max_failures(arguments)


def _record(arguments: argparse.Namespace, place: Workspace) -> SoftwareRecord:
    """Return the software of the hosts: of the interrupted upgrade, of a blueprint, else as recorded.

    Raises:
        UsageError: ``--resume`` is given with ``--from``, or there is no upgrade to go on with; or
            neither a record nor ``--from`` says what the hosts run.
    """
    from rackwright.plan.load import load_plan
    from rackwright.rollout.journal import load
    from rackwright.rollout.software_record import load_record, record_of

    if arguments.resume:
        if arguments.from_blueprint is not None:
            raise UsageError(
                "--resume continues the upgrade with its original options, without --from"
            )
        last = load(place.waves)
        if last is not None and last.upgraded_from is not None:
            return last.upgraded_from
        go_on(last, "", upgrade=True)  # says what there is instead
    if arguments.from_blueprint is not None:
        return record_of(load_plan(arguments.from_blueprint).cluster_at(arguments.site).plan)
    found = load_record(place.software)
    if found is None:
        raise UsageError(
            "the software entry of the hosts is not recorded on this machine",
            hint="set it with --from BLUEPRINT, the file of their last configuration",
        )
    return found


def _waves(
    arguments: argparse.Namespace, plan: Plan, steps: Sequence[UpgradeStep]
) -> tuple[Wave, ...]:
    """Return the waves, as long as all hosts are in service."""
    from rackwright.rollout.upgrade_steps import to_change
    from rackwright.rollout.waves import Domain, plan_waves, roster

    domain = Domain(arguments.waves)
    limit = limit_of(arguments, plan)
    return plan_waves(roster(plan, domain), domain, limit, only=to_change(steps))


def _apart(plan: Plan, steps: Sequence[UpgradeStep]) -> tuple[UpgradeStep, ...]:
    """Return the steps on hosts that no wave has, with just those hosts."""
    from dataclasses import replace

    from rackwright.rollout.waves import Domain, roster

    known = frozenset(roster(plan, Domain.UNIT).hosts)
    cut = (replace(s, hosts=tuple(h for h in s.hosts if h not in known)) for s in steps)
    return tuple(step for step in cut if step.hosts and step.after is not None)


def _show(arguments: argparse.Namespace, plan: Plan, steps: Sequence[UpgradeStep]) -> None:
    from rackwright.rollout.upgrade_steps import remarks, to_reboot

    waves, apart, restarting = _waves(arguments, plan, steps), _apart(plan, steps), to_reboot(steps)
    if arguments.json:
        document = {
            "schema": SCHEMA,
            "steps": [
                {
                    "component": step.component,
                    "from": step.before,
                    "to": step.after,
                    "hosts": list(step.hosts),
                    "drain": step.drain,
                    "reboot": step.reboot,
                    "order": step.order,
                }
                for step in steps
            ],
            "waves": [
                {
                    "kind": str(wave.kind),
                    "title": wave.title,
                    "hosts": list(wave.hosts),
                    "reboot": [host for host in wave.hosts if host in restarting],
                }
                for wave in waves
            ],
            "apart": [{"component": s.component, "hosts": list(s.hosts)} for s in apart],
            "remarks": list(remarks(steps)),
        }
        sys.stdout.write(json_text(document))
        return
    lines = [str(step) for step in steps]
    for number, wave in enumerate(waves, start=1):
        again = sum(host in restarting for host in wave.hosts)
        told = f", {again} rebooted" if again else ""
        amount = f"{len(wave.hosts)} {'host' if len(wave.hosts) == 1 else 'hosts'}"
        lines.append(f"wave {number} of {len(waves)} ({wave.title}): {amount}{told}")
    lines += [f"in no wave, change by hand: {step}" for step in apart]
    lines += [f"see to it: {remark}" for remark in remarks(steps)]
    lines.append("nothing was drained or changed; --yes does it")
    sys.stdout.write("\n".join(lines) + "\n")


def _upgrade(
    arguments: argparse.Namespace,
    place: Workspace,
    plan: Plan,
    before: Plan,
    record: SoftwareRecord,
    steps: Sequence[UpgradeStep],
) -> int:
    from rackwright.rollout.executor import digest
    from rackwright.rollout.journal import load, save
    from rackwright.rollout.rollout import Rollout
    from rackwright.rollout.software_record import record_of, save_record
    from rackwright.rollout.upgrade_executor import UpgradeExecutor
    from rackwright.rollout.upgrade_steps import (
        check_installed,
        slurm_versions,
        to_change,
        to_reboot,
    )
    from rackwright.rollout.waves import WaveKind

    pace = pace_of(arguments)
    reached = connections(arguments.lab)
    lab = arguments.lab is not None
    old, new = slurm_versions(steps)
    after = _side(place, plan, reached, new, lab=lab)
    former = _side(place, before, reached, old, lab=lab, restore=True)
    with host_session(arguments, plan, say) as session:
        last = load(place.waves)
        ansible = session.executor(after.expected)
        mark = digest(place, session.inventory, ("upgrade",), session.hosts.inventories)
        if arguments.resume:
            progress = go_on(last, mark, upgrade=True)
        else:
            if not (changing := to_change(steps)):
                print("nothing to upgrade: the hosts were brought to this software entry already")
                return ExitCode.NOTHING
            progress = begin(arguments, plan, ansible, mark, (), changing, "upgrade")
            progress.upgraded_from, progress.upgraded_to = record, record_of(plan)
            if last is not None:
                progress.drained = dict(last.drained)
                give_up(last)
        changed = {
            host: [s.component for s in steps if host in s.hosts and s.after is not None]
            for host in to_change(steps)
        }
        executor = UpgradeExecutor(
            ansible, after, former, changed, to_reboot(steps), progress.nodes, say
        )
        first = [
            host
            for wave in progress.waves
            if wave.kind is WaveKind.SERVICE
            for host in progress.left(wave)
            if host in new
        ]
        if first:
            found = ansible.ask_versions(first)
            check_installed({host: new[host] for host in first}, found)
        save(progress, place.waves)
        rollout = Rollout(
            progress,
            executor,
            pace,
            say,
            lambda kept: save(kept, place.waves),
            undo=executor.undo,
        )
        code = run_waves(
            rollout, ansible, place, as_json=arguments.json, versions=executor.versions
        )
        apart = _apart(plan, steps)
        if not progress.unfinished and not apart:
            save_record(place.software, record_of(plan))
        for step in apart:
            say(f"in no wave, change by hand, then configure all hosts: {step}")
        return code


def _side(
    place: Workspace,
    plan: Plan,
    reached: Mapping[str, Mapping[str, Any]],
    slurm: Mapping[str, str],
    *,
    lab: bool,
    restore: bool = False,
) -> UpgradeSide:
    from rackwright.accept.expected import expect
    from rackwright.ansible_runs.files import prepare
    from rackwright.rollout.upgrade_executor import UpgradeSide

    def bring() -> None:
        prepare(plan, place, reached)

    expected = {host.name: host for host in expect(plan, lab=lab)}
    return UpgradeSide(expected, bring, slurm, restore)
