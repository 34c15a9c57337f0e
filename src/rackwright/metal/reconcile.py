"""Reconciler that takes hosts from their controllers to their operating system, one act per host at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from rackwright.errors import RackwrightError
from rackwright.metal.ironic import Ironic, IronicError, IronicNode
from rackwright.metal.journal import HostRecord, ProvisioningJournal
from rackwright.metal.lifecycle import (
    LATE,
    SWITCHES_ON,
    Act,
    Do,
    Ended,
    Failed,
    Passed,
    ProvisioningStep,
    Seen,
    Wait,
    decide,
    is_at,
)
from rackwright.metal.nodes import (
    REHEARSAL,
    HostPlan,
    config_drive,
    firmware_steps,
    instance_patch,
    node_body,
    port_body,
)
from rackwright.metal.waves import PowerLimits, PowerPlace, admitted
from rackwright.model.provisioning import Provisioning

ASKED_TOGETHER = 16
"""Maximum number of parallel requests to Ironic."""
_SWITCHING = frozenset({"inspecting", "cleaning", "deploying", "servicing", "deleting"})
"""States in which a machine may be powered on at any moment; in the waiting states it is already on."""
_BUSY = frozenset({*_SWITCHING, "inspect wait", "clean wait", "wait call-back", "service wait"})
_LOCKED = 409


Reader = Callable[[Sequence[HostPlan]], Mapping[str, Seen]]
"""Function that reads the machine of each host from its controller."""
Runner = Callable[[Act, Sequence[HostPlan]], Mapping[str, Ended]]
"""Function that runs an act of the last steps and returns the result of each host."""


@dataclass(frozen=True)
class ProvisioningOutcome:
    """Outcome of a run.

    Attributes:
        records: progress by host.
        left: hosts that are neither done nor left out, because the run ended early.
    """

    records: Mapping[str, HostRecord]
    left: tuple[str, ...] = ()

    @property
    def failed(self) -> Mapping[str, tuple[str, str]]:
        """Hosts that were left out, with step and reason."""
        return {host: one.failure for host, one in self.records.items() if one.failure is not None}


@dataclass
class Reconciler:
    """Provisioning of the hosts of one site.

    Attributes:
        cluster: name of the cluster.
        plans: hosts, in the order in which they are powered on.
        passwords: function that returns the password of a host's controller.
        restart: function that restarts the controller of a host and returns the error, if any.
        limits: limits on hosts that are powered on together.
        until: last step to take.
        say: function that reports progress.
        poll_s: interval between two queries of Ironic, in s.
    """

    cluster: str
    plans: Sequence[HostPlan]
    provisioning: Provisioning
    ironic: Ironic
    journal: ProvisioningJournal
    read: Reader
    run_on_hosts: Runner
    passwords: Callable[[HostPlan], str]
    restart: Callable[[HostPlan], str | None]
    limits: PowerLimits
    until: ProvisioningStep = ProvisioningStep.ACCEPTED
    say: Callable[[str], None] = lambda _: None
    poll_s: float = 5.0
    sleep: Callable[[float], None] = time.sleep
    _records: dict[str, HostRecord] = field(default_factory=dict, init=False)

    def run(self) -> ProvisioningOutcome:
        """Take every host to its last step, or to a failure with the reason.

        Raises:
            IronicError: Ironic does not answer.
        """
        self._records = self.journal.records()
        while True:
            nodes = self.ironic.nodes()
            begun, waiting = self._look(nodes)
            if not begun and not waiting:
                break
            # After a started act the next decision may follow at once; otherwise wait for Ironic.
            if not begun:
                self.sleep(self.poll_s)
        hosts = {plan.name for plan in self.plans}
        return ProvisioningOutcome(
            {host: one for host, one in self._records.items() if host in hosts}
        )

    def _look(self, nodes: Mapping[str, IronicNode]) -> tuple[int, int]:
        """Decide for every host; return the number of started acts and the number of waiting hosts."""
        todo: list[tuple[HostPlan, Do]] = []
        unread: list[HostPlan] = []
        waiting = 0
        with self.journal.together():
            for plan in self.plans:
                decision = self._settle(plan, nodes, None)
                if isinstance(decision, Wait):
                    waiting += 1
                elif isinstance(decision, Do):
                    if decision.act is Act.READ:
                        unread.append(plan)
                    else:
                        todo.append((plan, decision))
        if unread:
            seen = self.read(unread)
            with self.journal.together():
                for plan in unread:
                    own = seen.get(plan.name, Seen(None, ("its controller was not read",)))
                    decision = self._settle(plan, nodes, own)
                    if isinstance(decision, Do) and decision.act is not Act.READ:
                        todo.append((plan, decision))
                    elif decision is not None:
                        waiting += 1
        allowed = self._allowed(todo, nodes)
        waiting += len(todo) - len(allowed)
        early = [one for one in allowed if one[1].act not in LATE]
        if early:
            # Record all acts before the first starts, so that a killed run knows about each of them.
            with self.journal.together():
                numbers = [self._write(plan, do) for plan, do in early]
            with ThreadPoolExecutor(ASKED_TOGETHER) as pool:
                answers = list(
                    pool.map(lambda one: self._ask(one[0], one[1], nodes.get(one[0].name)), early)
                )
            with self.journal.together():
                for (plan, do), number, answer in zip(early, numbers, answers, strict=True):
                    self._note(plan, do, number, answer)
            # Ironic rejected the other acts: they are tried again after a pause.
            begun = sum(1 for answer in answers if answer is None)
            return begun, waiting + len(allowed) - begun
        begun = 0
        for act in LATE:
            batch = [(plan, do) for plan, do in allowed if do.act is act]
            if batch:
                self._run_late(act, batch)
                begun += len(batch)
        return begun, waiting

    def _settle(
        self, plan: HostPlan, nodes: Mapping[str, IronicNode], seen: Seen | None
    ) -> Wait | Do | None:
        """Record proven steps and failures of a host, and return its next act or wait; None if it is done."""
        record = self._records.setdefault(plan.name, HostRecord())
        while True:
            if is_at(plan, record, self.until):
                return None
            decision = decide(
                plan, record, nodes.get(plan.name), seen, self.cluster, self.journal.now()
            )
            if isinstance(decision, Passed):
                self.journal.pass_step(plan.name, decision.step, decision.note)
                record.done[decision.step] = decision.note
                record.acts, record.begun = {}, None
                self.say(
                    f"{plan.name}: {decision.step.value}"
                    + (f": {decision.note}" if decision.note else "")
                )
            elif isinstance(decision, Failed):
                self.journal.fail(plan.name, decision.step, decision.reason)
                record.failure = (decision.step.value, decision.reason)
                self.say(f"{plan.name}: not {decision.step.value}: {decision.reason}")
            else:
                return decision

    def _allowed(
        self, todo: Sequence[tuple[HostPlan, Do]], nodes: Mapping[str, IronicNode]
    ) -> list[tuple[HostPlan, Do]]:
        """Return the acts that may start now within the limits on powering machines on."""
        states = {plan.name: nodes[plan.name].provision_state
                  for plan in self.plans if plan.name in nodes}  # fmt: skip
        # Hosts that Ironic already works on count against both limits, also those of an earlier run.
        room = self.provisioning.at_once - sum(1 for state in states.values() if state in _BUSY)
        switching = [plan.place for plan in self.plans if states.get(plan.name) in _SWITCHING]
        waiting: list[tuple[str, PowerPlace]] = [
            (plan.name, plan.place) for plan, do in todo if do.act in SWITCHES_ON
        ]
        chosen = set(admitted(waiting, switching, self.limits)[: max(room, 0)])
        return [(plan, do) for plan, do in todo if do.act not in SWITCHES_ON or plan.name in chosen]

    def _write(self, plan: HostPlan, do: Do) -> int:
        name = f"{do.act} {do.detail}".strip()
        record = self._records[plan.name]
        record.acts[name] = record.acts.get(name, 0) + 1
        record.begun = self.journal.now()
        return self.journal.begin(plan.name, do.step, name)

    def _note(self, plan: HostPlan, do: Do, number: int, answer: IronicError | None) -> None:
        if answer is None:
            self.journal.end(number, "begun")
            return
        if answer.status == _LOCKED and "lock" in answer.summary:
            # Ironic is busy with the node: this does not count as a try.
            name = f"{do.act} {do.detail}".strip()
            self._records[plan.name].acts[name] -= 1
            self.journal.end(number, "void")
            return
        self.journal.end(number, answer.summary)
        if answer.status is not None and 400 <= answer.status < 500:
            self.journal.fail(plan.name, do.step, answer.summary)
            self._records[plan.name].failure = (do.step.value, answer.summary)
            self.say(f"{plan.name}: not {do.step.value}: {answer.summary}")

    def _ask(self, plan: HostPlan, do: Do, node: IronicNode | None) -> IronicError | None:
        """Begin an act, and return why Ironic refuses it."""
        try:
            self._begin(plan, do, node)
        except IronicError as error:
            return error
        return None

    def _begin(self, plan: HostPlan, do: Do, node: IronicNode | None) -> None:
        engine = self.provisioning.engine
        assert engine is not None  # noqa: S101 - the command checks it
        ironic, name = self.ironic, plan.name
        if do.act is Act.CREATE:
            body = node_body(
                plan, self.cluster, engine, self.provisioning.bmc, self.passwords(plan)
            )
            ironic.create_node(body)
        elif do.act is Act.MANAGE:
            if node is not None and do.step is ProvisioningStep.ENROLLED:
                port = port_body(plan, node.uuid)
                if port is not None and port["address"] not in ironic.ports(name):
                    ironic.create_port(port)
            ironic.set_provision_state(name, "manage")
        elif do.act is Act.RESTART:
            if (reason := self.restart(plan)) is not None:
                raise IronicError(f"the controller was not restarted: {reason}")
        elif do.act in {Act.UPDATE, Act.SERVICE}:
            rehearsal = engine.driver == REHEARSAL
            steps = firmware_steps(plan, do.detail, rehearsal=rehearsal)
            target = "clean" if do.act is Act.UPDATE else "service"
            ironic.set_provision_state(name, target, **{f"{target}_steps": steps})
        elif do.act in {Act.DEPLOY, Act.REBUILD}:
            ironic.update_node(name, instance_patch(plan))
            drive = config_drive(plan, self.provisioning.ssh_keys)
            target = "active" if do.act is Act.DEPLOY else "rebuild"
            ironic.set_provision_state(name, target, configdrive=drive)
        elif do.act is Act.UNDEPLOY:
            # A replacement machine boots from another port than its predecessor.
            port = port_body(plan, node.uuid) if node is not None else None
            if port is not None and port["address"] not in ironic.ports(name):
                ironic.create_port(port)
            ironic.set_provision_state(name, "deleted")
        else:
            ironic.set_provision_state(name, do.act.value)

    def _run_late(self, act: Act, batch: Sequence[tuple[HostPlan, Do]]) -> None:
        with self.journal.together():
            numbers = {plan.name: self._write(plan, do) for plan, do in batch}
        try:
            ends = self.run_on_hosts(act, [plan for plan, _ in batch])
        except RackwrightError as error:
            ends = {plan.name: Ended(error.summary) for plan, _ in batch}
        with self.journal.together():
            for plan, do in batch:
                end = ends.get(plan.name, Ended("it was left out"))
                reason = end.reason
                self.journal.end(numbers[plan.name], reason or "done")
                record = self._records[plan.name]
                if reason is None:
                    self.journal.pass_step(plan.name, do.step, end.note)
                    record.done[do.step] = end.note
                    if do.step is ProvisioningStep.ACCEPTED and record.renewing:
                        self.journal.end_renewal(plan.name)
                    record.acts, record.begun = {}, None
                    self.say(f"{plan.name}: {do.step.value}")
                else:
                    record.last = reason
                    self.say(f"{plan.name}: {act.value}: {reason}")


def rehearsed(plans: Iterable[HostPlan]) -> dict[str, Seen]:
    """Return empty observations for the hosts of a rehearsal, which has no machines."""
    return {plan.name: Seen(None) for plan in plans}
