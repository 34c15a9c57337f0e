"""Ways to act on nodes: the ports that the controller of repairs uses, whatever is behind them.

Every action may be asked for twice, by a controller that was killed after it. An actuator does it once: it
looks at the node first (state and reason in Slurm, time of boot, power), or claims the action's number on it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from rackwright.errors import RackwrightError
from rackwright.nodelife.repair.journal import ActionRecord


class ActionError(RackwrightError):
    """An action on a node that failed, or that was refused."""

    code = "action"


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node as the cluster has it now.

    Attributes:
        in_service: True if it may get jobs.
        reason: reason it is drained with; None if there is none.
        jobs: number of jobs on it, running or ending.
        boot: time at which it was booted, as the cluster has it; empty if unknown.
        answers: False if it does not answer.
    """

    node: str
    in_service: bool
    reason: str | None = None
    jobs: int = 0
    boot: str = ""
    answers: bool = True


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of an action or of a validation.

    Attributes:
        done: True once it has ended.
        passed: True if it ended well; None while it is unknown.
        text: result in words.
    """

    done: bool
    passed: bool | None = None
    text: str = ""


RUNNING = Progress(done=False)


class Actuator(Protocol):
    """Acts on nodes; every method may raise ``ActionError``, and ``ExternalToolError`` if nothing answers."""

    def look(self, nodes: Collection[str]) -> Mapping[str, NodeView]:
        """Return the nodes as they are; a node that is unknown is absent."""

    def drain(self, node: str, reason: str, former: str | None) -> None:
        """Drain a node that is in service, or that is out of it with the reason ``former``; no other."""

    def resume(self, node: str, reasons: Collection[str]) -> None:
        """Give a node back that is drained with one of the reasons, and no other."""

    def requeue(self, node: str) -> None:
        """Queue the jobs on a node again."""

    def act(self, action: ActionRecord) -> None:
        """Begin an action, unless it was begun already."""

    def progress(self, action: ActionRecord) -> Progress:
        """Return how far an action is that was begun."""


class Validator(Protocol):
    """Proves that a node is fit to take jobs; the suite of burn-in, or a health check."""

    @property
    def measures(self) -> bool:
        """True if it measures speed and compares results, and so finds faults that show no error."""

    def validate(self, node: str, key: str) -> Progress:
        """Begin the suite on a drained node, once for each ``key``, and return how far it is."""
