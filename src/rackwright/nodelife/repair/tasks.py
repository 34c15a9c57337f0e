"""Work in the hall that the journal of repairs knows of, beside the steps that nodes wait for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from rackwright.catalog.fault_table import FaultTable
from rackwright.harmless import counted
from rackwright.model.faults import BY_HAND, FaultSeverity, Subject
from rackwright.nodelife.ledger import Ledger
from rackwright.nodelife.repair.journal import Journal, NodeRecord
from rackwright.nodelife.repair.states import RepairState
from rackwright.nodelife.worklist import HandTask

SHOWN_S = 86_400.0
"""Time for which a fault that takes no node away is shown after it was last seen, in s."""

_PARTS: Mapping[Subject, str] = {
    "gpu": "gpu", "gpu-memory": "gpu", "nvlink": "gpu", "pcie": "gpu", "silent": "gpu", "memory": "dimm",
    "storage": "disk", "power": "psu", "network": "cable", "optic": "cable",
}  # fmt: skip
"""Part that hands take for a fault about a subject."""
_PCI = re.compile(r"(?:([0-9a-f]+):)?([0-9a-f]{2}):([0-9a-f]{2})(?:\.[0-7])?\b")


def same_slot(one: str, other: str) -> bool:
    """Return True if two names are of one slot; PCI addresses come with and without domain and function."""
    first, second = (_PCI.match(text.lower()) for text in (one, other))
    if first is None or second is None:
        return one == other
    return first.groups("0")[1:] == second.groups("0")[1:] and int(first[1] or "0", 16) == int(second[1] or "0", 16)  # fmt: skip


def hand_task(journal: Journal, table: FaultTable, ledger: Ledger, record: NodeRecord) -> HandTask | None:  # fmt: skip
    """Return the task that a node under repair waits for, with part, serial number and port; None if it waits for none."""
    hands = journal.action(record, "hands")
    if hands is None or hands.phase in {"done", "failed"}:
        return None
    fault = table.faults.get(record.fault)
    subject: Subject = "gpu" if fault is None else fault.subject
    part = _PARTS.get(subject, "") if record.device else ""
    known = ledger.serials(record.node, part) if part else {}
    serial = next((text for slot, text in known.items() if same_slot(slot, record.device)), "")
    port = record.device.partition("/")[0] if part == "cable" else ""
    return HandTask(record.node, hands.argument, record.fault, part, record.device, serial, port, hands.begun)  # fmt: skip


def shared_tasks(journal: Journal) -> Iterator[HandTask]:
    """Yield a task for each part that nodes are held back for: they are not opened one by one."""
    held: dict[str, list[str]] = {}
    for record in journal.in_states([RepairState.SUSPECT]):
        if record.incident:
            held.setdefault(record.incident, []).append(record.node)
    for title, nodes in sorted(held.items()):
        part, _, place = title.removesuffix(")").partition(" (")
        kind, _, name = part.partition(" ")
        fault = journal.node(nodes[0]).fault
        yield HandTask(name, "look at", f"{fault} on {counted(len(nodes), 'node')}, {nodes[0]} the first{place and f', at {place}'}", part=kind)  # fmt: skip


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
        part = _PARTS.get(fault.subject, fault.subject)
        port = device.partition("/")[0] if part == "cable" else ""
        yield HandTask(node, fault.action.value, name, part, device, port=port, since=seen)


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
