"""Faults as they come in: one of a node by itself, or of a part that several nodes share."""

from __future__ import annotations

from collections.abc import Collection

from rackwright.catalog.fault_table import FaultTable
from rackwright.model.faults import FaultAction, FaultSeverity
from rackwright.nodelife.repair.journal import Journal
from rackwright.nodelife.repair.leaks import leaks
from rackwright.nodelife.repair.states import RepairState
from rackwright.nodelife.signs.detect import FaultEvent
from rackwright.nodelife.signs.shared import PartMap, SharedFault, explains, name_shared

_RANK = {severity: rank for rank, severity in enumerate(FaultSeverity)}


def suspect(journal: Journal, table: FaultTable, node: str, event: FaultEvent, now: float) -> None:
    """Take a new fault of a node into account."""
    record, fault = journal.node(node), table.faults[event.fault]
    if not fault.severity.leaves_service:
        journal.note(node, now, f"{fault.id}: {fault.severity}, {fault.action}")
        return
    known = {"fault": fault.id, "device": event.device, "severity": fault.severity.value}
    if fault.action is FaultAction.POWER_OFF and record.state not in {RepairState.HEALTHY, RepairState.PROBATION}:  # fmt: skip
        if record.fault == fault.id and record.state in {RepairState.SUSPECT, RepairState.DRAINING}:  # fmt: skip
            journal.note(node, now, f"{fault.id} as well: {event.text}")
        elif record.state is RepairState.SUSPECT:
            journal.change(node, now, f"worse: {event.text}", **known, cycle=record.cycle + 1, rung=0, incident="")  # fmt: skip
        else:  # whatever it is repaired for: it may be under power
            journal.step(node, "leak", now, event.text, **known, cycle=record.cycle + 1, rung=0, incident="")  # fmt: skip
    elif record.state is RepairState.HEALTHY:
        journal.step(node, "suspect", now, event.text, **known, cycle=record.cycle + 1, rung=0, incident="")  # fmt: skip
    elif record.state is RepairState.PROBATION:
        again = record.rung + 1 if record.fault == fault.id else 0
        journal.step(node, "suspect", now, f"again: {event.text}", **known, cycle=record.cycle + 1, rung=again)  # fmt: skip
    elif record.state is RepairState.VALIDATING:
        again = record.rung + 1 if record.fault == fault.id else record.rung
        journal.step(node, "failed", now, f"new fault: {event.text}", **known, cycle=record.cycle + 1, rung=again)  # fmt: skip
    elif (
        record.state in {RepairState.SUSPECT, RepairState.DRAINING}
        and not leaks(table, record.fault)
        and (
            _RANK[fault.severity] > _RANK[FaultSeverity(record.severity)]
            or (record.incident and not explains(record.incident, fault))
        )
    ):
        journal.change(node, now, f"worse: {event.text}", **known, rung=0, incident="")
    else:
        journal.note(node, now, f"{fault.id} as well: {event.text}")


def hold_back(
    journal: Journal, table: FaultTable, parts: PartMap, storm_s: float, now: float
) -> tuple[SharedFault, ...]:
    """Return the parts that nodes with a fault share, and hold these nodes back."""
    seen = journal.events(now - max(parts.longest, storm_s))
    own = [(node, table.faults[fault], at) for node, fault, at in seen if fault in table.faults]  # fmt: skip
    found = name_shared(parts, own, now)
    for shared in found:
        for node in shared.nodes:
            record = journal.node(node)
            fault = table.faults.get(record.fault)
            if fault is None or not explains(shared.part.title, fault):
                continue  # the node has one of its own beside
            if leaks(table, fault.id):
                continue  # no leaking node is held back
            if record.state is RepairState.SUSPECT and record.incident != shared.part.title:
                journal.change(node, now, f"shared: {shared}", incident=shared.part.title)
    return found


def release(
    journal: Journal, table: FaultTable, shared_parts: Collection[SharedFault], now: float
) -> None:
    """Let nodes go that were held back for a part without a new fault, or whose file systems answer again."""
    named = {one.part.title for one in shared_parts}
    for record in journal.in_states([RepairState.SUSPECT]):
        fault = table.faults.get(record.fault)
        if leaks(table, record.fault):
            continue  # only hands end a leak
        if record.incident and record.incident not in named:
            text = f"no new fault of {record.incident}"
        elif (
            fault is not None
            and fault.subject == "file-system"  # Slurm tells of it in every pass until it is over
            and journal.action(record, "drain") is None
            and journal.is_over(record.node, fault.id, now)
        ):
            text = f"{fault.id} is over"
        else:
            continue
        journal.step(record.node, "clear", now, text, incident="")
