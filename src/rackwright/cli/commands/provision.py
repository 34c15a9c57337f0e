"""``provision``: install bare-metal hosts through Ironic, up to their first job."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.hosts import add_reach, check_hosts, reach_words
from rackwright.cli.options.policy_gate import add_gate, gate_of, gate_words, refused_by
from rackwright.cli.options.telling import tell_progress
from rackwright.cli.options.waves import add_max_failures, add_waves, check_max_failures
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rackwright.cli.options.renewal import Provision
    from rackwright.metal.chosen import ChosenHosts
    from rackwright.metal.ironic import IronicNode
    from rackwright.metal.journal import HostRecord, ProvisioningJournal
    from rackwright.metal.lifecycle import ProvisioningStep, Seen
    from rackwright.metal.nodes import HostPlan
    from rackwright.metal.reconcile import ProvisioningOutcome

SCHEMA = "rackwright.provisioning/v1"


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``provision``."""
    add_blueprint(parser)
    add_gate(parser)
    add_reach(parser)
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
        help="last step: enrolled, inspected, firmware, cleaned, imaged, secure, reached, attested, configured or accepted",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--dry-run", action="store_true", help="show hosts and waves, start nothing")
    mode.add_argument(
        "--status", action="store_true", help="show the step of each host, start nothing"
    )
    parser.add_argument("--retry", action="store_true", help="retry hosts that failed before")
    parser.add_argument("--json", action="store_true", help="print the hosts as JSON")
    add_max_failures(parser, "share of a wave's hosts that may fail before the renewal stops")
    add_waves(parser)
    parser.add_argument(
        "--poll",
        type=float,
        default=5.0,
        metavar="SECONDS",
        help="seconds between polls of Ironic (default: 5)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Provision hosts; return 0 if all are done, 5 if one was left out or the blueprint failed the gate.

    Raises:
        UsageError: the blueprint has no engine, no such host or step, or a file cannot be read.
        IronicError: Ironic does not answer.
    """
    from rackwright.cli.options.renewal import outdated, renew_in_waves
    from rackwright.metal.chosen import hosts_of
    from rackwright.metal.journal import open_journal
    from rackwright.metal.nodes import REHEARSAL, limits_of
    from rackwright.nodelife.store import sole_controller, store_path

    until = _step(arguments.until)
    check_hosts(arguments)
    check_max_failures(arguments)
    in_waves = arguments.waves is not None or arguments.resume
    chosen = hosts_of(arguments.blueprint, arguments.layer, arguments.site, arguments.hosts)
    plans = chosen.plans
    if arguments.dry_run and not in_waves:
        return _show_waves(plans, limits_of(chosen.provisioning), as_json=arguments.json)
    rehearsal = chosen.engine.driver == REHEARSAL
    loaded = chosen.loaded
    cluster = chosen.site.name if loaded.plan.is_federated else None
    # Take the gate now: 'configure' would take it only after the disks were erased.
    if not (arguments.status or arguments.dry_run or rehearsal) and (
        refused := refused_by(gate_of(arguments), loaded, "nothing was provisioned")
    ):
        return refused
    store = store_path(chosen.cluster)
    with open_journal(store, chosen.site.name, time.time) as journal:
        if arguments.status:
            return _report(plans, journal.records(), as_json=arguments.json)
        if arguments.dry_run:
            renewals = outdated(plans, journal)
            for host, renewal in renewals.items():
                print(f"{host}: {'; '.join(renewal.reasons)}")
            return ExitCode.CLEAN if renewals else ExitCode.NOTHING
        provision = _provision(arguments, chosen, journal, cluster)
        with sole_controller(store):
            if in_waves:
                plan = loaded.cluster_at(cluster).plan
                user = chosen.provisioning.ssh_user
                return renew_in_waves(arguments, plan, plans, user, journal, provision)
            if arguments.retry:
                _retry(plans, journal, chosen.ironic().nodes())
            outcome = provision(plans, until)
        return _report(plans, outcome.records, as_json=arguments.json)


def _provision(
    arguments: argparse.Namespace,
    chosen: ChosenHosts,
    journal: ProvisioningJournal,
    cluster: str | None,
) -> Provision:
    """Return a function that takes hosts to a step; passwords are read before any act starts.

    Args:
        arguments: arguments of the command.
        chosen: selected hosts.
        journal: journal of the site.
        cluster: site of the cluster in a federation; None without a federation.

    Raises:
        UsageError: a password cannot be read.
    """
    from rackwright.metal.chosen import bmc_access
    from rackwright.metal.discovery.discover import Discoverer
    from rackwright.metal.last_steps import LastSteps
    from rackwright.metal.lifecycle import facts_against
    from rackwright.metal.nodes import REHEARSAL, limits_of
    from rackwright.metal.reconcile import Reconciler, rehearsed

    provisioning = chosen.provisioning
    access = bmc_access(provisioning.bmc, chosen.machines)
    known = None if chosen.engine.driver == REHEARSAL else access.credentials()
    reader = None
    if known is not None:
        reader = Discoverer(known, access.session(), access.port, access.manners)

    def read(these: Sequence[HostPlan]) -> Mapping[str, Seen]:
        if reader is None:
            return rehearsed(these)
        asked = [one.machine.bmc for one in these if one.machine.bmc is not None]
        return facts_against(these, reader.discover(asked, asked))

    def restart(one: HostPlan) -> str | None:
        return None if reader is None else reader.restart(one.machine.bmc or "")

    def password(one: HostPlan) -> str:
        return "" if known is None else known(one.machine.bmc or "").password

    reach = [*reach_words(arguments), *([] if cluster is None else ["--site", cluster])]
    last_steps = LastSteps(
        provisioning.ssh_user, arguments.blueprint, arguments.layer, gate_words(arguments), reach
    )

    def provision(plans: Sequence[HostPlan], until: ProvisioningStep) -> ProvisioningOutcome:
        return Reconciler(
            cluster=chosen.cluster,
            plans=plans,
            provisioning=provisioning,
            ironic=chosen.ironic(),
            journal=journal,
            read=read,
            run_on_hosts=last_steps,
            passwords=password,
            restart=restart,
            limits=limits_of(provisioning),
            until=until,
            say=tell_progress,
            poll_s=arguments.poll,
        ).run()

    return provision


def _retry(
    plans: Sequence[HostPlan], journal: ProvisioningJournal, nodes: Mapping[str, IronicNode]
) -> None:
    """Clear the failures of hosts; a host without a node in Ironic starts from the beginning."""
    records = journal.records()
    for plan in plans:
        if plan.name in records and records[plan.name].failure is not None:
            journal.forget(plan.name, failure_alone=plan.name in nodes)


def _step(text: str) -> Any:
    """Return the step with a name or first word.

    Raises:
        UsageError: there is no such step.
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
    print(f"{counted(len(plans), 'host')}, at most {max(map(len, found))} powered on together")
    return ExitCode.CLEAN


def _report(
    plans: tuple[HostPlan, ...], records: Mapping[str, HostRecord], *, as_json: bool
) -> int:
    """Print the progress of each host, and return the exit code."""
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
            last = list(record.done)[-1] if record.done else "not started"
            if record.failure is not None:
                print(f"{name}: {last}; not {record.failure[0]}: {record.failure[1]}")
            else:
                print(f"{name}: {last}")
    return ExitCode.VIOLATION if any(one.failure for _, one in rows) else ExitCode.CLEAN
