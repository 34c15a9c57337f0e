"""States of a node from fault to fixed, and the steps between them."""

from __future__ import annotations

from enum import StrEnum
from functools import cache

from transitions import Machine, MachineError


class State(StrEnum):
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


OUT = frozenset({State.DRAINING, State.DIAGNOSING, State.REPAIRING, State.VALIDATING, State.RMA})
"""States in which a node takes no jobs."""

STEPS: tuple[tuple[str, tuple[State, ...], State], ...] = (
    ("suspect", (State.HEALTHY, State.PROBATION), State.SUSPECT),
    ("clear", (State.SUSPECT, State.PROBATION), State.HEALTHY),
    ("drain", (State.SUSPECT,), State.DRAINING),
    ("empty", (State.DRAINING,), State.DIAGNOSING),
    ("repair", (State.DIAGNOSING,), State.REPAIRING),
    ("return_part", (State.DIAGNOSING,), State.RMA),
    ("repaired", (State.REPAIRING, State.RMA), State.VALIDATING),
    ("not_repaired", (State.REPAIRING,), State.DIAGNOSING),
    ("failed", (State.VALIDATING,), State.DIAGNOSING),
    ("passed", (State.VALIDATING,), State.PROBATION),
    ("taken", tuple(sorted(OUT)), State.HEALTHY),
)
"""Name of each step, the states that it leaves, and the state that it leads to. ``taken`` is the way of a
node that an operator has taken over: it is theirs, and no longer under repair."""


class _Node:
    """Model for the machine; it carries the state of one node at a time."""

    state: str


@cache
def _machine() -> tuple[Machine, _Node]:
    node = _Node()
    machine = Machine(
        node,
        states=[state.value for state in State],
        transitions=[
            {"trigger": name, "source": [state.value for state in before], "dest": to.value}
            for name, before, to in STEPS
        ],
        initial=State.HEALTHY.value,
        auto_transitions=False,
    )
    return machine, node


@cache
def after(state: State, step: str) -> State:
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
    return State(node.state)
