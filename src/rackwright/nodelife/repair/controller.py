"""The loop from fault to fixed: one pass over the nodes with a fault, each a step further."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rackwright.catalog.fault_table import FaultTable
from rackwright.errors import ExternalToolError
from rackwright.harmless import counted
from rackwright.model.faults import BY_HAND, PASSIVE, Fault, FaultAction, FaultSeverity
from rackwright.nodelife.repair.actuator import ActionError, Actuator, NodeView, Progress, Validator
from rackwright.nodelife.repair.budgets import (
    RepairLimits,
    in_window,
    is_storm,
    needs_person,
    out_of_partition,
    over_hour,
)
from rackwright.nodelife.repair.incoming import hold_back, release, suspect
from rackwright.nodelife.repair.journal import ADOPTED, LAST_PASS, ActionRecord, Journal, NodeRecord
from rackwright.nodelife.repair.leaks import cut_power, is_off, leaks
from rackwright.nodelife.repair.states import OUT, RepairState
from rackwright.nodelife.signs.detect import FaultEvent
from rackwright.nodelife.signs.shared import PartMap, SharedFault
from rackwright.nodelife.slurm_nodes import REPAIRED_FOR, reason, repaired_for, took_itself_out
from rackwright.nodelife.store import transaction

PAUSED = "paused"
_LEVEL = frozenset({RepairState.HEALTHY, RepairState.PROBATION, RepairState.VALIDATING})
"""States in which a fault that lasts counts although it was seen before."""
_OTHER = "another controller repairs it"


@dataclass
class RepairController:
    """Takes nodes from fault to fixed.

    Attributes:
        partitions: nodes of each partition.
        parts: shared parts with their nodes.
        wall: seconds since the epoch, for windows of maintenance alone.
        adopts: other journals, now lost, whose nodes are repaired by this one.
        shared: parts that several nodes with a fault share, by the last pass.
        told: actions of the last pass, as lines.
    """

    table: FaultTable
    journal: Journal
    actuator: Actuator
    validator: Validator
    limits: RepairLimits
    partitions: Mapping[str, Collection[str]]
    parts: PartMap
    wall: Callable[[], float]
    adopts: Collection[str] = ()
    shared: tuple[SharedFault, ...] = ()
    told: list[str] = field(default_factory=list)
    _views: Mapping[str, NodeView] = field(default_factory=dict)
    _out: set[str] = field(default_factory=set)
    _drains: list[float] = field(default_factory=list)
    _storm: str | None = None
    _begun: bool = True
    _pass: float = 0.0
    _leaks: int = 0

    @cached_property
    def nodes(self) -> frozenset[str]:
        """Every node of a partition."""
        return frozenset(node for nodes in self.partitions.values() for node in nodes)

    def run_pass(self, events: Sequence[tuple[str, FaultEvent]], now: float) -> None:
        """Take account of new faults, then take each node under repair a step further.

        Args:
            events: faults that were seen, with their nodes; those that the journal has already are no news.
            now: time in s of a clock that only goes forward.

        Raises:
            ExternalToolError: the cluster does not answer, so that nothing is done.
        """
        self.switch_off(events, now)
        self._views = self.actuator.look(self.nodes)
        self._adopt(now)
        news = self._leaks + self._take_in(events, now)
        if news or self.shared or self._begun:
            self.shared = hold_back(self.journal, self.table, self.parts, self.limits.storm_s, now)
        self._begun = False
        release(self.journal, self.table, self.shared, now)
        self._count(now)
        self.journal.set(LAST_PASS, now)
        if self.journal.setting(PAUSED):
            self.told.append("paused: no node is touched")
            return
        for record in self.journal.in_states(set(RepairState) - {RepairState.HEALTHY}):
            try:
                self._advance(record, now)
            except ActionError as error:
                self._wait(record, now, error.summary)
            except ExternalToolError as error:
                self._wait(record, now, f"no answer: {error.summary}")

    def switch_off(self, events: Sequence[tuple[str, FaultEvent]], now: float) -> None:
        """Switch leaking nodes off at once, whatever runs on them and whether the cluster answers or not.

        Args:
            events: faults that were seen, with their nodes.
            now: time in s of a clock that only goes forward.
        """
        if self._pass != now:  # it was not called already in this pass
            self.told.clear()
            self._pass, self._leaks = now, 0
        self._leaks += self._take_in([one for one in events if leaks(self.table, one[1].fault)], now)  # fmt: skip
        if self.journal.setting(PAUSED):
            return
        for record in self.journal.in_states([RepairState.SUSPECT, RepairState.DRAINING]):
            if leaks(self.table, record.fault):
                before = is_off(self.journal, record)
                if (told := cut_power(self.journal, self.actuator, record, now)) is not None:
                    self._wait(record, now, told)
                elif not before:
                    self.told.append(f"{record.node}: power-off")

    # -- faults ------------------------------------------------------------------------------------

    def _take_in(self, events: Sequence[tuple[str, FaultEvent]], now: float) -> int:
        """Take account of faults, and return the number of those that are news."""
        news = 0
        for node, event in events:
            if node not in self.nodes:
                continue
            with transaction(self.journal.connection):  # or a kill between the two hides a fault
                is_new = self.journal.see(node, event, now)
                lasting = not event.at and self.journal.node(node).state in _LEVEL
                if is_new or lasting:
                    suspect(self.journal, self.table, node, event, now)
            news += is_new
        return news

    def _adopt(self, now: float) -> None:
        """Take in the faults that the reasons of nodes of lost journals name, beside faults of their own."""
        events = []
        for node, view in self._views.items():
            name, journal = repaired_for(view.reason) or ("", "")
            if view.in_service or self.journal.node(node).state in OUT:
                continue
            if journal in self.adopts and name in self.table.faults:
                events.append((node, FaultEvent(name, "", 0.0, f"{ADOPTED}{view.reason}")))
        self._take_in(events, now)

    # -- steps -------------------------------------------------------------------------------------

    def _advance(self, record: NodeRecord, now: float) -> None:
        view = self._views.get(record.node)
        if view is None:
            self._wait(record, now, "Slurm does not know it")
            return
        fault = self.table.faults.get(record.fault)
        if fault is None:
            self._wait(
                record, now, f"the table has no fault '{record.fault}' any more: a person decides"
            )
            return
        if record.state in OUT and self._taken(record, view, now):
            return
        match record.state:
            case RepairState.SUSPECT:
                self._from_suspect(record, fault, view, now)
            case RepairState.DRAINING:
                self._from_draining(record, view, now)
            case RepairState.DIAGNOSING:
                self._from_diagnosing(record, fault, now)
            case RepairState.REPAIRING:
                self._from_repairing(record, fault, now)
            case RepairState.RMA:
                self._from_rma(record, now)
            case RepairState.VALIDATING:
                self._from_validating(record, view, now)
            case RepairState.PROBATION if now - record.since >= self.limits.probation_s:
                self.journal.step(record.node, "clear", now, "probation has passed")
            case RepairState.PROBATION | RepairState.HEALTHY:
                pass

    def _taken(self, record: NodeRecord, view: NodeView, now: float) -> bool:
        """Leave a node alone that an operator has taken over: given back, or drained for another reason."""
        drained = self._drain_of(record)
        if (
            drained is None
            or drained.phase != "done"
            or (view.reason or "").startswith(drained.argument)
        ):
            return False
        if (
            record.state is RepairState.VALIDATING
            and self.journal.action(record, "resume") is not None
        ):
            return False  # our own return of it, which a kill has cut short
        if not view.in_service and view.reason is None:
            return False
        self.journal.step(record.node, "taken", now, f"an operator has taken it: {view.reason or 'in service'}")  # fmt: skip
        self.told.append(f"{record.node}: left to the operator")
        return True

    def _drain_of(self, record: NodeRecord) -> ActionRecord | None:
        """Return the drain by which a node is out of service; it may be of an earlier cycle."""
        drains = [a for a in self.journal.actions(record.node) if a.kind == "drain"]
        return drains[-1] if drains else None

    def _from_suspect(self, record: NodeRecord, fault: Fault, view: NodeView, now: float) -> None:
        text = self._reason(record)
        if fault.action is FaultAction.POWER_OFF:
            if self._do(record, "drain", text, now, lambda _: self.actuator.drain(record.node, text, view.reason)) and is_off(self.journal, record):  # fmt: skip
                self.journal.step(record.node, "drain", now, "switched off")
            return
        repaired = None if view.in_service else repaired_for(view.reason)  # or it is an old reason
        other, journal = repaired or ("", "")
        adopted = journal != "" and journal in self.adopts
        begun = adopted or self.journal.action(record, "drain") is not None
        if not begun and (why := self._held_back(record, fault, now)) is not None:
            self._wait(record, now, why)
            return
        if journal and journal != self.journal.identity and not adopted:
            self._wait(record, now, f"{_OTHER}: {view.reason}; if its journal is lost, run the loop with --adopt {journal}")  # fmt: skip
            return
        if (
            view.in_service
            and record.waits.startswith(f"{_OTHER}: {REPAIRED_FOR}{fault.id} ")
            and self._faults(record) == {fault.id}
        ):
            self.journal.step(record.node, "clear", now, "another controller has given it back")
            return
        own = (
            journal == self.journal.identity
        )  # what it names is repaired, and Slurm still shows it
        if other in self.table.faults and not own and other not in self._faults(record):
            named = FaultEvent(other, "", 0.0, f"{ADOPTED}{view.reason}")
            if self._take_in([(record.node, named)], now):
                return  # a reason without a journal: the next pass knows both faults
        former = view.reason if other or took_itself_out(view.reason) else None
        if not view.in_service and view.reason and former is None:
            self._wait(record, now, f"it is out of service already: {view.reason}")
            return
        if self._do(record, "drain", text, now, lambda _: self.actuator.drain(record.node, text, former)):  # fmt: skip
            self._out.add(record.node)
            self._drains.append(now)
            self.journal.step(record.node, "drain", now, text)

    def _reason(self, record: NodeRecord) -> str:
        """Return the reason in Slurm, which names the journal: two controllers never act on one node.

        A drain that was begun keeps its reason, whatever fault has come meanwhile: the node is known by it.
        """
        begun = self.journal.action(record, "drain")
        return (
            begun.argument
            if begun is not None
            else reason(f"repair {record.fault} {record.cycle} {self.journal.identity}")
        )

    def _faults(self, record: NodeRecord) -> set[str]:
        """Return the faults of a node under repair for which it leaves service, also those that a worse one replaced."""
        seen = {record.fault, *self.journal.faults_of_repair(record.node)}
        return {name for name in seen if name in self.table.faults and self.table.faults[name].severity.leaves_service}  # fmt: skip

    def _held_back(self, record: NodeRecord, fault: Fault, now: float) -> str | None:
        """Return the reason a node is not drained now; None if it is."""
        if record.incident:
            return f"shared with others: {record.incident}"
        if self._storm is not None:
            return self._storm
        if fault.shared and now - record.since < self.limits.gather_s:
            return "others with the same fault are waited for"
        if fault.severity is FaultSeverity.DEGRADED and not in_window(
            self.limits.windows, self.wall()
        ):
            return "the next maintenance window is waited for"
        if (
            why := out_of_partition(self.limits, record.node, self.partitions, self._out)
        ) is not None:
            return why
        return over_hour(self.limits, self._drains, now)

    def _count(self, now: float) -> None:
        """Count what the limits are about, once for the pass."""
        self._out = {node for node, view in self._views.items() if not view.in_service}
        self._out |= {one.node for one in self.journal.in_states(OUT)}
        self._drains = self.journal.times("drain")
        news = {
            node: at
            for node, name, at in self.journal.events(now - self.limits.storm_s)
            if name in self.table.faults and self.table.faults[name].severity.leaves_service
        }
        self._storm = None
        if is_storm(self.limits, news, now):
            self._storm = f"storm: a new fault on {counted(len(news), 'node')} within {self.limits.storm_s:g} s"
            self.told.append(self._storm)

    def _from_draining(self, record: NodeRecord, view: NodeView, now: float) -> None:
        if leaks(self.table, record.fault) and not is_off(self.journal, record):
            return  # the BMC is asked again in each pass
        if view.jobs == 0:
            self.journal.step(record.node, "empty", now, "no job is left")
            return
        if record.severity == FaultSeverity.FATAL:
            self._do(record, "requeue", "", now, lambda _: self.actuator.requeue(record.node))
        waited = now - record.since
        if waited > self.limits.drain_s:
            self._wait(record, now, f"{view.jobs} jobs still run after {self.limits.drain_s:g} s: a person decides")  # fmt: skip
        else:
            self._wait(record, now, f"{view.jobs} jobs still run")

    def _from_diagnosing(self, record: NodeRecord, fault: Fault, now: float) -> None:
        """Keep the evidence, then choose the step of the ladder."""
        if fault.evidence:
            self._do(
                record, "evidence", " ".join(fault.evidence), now, self.actuator.act, may_fail=True
            )
        ladder = [step for step in fault.ladder if step not in PASSIVE]
        step = ladder[record.rung] if record.rung < len(ladder) else FaultAction.TICKET
        if step is FaultAction.POWER_OFF:  # it is off; hands are next
            step = FaultAction.REPLACE
        if (hands := self.journal.action(record, "hands")) is not None:
            step = FaultAction(hands.argument)
        elif step not in BY_HAND and self.journal.action(record, "repair") is None:
            times = self.journal.times("repair", record.node)
            if (why := needs_person(self.limits, times, now)) is not None:
                step = FaultAction.TICKET
                self.journal.note(record.node, now, why)
        if step is FaultAction.RMA:
            self._hands(record, "return_part", step, now)
        elif step in BY_HAND:
            self._hands(record, "repair", step, now)
        else:
            self.journal.intend(record, "repair", step.value, "", now)
            self.journal.step(record.node, "repair", now, step.value)

    def _hands(self, record: NodeRecord, step: str, action: FaultAction, now: float) -> None:
        """Wait for a person: the worklist shows the node."""
        self.journal.intend(record, "hands", action.value, "", now)
        made = self.journal.step(record.node, step, now, f"by hand: {action.value}")
        self._wait(made, now, f"by hand: {action.value}")

    def _from_repairing(self, record: NodeRecord, fault: Fault, now: float) -> None:
        hands = self.journal.action(record, "hands")
        if hands is not None:
            if hands.phase == "done":
                self.journal.step(record.node, "repaired", now, f"{hands.argument} by hand: {hands.result}")  # fmt: skip
            else:
                self._wait(record, now, f"by hand: {hands.argument}")
            return
        chosen = self.journal.action(record, "repair")
        if chosen is None:
            self.journal.step(
                record.node, "not_repaired", now, "no step was chosen", rung=record.rung
            )
            return
        outcome = self._perform(record, chosen.argument, fault, now)
        if not outcome.done:
            self._wait(record, now, outcome.text or f"{chosen.argument} is under way")
        elif outcome.passed:
            self.journal.set_phase(chosen, "done", now, outcome.text)
            self.journal.step(record.node, "repaired", now, f"{chosen.argument}: {outcome.text or 'done'}")  # fmt: skip
        else:
            self.journal.set_phase(chosen, "failed", now, outcome.text)
            self.journal.step(record.node, "not_repaired", now, f"{chosen.argument}: {outcome.text}", rung=record.rung + 1)  # fmt: skip

    def _perform(self, record: NodeRecord, kind: str, fault: Fault, now: float) -> Progress:
        """Take an action a step further: each of its parts once, and none under a job."""
        parts = {"cold-cycle": ("power-off", "power-on")}.get(kind, (kind,))
        for part in parts:
            if not self._do(record, part, fault.service or record.device, now, self.actuator.act, alone=True):  # fmt: skip
                return Progress(
                    done=False, text=f"jobs run on it, or it is not ours any more: no {part}"
                )
            action = self.journal.action(record, part)
            assert action is not None  # noqa: S101 - it was done above
            if action.phase == "failed":
                return Progress(done=True, passed=False, text=action.result)
            if action.phase != "done":
                progress = self.actuator.progress(action)
                late = now - action.begun > self.limits.action_s
                if not progress.done and late:
                    progress = Progress(done=True, passed=False, text=f"{part} has not ended within {self.limits.action_s:g} s{progress.text and f': {progress.text}'}")  # fmt: skip
                if not progress.done:
                    return progress
                self.journal.set_phase(action, "done" if progress.passed else "failed", now, progress.text)  # fmt: skip
                if not progress.passed:
                    return progress
        return Progress(done=True, passed=True)

    def _from_rma(self, record: NodeRecord, now: float) -> None:
        hands = self.journal.action(record, "hands")
        if hands is not None and hands.phase == "done":
            self.journal.step(record.node, "repaired", now, f"by hand: {hands.result}")

    def _from_validating(self, record: NodeRecord, view: NodeView, now: float) -> None:
        silent = any(self.table.faults[name].subject == "silent" for name in self._faults(record))
        if silent and not self.validator.measures:
            self._wait(record, now, "a health check cannot prove it: run the loop with --validate 'rackwright burn-in …'")  # fmt: skip
            return
        suite = self.journal.intend(record, "validate", "", view.boot, now)
        if suite.phase == "intent":
            progress = self.validator.validate(record.node, f"{record.node}-{record.cycle}-{record.rung}")  # fmt: skip
            if not progress.done or progress.passed is None:
                self._wait(record, now, progress.text or "the suite runs")
                return
            suite = self.journal.set_phase(suite, "done" if progress.passed else "failed", now, progress.text)  # fmt: skip
        if suite.phase == "failed":
            self.journal.step(record.node, "failed", now, suite.result, rung=record.rung + 1)
            return
        reasons = [view.reason] if view.reason else []
        if self._do(
            record, "resume", "", now, lambda _: self.actuator.resume(record.node, reasons)
        ):
            self.journal.step(record.node, "passed", now, suite.result or "the suite passed")

    # -- actions -----------------------------------------------------------------------------------

    def _do(
        self,
        record: NodeRecord,
        kind: str,
        argument: str,
        now: float,
        act: Callable[[ActionRecord], None],
        *,
        alone: bool = False,
        may_fail: bool = False,
    ) -> bool:
        """Do an action of this step once: written down, done, written down.

        Args:
            record: the node.
            kind: of the action.
            argument: of the action.
            now: time.
            act: does it; it may be called again after a kill, and then does nothing that was done.
            alone: not under a job; the node is looked at again right before.
            may_fail: go on where it fails.

        Returns:
            True if the action was begun, now or before; False if it cannot be now.

        Raises:
            ActionError: it failed, and the step is tried again.
        """
        action = self.journal.action(record, kind)
        if action is not None and action.phase != "intent":
            return True
        view = self.actuator.look([record.node]).get(record.node) if alone else None
        if alone and (view is None or view.jobs or view.in_service):
            return False
        drained = self._drain_of(record)
        if alone and view is not None and drained is not None and not (view.reason or "").startswith(drained.argument):  # fmt: skip
            return False  # an operator, or another controller, has taken it since the pass began
        if action is None:
            token = view.boot if view is not None else self._views[record.node].boot
            action = self.journal.intend(record, kind, argument, token, now)
        try:
            act(action)
        except ActionError as error:
            if alone or may_fail:
                self.journal.set_phase(action, "failed", now, error.summary)
                self.told.append(f"{record.node}: {kind} failed: {error.summary}")
                return True
            raise
        self.journal.set_phase(action, "begun" if alone else "done", now)
        self.told.append(f"{record.node}: {kind} {argument}".rstrip())
        return True

    def _wait(self, record: NodeRecord, now: float, why: str) -> None:
        self.told.append(f"{record.node} ({record.state}, {record.fault}): {why}")
        self.journal.change(record.node, now, waits=why)
