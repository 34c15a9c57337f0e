"""``provision``: bring bare-metal hosts from their controllers to their first job, by Ironic."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.policy_gate import add_gate, gate_of, gate_words, refused_by
from rackwright.cli.options.telling import tell_progress
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rackwright.metal.journal import HostRecord
    from rackwright.metal.nodes import HostPlan

SCHEMA = "rackwright.provisioning/v1"


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``provision``."""
    add_blueprint(parser)
    add_gate(parser)
    parser.add_argument("--site", help="the bare-metal site, if the blueprint has several")
    parser.add_argument(
        "--hosts",
        metavar="LIST",
        help="only these hosts, like dgx-[01-08] (default: all of the site)",
    )
    parser.add_argument(
        "--until",
        metavar="STEP",
        default="accepted",
        help="last step: enrolled, inspected, firmware, cleaned, imaged, reached, configured or accepted",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--dry-run", action="store_true", help="show hosts and waves, start nothing")
    mode.add_argument(
        "--status", action="store_true", help="show the step of each host, start nothing"
    )
    parser.add_argument("--retry", action="store_true", help="retry hosts that failed before")
    parser.add_argument("--json", action="store_true", help="print the hosts as JSON")
    parser.add_argument(
        "--poll",
        type=float,
        default=5.0,
        metavar="SECONDS",
        help="seconds between polls of Ironic (default: 5)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Provision hosts; 0 where all are done, 5 where one was left alone or the blueprint is refused.

    Raises:
        UsageError: the blueprint has no engine, no such host or step, or a file cannot be read.
        IronicError: Ironic does not answer.
    """
    from rackwright.metal.chosen import bmc_access, hosts_of
    from rackwright.metal.discovery.discover import Discoverer
    from rackwright.metal.journal import open_journal
    from rackwright.metal.last_steps import LastSteps
    from rackwright.metal.lifecycle import Seen, facts_against
    from rackwright.metal.nodes import REHEARSAL, limits_of
    from rackwright.metal.reconcile import Reconciler, rehearsed
    from rackwright.nodelife.store import sole_controller, store_path
    from rackwright.plan.load import load_plan

    until = _step(arguments.until)
    chosen = hosts_of(arguments.blueprint, arguments.layer, arguments.site, arguments.hosts)
    plans, site, provisioning = chosen.plans, chosen.site, chosen.provisioning
    limits = limits_of(provisioning)
    if arguments.dry_run:
        return _show_waves(plans, limits, as_json=arguments.json)
    rehearsal = chosen.engine.driver == REHEARSAL
    if not (arguments.status or rehearsal):  # disks are wiped before 'configure' would refuse
        loaded = load_plan(arguments.blueprint, tuple(arguments.layer))
        if refused := refused_by(gate_of(arguments), loaded, "nothing was provisioned"):
            return refused
    store = store_path(chosen.cluster)
    with open_journal(store, site.name, time.time) as journal:
        if arguments.status:
            return _report(plans, journal.records(), as_json=arguments.json)
        access = bmc_access(provisioning.bmc, chosen.machines)
        # Passwords are read before anything is begun: a file that is missing stops nothing half-way.
        known = None if rehearsal else access.credentials()
        reader = None
        if known is not None:
            reader = Discoverer(known, access.session(), access.port, access.manners)

        def read(these: Sequence[HostPlan]) -> Mapping[str, Seen]:
            if reader is None:
                return rehearsed(these)
            asked = [one.machine.bmc for one in these if one.machine.bmc is not None]
            return facts_against(these, reader.discover(asked, asked))

        def password(one: HostPlan) -> str:
            return "" if known is None else known(one.machine.bmc or "").password

        with sole_controller(store):
            if arguments.retry:
                for one in plans:
                    journal.forget(one.name, failure_alone=True)
            outcome = Reconciler(
                cluster=chosen.cluster,
                plans=plans,
                provisioning=provisioning,
                ironic=chosen.ironic(),
                journal=journal,
                read=read,
                run_on_hosts=LastSteps(
                    provisioning.ssh_user,
                    arguments.blueprint,
                    arguments.layer,
                    gate_words(arguments),
                ),
                passwords=password,
                limits=limits,
                until=until,
                say=tell_progress,
                poll_s=arguments.poll,
            ).run()
        return _report(plans, outcome.records, as_json=arguments.json)


def _step(text: str) -> Any:
    """Return the step of a word.

    Raises:
        UsageError: there is none.
    """
    from rackwright.metal.lifecycle import ProvisioningStep

    for step in ProvisioningStep:
        if text in {step.value, step.value.partition(" ")[0]}:
            return step
    words = ", ".join(step.value.partition(" ")[0] for step in ProvisioningStep)
    raise UsageError(f"'{text}' is not a step", hint=f"steps: {words}")


def _show_waves(plans: tuple[HostPlan, ...], limits: Any, *, as_json: bool) -> int:
    from rackwright.metal.waves import waves

    found = waves([(plan.name, plan.place) for plan in plans], limits)
    images = {plan.name: plan.image.name for plan in plans}
    if as_json:
        data = {"schema": SCHEMA, "waves": found, "images": images}
        sys.stdout.write(json.dumps(data, indent=2) + "\n")
        return ExitCode.CLEAN
    for number, wave in enumerate(found, 1):
        print(f"wave {number}: {', '.join(wave)}")
    print(f"{counted(len(plans), 'host')}, at most {max(map(len, found))} switched on together")
    return ExitCode.CLEAN


def _report(
    plans: tuple[HostPlan, ...], records: Mapping[str, HostRecord], *, as_json: bool
) -> int:
    """Print how far each host is, and return the exit code."""
    from rackwright.metal.journal import HostRecord

    rows = [(plan.name, records.get(plan.name, HostRecord())) for plan in plans]
    if as_json:
        hosts = [
            {
                "host": name,
                "steps": record.done,
                "failure": None
                if record.failure is None
                else {"step": record.failure[0], "reason": record.failure[1]},
            }
            for name, record in rows
        ]
        sys.stdout.write(json.dumps({"schema": SCHEMA, "hosts": hosts}, indent=2) + "\n")
    else:
        for name, record in rows:
            last = list(record.done)[-1] if record.done else "not begun"
            if record.failure is not None:
                print(f"{name}: {last}; not {record.failure[0]}: {record.failure[1]}")
            else:
                print(f"{name}: {last}")
    return ExitCode.VIOLATION if any(one.failure for _, one in rows) else ExitCode.CLEAN
