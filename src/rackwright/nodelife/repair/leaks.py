"""Power of leaking nodes: the one action that waits for nothing, proven by the power state."""

from __future__ import annotations

from rackwright.catalog.fault_table import FaultTable
from rackwright.errors import ExternalToolError
from rackwright.model.faults import FaultAction
from rackwright.nodelife.repair.actuator import ActionError, Actuator, Progress
from rackwright.nodelife.repair.journal import Journal, NodeRecord


def leaks(table: FaultTable, name: str) -> bool:
    """Return True if a node with the fault is switched off at once."""
    fault = table.faults.get(name)
    return fault is not None and fault.action is FaultAction.POWER_OFF


def is_off(journal: Journal, record: NodeRecord) -> bool:
    """Return True if a leaking node was switched off, and its power state has shown it."""
    action = journal.action(record, "power-off")
    return action is not None and action.phase == "done"


def cut_power(journal: Journal, actuator: Actuator, record: NodeRecord, now: float) -> str | None:
    """Ask a BMC to switch a node off; the reason that it is still on, or None once it is off.

    A BMC that has taken the request proves nothing: it is asked in each pass until the power is off.
    """
    if is_off(journal, record):
        return None
    action = journal.intend(record, "power-off", "leak", "", now)
    try:
        actuator.act(action)
        progress = actuator.progress(action)
    except (ActionError, ExternalToolError) as error:
        progress = Progress(done=False, text=error.summary)
    if progress.passed:
        journal.set_phase(action, "done", now, progress.text)
        return None
    return f"not switched off yet: {progress.text or 'no answer'}"
