"""States of a node from fault to fixed, and the steps between them."""

from __future__ import annotations

from enum import StrEnum
from functools import cache

from transitions import Machine, MachineError


class RepairState(StrEnum):
    """State of a node in its repair."""

    HEALTHY = "healthy"
    SUSPECT = "suspect"
    """A fault was seen; the node waits for its turn, or for what nodes share to be told apart."""
    DRAINING = "draining"
    DIAGNOSING = "diagnosing"
    REPAIRING = "repairing"
    VALIDATING = "validating"
    PROBATION = "probation"
    """The node takes jobs again; a fault of the next hours is the same one."""
    RMA = "rma"
    """A part goes back to its maker; the node waits for hands."""


OUT = frozenset(
    {
        RepairState.DRAINING,
        RepairState.DIAGNOSING,
        RepairState.REPAIRING,
        RepairState.VALIDATING,
        RepairState.RMA,
    }
)
"""States in which a node takes no jobs."""

STEPS: tuple[tuple[str, tuple[RepairState, ...], RepairState], ...] = (
    ("suspect", (RepairState.HEALTHY, RepairState.PROBATION), RepairState.SUSPECT),
    ("clear", (RepairState.SUSPECT, RepairState.PROBATION), RepairState.HEALTHY),
    ("drain", (RepairState.SUSPECT,), RepairState.DRAINING),
    ("leak", tuple(sorted(OUT)), RepairState.DRAINING),
    ("empty", (RepairState.DRAINING,), RepairState.DIAGNOSING),
    ("repair", (RepairState.DIAGNOSING,), RepairState.REPAIRING),
    ("return_part", (RepairState.DIAGNOSING,), RepairState.RMA),
    ("repaired", (RepairState.REPAIRING, RepairState.RMA), RepairState.VALIDATING),
    ("not_repaired", (RepairState.REPAIRING,), RepairState.DIAGNOSING),
    ("failed", (RepairState.VALIDATING,), RepairState.DIAGNOSING),
    ("passed", (RepairState.VALIDATING,), RepairState.PROBATION),
    ("taken", tuple(sorted(OUT)), RepairState.HEALTHY),
)
"""Name of each step, the states that it leaves, and the state that it leads to. ``taken`` is the way of a
node that an operator has taken over: it is theirs, and no longer under repair. ``leak`` begins a repair again
with the power off, wherever it was."""


class _Node:
    """Model for the machine; it carries the state of one node at a time."""

    state: str


@cache
def _machine() -> tuple[Machine, _Node]:
    node = _Node()
    machine = Machine(
        node,
        states=[state.value for state in RepairState],
        transitions=[
            {"trigger": name, "source": [state.value for state in before], "dest": to.value}
            for name, before, to in STEPS
        ],
        initial=RepairState.HEALTHY.value,
        auto_transitions=False,
    )
    return machine, node


@cache
def after(state: RepairState, step: str) -> RepairState:
    """Return the state after a step.

    Raises:
        ValueError: there is no such step from the state.
    """
    machine, node = _machine()
    machine.set_state(state.value, node)
    try:
        node.trigger(step)  # type: ignore[attr-defined]
    except (MachineError, AttributeError) as error:
        raise ValueError(f"no step '{step}' from {state}: {error}") from None
    return RepairState(node.state)
