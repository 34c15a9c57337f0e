"""``provision --waves``: hosts that run jobs get another image, firmware or machine, a failure domain at a time."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rackwright.cli.options.hosts import expectations, host_session
from rackwright.cli.options.telling import say
from rackwright.cli.options.waves import begin, give_up, go_on, pace_of, run_waves
from rackwright.exit_codes import ExitCode
from rackwright.metal.last_steps import connections
from rackwright.metal.lifecycle import ProvisioningStep
from rackwright.metal.renewal import Renewal, renewal_of
from rackwright.rollout.executor import AnsibleExecutor, digest
from rackwright.rollout.journal import load, save
from rackwright.rollout.rollout import Rollout

if TYPE_CHECKING:
    from rackwright.metal.journal import ProvisioningJournal
    from rackwright.metal.nodes import HostPlan
    from rackwright.metal.reconcile import ProvisioningOutcome
    from rackwright.nodelife.slurm_nodes import NodesSeen, NodeUpdate
    from rackwright.plan.model import Plan

Provision = Callable[[Sequence["HostPlan"], ProvisioningStep], "ProvisioningOutcome"]
"""Takes hosts to a step."""


@dataclass
class RenewalExecutor:
    """Does the work of a renewal: Ironic installs, Ansible configures and verifies.

    Attributes:
        ansible: runs playbooks, and tells Slurm.
        journal: of provisioning.
        plans: hosts by name.
        provision: takes hosts through Ironic.
    """

    ansible: AnsibleExecutor
    journal: ProvisioningJournal
    plans: Mapping[str, HostPlan]
    provision: Provision

    def update(self, nodes: Collection[str], updates: Sequence[NodeUpdate]) -> NodesSeen:
        """Update nodes in Slurm; how they are before and after.

        Raises:
            ExternalToolError: no controller does it.
        """
        return self.ansible.update(nodes, updates)

    def change(self, hosts: Sequence[str], tags: Sequence[str]) -> Mapping[str, str]:
        """Install and configure drained hosts; those that did not get to the end, with the reason.

        Raises:
            ExternalToolError: Ironic or Ansible itself failed, so that nothing is known of the hosts.
        """
        plans = [self.plans[host] for host in hosts]
        records = self.journal.records()
        with self.journal.together():
            for plan in plans:
                renewal = renewal_of(plan, records[plan.name])
                if renewal is not None and renewal.steps:
                    self.journal.renew(plan.name, renewal.steps)
                elif records[plan.name].failure is not None:
                    self.journal.forget(plan.name, failure_alone=True)
        outcome = self.provision(plans, ProvisioningStep.ATTESTED)
        failed = {host: f"not {step}: {why}" for host, (step, why) in outcome.failed.items()}
        if through := [host for host in hosts if host not in failed]:
            failed |= self.ansible.change(through, ())
            self._pass(ProvisioningStep.CONFIGURED, through, failed)
        return failed

    def accept(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """Compare hosts with the blueprint; those that do not pass, with the reason."""
        failed = self.ansible.accept(hosts)
        self._pass(ProvisioningStep.ACCEPTED, hosts, failed)
        return failed

    def _pass(self, step: ProvisioningStep, hosts: Sequence[str], failed: Collection[str]) -> None:
        with self.journal.together():
            for host in hosts:
                if host not in failed:
                    self.journal.pass_step(host, step, "")
                    if step is ProvisioningStep.ACCEPTED:
                        self.journal.end_renewal(host)


def outdated(plans: Sequence[HostPlan], journal: ProvisioningJournal) -> Mapping[str, Renewal]:
    """Return the accepted hosts that are otherwise than the blueprint says."""
    records = journal.records()
    found = (
        (plan.name, renewal_of(plan, records[plan.name])) for plan in plans if plan.name in records
    )
    return {host: renewal for host, renewal in found if renewal is not None}


def renew_in_waves(
    arguments: argparse.Namespace,
    plan: Plan,
    plans: Sequence[HostPlan],
    user: str,
    journal: ProvisioningJournal,
    provision: Provision,
) -> int:
    """Renew outdated hosts in waves; 4 when a host failed or a wave was not started, 3 when there is none.

    Raises:
        ExternalToolError: a tool fails; stderr says which nodes stay drained.
        UsageError: the change that is to be gone on with is another one.
    """
    pace = pace_of(arguments)
    renewals = outdated(plans, journal)
    if not renewals and not arguments.resume:
        print("every host in service matches the blueprint")
        return int(ExitCode.NOTHING)
    for host, renewal in renewals.items():
        say(f"{host}: {'; '.join(renewal.reasons)}")
    with _reached(arguments, plans, user), host_session(arguments, plan, say) as session:
        place = session.hosts.place
        ansible = session.executor(expectations(arguments, plan))
        wanted = [f"{p.name} {p.image.checksum} {p.machine.serial} {sorted(p.machine.firmware.items())}" for p in plans]  # fmt: skip
        mark = digest(place, session.inventory, ("provision", *wanted), arguments.inventory[1:])
        before = load(place.waves)
        if arguments.resume:
            progress = go_on(before, mark, reinstalls=True)
        else:
            progress = begin(arguments, plan, ansible, mark, (), renewals, "renewal")
            progress.reinstalls = True
            if before is not None:
                progress.drained = dict(before.drained)
                give_up(before)
        save(progress, place.waves)
        executor = RenewalExecutor(ansible, journal, {one.name: one for one in plans}, provision)
        rollout = Rollout(progress, executor, pace, say, lambda kept: save(kept, place.waves))
        return run_waves(rollout, ansible, place, as_json=arguments.json)


@contextmanager
def _reached(arguments: argparse.Namespace, plans: Sequence[HostPlan], user: str) -> Iterator[None]:
    """Have Ansible reach provisioned hosts as ``provision`` does, unless a team's inventory says otherwise."""
    with TemporaryDirectory(prefix="rackwright-") as folder:
        own = Path(folder, "provisioned.json")
        own.write_text(json.dumps(connections(plans, user)), encoding="utf-8")
        arguments.inventory = [own, *arguments.inventory]
        yield
