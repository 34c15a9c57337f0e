"""``configure``: bring the hosts of a blueprint to what it says, with Ansible."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.hosts import (
    add_cluster,
    add_hosts,
    ansible_hosts,
    check_hosts,
    controllers,
    host_session,
    watcher,
)
from rackwright.cli.options.policy_gate import add_gate, gate_of, refused_by
from rackwright.cli.options.telling import say
from rackwright.cli.options.waves import (
    add_max_failures,
    add_waves,
    check_max_failures,
    is_wanted,
    roll_out,
)
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rackwright.ansible_runs.events import Tally
    from rackwright.ansible_runs.hosts import AnsibleHosts
    from rackwright.plan.load import LoadedPlan
    from rackwright.plan.model import Plan

SCHEMA = "rackwright.configure/v1"
VERSIONS = frozenset({"OPS-002"})
"""What is never installed although it does not fit together, whichever policy set judges."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``configure``."""
    add_blueprint(parser)
    add_gate(parser)
    add_hosts(parser)
    add_cluster(parser)
    parser.add_argument("--retry", action="store_true", help="only the hosts in quarantine")
    parser.add_argument(
        "--tags",
        metavar="STEPS",
        help="only these steps, like configure,run; a host leaves quarantine only after all steps",
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing, print what would change"
    )
    add_max_failures(parser, "share of the hosts that may fail before the run ends for all of them")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    add_waves(parser)


def run(arguments: argparse.Namespace) -> int:
    """Configure the hosts; 4 when some of them failed."""
    from rackwright.ansible_runs.files import workspace
    from rackwright.ansible_runs.run import Options, read_quarantine, remember, run_playbook
    from rackwright.ansible_runs.tags import is_everything, parse_tags
    from rackwright.plan.load import load_plan
    from rackwright.rollout.software_record import check_release, record_of, save_record

    tags = parse_tags(arguments.tags)
    loaded = load_plan(arguments.blueprint, layers=tuple(arguments.layer))
    _check(arguments, loaded)
    own = loaded.cluster_at(arguments.site)
    check_release(workspace(own.plan.name).software, own.plan)
    in_waves = is_wanted(arguments)
    gate, consequence = gate_of(arguments), "nothing was configured"
    if refused := refused_by(gate, loaded, consequence, no_preview=VERSIONS):
        return refused
    if in_waves:
        code = roll_out(arguments, own)
        _hold_untested(own.plan, ansible_hosts(arguments, own.plan))
        return code
    place = workspace(own.plan.name)
    limit = arguments.limit
    if arguments.retry:
        waiting = read_quarantine(place)
        if not waiting:
            print("no host is in quarantine")
            return ExitCode.NOTHING
        limit = ",".join(sorted(waiting))
    options = Options(
        limit=limit,
        check=arguments.check,
        forks=arguments.forks,
        max_failures=arguments.max_failures,
        tags=tags,
        inventories=tuple(path.resolve() for path in arguments.inventory),
    )
    with host_session(arguments, own.plan) as session:
        started = time.monotonic()
        with watcher(session.inventory, options.limit, as_json=arguments.json) as watch:
            tally = run_playbook(place, options, watch)
        seconds = time.monotonic() - started
        kept = (
            read_quarantine(place)
            if options.check
            else remember(place, tally, whole=options.limit is None, part=not is_everything(tags))
        )
        if not options.check and options.limit is None and is_everything(tags) and not kept:
            save_record(place.software, record_of(own.plan))
        if not options.check and is_everything(tags):
            _hold_untested(own.plan, session.hosts)
    sys.stdout.write(
        _as_json(tally, kept, seconds)
        if arguments.json
        else _as_text(tally, kept, seconds, check=options.check)
    )
    return ExitCode.EXTERNAL if tally.failed else ExitCode.CLEAN


def _check(arguments: argparse.Namespace, loaded: LoadedPlan) -> None:
    if loaded.plan.scheduler is None:
        raise UsageError(
            "the blueprint has no 'scheduler', so there is nothing to configure",
            hint="describe the Slurm cluster under 'scheduler:'",
        )
    check_hosts(arguments)
    if arguments.limit is not None and arguments.retry:
        raise UsageError("--limit and --retry both choose hosts; give one")
    check_max_failures(arguments)


def _hold_untested(plan: Plan, hosts: AnsibleHosts) -> None:
    """Drain the nodes in service that have no passed burn-in, where the blueprint requires one.

    Raises:
        ExternalToolError: Slurm does not answer.
    """
    from rackwright.model.names import compress_hostlist
    from rackwright.nodelife.burnin.gate import REASON, is_required, waiting_nodes
    from rackwright.nodelife.burnin.groups import nodes_of
    from rackwright.nodelife.ledger import open_ledger
    from rackwright.nodelife.slurm_nodes import drain
    from rackwright.nodelife.store import store_path
    from rackwright.rollout.executor import AnsibleExecutor

    if not is_required(plan):
        return
    names = [node.name for node in nodes_of(plan)]
    with open_ledger(store_path(plan.name)) as ledger:
        suites = ledger.suites()
    executor = AnsibleExecutor(hosts, controllers(plan), {})
    held = waiting_nodes(names, executor.update(names, []).after, suites)
    if held:
        executor.update(held, [drain(held, REASON)])
        say(
            f"without a passed burn-in, drained: {compress_hostlist(held)}; run 'rackwright burn-in'"
        )


def _as_text(tally: Tally, kept: Mapping[str, str], seconds: float, *, check: bool) -> str:
    from rackwright.model.names import compress_hostlist

    verb = "would change" if check else "changed"
    lines = [f"{name}: {role_seconds:.1f} s" for name, role_seconds in tally.role_seconds.items()]
    if check:
        lines += [
            f"{name} would change: {task}"
            for name, result in sorted(tally.hosts.items())
            for task in result.changed
        ]
        # Nothing was changed, so nobody is put in quarantine.
        lines += [f"{name} failed: {tally.hosts[name].failure}" for name in tally.failed]
    lines += [f"quarantined {name}: {reason}" for name, reason in sorted(kept.items())]
    fine = [n for n, result in sorted(tally.hosts.items()) if n in kept and result.failure is None]
    if fine and not check:
        lines.append(
            f"still in quarantine, since these were not all the steps: {compress_hostlist(fine)}; "
            "run 'rackwright configure … --retry' without --tags"
        )
    done = len(tally.hosts) - len(tally.failed)
    lines.append(
        f"{done} of {len(tally.hosts)} hosts done in {seconds:.1f} s, "
        f"{tally.changed} {'thing' if tally.changed == 1 else 'things'} {verb}"
    )
    if tally.failed and not check:
        lines.append("run 'rackwright configure … --retry' when the failed hosts are fixed")
    elif not check and not kept:
        lines.append("run 'rackwright verify …' next: the cluster is up only when that passes")
    return "\n".join(lines) + "\n"


def _as_json(tally: Tally, kept: Mapping[str, str], seconds: float) -> str:
    document = {
        "schema": SCHEMA,
        "seconds": round(seconds, 1),
        "roles": {name: round(value, 1) for name, value in tally.role_seconds.items()},
        "hosts": {
            name: {
                "ok": result.ok,
                "changed": result.changed,
                "failure": result.failure,
                "unreachable": result.unreachable,
            }
            for name, result in sorted(tally.hosts.items())
        },
        "quarantine": dict(sorted(kept.items())),
    }
    return json_text(document)
