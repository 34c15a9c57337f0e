"""Work in the hall that the journal of repairs knows of, beside the steps that nodes wait for."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.catalog.fault_table import FaultTable
from rackwright.harmless import counted
from rackwright.model.faults import BY_HAND, FaultSeverity
from rackwright.nodelife.repair.journal import Journal
from rackwright.nodelife.repair.states import RepairState
from rackwright.nodelife.worklist import HandTask

SHOWN_S = 86_400.0
"""Time for which a fault that takes no node away is shown after it was last seen, in s."""


def shared_tasks(journal: Journal) -> Iterator[HandTask]:
    """Yield a task for each part that nodes are held back for: they are not opened one by one."""
    held: dict[str, list[str]] = {}
    for record in journal.in_states([RepairState.SUSPECT]):
        if record.incident:
            held.setdefault(record.incident, []).append(record.node)
    for title, nodes in sorted(held.items()):
        kind, _, name = title.partition(" ")
        fault = journal.node(nodes[0]).fault
        yield HandTask(name, "look at", f"{fault} on {counted(len(nodes), 'node')}, {nodes[0]} the first", part=kind)  # fmt: skip


def watched_tasks(journal: Journal, table: FaultTable, now: float) -> Iterator[HandTask]:
    """Yield a task for each fault that a person cures and that takes no node out of service."""
    for node, name, device, seen in journal.parts_seen(now - SHOWN_S):
        fault = table.faults.get(name)
        if (
            fault is None
            or fault.severity is not FaultSeverity.WATCH
            or fault.action not in BY_HAND
        ):
            continue  # fmt: skip
        yield HandTask(node, fault.action.value, name, fault.subject, device, since=seen)


def finish_by_hand(journal: Journal, node: str, text: str, now: float) -> bool:
    """Write that a person has done what a node waits for; True if it waits for that."""
    record = journal.node(node)
    action = journal.action(record, "hands")
    if (
        record.state not in {RepairState.REPAIRING, RepairState.RMA}
        or action is None
        or action.phase == "done"
    ):
        return False
    journal.set_phase(action, "done", now, text)
    return True
